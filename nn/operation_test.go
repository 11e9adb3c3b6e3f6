package nn

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestOperationCodes checks the numbers against NNAPI's at the ends of each
// range, and that names are unique and read back.
func TestOperationCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		code int32
	}{
		{"ADD", 0}, {"TRANSPOSE", 37}, {"ABS", 38}, {"RESIZE_NEAREST_NEIGHBOR", 94}, {"QUANTIZED_LSTM", 95}, {"RANK", 101},
		{"BATCH_MATMUL", 102}, {"PACK", 103}, {"MIRROR_PAD", 104}, {"REVERSE", 105}, {"DENSIFY", 20000},
	} {
		op, ok := ParseOperationType(c.name)
		require.Check(t, ok && op.Code() == c.code, "%s: code %d, %v; want %d", c.name, op.Code(), ok, c.code)
	}
	for op := range OperationType(OperationCount) {
		if back, ok := ParseOperationType(op.String()); !ok || back != op {
			t.Errorf("%d is %q, which reads as %d", op, op, back)
		}
	}
	for _, op := range []OperationType{OpRequantize, OpQuantize16, OpDequantize16, codeExtensions[0].Decode()} {
		if back, ok := ParseOperationType(op.String()); !ok || back != op || !op.Valid() || op.Code() != int32(op) {
			t.Errorf("%d is %q, which reads as %d", int32(op), op, back)
		}
	}
	if back, ok := ParseOperandType(codeExtensions[0].Type().String()); !ok || back != codeExtensions[0].Type() || back.ElementBytes() != 1 || back.IsScalar() || IsForeign(back) {
		t.Errorf("%s reads as %s", codeExtensions[0].Type(), back)
	}
	if op := OperationType(ExtensionCode(2, 9)); op.Valid() || op.String() != "OperationType(9 of extension 2)" || !IsForeign(OperandType(op)) {
		t.Errorf("an operation that an extension lacks is %s", op)
	}
	if op := OperationType(OperationCount); op.Valid() || op.Code() != int32(OperationCount) {
		t.Errorf("%s is valid or has the code %d", op, op.Code())
	}
}
