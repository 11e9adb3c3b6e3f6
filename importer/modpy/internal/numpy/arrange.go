package numpy

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"go.starlark.net/starlark"
)

// arrange changes the shape or order of one array.
func (c *call) arrange() (starlark.Value, bool, error) {
	t := c.t
	if len(c.args) == 0 {
		return nil, false, nil
	}
	switch c.name {
	case "concatenate", "stack", "vstack", "hstack", "dot", "matmul":
		return nil, false, nil
	}
	a, err := toArray(t, c.args[0])
	if err != nil {
		return nil, true, err
	}
	rest := &call{t, c.name, c.args[1:], c.kwargs}
	// one accepts f(2, 3) as well as f((2, 3)).
	ints := func() ([]int, error) {
		if err := builtin.Arity(c.name, rest.args, c.kwargs, 0, 32); err != nil {
			return nil, err
		}
		if len(rest.args) == 1 {
			return builtin.Ints(t, rest.args[0])
		}
		return builtin.Ints(t, rest.args)
	}
	var v *Array
	var x starlark.Value
	axis := 0
	switch c.name {
	case "reshape":
		var shape []int
		if shape, err = ints(); err == nil {
			v, err = a.reshape(t, shape)
		}
	case "transpose":
		var perm []int
		if len(rest.args) == 0 && len(c.kwargs) > 0 {
			if err = rest.unpack("axes", &x); err == nil {
				perm, err = builtin.Ints(t, x)
			}
		} else {
			perm, err = ints()
		}
		if err == nil {
			if len(perm) == 0 {
				perm = nil
			}
			v, err = a.Transpose(perm)
		}
	case "flatten", "ravel":
		v, err = a.reshape(t, []int{-1})
		if a.Size() == 0 {
			v, err = a.reshape(t, []int{0})
		}
	case "tolist":
		list, err := a.list(t)
		return list, true, err
	case "copy":
		v, err = a.Clone(t)
	case "fill":
		if err = rest.unpack("value", &x); err == nil {
			err = a.Assign(t, x)
		}
		return starlark.None, true, err
	case "astype":
		if err = rest.unpack("dtype", &x); err == nil {
			var d dtype
			if d, err = parseDtype(x, a.dtype); err == nil {
				v, err = a.copyAs(t, d)
			}
		}
	case "swapaxes", "moveaxis":
		other := 0
		if err = rest.unpack("axis1", &axis, "axis2", &other); err == nil {
			v, err = a.moved(axis, other, c.name == "swapaxes")
		}
	case "expand_dims":
		if err = rest.unpack("axis", &axis); err == nil {
			shape := append([]int(nil), a.shape...)
			if axis < 0 {
				axis += len(shape) + 1
			}
			if axis < 0 || axis > len(shape) {
				return nil, true, fmt.Errorf("expand_dims: axis %d of %d", axis, len(shape))
			}
			v, err = a.reshape(t, append(append(append([]int(nil), shape[:axis]...), 1), shape[axis:]...))
		}
	case "squeeze":
		if err = rest.unpack("axis?", &x); err == nil {
			var shape []int
			for i, d := range a.shape {
				drop := d == 1
				if x != nil && x != starlark.None {
					k, err := starlark.AsInt32(x)
					if err != nil {
						return nil, true, err
					}
					drop = i == k || i == k+len(a.shape)
				}
				if !drop {
					shape = append(shape, d)
				}
			}
			v, err = a.reshape(t, shape)
		}
	case "flip":
		if err = rest.unpack("axis?", &x); err == nil {
			key := make(starlark.Tuple, len(a.shape))
			for i := range key {
				key[i] = builtin.NewSlice(starlark.None, starlark.None, starlark.MakeInt(-1))
				if x != nil && x != starlark.None {
					k, err := starlark.AsInt32(x)
					if err != nil {
						return nil, true, err
					}
					if i != k && i != k+len(a.shape) {
						key[i] = builtin.All
					}
				}
			}
			w, err := a.At(t, key)
			return w, true, err
		}
	case "broadcast_to":
		var shape []int
		if shape, err = ints(); err == nil {
			if v, err = a.broadcast(shape); err == nil {
				if _, err = product(shape); err == nil {
					v, err = v.copyAs(t, v.dtype)
				}
			}
		}
	case "take":
		if err = rest.unpack("indices", &x, "axis?", &axis); err == nil {
			if axis < 0 {
				axis += len(a.shape)
			}
			if axis < 0 || axis >= len(a.shape) {
				return nil, true, fmt.Errorf("take: axis %d of %d", axis, len(a.shape))
			}
			w, err := a.gather(t, x, axis)
			if b, ok := w.(*Array); ok && err == nil {
				w = b.scalarOr()
			}
			return w, true, err
		}
	case "repeat":
		v, err = rest.repeat(a)
	case "tile":
		v, err = rest.tile(a)
	case "pad":
		v, err = rest.pad(a)
	case "roll":
		v, err = rest.roll(a)
	case "sort":
		v, err = a.Clone(t)
		if n := len(a.shape); err == nil && n > 0 {
			for i := 0; i < len(v.data); i += max(a.shape[n-1], 1) {
				slices.Sort(v.data[i : i+a.shape[n-1]])
			}
		}
	case "cumsum":
		v, err = a.reshape(t, []int{a.Size()})
		if err == nil {
			for i := 1; i < len(v.data); i++ {
				v.data[i] = v.dtype.round(v.data[i] + v.data[i-1])
			}
		}
	case "split":
		w, err := rest.split(a)
		return w, true, err
	case "clip":
		var lo, hi starlark.Value
		if err = rest.unpack("min", &lo, "max", &hi); err == nil {
			v, err = a.Clone(t)
			for _, b := range []struct {
				v  starlark.Value
				op func(x, y float64) float64
			}{{lo, math.Max}, {hi, math.Min}} {
				if f, ok := starlark.AsFloat(b.v); ok && err == nil {
					for i := range v.data {
						v.data[i] = b.op(v.data[i], f)
					}
				}
			}
		}
	case "round":
		digits := 0
		if err = rest.unpack("decimals?", &digits); err == nil {
			v, err = a.Clone(t)
			scale := math.Pow10(digits)
			for i := range a.Size() {
				if err == nil {
					v.data[i] = a.dtype.round(math.RoundToEven(v.data[i]*scale) / scale)
				}
			}
		}
	default:
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	return v, true, nil
}

func (a *Array) moved(from, to int, swap bool) (*Array, error) {
	n := len(a.shape)
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	if from < 0 || to < 0 || from >= n || to >= n {
		return nil, fmt.Errorf("axes %d and %d of %d", from, to, n)
	}
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	if swap {
		perm[from], perm[to] = to, from
	} else {
		perm = append(perm[:from], perm[from+1:]...)
		perm = append(perm[:to], append([]int{from}, perm[to:]...)...)
	}
	return a.Transpose(perm)
}
