package refcpu

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestRearrangeLimits: axes, paddings and shapes that NNAPI forbids are refused.
func TestRearrangeLimits(t *testing.T) {
	const f32 = nn.TensorFloat32
	mirror := func(mode int32, before, after int32) *graph {
		g := &graph{}
		in := g.input(f32, 0, 0, 3)
		out := g.output(f32, 0, 0, 0)
		g.op(nn.OpMirrorPad, []uint32{out}, in, g.constant(nn.TensorInt32, 0, 0, int32Bytes(before, after), 1, 2), g.int32(mode))
		return g
	}
	reverse := func(axes ...int32) *graph {
		g := &graph{}
		in := g.input(f32, 0, 0, 3)
		g.op(nn.OpReverse, []uint32{g.output(f32, 0, 0, 3)}, in, g.int32s(axes...))
		return g
	}
	pack := func(axis int32) *graph {
		g := &graph{}
		in := g.input(f32, 0, 0, 3)
		g.op(nn.OpPack, []uint32{g.output(f32, 0, 0, 0, 0)}, g.int32(axis), in, in)
		return g
	}
	in := floatBytes(1, 2, 3)
	for _, c := range []struct {
		g    *graph
		want []float32 // nil: refused
	}{
		{mirror(0, 2, 2), []float32{3, 2, 1, 2, 3, 2, 1}},
		{mirror(1, 3, 3), []float32{3, 2, 1, 1, 2, 3, 3, 2, 1}},
		{mirror(0, 3, 0), nil}, {mirror(1, 0, 4), nil}, {mirror(2, 0, 0), nil}, {mirror(1, -1, 0), nil},
		{reverse(0), []float32{3, 2, 1}}, {reverse(-1), nil}, {reverse(1), nil}, {reverse(0, 0), nil}, {reverse(), nil},
		{pack(0), []float32{1, 2, 3, 1, 2, 3}}, {pack(1), []float32{1, 1, 2, 2, 3, 3}}, {pack(2), nil}, {pack(-1), nil},
	} {
		got, err := runOnce(c.g, 1, in)
		name := fmt.Sprint(c.g.Operations[0].Type, " ", c.want)
		if c.want == nil {
			require.Fails(t, err, name, "accepted")
		} else if err != nil || !bytes.Equal(got, floatBytes(c.want...)) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
