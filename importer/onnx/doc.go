// Package onnx reads ONNX models (protocol buffers, importer/onnx/onnxfile) of operator sets
// 1 to 28 into nn.Model.
//
// Each operator has a row: its inputs, outputs and its conversion to operations of NNAPI, one where both agree, a
// composition elsewhere, on importer/lowering. There is a file of rows per family. An operator that NNAPI cannot
// express becomes an operation of the host where there is one (host.go, nn.HostExtension). Others have a row with the
// reason (import.go), and a network with them fails with the list of all of them and their attributes. Functions of a model are inlined, and so are branches and loops with constant conditions;
// others become IF and WHILE (control.go).
//
// Layout: ONNX has the channels of an image second, NNAPI has them last. A value stays in the
// order in which it was computed until an operator needs the other (value.go), so that a
// network of convolutions has one TRANSPOSE at its input.
// Sequences [N, C, W] are images of one row.
//
// Quantization: between DequantizeLinear and QuantizeLinear operators become NNAPI's on
// quantized tensors, QLinear operators do (quantize.go). uint8 is TENSOR_QUANT8_ASYMM, int8
// TENSOR_QUANT8_ASYMM_SIGNED, int8 weights with one scale per channel
// TENSOR_QUANT8_SYMM_PER_CHANNEL; weights of the other sign are shifted by 128. Integers that
// are not quantized have scale 1. Wider integers are narrowed to int32, a value that
// does not fit is an error; DOUBLE and BFLOAT16 are float32.
//
// Shapes follow from the inputs; value_info of inner tensors is not read. An open dimension
// of an input needs Options.Shapes; a first one with a name is 1 without them. An operation of constants is computed during the import.
// Scalars are tensors of one element. Dimensions beyond the fourth are merged into the first.
//
// Constants may alias the file's bytes. Files are hostile until read: depth, messages, list lengths, tensor sizes and
// operations are bounded, and an Error has the position of the first defect. Data in other files is opened by
// Options.External.
package onnx
