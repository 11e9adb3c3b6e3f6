# Section I.2: types and quantization. Codes are exact.

# I2-1: the quantization of some outputs is fixed.
def fixed(row, op, code, dims, data, zero, scale, out_zero, result, more=[]):
  trap("I2_1_" + row, op, [given(code, dims, data, 0.5, zero)] + more, [want(code, dims, result, scale, out_zero)])
  for wrong, (s, z) in enumerate([(scale * 2, out_zero), (scale, out_zero + 1)]):
    refused("I2_1_%s_not%d" % (row, wrong), op, [given(code, dims, data, 0.5, zero)] + more, [want(code, dims, result, s, z)])

fixed("logistic", "LOGISTIC", Q8, [1], [10], 10, 1.0 / 256, 0, [128])
fixed("softmax", "SOFTMAX", Q8, [1, 2], [9, 9], 0, 1.0 / 256, 0, [128, 128], [1.0])
fixed("tanh", "TANH", Q8, [1], [10], 10, 1.0 / 128, 128, [128])
fixed("l2", "L2_NORMALIZATION", Q8, [1, 1, 1, 2], [13, 14], 10, 1.0 / 128, 128, [205, 230])  # 3 and 4: 0.6 and 0.8
fixed("logistic_signed", "LOGISTIC", Q8S, [1], [10], 10, 1.0 / 256, -128, [0])
fixed("softmax_signed", "SOFTMAX", Q8S, [1, 2], [9, 9], 0, 1.0 / 256, -128, [0, 0], [1.0])
fixed("tanh_signed", "TANH", Q8S, [1], [10], 10, 1.0 / 128, 0, [0])

# I2-2: a signed twin is 128 lower in values and zero points, but the value of PAD_V2 is what it is, and CAST only copies.
trap("I2_2_unsigned", "ADD", [given(Q8, [2], [130, 200], 0.5, 128), given(Q8, [2], [130, 140], 0.5, 128), NONE], [want(Q8, [2], [66, 106], 1.0, 64)])
trap("I2_2_signed", "ADD", [given(Q8S, [2], [2, 72], 0.5, 0), given(Q8S, [2], [2, 12], 0.5, 0), NONE], [want(Q8S, [2], [-62, -22], 1.0, -64)])
front = const(I32, [1, 2], [1, 0])
trap("I2_2_pad", "PAD_V2", [given(Q8S, [1], [4], 0.5, 2), front, -7], [want(Q8S, [2], [-7, 4], 0.5, 2)])
trap("I2_2_cast", "CAST", [given(Q8S, [2], [-5, 5], 0.5, 2)], [want(Q8S, [2], [-5, 5], 0.5, 2)])
refused("I2_2_cast_value", "CAST", [given(Q8S, [2], [-5, 5], 0.5, 2)], [want(F32, [2], [-5, 5])])

# I2-3, I3-11: keys ascend; a miss is a row of zeros and a hit of 0, a hit 1 with scale 1.
table = [const(I32, [2], [2, 3]), const(F32, [2, 2], [1, 2, 3, 4])]
for row in ["I2_3", "I3_11"]:
  trap(row, "HASHTABLE_LOOKUP", [given(I32, [3], [5, 2, 3])] + table, [want(F32, [3, 2], [0, 0, 1, 2, 3, 4]), want(Q8, [3], [0, 1, 1], 1.0, 0)])

# I2-4: a bias has the scale of the products and zero point 0.
def conv8(row, x, bias, bias_scale, bias_zero, out_scale, result, w=2, w_scale=0.5, fails=False):
  n = len(x)
  trap(row, "CONV_2D", [given(Q8, [1, 1, n, 1], x, 1.0, 128), const(Q8, [1, 1, 1, 1], [w], w_scale, 0), const(I32, [1], [bias], bias_scale, bias_zero), VALID, 1, 1, NONE],
       [want(Q8, [1, 1, n, 1], result, out_scale, 128)], fails)

conv8("I2_4", [129, 138], 4, 0.5, 0, 1.0, [131, 140])  # 1*1+2, 10*1+2
conv8("I2_4_scale", [129, 138], 4, 1.0, 0, 1.0, [131, 140], fails=True)
conv8("I2_4_zero", [129, 138], 4, 0.5, 1, 1.0, [131, 140], fails=True)

