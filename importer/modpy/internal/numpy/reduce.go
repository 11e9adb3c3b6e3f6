package numpy

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

// join is concatenate, stack, vstack and hstack.
func (c *call) join() (starlark.Value, error) {
	var x starlark.Value
	axis := 0
	try.E(c.unpack("arrays", &x, "axis?", &axis))
	var parts []*Array
	err := builtin.Iterate(c.t, x, func(v starlark.Value) error {
		a, err := toArray(c.t, v)
		if err == nil {
			a, err = c.part(a, axis)
		}
		parts = append(parts, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	if c.name == "hstack" && len(parts) > 0 && len(parts[0].shape) > 1 {
		axis = 1
	}
	return concatenate(c.t, parts, axis)
}

// part is an array in the form for concatenation: with a new axis for stack, for vstack a line as a matrix of one row.
func (c *call) part(a *Array, axis int) (*Array, error) {
	switch {
	case c.name == "stack":
		k := try.V(c.axis(axis, len(a.shape)+1))
		return a.reshape(c.t, slices.Insert(slices.Clone(a.shape), k, 1))
	case c.name == "vstack" && len(a.shape) == 1:
		return a.reshape(c.t, []int{1, a.shape[0]})
	}
	return a, nil
}

// product is the matrix product of two arrays of one or two dimensions.
func (c *call) product() (starlark.Value, error) {
	try.E(builtin.Arity(c.name, c.args, c.kwargs, 2, 2))
	a := try.V(toArray(c.t, c.args[0]))
	b := try.V(toArray(c.t, c.args[1]))
	if len(a.shape) < 1 || len(b.shape) < 1 || len(a.shape) > 2 || len(b.shape) > 2 {
		return nil, fmt.Errorf("%s of arrays of %d and %d dimensions is not supported", c.name, len(a.shape), len(b.shape))
	}
	m, n := 1, 1
	k := a.shape[len(a.shape)-1]
	var shape []int
	if len(a.shape) == 2 {
		m = a.shape[0]
		shape = append(shape, m)
	}
	if len(b.shape) == 2 {
		n = b.shape[1]
		shape = append(shape, n)
	}
	if b.shape[0] != k {
		return nil, fmt.Errorf("%s of shapes %v and %v", c.name, a.shape, b.shape)
	}
	if cost, err := product([]int{m, n, max(k, 1)}); err != nil {
		return nil, err
	} else if err := builtin.Charge(c.t, cost); err != nil {
		return nil, err
	}
	out := try.V(newArray(c.t, max(a.dtype, b.dtype), shape))
	p, q := a.Flat(), b.Flat()
	for i := range m {
		for j := range n {
			sum := 0.0
			for l := range k {
				sum += p[i*k+l] * q[l*n+j]
			}
			out.data[i*n+j] = out.dtype.round(sum)
		}
	}
	return out.scalarOr(), nil
}

// reduce folds one array over axes.
func (c *call) reduce() (starlark.Value, error) {
	var x, axes starlark.Value
	keep := false
	try.E(c.unpack("a", &x, "axis?", &axes, "keepdims?", &keep))
	a := try.V(toArray(c.t, x))
	over := try.V(c.over(axes, len(a.shape)))
	var outer, inner, kept []int // outer and inner axes, and the result's shape
	n := 1
	for i, d := range a.shape {
		if over[i] {
			inner = append(inner, i)
			n *= d
			if keep {
				kept = append(kept, 1)
			}
		} else {
			outer = append(outer, i)
			kept = append(kept, d)
		}
	}
	b := a
	if len(a.shape) > 0 {
		b = try.V(a.Transpose(append(outer, inner...)))
	}
	out := try.V(newArray(c.t, c.folded(a.dtype), kept))
	try.E(builtin.Charge(c.t, a.Size()))
	values := b.Flat()
	for i := range out.data {
		v := try.V(fold(c.name, values[i*n:(i+1)*n]))
		out.data[i] = out.dtype.round(v)
	}
	return out.scalarOr(), nil
}

// over reports for each of n axes whether it is folded; without axes all of them are.
func (c *call) over(axes starlark.Value, n int) ([]bool, error) {
	over := make([]bool, n)
	if axes == nil || axes == starlark.None {
		for i := range over {
			over[i] = true
		}
		return over, nil
	}
	list := try.V(builtin.Ints(c.t, axes))
	for _, k := range list {
		at := try.V(c.axis(k, n))
		over[at] = true
	}
	return over, nil
}

// folded is the type of the result for elements of a type.
func (c *call) folded(d dtype) dtype {
	switch c.name {
	case "all", "any":
		return dBool
	case "argmax", "argmin":
		return dInt64
	case "mean":
		if !d.float() {
			return dFloat64
		}
	case "sum", "prod":
		if !d.float() {
			return dInt64
		}
	}
	return d
}

// fold is the function of a name on a line of elements.
func fold(name string, x []float64) (float64, error) {
	if len(x) == 0 && name != "sum" && name != "prod" && name != "all" && name != "any" {
		return 0, fmt.Errorf("%s of no elements", name)
	}
	acc, at := 0.0, 0
	switch name {
	case "prod", "all":
		acc = 1
	case "max", "min", "argmax", "argmin":
		acc = x[0]
	}
	for i, v := range x {
		switch name {
		case "sum", "mean":
			acc += v
		case "prod":
			acc *= v
		case "all":
			acc *= float64(builtin.BoolToInt(v != 0))
		case "any":
			acc = max(acc, float64(builtin.BoolToInt(v != 0)))
		case "max", "argmax":
			if v > acc {
				acc, at = v, i
			}
		case "min", "argmin":
			if v < acc {
				acc, at = v, i
			}
		}
	}
	switch name {
	case "mean":
		acc /= float64(len(x))
	case "argmax", "argmin":
		acc = float64(at)
	}
	return acc, nil
}
