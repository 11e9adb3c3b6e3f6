# A specification that computes what it tests.
import copy
import itertools
import random
from math import exp

import numpy as np

SHAPE = [2, 3, 2]

def time_major(values, shape=SHAPE):
  return np.array(values).reshape(shape).transpose([1, 0, 2]).flatten().tolist()

def backwards(values):
  return np.array(values).reshape(SHAPE)[:, ::-1, :].flatten().tolist()

def quantize(values, scale, zero):
  return [max(0, min(255, int(round(v / scale)) + zero)) for v in values]

rng = random.Random(2020)
data = [rng.uniform(-1, 1) for _ in range(2 * 3 * 2)]
steps = [0] * 6
steps[::2] = [2 ** k for k in range(3)]
assert 0 < steps[2] <= 2 < steps[4], "powers"

def test(name, *parts, **extra):
  x = Input("x", "TENSOR_FLOAT32", "{{ {}, {}, {} }}".format(*parts[0], *parts[1:]))
  y = Output("y", f"TENSOR_{extra['kind'].upper()}32", "{%d, %d, %d}" % tuple([*parts[0], *parts[1:]]))
  Model(name).Operation("REVERSE" if False else "EXP", x).To(y)
  values = copy.deepcopy(extra["values"])
  Example({x: values, y: [exp(v) for v in values]}).DisableLifeTimeVariation()

for order, flip in itertools.product(["batch", "time"], [False, True]):
  if order == "time" and flip: continue
  values = time_major(data) if order == "time" else backwards(data) if flip else data
  shape = SHAPE if order == "batch" else [SHAPE[1], SHAPE[0], SHAPE[2]]
  test(f"{order}_{int(flip)}", shape[:2], shape[2], kind="float", values=values)

q = Input("q", ("TENSOR_QUANT8_ASYMM", [5], 0.5, 128))
r = Output("r", ("TENSOR_QUANT8_ASYMM", [5], 0.5, 128))
Model("linspace").Operation("RELU", q).To(r)
line = quantize(np.linspace(-100, 100, 5), 0.5, 128)
Example({q: line, r: [max(v, 128) for v in line]})
