# Section I.3: operands, omitted values, recurrent cells.

def sigmoid(v):
  return 1 / (1 + exp(-v))

# I3-1: an omitted operand keeps its place, a trailing one may be absent.
bias0 = const(F32, [1], [0])
trap("I3_1_place", "SQUEEZE", [given(F32, [1, 2, 1], [1, 2]), omit(I32, [0])], [want(F32, [2], [1, 2])])
trap("I3_1_absent", "SOFTMAX", [given(F32, [1, 2], [0, 0]), 1.0], [want(F32, [1, 2], [0.5, 0.5])])
trap("I3_1_given", "SOFTMAX", [given(F32, [2, 1], [0, 0]), 1.0, 0], [want(F32, [2, 1], [0.5, 0.5])])
refused("I3_1_needed", "SOFTMAX", [given(F32, [1, 2], [0, 0])], [want(F32, [1, 2], [0.5, 0.5])])

# A cell of one unit. Gates are the bias plus input*weight + output*recurrent; the cell's gate is tanh.
class_names = ["input", "forget", "cell", "output"]

def one(v):
  return omit(F32, [0]) if v is None else const(F32, [1], [v])

def square(v):
  return omit(F32, [0, 0]) if v is None else const(F32, [1, 1], [v])

def lstm(row, w, r, peephole, bias, projection, activation, clip, x, h, c, h1, c1, y, scratch=4, fails=False):
  inputs = [given(F32, [1, 1], [x])] + [square(v) for v in w] + [square(v) for v in r] + [one(v) for v in peephole] + [one(v) for v in bias]
  inputs = inputs + [square(projection[0]), one(projection[1]), given(F32, [1, 1], [h]), given(F32, [1, 1], [c]), activation, clip, 0.0]
  trap(row, "LSTM", inputs, [skip(F32, [1, scratch], [0] * scratch), want(F32, [1, 1], [h1]), want(F32, [1, 1], [c1]), want(F32, [1, 1], [y])], fails)

none3, none2 = [None, None, None], [None, None]
TANH = 4

# I3-2: without input weights the input gate is 1 - forget; peepholes all or none; clip 0 is off.
f, o, g = sigmoid(0.5), sigmoid(0.25), tanh(1.0)
w, r = [0.5, 0.25, 0.0, 0.0], [0.0, 0.0, 0.0, 0.25]
c1 = f * 2 + (1 - f) * g
lstm("I3_2_cifg", [None, 0.5, 0, 0], [None, 0, 0, 0.25], none3, [None, 0, 1, 0], none2, TANH, 0.0, 1, 1, 2, o * tanh(c1), c1, o * tanh(c1), scratch=3)
i, f = sigmoid(1.0), sigmoid(0.0)
c1 = f * 2 + i * g
o = sigmoid(0.0)
lstm("I3_2_gates", [1, 0, 0, 0], [0, 0, 0, 0], none3, [0, 0, 1, 0], none2, TANH, 0.0, 1, 0, 2, o * tanh(c1), c1, o * tanh(c1))
p = sigmoid(0.5 * 2)  # a peephole of 0.5 sees the cell's state
c1 = 0.5 * 2 + p * g
q = sigmoid(0.25 * c1)  # the output gate sees the new one
lstm("I3_2_peephole", [0, 0, 0, 0], [0, 0, 0, 0], [0.5, 0, 0.25], [0, 0, 1, 0], none2, TANH, 0.0, 1, 0, 2, q * tanh(c1), c1, q * tanh(c1))
c1 = 0.5 * 4 + 0.5 * g
lstm("I3_2_clip", [0, 0, 0, 0], [0, 0, 0, 0], none3, [0, 0, 1, 0], none2, TANH, 1.5, 1, 0, 4, 0.5 * tanh(1.5), 1.5, 0.5 * tanh(1.5))
lstm("I3_2_relu", [0, 0, 0, 0], [0, 0, 0, 0], none3, [0, 0, 1, 0], none2, 1, 0.0, 1, 0, 4, 0.5 * (2 + 0.5 * 1), 2.5, 0.5 * 2.5)
c1 = 0.5 * 4 + 0.5 * g
lstm("I3_2_projection", [0, 0, 0, 0], [0, 0, 0, 0], none3, [0, 0, 1, 0], [10, 3], TANH, 0.0, 1, 0, 4, 10 * 0.5 * tanh(c1) + 3, c1, 10 * 0.5 * tanh(c1) + 3)
lstm("I3_2_half_cifg", [None, 0, 0, 0], [None, 0, 0, 0], none3, [0, 0, 1, 0], none2, TANH, 0.0, 1, 0, 2, 0, 0, 0, scratch=3, fails=True)
lstm("I3_2_half_peephole", [0, 0, 0, 0], [0, 0, 0, 0], [0.5, None, 0.25], [0, 0, 1, 0], none2, TANH, 0.0, 1, 0, 2, 0, 0, 0, fails=True)
lstm("I3_2_bias_alone", [0, 0, 0, 0], [0, 0, 0, 0], none3, [0, 0, 1, 0], [None, 3], TANH, 0.0, 1, 0, 2, 0, 0, 0, fails=True)
lstm("I3_2_activation", [0, 0, 0, 0], [0, 0, 0, 0], none3, [0, 0, 1, 0], none2, 2, 0.0, 1, 0, 2, 0, 0, 0, fails=True)

