# Section I.1: geometry, layout, padding. Expected values follow from the rule beside each case.

nine = [1, 2, 3, 4, 5, 6, 7, 8, 9]
one = [1.0]

# I1-1: out = ceil(in/stride), total = (out-1)*stride + eff - in, the head gets the smaller half.
trap("I1_1_head", "MAX_POOL_2D", [given(F32, [1, 3, 3, 1], nine), SAME, 2, 2, 2, 2, NONE],
     [want(F32, [1, 2, 2, 1], [5, 6, 8, 9])])
row5 = [1, 2, 3, 4, 5]
tenfold = const(F32, [1, 1, 2, 1], [1, 10])  # x[i] + 10 x[i+dilation]
bias0 = const(F32, [1], [0])
trap("I1_1_dilated", "CONV_2D", [given(F32, [1, 1, 5, 1], row5), tenfold, bias0, SAME, 1, 1, NONE, False, 2, 1],
     [want(F32, [1, 1, 5, 1], [20, 31, 42, 53, 4])])

# I1-2: 1 is SAME, 2 is VALID, 0 is neither.
trap("I1_2_valid", "MAX_POOL_2D", [given(F32, [1, 3, 3, 1], nine), VALID, 2, 2, 2, 2, NONE], [want(F32, [1, 1, 1, 1], [5])])
for scheme in [0, 3]:
  refused("I1_2_none%d" % scheme, "MAX_POOL_2D", [given(F32, [1, 3, 3, 1], nine), scheme, 2, 2, 2, 2, NONE], [want(F32, [1, 1, 1, 1], [5])])

# I1-3: ten inputs are explicit padding when the eighth is INT32, a layout and dilations when it is BOOL.
unit = const(F32, [1, 1, 1, 1], [1])
trap("I1_3_explicit", "CONV_2D", [given(F32, [1, 1, 3, 1], [1, 2, 3]), unit, bias0, 1, 0, 0, 0, 1, 1, NONE],
     [want(F32, [1, 1, 4, 1], [0, 1, 2, 3])])
trap("I1_3_implicit", "CONV_2D", [given(F32, [1, 1, 5, 1], row5), tenfold, bias0, VALID, 1, 1, NONE, False, 3, 1],
     [want(F32, [1, 1, 2, 1], [41, 52])])

# I1-4: dilations come in pairs behind the layout.
trap("I1_4_explicit", "CONV_2D", [given(F32, [1, 1, 5, 1], row5), tenfold, bias0, 0, 0, 0, 0, 1, 1, NONE, False, 2, 1],
     [want(F32, [1, 1, 3, 1], [31, 42, 53])])
trap("I1_4_depthwise", "DEPTHWISE_CONV_2D", [given(F32, [1, 1, 5, 1], row5), tenfold, bias0, VALID, 1, 1, 1, NONE, False, 2, 1],
     [want(F32, [1, 1, 3, 1], [31, 42, 53])])
refused("I1_4_single", "CONV_2D", [given(F32, [1, 1, 5, 1], row5), tenfold, bias0, 0, 0, 0, 0, 1, 1, NONE, False, 2],
        [want(F32, [1, 1, 3, 1], [31, 42, 53])])

# I1-5: width before height in windows and strides and in RESIZE, height first in ROI operations.
eight = [1, 2, 3, 4, 5, 6, 7, 8]
trap("I1_5_window", "MAX_POOL_2D", [given(F32, [1, 2, 4, 1], eight), 0, 0, 0, 0, 1, 1, 4, 1, NONE], [want(F32, [1, 2, 1, 1], [4, 8])])
trap("I1_5_stride", "MAX_POOL_2D", [given(F32, [1, 2, 4, 1], eight), 0, 0, 0, 0, 3, 1, 1, 1, NONE], [want(F32, [1, 2, 2, 1], [1, 4, 5, 8])])
trap("I1_5_resize", "RESIZE_NEAREST_NEIGHBOR", [given(F32, [1, 1, 2, 1], [1, 2]), 4, 1, False], [want(F32, [1, 1, 4, 1], [1, 1, 2, 2])])
four = [1, 2, 3, 4]
trap("I1_5_roi", "ROI_POOLING", [given(F32, [1, 2, 2, 1], four), given(F32, [1, 4], [0, 0, 1, 1]), given(I32, [1], [0]), 2, 1, 1.0, 1.0, False],
     [want(F32, [1, 2, 1, 1], [2, 4])])

