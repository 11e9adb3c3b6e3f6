package mlts

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestNumbers: values of outputs are compared as their types say, quantized ones as their codes.
func TestNumbers(t *testing.T) {
	words := func(v ...uint32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return b
	}
	for _, c := range []struct {
		typ  nn.OperandType
		data []byte
		want []float64
	}{
		{nn.TensorFloat32, words(math.Float32bits(-1.5), math.Float32bits(3)), []float64{-1.5, 3}},
		{nn.TensorQuant8Asymm, []byte{0, 127, 128, 255}, []float64{0, 127, 128, 255}},
		{nn.TensorQuant8AsymmSigned, []byte{0, 127, 128, 255}, []float64{0, 127, -128, -1}},
		{nn.TensorInt32, words(7, 1<<31, 1<<32-1), []float64{7, math.MinInt32, -1}},
	} {
		got := require.V(numbers(&nn.Operand{Type: c.typ}, c.data))(t)
		require.Check(t, slices.Equal(got, c.want), "%v: %v, want %v", c.typ, got, c.want)
	}
	require.ErrorContains(t, require.Err(numbers(&nn.Operand{Type: nn.TensorBool8}, []byte{1})), "TENSOR_BOOL8", "a type without numbers")
}
