package nn

// CodebookExtension has 8-bit codes whose values a table lists, as mu-law samples
// and clustered weights have them. It is the example of an extension with a type of its own.
const CodebookExtension = "org.nnsoc.codebook"

// The operation and the operand type of the extension, both its number 0.
const (
	codebookPrefix = 2

	// OpDecodeCodebook maps a TENSOR_QUANT8_CODEBOOK to an 8-bit quantized tensor.
	OpDecodeCodebook OperationType = codebookPrefix << prefixBits
	// TensorQuant8Codebook has elements of one byte. Element q stands for the real
	// number q of the codebook, which is the operand's extension data: 2 to 256 float32,
	// little-endian. Codes beyond the last stand for the last.
	TensorQuant8Codebook OperandType = codebookPrefix << prefixBits
)

var codebookExtension = vendorExtension{ExtensionPrefix{CodebookExtension, codebookPrefix}, []vendorType{
	{"TENSOR_QUANT8_CODEBOOK", ExtensionOperandType{Type: 0, IsTensor: true, ByteSize: 1}, true},
}, []string{"DECODE_CODEBOOK"}}