# I1-6: NCHW changes the data alone, filters stay OHWI; the output shape of TRANSPOSE_CONV_2D is data.
trap("I1_6_conv", "CONV_2D", [given(F32, [1, 2, 1, 2], four), const(F32, [1, 1, 1, 2], [1, 10]), bias0, VALID, 1, 1, NONE, True],
     [want(F32, [1, 1, 1, 2], [31, 42])])
trap("I1_6_transpose", "TRANSPOSE_CONV_2D",
     [given(F32, [1, 1, 1, 2], [1, 2]), const(F32, [2, 1, 1, 1], [1, 10]), const(F32, [2], [0, 0]), [1, 2, 1, 2], SAME, 1, 1, NONE, True],
     [want(F32, [1, 2, 1, 2], [1, 2, 10, 20])])

# I1-7: an average is of the elements inside, L2 the root of the mean square, the activation comes last.
trap("I1_7_average", "AVERAGE_POOL_2D", [given(F32, [1, 2, 2, 1], four), SAME, 1, 1, 2, 2, NONE], [want(F32, [1, 2, 2, 1], [2.5, 3, 3.5, 4])])
trap("I1_7_l2", "L2_POOL_2D", [given(F32, [1, 1, 2, 1], [1, 7]), VALID, 1, 1, 2, 1, NONE], [want(F32, [1, 1, 1, 1], [5])])
trap("I1_7_activation", "AVERAGE_POOL_2D", [given(F32, [1, 1, 2, 1], [10, 4]), VALID, 1, 1, 2, 1, RELU6], [want(F32, [1, 1, 1, 1], [6])])
refused("I1_7_padding", "MAX_POOL_2D", [given(F32, [1, 1, 4, 1], four), 2, 0, 0, 0, 1, 1, 2, 1, NONE], [want(F32, [1, 1, 5, 1], [0, 1, 2, 3, 4])])

# I1-8: output channel = input channel * multiplier + m.
trap("I1_8", "DEPTHWISE_CONV_2D", [given(F32, [1, 1, 1, 2], [1, 2]), const(F32, [1, 1, 1, 4], [1, 10, 100, 1000]), const(F32, [4], [0] * 4), VALID, 1, 1, 2, NONE],
     [want(F32, [1, 1, 1, 4], [1, 10, 200, 2000])])
refused("I1_8_multiplier", "DEPTHWISE_CONV_2D", [given(F32, [1, 1, 1, 2], [1, 2]), const(F32, [1, 1, 1, 3], [1, 10, 100]), const(F32, [3], [0] * 3), VALID, 1, 1, 2, NONE],
        [want(F32, [1, 1, 1, 3], [1, 10, 200])])

# I1-9: group g reads the input channels from g*I/G.
trap("I1_9", "GROUPED_CONV_2D", [given(F32, [1, 1, 1, 4], four), const(F32, [2, 1, 1, 2], [1, 10, 1, 10]), const(F32, [2], [0, 0]), VALID, 1, 1, 2, NONE, False],
     [want(F32, [1, 1, 1, 2], [21, 43])])
refused("I1_9_groups", "GROUPED_CONV_2D", [given(F32, [1, 1, 1, 4], four), const(F32, [3, 1, 1, 2], [1, 10] * 3), const(F32, [3], [0] * 3), VALID, 1, 1, 2, NONE, False],
        [want(F32, [1, 1, 1, 3], [21, 43, 0])])

# I1-10: the padding follows from the output's shape and may be negative behind; the bias comes after the sum.
bias5 = const(F32, [1], [5])
trap("I1_10", "TRANSPOSE_CONV_2D", [given(F32, [1, 1, 2, 1], [1, 2]), const(F32, [1, 1, 3, 1], [1, 10, 100]), bias5, [1, 1, 4, 1], SAME, 2, 1, NONE, False],
     [want(F32, [1, 1, 4, 1], [6, 15, 107, 25])])
