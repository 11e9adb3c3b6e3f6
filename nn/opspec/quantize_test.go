package opspec

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// TestRequantizeTable compares every byte with the definition in exact
// arithmetic: zo + (q - zi)*si/so, halves away from zero, clamped. Fixed point
// rounds twice where si < so, so that a value within a quarter of a half may be
// one off.
func TestRequantizeTable(t *testing.T) {
	const u, s = nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned
	for _, c := range []struct {
		in, out nn.OperandType
		si, so  float32
		zi, zo  int32
	}{
		{u, s, 0.5, 0.5, 128, 0}, // the same values with the other sign
		{s, u, 0.25, 0.25, -3, 125},
		{u, u, 1, 2, 0, 0}, // every second byte is a half
		{u, u, 2, 1, 100, 3},
		{s, s, 0.0235, 0.0471, -7, 11},
		{s, u, 3.2e38, 1e-38, 0, 5}, // saturates on both sides
		{u, s, 1e-38, 3.2e38, 9, -4},
	} {
		g := &nn.Subgraph{
			Operands: []nn.Operand{
				{Type: c.in, Dimensions: []uint32{1}, Scale: c.si, ZeroPoint: c.zi, Lifetime: nn.SubgraphInput},
				{Type: c.out, Dimensions: []uint32{1}, Scale: c.so, ZeroPoint: c.zo, Lifetime: nn.SubgraphOutput},
			},
			Operations: []nn.Operation{{Type: nn.OpRequantize, Inputs: []uint32{0}, Outputs: []uint32{1}}},
			Inputs:     []uint32{0}, Outputs: []uint32{1},
		}
		v := ModelView(g)
		op := require.V(Read[Unary](v, &g.Operations[0]))(t)
		lo, hi := quantized.Limits(c.out)
		for i, got := range require.V(op.ByteTable(v))(t) {
			q, have := float64(i), float64(got)
			if c.in == s {
				q = float64(int8(i))
			}
			if c.out == s {
				have = float64(int8(got))
			}
			exact := (q - float64(c.zi)) * float64(c.si) / float64(c.so)
			want := min(max(math.Round(exact)+float64(c.zo), float64(lo)), float64(hi))
			allowed := 0.0
			if _, f := math.Modf(math.Abs(exact)); c.si < c.so && math.Abs(f-0.5) <= 0.25 {
				allowed = 1
			}
			require.Check(t, math.Abs(have-want) <= allowed, "%+v: %v gives %v, want %v", c, q, have, want)
		}
	}
}
