package hal

import "github.com/nnsoc/nnsoc/nn"

// Extension is a vendor extension that a device supports, with all its operand types.
type Extension struct {
	Name         string // in reverse domain form: org.nnsoc.quantization
	OperandTypes []ExtensionOperandType
}

// ExtensionOperandType is an operand type of an extension.
type ExtensionOperandType = nn.ExtensionOperandType

// VendorExtension describes an extension of this project.
func VendorExtension(name string) Extension {
	return Extension{Name: name, OperandTypes: nn.ExtensionOperandTypes(name)}
}