trap("I1_10_negative", "TRANSPOSE_CONV_2D", [given(F32, [1, 1, 2, 1], [1, 2]), unit, bias5, [1, 1, 4, 1], SAME, 2, 1, NONE, False],
     [want(F32, [1, 1, 4, 1], [6, 5, 7, 5])])

# I1-11: sizes by scale are floor(in * scale); the type of the input selects the form.
trap("I1_11", "RESIZE_BILINEAR", [given(F32, [1, 1, 3, 1], [0, 4, 8]), 1.5, 1.0, False], [want(F32, [1, 1, 4, 1], [0, 3, 6, 8])])

# I1-12: scale = (in-1)/(out-1) with aligned corners, half pixels at (x+0.5)*scale-0.5, never both.
trap("I1_12_corners", "RESIZE_BILINEAR", [given(F32, [1, 1, 2, 1], [0, 10]), 3, 1, False, True, False], [want(F32, [1, 1, 3, 1], [0, 5, 10])])
trap("I1_12_half", "RESIZE_BILINEAR", [given(F32, [1, 1, 2, 1], [0, 10]), 4, 1, False, False, True], [want(F32, [1, 1, 4, 1], [0, 2.5, 7.5, 10])])
trap("I1_12_round", "RESIZE_NEAREST_NEIGHBOR", [given(F32, [1, 1, 2, 1], [1, 2]), 3, 1, False, True, False], [want(F32, [1, 1, 3, 1], [1, 2, 2])])
trap("I1_12_floor", "RESIZE_NEAREST_NEIGHBOR", [given(F32, [1, 1, 2, 1], [1, 2]), 3, 1, False, False, False], [want(F32, [1, 1, 3, 1], [1, 1, 2])])
for op in ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"]:
  refused("I1_12_both_" + op.lower(), op, [given(F32, [1, 1, 2, 1], [0, 10]), 3, 1, False, True, True], [want(F32, [1, 1, 3, 1], [0, 5, 10])])

# I1-13: channels are block row, block column, depth; the padded size is whole blocks.
trap("I1_13_depth", "DEPTH_TO_SPACE", [given(F32, [1, 1, 2, 4], eight), 2], [want(F32, [1, 2, 4, 1], [1, 2, 5, 6, 3, 4, 7, 8])])
trap("I1_13_space", "SPACE_TO_DEPTH", [given(F32, [1, 2, 4, 1], [1, 2, 5, 6, 3, 4, 7, 8]), 2], [want(F32, [1, 1, 2, 4], eight)])
trap("I1_13_batch", "SPACE_TO_BATCH_ND", [given(F32, [1, 1, 2, 1], [1, 2]), [1, 2], const(I32, [2, 2], [0, 0, 1, 1])], [want(F32, [2, 1, 2, 1], [0, 2, 1, 0])])
trap("I1_13_unbatch", "BATCH_TO_SPACE_ND", [given(F32, [2, 1, 2, 1], [1, 3, 2, 4]), [1, 2]], [want(F32, [1, 1, 4, 1], four)])
refused("I1_13_part", "SPACE_TO_BATCH_ND", [given(F32, [1, 1, 2, 1], [1, 2]), [1, 2], const(I32, [2, 2], [0, 0, 1, 0])], [want(F32, [2, 1, 2, 1], [0, 2, 1, 0])])
refused("I1_13_depth_part", "DEPTH_TO_SPACE", [given(F32, [1, 1, 1, 3], [1, 2, 3]), 2], [want(F32, [1, 2, 2, 1], four)])

# I1-14: begin and end are clamped, a mask is the whole range in the stride's direction, what is shrunk is one element.
def slice4(row, begin, end, stride, masks, result):
  trap("I1_14_" + row, "STRIDED_SLICE", [given(F32, [4], four), [begin], [end], [stride]] + masks, [want(F32, [len(result)], result)])

slice4("backwards", 10, -10, -1, [0, 0, 0], [4, 3, 2, 1])
slice4("mask", 1, 2, -2, [1, 1, 0], [4, 2])
slice4("clamped", -9, 9, 3, [0, 0, 0], [1, 4])
slice4("shrunk", 1, 2, 1, [0, 0, 1], [2])
refused("I1_14_shrunk_back", "STRIDED_SLICE", [given(F32, [4], four), [1], [2], [-1], 0, 0, 1], [want(F32, [1], [2])])

