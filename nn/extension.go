package nn

import "fmt"

// Codes of extension types and operations have the extension's prefix in the high 16
// bits and a number inside the extension in the low ones. Prefix 0 is NNAPI itself. Which
// extension a prefix stands for is a matter of each model: Model.Extensions.
const prefixBits = 16

// IsExtensionOperandType reports whether a type is of an extension.
func IsExtensionOperandType(t OperandType) bool { return uint32(t)>>prefixBits != 0 }

// IsExtensionOperationType reports whether an operation is of an extension.
func IsExtensionOperationType(t OperationType) bool { return uint32(t)>>prefixBits != 0 }

// ExtensionCode joins a prefix and a number inside the extension.
func ExtensionCode(prefix, number uint16) int32 {
	return int32(uint32(prefix)<<prefixBits | uint32(number))
}

// SplitExtensionCode is the inverse of ExtensionCode.
func SplitExtensionCode(code int32) (prefix, number uint16) {
	return uint16(uint32(code) >> prefixBits), uint16(code)
}

// ExtensionPrefix is a row of a model's extensionNameToPrefix.
type ExtensionPrefix struct {
	Name   string // in reverse domain form: org.nnsoc.quantization
	Prefix uint16 // not 0
}

// ExtensionOperandType is an operand type of an extension.
type ExtensionOperandType struct {
	Type     uint16 // its number inside the extension
	IsTensor bool
	ByteSize uint32 // of the value, or of one element of a tensor
}

// QuantizationExtension has REQUANTIZE, and the conversions between float32 and 16 bits that NNAPI's
// QUANTIZE and DEQUANTIZE lack. It, HostExtension and CodeExtensions are the vendor extensions of this project. A driver or
// runtime without an extension declines its operations. Their purpose is in docs/RATIONALE.md.
const QuantizationExtension = "org.nnsoc.quantization"

// Operations of the extension. The codes of vendor extensions have the prefixes that the
// importers and builders of this project assign; a model of another origin may have others,
// which opspec.Table.Localize converts to these.
const (
	quantizationPrefix = 1

	// OpRequantize maps an 8-bit quantized tensor to another scale, zero point or
	// signedness.
	OpRequantize OperationType = quantizationPrefix << prefixBits
	// OpQuantize16 and OpDequantize16 are QUANTIZE to TENSOR_QUANT16_ASYMM and DEQUANTIZE from
	// it, of float32.
	OpQuantize16   OperationType = OpRequantize + 1
	OpDequantize16 OperationType = OpRequantize + 2
)

// vendorExtension is an extension of this project. Types and operations are listed by
// their numbers inside.
type vendorExtension struct {
	ExtensionPrefix
	types      []vendorType
	operations []string
}

type vendorType struct {
	name string
	ExtensionOperandType
}

var vendorExtensions = func() []vendorExtension {
	list := []vendorExtension{{ExtensionPrefix{QuantizationExtension, quantizationPrefix}, nil, []string{"REQUANTIZE", "QUANTIZE_16", "DEQUANTIZE_16"}}}
	list = append(list, vendorExtension{ExtensionPrefix{HostExtension, hostPrefix}, nil, hostNames[:]})
	for _, e := range codeExtensions {
		one := vendorType{e.TypeName, ExtensionOperandType{Type: 0, IsTensor: true, ByteSize: 1}}
		list = append(list, vendorExtension{e.ExtensionPrefix, []vendorType{one}, []string{e.OperationName}})
	}
	return list
}()

// CodeExtension is an extension of this project with one operand type, whose elements are codes of a byte without a sign, and
// one operation, which makes an 8-bit quantized tensor of them. Both have the number 0. A file of this package has all of
// an extension: its row, its reference, its lowerings and its random models follow from these fields.
type CodeExtension struct {
	ExtensionPrefix
	TypeName, OperationName string
	// Values are the real numbers that codes stand for, by the extension data of an operand.
	Values func(data []byte) ([256]float32, error)
	// Draw draws valid extension data; choose decides between 0 and n-1.
	Draw func(choose func(n int) int) []byte
}

