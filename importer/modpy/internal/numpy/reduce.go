package numpy

import (
	"fmt"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"go.starlark.net/starlark"
)

// combine joins or multiplies several arrays.
func (c *call) combine() (starlark.Value, bool, error) {
	t := c.t
	switch c.name {
	case "concatenate", "stack", "vstack", "hstack":
		var x starlark.Value
		axis := 0
		if err := c.unpack("arrays", &x, "axis?", &axis); err != nil {
			return nil, true, err
		}
		var parts []*Array
		err := builtin.Iterate(t, x, func(v starlark.Value) error {
			a, err := toArray(t, v)
			if err != nil {
				return err
			}
			if c.name == "stack" {
				k := axis
				if k < 0 {
					k += len(a.shape) + 1
				}
				if k < 0 || k > len(a.shape) {
					return fmt.Errorf("stack: axis %d of %d", axis, len(a.shape))
				}
				shape := append(append(append([]int(nil), a.shape[:k]...), 1), a.shape[k:]...)
				if a, err = a.reshape(t, shape); err != nil {
					return err
				}
			}
			if c.name == "vstack" && len(a.shape) == 1 {
				if a, err = a.reshape(t, []int{1, a.shape[0]}); err != nil {
					return err
				}
			}
			parts = append(parts, a)
			return nil
		})
		if c.name == "hstack" && len(parts) > 0 && len(parts[0].shape) > 1 {
			axis = 1
		}
		if err != nil {
			return nil, true, err
		}
		v, err := concatenate(t, parts, axis)
		return v, true, err
	case "dot", "matmul":
		if err := builtin.Arity(c.name, c.args, c.kwargs, 2, 2); err != nil {
			return nil, true, err
		}
		v, err := c.product()
		return v, true, err
	}
	return nil, false, nil
}

// product is the matrix product of two arrays of one or two dimensions.
func (c *call) product() (starlark.Value, error) {
	a, err := toArray(c.t, c.args[0])
	if err != nil {
		return nil, err
	}
	b, err := toArray(c.t, c.args[1])
	if err != nil {
		return nil, err
	}
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
	out, err := newArray(c.t, max(a.dtype, b.dtype), shape)
	if err != nil {
		return nil, err
	}
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
func (c *call) reduce() (starlark.Value, bool, error) {
	switch c.name {
	case "sum", "prod", "max", "min", "mean", "all", "any", "argmax", "argmin":
	default:
		return nil, false, nil
	}
	var x, axes starlark.Value
	keep := false
	if err := c.unpack("a", &x, "axis?", &axes, "keepdims?", &keep); err != nil {
		return nil, true, err
	}
	a, err := toArray(c.t, x)
	if err != nil {
		return nil, true, err
	}
	over := make([]bool, len(a.shape))
	if axes == nil || axes == starlark.None {
		for i := range over {
			over[i] = true
		}
	} else {
		list, err := builtin.Ints(c.t, axes)
		if err != nil {
			return nil, true, err
		}
		for _, k := range list {
			if k < 0 {
				k += len(over)
			}
			if k < 0 || k >= len(over) {
				return nil, true, fmt.Errorf("%s: axis %d of %d", c.name, k, len(over))
			}
			over[k] = true
		}
	}
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
	b, err := a.Transpose(append(outer, inner...))
	if err == nil && len(a.shape) == 0 {
		b = a
	}
	if err != nil {
		return nil, true, err
	}
	d := a.dtype
	switch c.name {
	case "mean":
		if !d.float() {
			d = dFloat64
		}
	case "sum", "prod", "argmax", "argmin":
		if c.name[0] == 'a' || !d.float() {
			d = dInt64
		}
	case "all", "any":
		d = dBool
	}
	out, err := newArray(c.t, d, kept)
	if err != nil {
		return nil, true, err
	}
	if err := builtin.Charge(c.t, a.Size()); err != nil {
		return nil, true, err
	}
	values := b.Flat()
	for i := range out.data {
		v, err := fold(c.name, values[i*n:(i+1)*n])
		if err != nil {
			return nil, true, err
		}
		out.data[i] = d.round(v)
	}
	return out.scalarOr(), true, nil
}

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
