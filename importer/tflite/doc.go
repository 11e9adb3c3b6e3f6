// Package tflite reads TensorFlow Lite models (flatbuffers, identifier TFL3)
// into nn.Model.
//
// Each builtin operator has a row: its versions, its options and its conversion to operations of NNAPI, one where both
// agree, a composition elsewhere. Rows are by family in builtins_*.go, custom operators in custom.go. An operator that
// NNAPI cannot express has a row with the reason, and a network with such operators fails with the list of all of them.
//
// Shapes follow from the inputs, as in TensorFlow Lite: those that the file
// states for other tensors are used only where shapes depend on execution. An operation of
// constants is computed during the import by the reference CPU; that resolves
// the arithmetic of shapes, float16 and sparse weights.
//
// Types: uint8 becomes TENSOR_QUANT8_ASYMM, int8 TENSOR_QUANT8_ASYMM_SIGNED,
// int8 filters with one scale per channel TENSOR_QUANT8_SYMM_PER_CHANNEL. Wider
// integers are narrowed to int32; a value that does not fit is an error. Quantized
// int16 is TENSOR_INT32 with a scale, TENSOR_QUANT16_SYMM as the state of an
// LSTM. INT32 and INT64 with a scale are stored integers, whose scale operators keep,
// read or refuse (scales.go). Operations that NNAPI lacks for a type compute in float32
// (adapt.go). Float inputs of products with 8-bit weights are rounded as the
// hybrid kernels round them (builtins_quantization.go). A requantization between
// 8-bit types is REQUANTIZE of nnsoc's vendor extension, one operation that no
// partition can split.
//
// COMPLEX64 is a pair of float32 tensors, and a Fourier transform a product of matrices
// (builtins_signal.go).
//
// Variable tensors and resource variables become inputs and outputs at the end
// of the lists, paired in nn.Model.States. IF and WHILE become NNAPI's; their
// subgraphs are converted for the shapes of each use. CALL_ONCE is run by the
// import. Scalars are tensors of one element. Dimensions beyond the fourth are
// merged into the first.
//
// Constants alias the file's bytes. Files are hostile until verified: offsets, vector lengths, table counts, tensor
// sizes and operand indexes are checked before use, time and memory are bounded, and an Error has the position of the
// first defect.
package tflite
