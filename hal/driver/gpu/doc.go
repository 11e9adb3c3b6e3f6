// Package gpu is the NNAPI driver of the GPU: it lowers models of TENSOR_FLOAT32
// and TENSOR_FLOAT16 operations to gfx1030 machine code, wave32 in CU mode, and
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
// # Kernels
//
//	gemm       CONV_2D, FULLY_CONNECTED: lanes are output channels, weights in vector registers, activations of up to 16 positions in scalar registers, so nearly every instruction is v_fmac with a scalar operand
//	gather     rows of a convolution's input as a matrix, where channels are no multiple of 16 bytes
//	depthwise  DEPTHWISE_CONV_2D: lanes are channels
//	pool       AVERAGE_POOL_2D, MAX_POOL_2D: lanes are channels
//	flat       elementwise operations of one or two tensors, QUANTIZE, DEQUANTIZE, conversions: lanes are elements
//	rows       CONCATENATION, PAD, RESHAPE, SQUEEZE and what reorders elements: strided copies
//	softmax    one wave per row, reductions across lanes
//	mean       lanes are results
//
// All arithmetic on tensor values happens in these programs. What Go computes
// when a model is prepared depends on the model alone: packed weights, tables of
// addresses, sizes.
//
// Not supported: quantized arithmetic, filters that are not constant. Operations
// that copy one tensor take parameters and shapes that only an execution brings;
// the others must know them when the model is prepared.
package gpu
