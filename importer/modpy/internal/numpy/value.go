package numpy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The Starlark side of an array.

func (a *Array) String() string {
	if a.Size() > 1000 {
		return fmt.Sprintf("array(shape=%v)", a.shape)
	}
	return fmt.Sprintf("array(%v, shape=%v)", a.Flat(), a.shape)
}
func (a *Array) Type() string          { return "ndarray" }
func (a *Array) Freeze()               {}
func (a *Array) Truth() starlark.Bool  { return a.Size() == 1 && a.data[a.off] != 0 }
func (a *Array) Hash() (uint32, error) { return 0, errors.New("an array is not hashable") }

// Len is the size of the first dimension.
func (a *Array) Len() int {
	if len(a.shape) == 0 {
		return 0
	}
	return a.shape[0]
}

// Index is the i-th sub-array, or element.
func (a *Array) Index(i int) starlark.Value {
	v, err := a.At(nil, starlark.MakeInt(i))
	if err != nil {
		return starlark.None
	}
	return v
}

// Slice is a[start:end:step].
func (a *Array) Slice(start, end, step int) starlark.Value {
	lo, hi := starlark.Value(starlark.MakeInt(start)), starlark.Value(starlark.MakeInt(end))
	if step < 0 && end < 0 {
		hi = starlark.None
	}
	v, err := a.At(nil, starlark.Tuple{builtin.NewSlice(lo, hi, starlark.MakeInt(step))})
	if err != nil {
		return starlark.None
	}
	return v
}

// Get is a[key].
func (a *Array) Get(key starlark.Value) (starlark.Value, bool, error) {
	v, err := a.At(new(starlark.Thread), key)
	return v, err == nil, err
}

// SetKey is a[key] = v.
func (a *Array) SetKey(key, v starlark.Value) error {
	t := new(starlark.Thread)
	if k, ok := key.(starlark.Tuple); ok && len(k) == len(a.shape) || !ok && len(a.shape) == 1 {
		// One element, unless a slice is among the indexes.
		view := &Array{data: a.data, off: a.off, dtype: a.dtype, shape: append(append([]int(nil), a.shape...), 1), strides: append(append([]int(nil), a.strides...), 0)}
		w, err := view.At(t, key)
		if err != nil {
			return err
		}
		if one, ok := w.(*Array); ok && len(one.shape) == 1 {
			return one.Assign(t, v)
		}
	}
	w, err := a.At(t, key)
	if err != nil {
		return err
	}
	if view, ok := w.(*Array); ok {
		return view.Assign(t, v)
	}
	return errors.New("this element of an array cannot be assigned to")
}

// Iterate iterates over the sub-arrays of the first dimension.
func (a *Array) Iterate() starlark.Iterator { return &arrayIterator{a: a} }

type arrayIterator struct {
	a *Array
	i int
}

func (it *arrayIterator) Next(p *starlark.Value) bool {
	if it.i >= it.a.Len() {
		return false
	}
	*p = it.a.Index(it.i)
	it.i++
	return true
}

func (it *arrayIterator) Done() {}

// Unary is -a and +a.
func (a *Array) Unary(op syntax.Token) (starlark.Value, error) {
	if op == syntax.PLUS {
		return a, nil
	}
	if op != syntax.MINUS {
		return nil, nil
	}
	b, err := a.Clone(new(starlark.Thread))
	if err != nil {
		return nil, err
	}
	for i := range b.data {
		b.data[i] = -b.data[i]
	}
	return b, nil
}

// AttrNames lists the properties and methods.
func (a *Array) AttrNames() []string {
	names := []string{"T", "dtype", "ndim", "shape", "size"}
	for name, f := range functions {
		if f.method {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Attr returns a property or a bound method.
func (a *Array) Attr(name string) (starlark.Value, error) {
	switch name {
	case "shape":
		return builtin.IntTuple(a.shape), nil
	case "ndim":
		return starlark.MakeInt(len(a.shape)), nil
	case "size":
		return starlark.MakeInt(a.Size()), nil
	case "T":
		return a.Transpose(nil)
	case "dtype":
		for _, n := range []string{"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float16", "float32", "float64"} {
			if dtypeNames[n] == a.dtype {
				return starlark.String(n), nil
			}
		}
	}
	f := functions[name]
	if !f.method {
		return nil, nil
	}
	return function(name, func(c *call) (starlark.Value, error) {
		c.args = append(starlark.Tuple{a}, c.args...)
		return f.of(c)
	}), nil
}

var (
	_ starlark.Sliceable = (*Array)(nil)
	_ starlark.Iterable  = (*Array)(nil)
	_ starlark.Mapping   = (*Array)(nil)
	_ starlark.HasSetKey = (*Array)(nil)
	_ starlark.HasUnary  = (*Array)(nil)
	_ starlark.HasAttrs  = (*Array)(nil)
)
