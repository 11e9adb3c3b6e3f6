# What the specifications of traps begin with.
from math import exp, sqrt, tanh

F32, F16, I32, B8 = "TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_INT32", "TENSOR_BOOL8"
Q8, Q8S, Q16 = "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_ASYMM"
SAME, VALID = 1, 2
NONE, RELU, RELU1, RELU6 = 0, 1, 2, 3

def kind(code, dims, scale, zero):
  return (code, dims) if scale == 0 else (code, dims, scale, zero)

# given is an input of the request, want an expected output, skip one whose values may be any,
# inner a tensor between two operations, const a constant, omit an operand without a value.
def given(code, dims, values, scale=0.0, zero=0):
  return (Input("x", kind(code, dims, scale, zero)), values)

def want(code, dims, values, scale=0.0, zero=0):
  return (Output("y", kind(code, dims, scale, zero)), values)

def skip(code, dims, values, scale=0.0, zero=0):
  return (IgnoredOutput("y", kind(code, dims, scale, zero)), values)

def inner(code, dims, scale=0.0, zero=0):
  return (Internal("t", kind(code, dims, scale, zero)), None)

def const(code, dims, values, scale=0.0, zero=0):
  return Parameter("c", kind(code, dims, scale, zero), values)

def omit(code, dims, scale=0.0, zero=0):
  return Parameter("o", kind(code, dims, scale, zero), None)

# operand takes a value's operand and notes what it is.
def operand(value, feeds):
  if not isinstance(value, tuple):
    return value
  if value[1] is not None:
    feeds[value[0]] = value[1]
  return value[0]

# chain is a case of several operations: (name, inputs, outputs) each.
def chain(row, ops, fails=False):
  feeds = {}
  model = Model()
  for op in ops:
    args = [operand(v, feeds) for v in op[1]]
    model = model.Operation(op[0], *args).To([operand(v, feeds) for v in op[2]])
  example = Example(feeds, model=model, name=row)
  example.DisableLifeTimeVariation()
  example.DisableDynamicOutputShapeVariation()
  if fails:
    example.ExpectFailure()

# trap is a case of one operation. Its name begins with the row that it proves.
def trap(row, op, inputs, outputs, fails=False):
  chain(row, [(op, inputs, outputs)], fails)

# refused is a trap that ends in an error.
def refused(row, op, inputs, outputs):
  trap(row, op, inputs, outputs, fails=True)
