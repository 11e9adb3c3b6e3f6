# Section G.2: the lowest HAL version that can say a use of an operation; the name of a case ends in it. Nothing
# here is executed.

def needs(row, op, inputs, outputs, version):
  trap("%s_v%d" % (row, version), op, inputs, outputs)

def plain(code, dims, scale=0.0, zero=0):
  return given(code, dims, [0] * count(dims), scale, zero)

def result(code, dims, scale=0.0, zero=0):
  return want(code, dims, [0] * count(dims), scale, zero)

def count(dims):
  n = 1
  for d in dims:
    n = n * d
  return n

# G2-1: the operation, then the types of its operands.
for op, code, version in [("ADD", F32, 10), ("ADD", F16, 12), ("ADD", I32, 13), ("SUB", F32, 11), ("DIV", F32, 11), ("MAXIMUM", F32, 12)]:
  needs("G2_1_%s" % op.lower(), op, [plain(code, [2]), plain(code, [2])] + ([] if op == "MAXIMUM" else [NONE]), [result(code, [2])], version)
for code, version in [(Q8, 10), (Q8S, 13)]:
  needs("G2_1_relu", "RELU", [plain(code, [2], 0.5, 2)], [result(code, [2], 0.5, 2)], version)
needs("G2_1_elu", "ELU", [plain(F32, [2]), 1.0], [result(F32, [2])], 13)

# G2-2: layouts, dilations, axes and sizes by scale came with 1.2, corners and half pixels with 1.3.
def conv(row, more, version):
  needs("G2_2_" + row, "CONV_2D", [plain(F32, [1, 4, 4, 1]), const(F32, [1, 1, 1, 1], [1]), const(F32, [1], [0]), SAME, 1, 1, NONE] + more, [result(F32, [1, 4, 4, 1])], version)

conv("plain", [], 10)
conv("layout", [False], 12)
conv("dilated", [False, 1, 1], 12)
grid = [1, 2, 2, 1]
for row, op, args, more in [("softmax", "SOFTMAX", [1.0], [3]), ("l2", "L2_NORMALIZATION", [], [3]), ("lrn", "LOCAL_RESPONSE_NORMALIZATION", [1, 1.0, 1.0, 1.0], [3]),
                            ("pool", "MAX_POOL_2D", [SAME, 1, 1, 1, 1, NONE], [False])]:
  needs("G2_2_%s" % row, op, [plain(F32, grid)] + args, [result(F32, grid)], 10)
  needs("G2_2_%s_more" % row, op, [plain(F32, grid)] + args + more, [result(F32, grid)], 12)
for row, args, version in [("sizes", [2, 2], 10), ("scales", [1.0, 1.0], 12), ("layout", [2, 2, False], 12), ("corners", [2, 2, False, True], 13), ("half", [2, 2, False, False, True], 13)]:
  needs("G2_2_resize_%s" % row, "RESIZE_BILINEAR", [plain(F32, grid)] + args, [result(F32, grid)], version)

# G2-3: until 1.2 an output's scale is above that of the products; filters per channel are new.
def conv8(row, out_scale, version):
  x, w, b = plain(Q8, [1, 1, 1, 1], 0.5), const(Q8, [1, 1, 1, 1], [1], 0.5, 0), const(I32, [1], [0], 0.25, 0)
  y = [1, 1, 1, 1]
  needs("G2_3_conv_" + row, "CONV_2D", [x, w, b, SAME, 1, 1, NONE], [result(Q8, y, out_scale)], version)
  needs("G2_3_depthwise_" + row, "DEPTHWISE_CONV_2D", [x, w, b, SAME, 1, 1, 1, NONE], [result(Q8, y, out_scale)], version)
  needs("G2_3_dense_" + row, "FULLY_CONNECTED", [plain(Q8, [1, 1], 0.5), const(Q8, [1, 1], [1], 0.5, 0), b, NONE], [result(Q8, [1, 1], out_scale)], version)

conv8("above", 0.5, 10)
conv8("equal", 0.25, 12)
conv8("below", 0.125, 12)
channel = Parameter("f", ("TENSOR_QUANT8_SYMM_PER_CHANNEL", [1, 1, 1, 1]), [1], extraParams=SymmPerChannelQuantParams(channelDim=0, scales=[0.5]))
needs("G2_3_channel", "CONV_2D", [plain(Q8, [1, 1, 1, 1], 0.5), channel, const(I32, [1], [0]), SAME, 1, 1, NONE], [result(Q8, [1, 1, 1, 1], 0.5)], 12)

