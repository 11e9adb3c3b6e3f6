package cpudriver_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/compare"
)

func floatBytes(values ...float32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// cancelling is 10000 x - 10000, of which a flipped last bit of x moves much; of one operation it
// is 10000 x.
func cancelling(t *testing.T, operations int) *nn.Model {
	t.Helper()
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{4}}), "x")
	y := b.Apply(nn.OpMul, nn.TensorFloat32, builder.Quant{}, x, b.Floats([]uint32{1}, 1e4), b.Int32(0))
	if operations == 2 {
		y = b.Apply(nn.OpSub, nn.TensorFloat32, builder.Quant{}, y, b.Floats([]uint32{1}, 1e4), b.Int32(0))
	}
	b.Output(y, "y")
	m := require.V(b.Model("cancelling"))(t)
	return m
}

// TestCompareRounding: what rounding does to a network's float output counts when the output
// leaves the rule of networks, a few times, and never for one operation, for what is no number
// or beyond a small share of the range.
func TestCompareRounding(t *testing.T) {
	for _, c := range []struct {
		operations int
		x          []float32
		times      float64 // Rounding by which the output is off
		wrong      int
	}{
		{2, []float32{1.001, 0.999, 1.0003, 1}, 0, 0},
		{2, []float32{1.001, 0.999, 1.0003, 1}, 3, 0},
		{2, []float32{1.001, 0.999, 1.0003, 1}, 5, 1},
		{2, []float32{1.001, 0.999, 1.0003, 1}, math.NaN(), 1},
		{2, []float32{1.001, 0.999, 1.0003, 1}, math.Inf(1), 1},
		{2, []float32{1.00001, 0.99999, 1, 1}, 3, 1}, // all that is left is rounding
		{1, []float32{1.001, 0.999, 1.0003, 1}, 8, 1},
	} {
		m := cancelling(t, c.operations)
		inputs := [][]byte{floatBytes(c.x...)}
		expected := require.V(cpudriver.ReferenceTensors(m, inputs))(t)
		moved := require.V(cpudriver.Rounding(m, inputs, expected))(t)
		if ulp := 1.0 / (1 << 23); moved[0] < 1e4*ulp/2 || moved[0] > 1e4*4*ulp {
			t.Errorf("flipped bits move %v", moved)
		}
		actual := expected[0]
		actual.Data = append([]byte(nil), actual.Data...)
		first := math.Float32frombits(binary.LittleEndian.Uint32(actual.Data))
		copy(actual.Data, floatBytes(first+float32(c.times*moved[0])))
		if got := cpudriver.Compare(m, inputs, expected, []compare.Tensor{actual}); got[0].Mismatches != c.wrong {
			t.Errorf("%+v: %d mismatches, %v", c, got[0].Mismatches, got[0].Err())
		}
		if known, asked := expected[0].Rounding > 0, c.operations == 2 && c.times != 0; known != asked {
			t.Errorf("%+v: rounding %v", c, expected[0].Rounding)
		}
	}
}

// TestRoundingIsOfFloats: outputs of other types do not move.
func TestRoundingIsOfFloats(t *testing.T) {
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}}), "x")
	b.Output(b.Apply(nn.OpCast, nn.TensorInt32, builder.Quant{}, x), "y")
	m := require.V(b.Model("cast"))(t)
	inputs := [][]byte{floatBytes(1<<24-1, 0)} // with another last bit, another integer
	expected := require.V(cpudriver.ReferenceTensors(m, inputs))(t)
	require.Same(t, 0, require.V(cpudriver.Rounding(m, inputs, expected))(t)[0])
}
