// Package gpudriver is the NNAPI driver of the GPU: it lowers models of float and
// quantized operations to gfx1030 machine code, wave32 in CU mode, and
// runs it on a gpu.Core.
//
// # Memory
//
// Tensors are dense NHWC in one arena, with pages of zeros and of minus infinity
// at its start that stand in for padding. Constants (packed weights, biases, tables of tap
// offsets) are in a second, read-only region. Every kernel gets the two base
// addresses as arguments; sizes and offsets are part of its code.
//
// In relaxed models float32 tensors are stored as halves; model inputs and
// outputs are converted by kernels. Convolutions of halves multiply with
// v_dot2c_f32_f16 and accumulate in float32; everything else computes in
// float32 between conversions.
//
// # Packages
//
//	graph    (hal/driver/graph) a model made canonical by the passes in lower/family/table.go
//	lower    operations to steps: one file per family, one table from operation to function; fuse.go then joins elementwise functions with the kernels whose results they read
//	step     a lowered graph as data: kernels with their arguments, tensors, operations
//	kernel   one package per family: what it computes, its key, its constants, its code
//	         gemm         CONV_2D, FULLY_CONNECTED: lanes are output channels, weights in vector registers, activations of up to 16 positions in scalar registers, so nearly every instruction is v_fmac with a scalar operand
//	         texel        CONV_2D, GROUPED_CONV_2D, DEPTHWISE_CONV_2D of floats on a machine with Config.Texels, in the form of a phone's library: a load per texel of four channels
//	         window       DEPTHWISE_CONV_2D, AVERAGE_POOL_2D, MAX_POOL_2D: lanes are channels
//	         elementwise  functions of one or two tensors, QUANTIZE, DEQUANTIZE, conversions: lanes are elements
//	         move         CONCATENATION, PAD, RESHAPE, SQUEEZE and what reorders elements: strided copies; rows of a convolution's input as a matrix, where channels are no multiple of 16 bytes
//	         reduce       SOFTMAX: one wave per row, reductions across lanes; MEAN: lanes are results
//	         rdna         the builder that all of them, and kernels from outside, are written with
//	cost     cycles of a launch from the work that its kernel counts
//	layout   elements, tensors, constants and the pages that padding reads
//	plan     steps to a program: lifetimes, places, constants, code
//
// All arithmetic on tensor values happens in these programs. What Go computes
// when a model is prepared depends on the model alone: packed weights, tables of
// addresses, sizes.
//
// Not supported: the rows with Refuse in lower/family/table.go. Parameters and shapes may
// come with an execution, which then lowers.
package gpudriver
