package numpy

import (
	"fmt"
	"math"
	"slices"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

// Functions that change the shape or the order of an array, or its elements in place.

// ints are the arguments as integers: f(2, 3) is f((2, 3)).
func (c *call) ints() ([]int, error) {
	try.E(builtin.Arity(c.name, c.args, c.kwargs, 0, 32))
	if len(c.args) == 1 {
		return builtin.Ints(c.t, c.args[0])
	}
	return builtin.Ints(c.t, c.args)
}

// axis is an axis of n that may count from the back.
func (c *call) axis(k, n int) (int, error) {
	at := k
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return 0, fmt.Errorf("%s: axis %d of %d", c.name, k, n)
	}
	return at, nil
}

func (c *call) reshape(a *Array) (starlark.Value, error) {
	shape := try.V(c.ints())
	return a.reshape(c.t, shape)
}

func (c *call) transpose(a *Array) (starlark.Value, error) {
	var perm []int
	var err error
	if len(c.args) == 0 && len(c.kwargs) > 0 {
		var axes starlark.Value
		if err = c.unpack("axes", &axes); err == nil {
			perm, err = builtin.Ints(c.t, axes)
		}
	} else {
		perm, err = c.ints()
	}
	if err != nil {
		return nil, err
	}
	if len(perm) == 0 {
		perm = nil
	}
	return a.Transpose(perm)
}

func (c *call) flatten(a *Array) (starlark.Value, error) { return a.reshape(c.t, []int{a.Size()}) }

func (c *call) tolist(a *Array) (starlark.Value, error) { return a.list(c.t) }

func (c *call) copied(a *Array) (starlark.Value, error) { return a.Clone(c.t) }

func (c *call) fill(a *Array) (starlark.Value, error) {
	var x starlark.Value
	try.E(c.unpack("value", &x))
	return starlark.None, a.Assign(c.t, x)
}

func (c *call) astype(a *Array) (starlark.Value, error) {
	var x starlark.Value
	try.E(c.unpack("dtype", &x))
	d := try.V(parseDtype(x, a.dtype))
	return a.copyAs(c.t, d)
}

// swapaxes is moveaxis, too.
func (c *call) swapaxes(a *Array) (starlark.Value, error) {
	var from, to int
	try.E(c.unpack("axis1", &from, "axis2", &to))
	return a.moved(from, to, c.name == "swapaxes")
}

func (c *call) expandDims(a *Array) (starlark.Value, error) {
	var axis int
	try.E(c.unpack("axis", &axis))
	at := try.V(c.axis(axis, len(a.shape)+1))
	return a.reshape(c.t, slices.Insert(slices.Clone(a.shape), at, 1))
}

// only reads an optional axis, and returns which axes of an array it means.
func (c *call) only() (chosen func(i, n int) bool, given bool, err error) {
	var x starlark.Value
	if err := c.unpack("axis?", &x); err != nil || x == nil || x == starlark.None {
		return func(int, int) bool { return true }, false, err
	}
	k, err := starlark.AsInt32(x)
	return func(i, n int) bool { return i == k || i == k+n }, true, err
}

func (c *call) squeeze(a *Array) (starlark.Value, error) {
	chosen, given := try.V2(c.only())
	var shape []int
	for i, d := range a.shape {
		if !chosen(i, len(a.shape)) || !given && d != 1 {
			shape = append(shape, d)
		}
	}
	return a.reshape(c.t, shape)
}

func (c *call) flip(a *Array) (starlark.Value, error) {
	chosen, _ := try.V2(c.only())
	key := make(starlark.Tuple, len(a.shape))
	for i := range key {
		if key[i] = builtin.All; chosen(i, len(key)) {
			key[i] = builtin.NewSlice(starlark.None, starlark.None, starlark.MakeInt(-1))
		}
	}
	return a.At(c.t, key)
}

func (c *call) broadcastTo(a *Array) (starlark.Value, error) {
	shape := try.V(c.ints())
	v := try.V(a.broadcast(shape))
	try.V(product(shape))
	return v.Clone(c.t)
}

func (c *call) take(a *Array) (starlark.Value, error) {
	var x starlark.Value
	axis := 0
	try.E(c.unpack("indices", &x, "axis?", &axis))
	axis = try.V(c.axis(axis, len(a.shape)))
	v, err := a.gather(c.t, x, axis)
	if b, ok := v.(*Array); ok && err == nil {
		return b.scalarOr(), nil
	}
	return v, err
}

// sort sorts along the last axis.
func (c *call) sort(a *Array) (starlark.Value, error) {
	v, err := a.Clone(c.t)
	if n := len(a.shape); err == nil && n > 0 {
		for i := 0; i < len(v.data); i += max(a.shape[n-1], 1) {
			slices.Sort(v.data[i : i+a.shape[n-1]])
		}
	}
	return v, err
}

func (c *call) cumsum(a *Array) (starlark.Value, error) {
	v := try.V(a.reshape(c.t, []int{a.Size()}))
	for i := 1; i < len(v.data); i++ {
		v.data[i] = v.dtype.round(v.data[i] + v.data[i-1])
	}
	return v, nil
}

func (c *call) clip(a *Array) (starlark.Value, error) {
	var lo, hi starlark.Value
	try.E(c.unpack("min", &lo, "max", &hi))
	v := try.V(a.Clone(c.t))
	for _, b := range []struct {
		v  starlark.Value
		op func(x, y float64) float64
	}{{lo, math.Max}, {hi, math.Min}} {
		if f, ok := starlark.AsFloat(b.v); ok {
			for i := range v.data {
				v.data[i] = b.op(v.data[i], f)
			}
		}
	}
	return v, nil
}

func (c *call) round(a *Array) (starlark.Value, error) {
	digits := 0
	try.E(c.unpack("decimals?", &digits))
	v := try.V(a.Clone(c.t))
	scale := math.Pow10(digits)
	for i := range v.data {
		v.data[i] = a.dtype.round(math.RoundToEven(v.data[i]*scale) / scale)
	}
	return v, nil
}

// moved is the array with one axis moved to the place of another, which is swapped with it or shifted.
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