# G2-4: joined tensors had one quantization.
for row, scale, zero, version in [("same", 0.5, 2, 10), ("scale", 0.25, 2, 12), ("zero", 0.5, 3, 12)]:
  needs("G2_4_" + row, "CONCATENATION", [plain(Q8, [2], 0.5, 2), plain(Q8, [2], scale, zero), 0], [result(Q8, [4], 0.5, 2)], version)

# G2-5: and what was padded with was code 0.
for zero, version in [(0, 11), (2, 12)]:
  needs("G2_5_pad%d" % zero, "PAD", [plain(Q8, [2], 0.5, zero), const(I32, [1, 2], [1, 0])], [result(Q8, [3], 0.5, zero)], version)
  needs("G2_5_batch%d" % zero, "SPACE_TO_BATCH_ND", [plain(Q8, [1, 1, 2, 1], 0.5, zero), [1, 2], const(I32, [2, 2], [0, 0, 0, 0])], [result(Q8, [2, 1, 1, 1], 0.5, zero)], version)
needs("G2_5_float", "PAD", [plain(F32, [2]), const(I32, [1, 2], [1, 0])], [result(F32, [3])], 11)

# G2-6: ranks.
for rank, softmax, norm in [(1, 12, 12), (2, 10, 12), (3, 12, 12), (4, 10, 10)]:
  dims = [2] * rank
  needs("G2_6_softmax%d" % rank, "SOFTMAX", [plain(F32, dims), 1.0], [result(F32, dims)], softmax)
  needs("G2_6_l2%d" % rank, "L2_NORMALIZATION", [plain(F32, dims)], [result(F32, dims)], norm)
  needs("G2_6_lrn%d" % rank, "LOCAL_RESPONSE_NORMALIZATION", [plain(F32, dims), 1, 1.0, 1.0, 1.0], [result(F32, dims)], norm)

# G2-7: four weights of layer norm make 27 inputs; states become outputs of sequences with 1.3.
one, square = const(F32, [1], [0]), const(F32, [1, 1], [0])
cell = [plain(F32, [1, 1])] + [square] * 8 + [one] * 7 + [omit(F32, [0, 0]), omit(F32, [0]), plain(F32, [1, 1]), plain(F32, [1, 1]), 4, 0.0, 0.0]
states = [result(F32, [1, 1]) for i in range(3)]
needs("G2_7_lstm", "LSTM", cell, [result(F32, [1, 4])] + states, 10)
needs("G2_7_norm", "LSTM", cell + [one] * 4, [result(F32, [1, 4])] + states, 12)
rnn = [plain(F32, [1, 2, 1]), square, square, one, plain(F32, [1, 1]), RELU, 0]
needs("G2_7_sequence", "UNIDIRECTIONAL_SEQUENCE_RNN", rnn, [result(F32, [1, 2, 1])], 12)
needs("G2_7_state", "UNIDIRECTIONAL_SEQUENCE_RNN", rnn, [result(F32, [1, 2, 1]), result(F32, [1, 1])], 13)

# G2-9: codes are resized since 1.2, copied by CAST since 1.3 where they have no values.
needs("G2_9_resize", "RESIZE_BILINEAR", [plain(Q8, grid, 0.5, 2), 2, 2], [result(Q8, grid, 0.5, 2)], 12)
needs("G2_9_cast", "CAST", [plain(F32, [2])], [result(I32, [2])], 12)
needs("G2_9_copy", "CAST", [plain(Q8S, [2], 0.5, 2)], [result(Q8S, [2], 0.5, 2)], 13)

# G2-10: the rules of ranks do not speak of a rank that is not known.
for row, dims, version in [("unknown", [], 10), ("known", [2, 2, 2], 12)]:
  middle = inner(F32, dims)
  chain("G2_10_%s_v%d" % (row, version), [("RELU", [plain(F32, [2, 2, 2])], [middle]), ("SOFTMAX", [middle, 1.0], [result(F32, [2, 2, 2])])])
