package refcpu

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// sparse is a DENSIFY of a 3x4 matrix with two levels.
func sparse(values uint32, order, format, sizes []int32, meta ...[]int32) *graph {
	g := &graph{}
	in := g.input(nn.TensorQuant16Asymm, 1, 500, values)
	out := g.output(nn.TensorQuant16Asymm, 1, 500)
	g.Operands[out].Dimensions = []uint32{0, 0}
	ops := []uint32{in, g.int32s(order...), g.int32s(), g.int32s(format...), g.int32s(sizes...)}
	for _, m := range meta {
		ops = append(ops, g.int32s(m...))
	}
	g.op(nn.OpDensify, []uint32{out}, ops...)
	return g
}

// TestDensify fills with the zero point and refuses lists that do not fit.
func TestDensify(t *testing.T) {
	order, csr, sizes := []int32{1, 0}, []int32{1, 1}, []int32{4, 3} // columns lead
	good := [][]int32{{0, 2}, {1, 3}, {0, 1, 3}, {2, 0, 1}}
	values := []byte{1, 0, 2, 0, 3, 0}
	got := require.V(runOnce(sparse(3, order, csr, sizes, good...), 1, values))(t)
	want := bytes.Repeat([]byte{500 & 255, 500 >> 8}, 12)
	for v, at := range []int{2*4 + 1, 0*4 + 3, 1*4 + 3} {
		want[2*at], want[2*at+1] = byte(v+1), 0
	}
	require.Equal(t, want, got)
	replace := func(i int, with ...int32) [][]int32 {
		m := append([][]int32{}, good...)
		m[i] = with
		return m
	}
	for _, c := range []struct {
		want string
		g    *graph
	}{
		{"segment bounds", sparse(3, order, csr, sizes, replace(0, 0, 2, 2)...)},
		{"segment bounds", sparse(3, order, csr, sizes, replace(0, -1, 2)...)},
		{"segment bounds", sparse(3, order, csr, sizes, replace(2, 0, 1, 9)...)},
		{"segment 1 begins at 4", sparse(3, order, csr, sizes, replace(2, 0, 4, 3)...)},
		{"index 1 is 4", sparse(3, order, csr, sizes, replace(1, 1, 4)...)},
		{"index 0 is -1", sparse(3, order, csr, sizes, replace(3, -1, 0, 1)...)},
		{"3 values for 2 places", sparse(3, order, csr, sizes, []int32{0, 2}, []int32{1, 3}, []int32{0, 1, 2}, []int32{2, 0})},
		{"is no order", sparse(3, []int32{0, 0}, csr, sizes, good...)},
		{"is no order", sparse(3, []int32{0, 7}, csr, sizes, good...)},
		{"has format 2", sparse(3, order, []int32{1, 2}, sizes, good...)},
		{"has size 0", sparse(3, order, csr, []int32{4, 0}, good...)},
		{"too large", sparse(3, order, csr, []int32{1 << 20, 1 << 20}, good...)},
		{"2 levels, 1 formats", sparse(3, order, []int32{1}, sizes, good...)},
		{"3 lists", sparse(3, order, csr, sizes, good[:3]...)},
		{"3 values for 12 places", sparse(3, order, []int32{0, 0}, sizes, nil, nil, nil, nil)},
	} {
		require.ErrorContains(t, require.Err(runOnce(c.g, 1, values)), c.want)
	}
}
