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

// TestRoundingInHalves: where a model lets devices compute in halves, the last bit that is flipped
// is a half's, and an output may be as far off as that moves it; without leave it may not.
func TestRoundingInHalves(t *testing.T) {
	for _, c := range []struct {
		relaxed bool
		times   float64 // of the effect of a half's last bit, by which the output is off
		wrong   int
	}{
		{true, 0, 0}, {true, 3, 0}, {true, 8, 1}, {true, math.NaN(), 1}, {true, math.Inf(1), 1}, {false, 3, 1},
	} {
		m := cancelling(t, 2)
		m.Relaxed = c.relaxed
		inputs := [][]byte{floatBytes(2, 1.5, 1.25, 1)}
		expected := require.V(cpudriver.ReferenceTensors(m, inputs))(t)
		relaxed := *m
		relaxed.Relaxed = true
		moved := require.V(cpudriver.Rounding(&relaxed, inputs, expected))(t)
		if half := 1.0 / (1 << 10); moved[0] < 1e4*half/2 || moved[0] > 1e4*4*half {
			t.Errorf("flipped bits of halves move %v", moved)
		}
		actual := expected[0]
		actual.Data = append([]byte(nil), actual.Data...)
		copy(actual.Data, floatBytes(1e4+float32(c.times*moved[0])))
		if got := cpudriver.Compare(m, inputs, expected, []compare.Tensor{actual}); got[0].Mismatches != c.wrong {
			t.Errorf("%+v: %d mismatches, %v, rounding %v", c, got[0].Mismatches, got[0].Err(), expected[0].Rounding)
		}
	}
}

// TestIntegersOfAScale: a TENSOR_INT32 that a network with floats rounds to steps of a scale may be
// a step off, or as many as rounding moves it; a count may not, nor the result of integers alone.
func TestIntegersOfAScale(t *testing.T) {
	for _, c := range []struct {
		name          string
		scale         float32
		floats        bool
		off           int32
		wrongElements int
	}{
		{"scale, a step", 0.5, true, 1, 0},
		{"scale, two steps", 0.5, true, 2, 1},
		{"no scale", 0, true, 1, 1},
		{"no floats", 0.5, false, 1, 1},
	} {
		typ := nn.TensorFloat32
		if !c.floats {
			typ = nn.TensorInt32
		}
		m := &nn.Model{Main: nn.Subgraph{
			Operands: []nn.Operand{
				{Type: typ, Dimensions: []uint32{2}, Lifetime: nn.SubgraphInput},
				{Type: typ, Dimensions: []uint32{2}, Lifetime: nn.TemporaryVariable},
				{Type: nn.TensorInt32, Dimensions: []uint32{2}, Scale: c.scale, Lifetime: nn.SubgraphOutput},
			},
			Operations: []nn.Operation{
				{Type: nn.OpAbs, Inputs: []uint32{0}, Outputs: []uint32{1}},
				{Type: nn.OpCast, Inputs: []uint32{1}, Outputs: []uint32{2}},
			},
			Inputs: []uint32{0}, Outputs: []uint32{2},
		}}
		input := floatBytes(3.5, 1000.5)
		expected := require.V(cpudriver.ReferenceTensors(m, [][]byte{input}))(t)
		actual := expected[0]
		actual.Data = append([]byte(nil), actual.Data...)
		binary.LittleEndian.PutUint32(actual.Data, binary.LittleEndian.Uint32(actual.Data)+uint32(c.off))
		got := cpudriver.Compare(m, [][]byte{input}, expected, []compare.Tensor{actual})
		require.Check(t, got[0].Mismatches == c.wrongElements, "%s: %d mismatches, %v", c.name, got[0].Mismatches, got[0].Err())
	}
}