# I1-15: size -1 is the rest.
trap("I1_15", "SLICE", [given(F32, [5], row5), [2], [-1]], [want(F32, [3], [3, 4, 5])])

# I1-16: what loses every dimension has shape [1].
trap("I1_16_squeeze", "SQUEEZE", [given(F32, [1, 1], [7]), [0, 1]], [want(F32, [1], [7])])
trap("I1_16_reduce", "REDUCE_SUM", [given(F32, [2, 2], four), [0, 1], False], [want(F32, [1], [10])])
trap("I1_16_mean", "MEAN", [given(F32, [2, 2], four), [0, 1], 0], [want(F32, [1], [2.5])])

# I1-17: the axis goes, rank 1 gives [1], the first of equals wins.
trap("I1_17_ties", "ARGMAX", [given(F32, [2, 3], [3, 3, 1, 1, 5, 5]), 1], [want(I32, [2], [0, 1])])
trap("I1_17_min", "ARGMIN", [given(F32, [2, 3], [3, 1, 1, 1, 5, 1]), -1], [want(I32, [2], [1, 0])])
trap("I1_17_vector", "ARGMAX", [given(F32, [3], [1, 9, 9]), 0], [want(I32, [1], [1])])

# I1-18: the largest first, of equal values that of the lower index, which is TensorFlow Lite's order (D-1220).
trap("I1_18", "TOPK_V2", [given(F32, [2, 3], [5, 3, 5, 1, 2, 2]), 2], [want(F32, [2, 2], [5, 5, 2, 2]), want(I32, [2, 2], [0, 2, 1, 2])])

# I1-19: the axis lies in [-(n+1), n].
trap("I1_19_first", "EXPAND_DIMS", [given(F32, [2], [1, 2]), -2], [want(F32, [1, 2], [1, 2])])
trap("I1_19_last", "EXPAND_DIMS", [given(F32, [2], [1, 2]), 1], [want(F32, [2, 1], [1, 2])])
for axis in [-3, 2]:
  refused("I1_19_beyond%d" % (axis + 3), "EXPAND_DIMS", [given(F32, [2], [1, 2]), axis], [want(F32, [2, 1], [1, 2])])

# I1-20: a permutation may be left out of rank 2 alone.
trap("I1_20", "TRANSPOSE", [given(F32, [2, 3], nine[:6]), omit(I32, [0])], [want(F32, [3, 2], [1, 4, 2, 5, 3, 6])])
refused("I1_20_rank", "TRANSPOSE", [given(F32, [1, 2, 3], nine[:6]), omit(I32, [0])], [want(F32, [3, 2, 1], [1, 4, 2, 5, 3, 6])])

# I1-21: one -1 at most, and as many elements as before.
trap("I1_21", "RESHAPE", [given(F32, [2, 3], nine[:6]), [3, -1]], [want(F32, [3, 2], nine[:6])])
refused("I1_21_two", "RESHAPE", [given(F32, [2, 3], nine[:6]), [-1, -1]], [want(F32, [3, 2], nine[:6])])
refused("I1_21_more", "RESHAPE", [given(F32, [2, 3], nine[:6]), [4, 2]], [want(F32, [4, 2], eight)])

# I1-22: parts are equal.
trap("I1_22", "SPLIT", [given(F32, [4], four), 0, 2], [want(F32, [2], [1, 2]), want(F32, [2], [3, 4])])
refused("I1_22_uneven", "SPLIT", [given(F32, [4], four), 0, 3], [want(F32, [1], [1]), want(F32, [1], [2]), want(F32, [2], [3, 4])])

# I1-23: the value of PAD_V2 is a code; PAD of codes pads with the zero point.
front = const(I32, [1, 2], [1, 0])
trap("I1_23_value", "PAD_V2", [given(Q8, [1], [4], 0.5, 2), front, 7], [want(Q8, [2], [7, 4], 0.5, 2)])
trap("I1_23_zero", "PAD", [given(Q8, [1], [4], 0.5, 2), front], [want(Q8, [2], [2, 4], 0.5, 2)])