# I3-3: scratch is [b, 4u] or [b, 3u], whatever its contents; states are outputs of their own.
c1 = 0.5 * 2 + 0.5 * g
for n, extra, fails in [(4, 0, False), (3, None, True)]:
  lstm("I3_3_%d" % n, [0, 0, 0, 0], [0, 0, 0, 0], none3, [0, 0, 1, 0], none2, TANH, 0.0, 1, 0, 2, 0.5 * tanh(c1), c1, 0.5 * tanh(c1), scratch=n, fails=fails)

# I3-4: the newest product takes the last place of the state, the output is state times time weights, then the
# state moves by one, as in the reference.
trap("I3_4", "SVDF", [given(F32, [1, 1], [3]), const(F32, [1, 1], [2]), const(F32, [1, 2], [1, 10]), const(F32, [1], [0]), given(F32, [1, 2], [5, 7]), 1, NONE],
     [want(F32, [1, 2], [6, 0]), want(F32, [1, 1], [65])])

# I3-7: a tensor of one element is no scalar.
pair = [given(F32, [2], [1, 2]), given(F32, [2], [3, 4])]
trap("I3_7_scalar", "ADD", pair + [NONE], [want(F32, [2], [4, 6])])
refused("I3_7_tensor", "ADD", pair + [const(I32, [1], [NONE])], [want(F32, [2], [4, 6])])
refused("I3_7_dims", "SOFTMAX", [given(F32, [1, 2], [0, 0]), const(F32, [1], [1])], [want(F32, [1, 2], [0.5, 0.5])])

# I3-8: a condition is one BOOL8 in a tensor of rank 1.
def branch(op):
  x, y, z = Input("x", (F32, [2])), Input("y", (F32, [2])), Output("z", (F32, [2]))
  return Model().Operation(op, x, y, 0).To(z)

def choose(row, code, dims, value, result, fails=False):
  trap("I3_8_" + row, "IF", [given(code, dims, value), branch("ADD"), branch("SUB")] + [given(F32, [2], [1, 2]), given(F32, [2], [3, 5])], [want(F32, [2], result)], fails)

choose("true", B8, [1], [True], [4, 7])
choose("false", B8, [1], [False], [-2, -3])
choose("two", B8, [2], [True, True], [4, 7], True)
choose("integer", I32, [1], [1], [4, 7], True)
choose("matrix", B8, [1, 1], [True], [4, 7], True)