# I2-5: scales by output channel, dimension 0 of CONV_2D's filter and 3 of DEPTHWISE_CONV_2D's.
def channels(row, op, filter_dims, dim, more, fails=False):
  f = Parameter("f", ("TENSOR_QUANT8_SYMM_PER_CHANNEL", filter_dims), [3, 3], extraParams=SymmPerChannelQuantParams(channelDim=dim, scales=[1.0, 2.0]))
  x = [given(Q8, [1, 1, 1, 1], [2], 1.0, 0), f, const(I32, [2], [0, 0]), VALID, 1, 1] + more + [NONE]
  trap("I2_5_" + row, op, x, [want(Q8, [1, 1, 1, 2], [6, 12], 1.0, 0)], fails)

channels("conv", "CONV_2D", [2, 1, 1, 1], 0, [])
channels("depthwise", "DEPTHWISE_CONV_2D", [1, 1, 1, 2], 3, [2])
channels("dim", "CONV_2D", [1, 2, 1, 1], 1, [], True)

# I2-6: a product's scale is larger than that of its factors; a convolution's need not be since 1.2.
refused("I2_6_mul", "MUL", [given(Q8, [1], [4], 0.5, 0), given(Q8, [1], [4], 0.5, 0), NONE], [want(Q8, [1], [16], 0.25, 0)])
trap("I2_6_more", "MUL", [given(Q8, [1], [4], 0.5, 0), given(Q8, [1], [4], 0.5, 0), NONE], [want(Q8, [1], [8], 0.5, 0)])
conv8("I2_6_conv", [129, 138], 0, 0.5, 0, 0.25, [132, 168])

# I2-7: the doubling multiplication rounds a half up, the shift behind it away from zero.
conv8("I2_7_half", [127, 129, 125, 131], 0, 0.5, 0, 1.0, [128, 129, 127, 130], w=1)
conv8("I2_7_quarter", [126, 130], 0, 0.25, 0, 1.0, [127, 129], w=1, w_scale=0.25)

# I2-8: the bounds of an activation are codes within the type.
def add8(row, activation, x, scale, zero, result):
  trap("I2_8_" + row, "ADD", [given(Q8, [len(x)], x, 0.5, 100), const(Q8, [1], [100], 0.5, 100), activation], [want(Q8, [len(x)], result, scale, zero)])

add8("relu1", RELU1, [90, 101, 110], 0.5, 10, [8, 11, 12])
add8("relu6", RELU6, [90, 104, 200], 0.5, 10, [10, 14, 22])
add8("relu", RELU, [90, 104, 255], 0.5, 200, [200, 204, 255])
add8("wide", RELU6, [90, 104, 200], 0.015625, 10, [10, 138, 255])  # 6 lies beyond the type

# I2-9: halves are rounded away from zero.
trap("I2_9", "QUANTIZE", [given(F32, [5], [2.5, -2.5, 1000, -1000, 0.5])], [want(Q8, [5], [103, 97, 255, 0, 101], 1.0, 100)])

# I2-10: CAST takes codes as numbers, cuts fractions off and stays within the type.
trap("I2_10_code", "CAST", [given(Q8, [1], [200], 0.5, 3)], [want(F32, [1], [200])])
trap("I2_10_cut", "CAST", [given(F32, [2], [1.9, -1.9])], [want(I32, [2], [1, -1])])
trap("I2_10_bound", "CAST", [given(F32, [3], [300, -5, 7.9])], [want(Q8, [3], [255, 0, 7], 0.5, 3)])

# I2-11: real values are compared, not codes.
trap("I2_11_equal", "EQUAL", [given(Q8, [2], [4, 4], 1.0, 0), given(Q8, [2], [8, 4], 0.5, 0)], [want(B8, [2], [True, False])])
trap("I2_11_less", "LESS", [given(Q8, [2], [4, 4], 1.0, 0), given(Q8, [2], [9, 8], 0.5, 0)], [want(B8, [2], [True, False])])

# I2-12: what is chosen takes the quantization of the output.
pair = [given(Q8, [2], [4, 2], 1.0, 0), given(Q8, [2], [6, 6], 0.5, 0)]
trap("I2_12_maximum", "MAXIMUM", pair, [want(Q8, [2], [12, 12], 2.0, 10)])  # 4 and 3 (half of 3 rounds up)
trap("I2_12_join", "CONCATENATION", pair + [0], [want(Q8, [4], [14, 12, 13, 13], 1.0, 10)])
trap("I2_12_select", "SELECT", [given(B8, [2], [True, False])] + pair, [want(Q8, [2], [14, 13], 1.0, 10)])

