package layout

import (
	"fmt"
	"slices"
)

// Bounds of an index space.
const (
	MaxAxes     = 8
	maxOperands = 4
)

// Axis is a dimension of an index space with a stride per operand.
type Axis struct {
	N       int
	Strides [maxOperands]int
}

// Axes is an index space, the slowest axis first. It is comparable.
type Axes struct {
	Len  int
	Axis [MaxAxes]Axis
}

// List is the axes as a slice of a copy.
func (a Axes) List() []Axis { return a.Axis[:a.Len] }

// Same reports whether operand j has an element for each of operand 0, in the same order.
func (a Axes) Same(j int) bool {
	return !slices.ContainsFunc(a.List(), func(x Axis) bool { return x.Strides[j] != x.Strides[0] })
}

// Size is the number of indexes.
func (a Axes) Size() int {
	n := 1
	for _, x := range a.List() {
		n *= x.N
	}
	return n
}

// Collapse merges dimensions that are contiguous in every operand and drops those of
// one element. strides are in elements, one list per operand.
func Collapse(dims []int, strides ...[]int) (Axes, error) {
	var out Axes
	for i, n := range dims {
		if n == 1 {
			continue
		}
		x := Axis{N: n}
		for j, s := range strides {
			x.Strides[j] = s[i]
		}
		if out.Len > 0 && out.Axis[out.Len-1].merges(&x, len(strides)) {
			last := &out.Axis[out.Len-1]
			last.N *= n
			last.Strides = x.Strides
			continue
		}
		if out.Len == MaxAxes {
			return out, fmt.Errorf("shape %v: more than %d dimensions that are not contiguous", dims, MaxAxes)
		}
		out.Axis[out.Len] = x
		out.Len++
	}
	if out.Len == 0 {
		out.Len, out.Axis[0].N = 1, 1
	}
	return out, nil
}

// merges reports whether x continues an axis.
func (a *Axis) merges(x *Axis, operands int) bool {
	for j := range operands {
		if a.Strides[j] != x.Strides[j]*x.N {
			return false
		}
	}
	return true
}

// Dense are the strides of a dense tensor.
func Dense(dims []int) []int {
	s := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// Product is the number of elements of a shape.
func Product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Flat is the index space of n consecutive elements of several operands.
func Flat(n, operands int) Axes {
	a := Axes{Len: 1}
	a.Axis[0].N = n
	for i := range operands {
		a.Axis[0].Strides[i] = 1
	}
	return a
}
