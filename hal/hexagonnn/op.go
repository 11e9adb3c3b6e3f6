package hexagonnn

import "strings"

// Op is an operation of Hexagon NN. The numbers are the positions in the interface's
// list as of Android 8.1, which only ever grows at its end.
type Op uint32

// opNames is that list; "+" stands for a second entry, the reference implementation.
var opNames = expand(`INPUT OUTPUT Nop Const Check Close_f Close_quint8 Close_q_quint8 Close_int32 Close_qint32
PPrint_8 PPrint_32 PPrint_f PreFree Flatten
QuantizedConv2d_8x8to32+ QuantizedMatMul_8x8to32+ QuantizeDownAndShrinkRange_32to8+ QuantizedRelu_8+ QuantizedReluX_8+
QuantizedMaxPool_8+ QuantizedAvgPool_8+ QuantizedL2Pool_8+ QuantizedConcat_8+ QuantizedBiasAdd_8p8to32+ Min_f+ Max_f+
Quantize+ Dequantize+ Supernode_8x8p8to8+
QuantizedFlatten Softmax_f Conv2d_f MatMul_f Relu_f ReluX_f AvgPool_f L2Pool_f MaxPool_f Concat_f BiasAdd_f LRN_f
Variable Assign Reshape QuantizedReshape Tanh_f Sigmoid_f Slice_8 Slice_f QuantizedSlice_8 Add_f Mul_f Minimum_f Maximum_f
Requantize_32to8+ RequantizationRange_32+
Neg_f Sub_f AddN_f Range_int32 Rank_int32 Transpose_int32 Transpose_f InstanceNorm_f QuantizedInstanceNorm_8+ Sub_int32
Add_int32 Split_f Dequantize_qint32_f PRelu_f QuantizedPRelu_8+ Sum_f Prod_f Mul_int32 LogicalAnd_int32 LogicalOr_int32
LogicalXor_int32 Shape_int32 Pack_int32 MirrorPad_f ResizeNearestNeighbor_f StridedSlice_int32 StridedSlice_f
ExpandDims_int32 ExpandDims_f
LogSoftmax_f Split_int32 QuantizedSplit_8
Deconv_f QuantizedDeconv_8x8to32+
QuantizedMul_8x8to32+ QuantizedAdd_8p8to32+ QuantizedSigmoid_8+ QuantizedTanh_8+ QuantizedSoftmax_8+ QuantizedLRN_8+
Quantizedpad2d_frame_8p+ QuantizedSub_8p8to32+ QuantizedMaximum_8+ QuantizedMinimum_8+
Pad_f SpaceToBatchND_f BatchToSpaceND_f QuantizedPad_8 ResizeBilinear_f ConcatV2_f ConcatV2_int32 Prod_int32 Slice_int32
QuantizedAdd_8p8to8 QuantizedResizeBilinear_8 Supernode_8x8p8to8_d32 Convert_to_d32 Convert_from_d32
QuantizedMaxPool_8_d32+ QuantizedConcat_8_d32+ QuantizedAvgPool_8_d32+
Sink
QuantizedPRelu_8_d32+ AutoQuantize+ QuantizedDepthwiseConv2d_8x8to32+ DepthwiseConv2d_f DepthwiseSupernode_8x8p8to8
DepthwiseSupernode_8x8p8to8_d32
QuantizedMul_8x8to8_d32+
FullyConnected_u8
QuantizedAdd_8p8to8_d32+
QuantizedClamp_8+ Clamp_f QuantizeForTest_d32 Close_d32 QuantizedSub_8x8to8_d32+
InputSupernode_8x8p8to8_outd32 QuantizedLRN_8_d32 QuantizedBiasAdd_32p32to32+ Quantize_int32+
Supernode_8x8p32to8 DepthwiseSupernode_8x8p32to8 Supernode_8x8p32to8_d32 DepthwiseSupernode_8x8p32to8_d32
InputSupernode_8x8p32to8_outd32
PPrint_8_d32 PPrintWithPadding_8_d32 AutoQuantize_d32+
QuantizedTanh_8_d32+ QuantizedSigmoid_8_d32+`)

func expand(list string) []string {
	var names []string
	for _, s := range strings.Fields(list) {
		name, twice := strings.CutSuffix(s, "+")
		names = append(names, name)
		if twice {
			names = append(names, name+"_ref")
		}
	}
	return names
}

// String is op_id_to_name: the name without the prefix OP_.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return "unknown operation"
}

// OpByName is op_name_to_id, with or without the prefix OP_.
func OpByName(name string) (Op, bool) {
	name = strings.TrimPrefix(name, "OP_")
	for i, n := range opNames {
		if n == name {
			return Op(i), true
		}
	}
	return 0, false
}

// base is the name of what an operation computes: without the suffixes that choose a
// layout or an implementation.
func (o Op) base() string {
	name := o.String()
	for _, suffix := range []string{"_ref", "_outd32", "_d32"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.TrimPrefix(name, "Input") // InputSupernode: a layout, too
}
