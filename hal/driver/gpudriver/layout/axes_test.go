package layout

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// walk lists the offsets of each operand over an index space, the slowest dimension first.
func walk(dims []int, strides ...[]int) (list [][]int) {
	index := make([]int, len(dims))
	for range Product(dims) {
		offsets := make([]int, len(strides))
		for j, s := range strides {
			for d := range dims {
				offsets[j] += index[d] * s[d]
			}
		}
		list = append(list, offsets)
		for d := len(dims) - 1; d >= 0; d-- {
			if index[d]++; index[d] < dims[d] {
				break
			}
			index[d] = 0
		}
	}
	return list
}

// TestCollapse: the axes visit the offsets of the dimensions in their order, with as few axes as the
// strides allow: a dense tensor is one.
func TestCollapse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		dims, other := make([]int, 1+r.IntN(5)), make([]int, 0, 5)
		for d := range dims {
			dims[d] = 1 + r.IntN(4)
		}
		dense := Dense(dims)
		for d := range dims { // repeated, reversed, or as it is
			other = append(other, []int{0, -dense[d], dense[d], dense[d]}[r.IntN(4)])
		}
		a := require.V(Collapse(dims, dense, other))(t)
		var n []int
		strides := [2][]int{}
		for _, x := range a.List() {
			n = append(n, x.N)
			strides[0], strides[1] = append(strides[0], x.Strides[0]), append(strides[1], x.Strides[1])
		}
		if want, got := walk(dims, dense, other), walk(n, strides[0], strides[1]); !slices.EqualFunc(want, got, slices.Equal[[]int]) {
			t.Fatalf("%v with %v: axes %v", dims, other, a.List())
		}
		if one, err := Collapse(dims, dense); err != nil || one.Len != 1 || one.Size() != Product(dims) {
			t.Fatalf("%v: %d axes of %d elements, %v", dims, one.Len, one.Size(), err)
		}
	}
	dims := slices.Repeat([]int{2}, MaxAxes+1)
	if _, err := Collapse(dims, make([]int, len(dims)), slices.Repeat([]int{3}, len(dims))); err == nil {
		t.Errorf("%d dimensions that are not contiguous fit %d axes", len(dims), MaxAxes)
	}
}
