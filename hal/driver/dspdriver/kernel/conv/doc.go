// Package conv has the kernels of CONV_2D, FULLY_CONNECTED, GROUPED_CONV_2D and
// TRANSPOSE_CONV_2D with the packers of their weights.
//
//	GEMM       a lane is an output channel: weights in vectors, inputs as scalar words;
//	           plain, software-pipelined, or by the Z window, which holds the inputs of four
//	           positions, with the zero-point correction beside it
//	Spatial    a lane is a position, for few output channels: inputs in vectors,
//	           weights as scalar words
//	ZeroPoint  part of GEMM: the window sums that a filter zero point multiplies
//	FoldZeroPoint  subtracts the input's zero point from the biases of runtime weights
package conv
