package numpy

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

func (c *call) repeat(a *Array) (starlark.Value, error) {
	var n int
	var axis starlark.Value
	try.E(c.unpack("repeats", &n, "axis?", &axis))
	if n < 0 || n > builtin.MaxValues {
		return nil, fmt.Errorf("repeat: %d times", n)
	}
	k := 0
	if axis == nil || axis == starlark.None {
		a = try.V(a.reshape(c.t, []int{a.Size()}))
	} else {
		k = try.V(starlark.AsInt32(axis))
		if k < 0 {
			k += len(a.shape)
		}
		if k < 0 || k >= len(a.shape) {
			return nil, fmt.Errorf("repeat: axis %d of %d", k, len(a.shape))
		}
	}
	// A new axis of stride 0 after k, then merged with it.
	view := &Array{data: a.data, off: a.off, dtype: a.dtype,
		shape:   append(append(append([]int(nil), a.shape[:k+1]...), n), a.shape[k+1:]...),
		strides: append(append(append([]int(nil), a.strides[:k+1]...), 0), a.strides[k+1:]...)}
	try.V(product(view.shape))
	shape := append([]int(nil), a.shape...)
	shape[k] *= n
	return view.reshape(c.t, shape)
}

// pad widens an array; the new elements are constant or mirror the old ones.
func (c *call) pad(a *Array) (starlark.Value, error) {
	var width, value starlark.Value
	mode := "constant"
	try.E(c.unpack("pad_width", &width, "mode?", &mode, "constant_values?", &value))
	w := try.V(toArray(c.t, width))
	n := len(a.shape)
	w, err := w.broadcast([]int{n, 2})
	if err != nil {
		return nil, fmt.Errorf("pad: %w", err)
	}
	fill := 0.0
	if value != nil && value != starlark.None {
		f, ok := starlark.AsFloat(value)
		if !ok {
			return nil, errors.New("pad: the constant is one number")
		}
		fill = f
	}
	widths := w.Flat()
	shape := make([]int, n)
	for i, d := range a.shape {
		before, after := widths[2*i], widths[2*i+1]
		if before < 0 || after < 0 || before > builtin.MaxValues || after > builtin.MaxValues {
			return nil, fmt.Errorf("pad: widths %v and %v", before, after)
		}
		if mode != "constant" && d == 0 {
			return nil, fmt.Errorf("pad: mode %q of no elements", mode)
		}
		shape[i] = int(before) + d + int(after)
	}
	out := try.V(newArray(c.t, a.dtype, shape))
	idx := make([]int, n)
	for k := range out.data {
		at, inside := a.off, true
		for i, d := range a.shape {
			j := idx[i] - int(widths[2*i])
			switch {
			case j >= 0 && j < d:
			case mode == "constant":
				inside = false
				continue
			case mode == "edge":
				j = min(max(j, 0), d-1)
			case mode == "symmetric":
				if j = ((j % (2 * d)) + 2*d) % (2 * d); j >= d {
					j = 2*d - 1 - j
				}
			case mode == "reflect":
				if period := 2*d - 2; period == 0 {
					j = 0
				} else if j = ((j % period) + period) % period; j >= d {
					j = period - j
				}
			default:
				return nil, fmt.Errorf("pad: mode %.20q is not supported", mode)
			}
			at += j * a.strides[i]
		}
		out.data[k] = out.dtype.round(fill)
		if inside {
			out.data[k] = a.data[at]
		}
		for i := n - 1; i >= 0; i-- {
			if idx[i]++; idx[i] < shape[i] {
				break
			}
			idx[i] = 0
		}
	}
	return out, nil
}

// roll rotates the elements, along an axis or as a flat list.
func (c *call) roll(a *Array) (starlark.Value, error) {
	var by int
	var axis starlark.Value
	try.E(c.unpack("shift", &by, "axis?", &axis))
	flat := axis == nil || axis == starlark.None
	k := 0
	b := a
	var err error
	if flat {
		b, err = a.reshape(c.t, []int{a.Size()})
	} else if k, err = starlark.AsInt32(axis); err == nil {
		if k < 0 {
			k += len(a.shape)
		}
		if k < 0 || k >= len(a.shape) {
			err = fmt.Errorf("roll: axis %d of %d", k, len(a.shape))
		}
	}
	if err != nil {
		return nil, err
	}
	n := b.shape[k]
	if n == 0 {
		return a.Clone(c.t)
	}
	cut := ((-by % n) + n) % n
	key := make(starlark.Tuple, k+1)
	for i := range key {
		key[i] = builtin.All
	}
	var parts []*Array
	for _, s := range []builtin.Slice{builtin.NewSlice(starlark.MakeInt(cut), starlark.None, starlark.None), builtin.NewSlice(starlark.None, starlark.MakeInt(cut), starlark.None)} {
		key[k] = s
		v := try.V(b.At(c.t, key))
		parts = append(parts, v.(*Array))
	}
	out := try.V(concatenate(c.t, parts, k))
	return out.reshape(c.t, a.shape)
}

func (c *call) tile(a *Array) (starlark.Value, error) {
	var x starlark.Value
	try.E(c.unpack("reps", &x))
	reps := try.V(builtin.Ints(c.t, x))
	shape := a.shape
	for len(reps) < len(shape) {
		reps = append([]int{1}, reps...)
	}
	for len(shape) < len(reps) {
		shape = append([]int{1}, shape...)
	}
	a = try.V(a.reshape(c.t, shape))
	for i, n := range reps {
		if n < 0 || n > 1<<16 {
			return nil, fmt.Errorf("tile: %d times", n)
		}
		if n == 0 {
			z := append([]int(nil), a.shape...)
			z[i] = 0
			a = try.V(newArray(c.t, a.dtype, z))
			continue
		}
		parts := make([]*Array, n)
		for k := range parts {
			parts[k] = a
		}
		a = try.V(concatenate(c.t, parts, i))
	}
	return a, nil
}

func (c *call) split(a *Array) (starlark.Value, error) {
	var x starlark.Value
	axis := 0
	try.E(c.unpack("indices_or_sections", &x, "axis?", &axis))
	if axis < 0 {
		axis += len(a.shape)
	}
	if axis < 0 || axis >= len(a.shape) {
		return nil, fmt.Errorf("split: axis %d of %d", axis, len(a.shape))
	}
	size := a.shape[axis]
	var ends []int
	if n, err := starlark.AsInt32(x); err == nil {
		if n < 1 || size%n != 0 {
			return nil, fmt.Errorf("split: %d elements in %d parts", size, n)
		}
		for i := range n {
			ends = append(ends, (i+1)*(size/n))
		}
	} else {
		ends = try.V(builtin.Ints(c.t, x))
		ends = append(ends, size)
	}
	try.E(builtin.Charge(c.t, len(ends)))
	var out []starlark.Value
	from := 0
	for _, end := range ends {
		key := make(starlark.Tuple, axis+1)
		for i := range key {
			key[i] = builtin.All
		}
		key[axis] = builtin.NewSlice(starlark.MakeInt(from), starlark.MakeInt(end), starlark.None)
		v := try.V(a.At(c.t, key))
		out = append(out, v)
		from = end
	}
	return starlark.NewList(out), nil
}