# I3-9: merged outputs are one, forward before backward.
def both(row, merge, outputs, fails=False):
  cell = lambda weight: [const(F32, [1, 1], [weight]), const(F32, [1, 1], [0]), const(F32, [1], [0]), const(F32, [1, 1], [0])]
  trap("I3_9_" + row, "BIDIRECTIONAL_SEQUENCE_RNN",
       [given(F32, [1, 2, 1], [1, 2])] + cell(1) + cell(10) + [omit(F32, [0]), omit(F32, [0]), omit(F32, [0]), RELU, False, merge], outputs, fails)

both("merged", True, [want(F32, [1, 2, 2], [1, 10, 2, 20])])
both("apart", False, [want(F32, [1, 2, 1], [1, 2]), want(F32, [1, 2, 1], [10, 20])])
both("second", True, [want(F32, [1, 2, 2], [1, 10, 2, 20]), want(F32, [1, 2, 1], [10, 20])], True)
both("one", False, [want(F32, [1, 2, 1], [1, 2])], True)

# I3-10: time major is an INT32 of this operation; with recurrent weight 1 the sum runs over time.
def sequence(row, major, dims, result, fails=False):
  trap("I3_10_" + row, "UNIDIRECTIONAL_SEQUENCE_RNN",
       [given(F32, dims, [1, 2, 3, 4]), const(F32, [1, 1], [1]), const(F32, [1, 1], [1]), const(F32, [1], [0]), const(F32, [2, 1], [0, 0]), RELU, major],
       [want(F32, dims, result)], fails)

sequence("batch", 0, [2, 2, 1], [1, 3, 3, 7])
sequence("time", 1, [2, 2, 1], [1, 2, 4, 6])
sequence("bool", False, [2, 2, 1], [1, 3, 3, 7], True)

# I3-14: dimensions are kept by an INT32 in MEAN, by a BOOL in the others.
square2 = [given(F32, [2, 2], [1, 2, 3, 4]), [1]]
trap("I3_14_mean", "MEAN", square2 + [1], [want(F32, [2, 1], [1.5, 3.5])])
trap("I3_14_sum", "REDUCE_SUM", square2 + [True], [want(F32, [2, 1], [3, 7])])
refused("I3_14_mean_bool", "MEAN", square2 + [True], [want(F32, [2, 1], [1.5, 3.5])])
refused("I3_14_sum_int", "REDUCE_SUM", square2 + [1], [want(F32, [2, 1], [3, 7])])

# I3-15: the axis is the last input, one tensor before it is enough.
trap("I3_15_one", "CONCATENATION", [given(F32, [1, 2], [1, 2]), 0], [want(F32, [1, 2], [1, 2])])
trap("I3_15_three", "CONCATENATION", [given(F32, [1, 2], [1, 2]), given(F32, [1, 1], [3]), given(F32, [1, 2], [4, 5]), 1], [want(F32, [1, 5], [1, 2, 3, 4, 5])])
refused("I3_15_none", "CONCATENATION", [0], [want(F32, [1, 2], [1, 2])])

# I3-17: the others need all of their operands.
refused("I3_17_add", "ADD", [given(F32, [2], [1, 2]), omit(F32, [2]), NONE], [want(F32, [2], [4, 6])])
refused("I3_17_softmax", "SOFTMAX", [given(F32, [1, 2], [0, 0]), omit("FLOAT32", [])], [want(F32, [1, 2], [0.5, 0.5])])
refused("I3_17_conv", "CONV_2D", [given(F32, [1, 1, 1, 1], [1]), const(F32, [1, 1, 1, 1], [1]), omit(F32, [1]), VALID, 1, 1, NONE], [want(F32, [1, 1, 1, 1], [1])])
trap("I3_17_svdf", "SVDF", [given(F32, [1, 1], [3]), const(F32, [1, 1], [2]), const(F32, [1, 2], [1, 10]), omit(F32, [1]), given(F32, [1, 2], [5, 7]), 1, NONE],
     [want(F32, [1, 2], [6, 0]), want(F32, [1, 1], [65])])
trap("I3_17_transpose", "TRANSPOSE", [given(F32, [1, 2], [1, 2]), omit(I32, [0])], [want(F32, [2, 1], [1, 2])])