// Type is the operand type.
func (e *CodeExtension) Type() OperandType { return OperandType(ExtensionCode(e.Prefix, 0)) }

// Decode is the operation.
func (e *CodeExtension) Decode() OperationType { return OperationType(ExtensionCode(e.Prefix, 0)) }

// CodeExtensions are the extensions of this project that have codes.
func CodeExtensions() []*CodeExtension { return codeExtensions }

// CodesOf is the extension whose codes are elements of a type, nil for another type.
func CodesOf(t OperandType) *CodeExtension {
	for _, e := range codeExtensions {
		if e.Type() == t {
			return e
		}
	}
	return nil
}

// VendorExtensions are the extensions of this project with the prefixes of their codes
// in this package.
func VendorExtensions() []ExtensionPrefix {
	list := make([]ExtensionPrefix, len(vendorExtensions))
	for i := range list {
		list[i] = vendorExtensions[i].ExtensionPrefix
	}
	return list
}

// ExtensionOperandTypes are the operand types of an extension of this project.
func ExtensionOperandTypes(name string) []ExtensionOperandType {
	var list []ExtensionOperandType
	for _, e := range vendorExtensions {
		if e.Name != name {
			continue
		}
		for _, x := range e.types {
			list = append(list, x.ExtensionOperandType)
		}
	}
	return list
}

// vendorOf is the extension of this project that a code is of, nil when none is.
func vendorOf(code int32) (e *vendorExtension, number uint16) {
	prefix, number := SplitExtensionCode(code)
	for i := range vendorExtensions {
		if vendorExtensions[i].Prefix == prefix {
			return &vendorExtensions[i], number
		}
	}
	return nil, number
}

// extensionOperand describes an operand type of this project's extensions.
func extensionOperand(t OperandType) *vendorType {
	if e, n := vendorOf(int32(t)); e != nil && int(n) < len(e.types) {
		return &e.types[n]
	}
	return nil
}

// IsCode reports whether elements of a type are bytes without a sign that the extension data of the operand
// gives a meaning.
func (t OperandType) IsCode() bool { return CodesOf(t) != nil }

// ExtensionOperandTypeNamed returns the operand type of this project's extensions that has a name.
func ExtensionOperandTypeNamed(name string) (t OperandType, ok bool) {
	for _, e := range vendorExtensions {
		for i := range e.types {
			if e.types[i].name == name {
				return OperandType(ExtensionCode(e.Prefix, uint16(i))), true
			}
		}
	}
	return 0, false
}

// extensionOperation names an operation of this project's extensions.
func extensionOperation(t OperationType) string {
	if e, n := vendorOf(int32(t)); e != nil && int(n) < len(e.operations) {
		return e.operations[n]
	}
	return ""
}

// extensionText names a code that this package does not know.
func extensionText(what string, code int32) string {
	prefix, number := SplitExtensionCode(code)
	return fmt.Sprintf("%s(%d of extension %d)", what, number, prefix)
}

// Codes that NNAPI gave to vendors before it had extensions. What they mean only a driver knows.
const (
	OEM           OperandType   = 10000 // a scalar of the driver's size
	TensorOEMByte OperandType   = 10001 // of bytes
	OpOEM         OperationType = 10000
)

// IsOEM reports whether a type is one of those that vendors have had since HAL 1.0.
func IsOEM(t OperandType) bool { return t == OEM || t == TensorOEMByte }

// IsForeign reports whether a type is OEM or of an extension that this package does not have, so
// that only a driver knows the size of its elements and whether it has dimensions.
func IsForeign(t OperandType) bool {
	return t == OEM || IsExtensionOperandType(t) && extensionOperand(t) == nil
}

// ExtensionOf is the name of the extension that a code of the model is of.
func (m *Model) ExtensionOf(code int32) (name string, ok bool) {
	prefix, _ := SplitExtensionCode(code)
	for _, e := range m.Extensions {
		if e.Prefix == prefix {
			return e.Name, true
		}
	}
	return "", false
}
