package hal

// Extension is a vendor extension that a device supports, with all its operand types.
type Extension struct {
	Name         string // in reverse domain form: org.nnsoc.quantization
	OperandTypes []ExtensionOperandType
}

// ExtensionOperandType is an operand type of an extension.
type ExtensionOperandType struct {
	Type     uint16 // its number inside the extension
	IsTensor bool
	ByteSize uint32 // of the value, or of one element of a tensor
}