# I1-24: an index beyond ends in an error.
for i in [2, -1]:
  refused("I1_24_gather%d" % (i + 1), "GATHER", [given(F32, [2, 1], [1, 2]), 0, given(I32, [1], [i])], [want(F32, [1, 1], [1])])
  refused("I1_24_lookup%d" % (i + 1), "EMBEDDING_LOOKUP", [given(I32, [1], [i]), given(F32, [2, 1], [1, 2])], [want(F32, [1, 1], [1])])
trap("I1_24_inside", "GATHER", [given(F32, [2, 1], [1, 2]), 0, given(I32, [3], [1, 0, 1])], [want(F32, [3, 1], [2, 1, 2])])

# I1-25: boxes are x1 y1 x2 y2 in the image, at least one pixel for ROI_ALIGN, with ceil(size/out) samples.
def align(row, box, batch, samples, result, fails=False):
  trap("I1_25_" + row, "ROI_ALIGN", [given(F32, [1, 2, 2, 1], four), given(F32, [1, 4], box), given(I32, [1], [batch]), 1, 1, 1.0, 1.0, samples, samples, False],
       [want(F32, [1, 1, 1, 1], [result])], fails)

align("one", [0, 0, 2, 2], 0, 1, 4)  # the only sample lies at (1, 1)
align("adaptive", [0, 0, 2, 2], 0, 0, 3.25)  # four: 2.5, 3, 3.5, 4
align("small", [0, 0, 0, 0], 0, 1, 2.5)  # of one pixel, its middle
align("inverted", [1, 0, 0, 1], 0, 1, 0, True)
align("batch", [0, 0, 1, 1], 1, 1, 0, True)
trap("I1_25_stride", "ROI_ALIGN", [given(F32, [1, 2, 2, 1], four), given(F32, [1, 4], [0, 0, 4, 8]), given(I32, [1], [0]), 1, 1, 4.0, 2.0, 1, 1, False],
     [want(F32, [1, 1, 1, 1], [4])])
refused("I1_25_inverted_pool", "ROI_POOLING", [given(F32, [1, 2, 2, 1], four), given(F32, [1, 4], [1, 0, 0, 1]), given(I32, [1], [0]), 1, 1, 1.0, 1.0, False],
        [want(F32, [1, 1, 1, 1], [4])])

# I1-30: the peak is refined by its neighbours, which are equal here; one pixel has none.
def heat(size, values):
  return given(F32, [1, size, size, 1], values)

trap("I1_30", "HEATMAP_MAX_KEYPOINT", [heat(3, [1, 1, 1, 1, 9, 1, 1, 1, 1]), given(F32, [1, 4], [0, 0, 30, 30]), False],
     [want(F32, [1, 1], [9]), want(F32, [1, 1, 2], [15, 15])])
refused("I1_30_pixel", "HEATMAP_MAX_KEYPOINT", [heat(1, [9]), given(F32, [1, 4], [0, 0, 30, 30]), False],
        [want(F32, [1, 1], [9]), want(F32, [1, 1, 2], [15, 15])])

# I1-31: the variance of [1, 3] is 1; sqrt(1 + 3) halves.
trap("I1_31", "INSTANCE_NORMALIZATION", [given(F32, [1, 1, 2, 1], [1, 3]), 2.0, 10.0, 3.0, False], [want(F32, [1, 1, 2, 1], [9, 11])])

# I1-32: the window has the radius on each side, the sum is no mean.
trap("I1_32", "LOCAL_RESPONSE_NORMALIZATION", [given(F32, [1, 1, 1, 4], four), 1, 1.0, 1.0, 1.0],
     [want(F32, [1, 1, 1, 4], [1.0 / 6, 2.0 / 15, 3.0 / 30, 4.0 / 26])])

# I1-33: the divisor is at least 1e-6.
trap("I1_33", "L2_NORMALIZATION", [given(F32, [1, 1, 2, 2], [3, 4, 1e-8, 0])], [want(F32, [1, 1, 2, 2], [0.6, 0.8, 1e-2, 0])])
