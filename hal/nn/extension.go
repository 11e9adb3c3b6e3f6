package nn

// Codes of extension types and operations have the extension's prefix in the high 16
// bits and a number inside the extension in the low ones. Prefix 0 is NNAPI itself.
const prefixBits = 16

// IsExtensionOperandType reports whether a type is of an extension.
func IsExtensionOperandType(t OperandType) bool { return uint32(t)>>prefixBits != 0 }

// IsExtensionOperationType reports whether an operation is of an extension.
func IsExtensionOperationType(t OperationType) bool { return uint32(t.Code())>>prefixBits != 0 }

// ExtensionCode joins a prefix and a number inside the extension.
func ExtensionCode(prefix, number uint16) int32 {
	return int32(uint32(prefix)<<prefixBits | uint32(number))
}

// SplitExtensionCode is the inverse of ExtensionCode.
func SplitExtensionCode(code int32) (prefix, number uint16) {
	return uint16(uint32(code) >> prefixBits), uint16(code)
}