# I2-13: integers have no activation; a quotient is the floor, and 0 a divisor without a crash.
ints = [given(I32, [4], [-7, 7, -8, 9]), given(I32, [4], [2, -2, 2, 2])]
trap("I2_13_div", "DIV", ints + [NONE], [want(I32, [4], [-4, -4, -4, 4])])
trap("I2_13_mul", "MUL", ints + [NONE], [want(I32, [4], [-14, -14, -16, 18])])
refused("I2_13_relu", "ADD", ints + [RELU], [want(I32, [4], [0, 5, 0, 11])])
trap("I2_13_zero", "DIV", [given(I32, [1], [1]), given(I32, [1], [0]), NONE], [skip(I32, [1], [0])])

# I2-14: from the last dimension on; other sizes than 1 must agree.
trap("I2_14", "ADD", [given(F32, [2, 1], [10, 20]), given(F32, [3], [1, 2, 3]), NONE], [want(F32, [2, 3], [11, 12, 13, 21, 22, 23])])
refused("I2_14_sizes", "ADD", [given(F32, [2], [10, 20]), given(F32, [3], [1, 2, 3]), NONE], [want(F32, [3], [11, 22, 3])])

# I2-15: NaN is not even itself.
nan = float("nan")
for op, result in [("EQUAL", [False, True, False]), ("NOT_EQUAL", [True, False, True]), ("LESS", [False, False, False]), ("GREATER_EQUAL", [False, True, False])]:
  trap("I2_15_" + op.lower(), op, [given(F32, [3], [nan, 1, nan]), given(F32, [3], [nan, 1, 1])], [want(B8, [3], result)])

# I2-16: IEEE results; the logarithm of a negative number may be NaN.
trap("I2_16_pow", "POW", [given(F32, [3], [2, 4, 9]), given(F32, [3], [3, -1, 0.5])], [want(F32, [3], [8, 0.25, 3])])
trap("I2_16_rsqrt", "RSQRT", [given(F32, [2], [4, 0.25])], [want(F32, [2], [0.5, 2])])
trap("I2_16_sqrt", "SQRT", [given(F32, [2], [0, 9])], [want(F32, [2], [0, 3])])
trap("I2_16_exp", "EXP", [given(F32, [2], [0, 1])], [want(F32, [2], [1, exp(1)])])
trap("I2_16_log", "LOG", [given(F32, [2], [1, exp(1)])], [want(F32, [2], [0, 1])])
trap("I2_16_nan", "LOG", [given(F32, [1], [-1])], [skip(F32, [1], [0])])

# I2-17: corners are eighths of a pixel.
def corners(row, scale, zero, fails):
  trap("I2_17_" + row, "AXIS_ALIGNED_BBOX_TRANSFORM",
       [given(Q16, [1, 4], [8, 8, 80, 80], scale, zero), given(Q8, [1, 4], [128] * 4, 0.05, 128), given(I32, [1], [0]), given(Q16, [1, 2], [400, 400], scale, zero)],
       [want(Q16, [1, 4], [8, 8, 80, 80], scale, zero)], fails)

corners("eighths", 0.125, 0, False)
corners("scale", 0.25, 0, True)
corners("zero", 0.125, 1, True)

# I2-19: scalars of float16 operations are FLOAT16, those of quantized ones FLOAT32.
half = [given(F16, [1, 2], [0, 0])]
trap("I2_19_half", "SOFTMAX", half + [Float16Scalar("beta", 1.0)], [want(F16, [1, 2], [0.5, 0.5])])
refused("I2_19_float", "SOFTMAX", half + [1.0], [want(F16, [1, 2], [0.5, 0.5])])
refused("I2_19_codes", "SOFTMAX", [given(Q8, [1, 2], [9, 9], 0.5, 0), Float16Scalar("b", 1.0)], [want(Q8, [1, 2], [128, 128], 1.0 / 256, 0)])

# I2-21: a reduction keeps the quantization; nothing times infinity is nothing.
trap("I2_21_max", "REDUCE_MAX", [given(Q8, [1, 3], [4, 9, 2], 0.5, 2), [1], False], [want(Q8, [1], [9], 0.5, 2)])
refused("I2_21_scale", "REDUCE_MAX", [given(Q8, [1, 3], [4, 9, 2], 0.5, 2), [1], False], [want(Q8, [1], [9], 1.0, 2)])
trap("I2_21_prod", "REDUCE_PROD", [given(F32, [1, 3], [2, 3, 4]), [1], False], [want(F32, [1], [24])])
trap("I2_21_zero", "REDUCE_PROD", [given(F32, [1, 2], [0, float("inf")]), [1], False], [want(F32, [1], [0])])
