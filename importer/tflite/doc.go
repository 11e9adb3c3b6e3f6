// Package tflite reads TensorFlow Lite models (flatbuffers, identifier TFL3)
// into nn.Model.
//
// A TFLite operator becomes the NNAPI operation of the same meaning; scalars
// that TFLite keeps in option tables become constant operands. Types: uint8
// becomes TENSOR_QUANT8_ASYMM, int8 TENSOR_QUANT8_ASYMM_SIGNED, int8 filters
// with one scale per channel TENSOR_QUANT8_SYMM_PER_CHANNEL. TFLite's QUANTIZE
// between two quantized types has no NNAPI twin: it becomes DEQUANTIZE to a
// float32 temporary followed by QUANTIZE.
//
// Constants alias the file's bytes. Files are hostile until verified: offsets,
// vector lengths, table counts, tensor sizes and operand indexes are checked
// before use and an Error says where the first wrong one is.
//
// Field ids, type and operator codes are facts of the published format
// (tensorflow/lite/schema/schema.fbs).
package tflite
