package modpy

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The Starlark side of an array.

func (a *array) String() string {
	if a.size() > 1000 {
		return fmt.Sprintf("array(shape=%v)", a.shape)
	}
	return fmt.Sprintf("array(%v, shape=%v)", a.flat(), a.shape)
}
func (a *array) Type() string          { return "ndarray" }
func (a *array) Freeze()               {}
func (a *array) Truth() starlark.Bool  { return a.size() == 1 && a.data[a.off] != 0 }
func (a *array) Hash() (uint32, error) { return 0, errors.New("an array is not hashable") }

// Len is the size of the first dimension.
func (a *array) Len() int {
	if len(a.shape) == 0 {
		return 0
	}
	return a.shape[0]
}

// Index is the i-th sub-array, or element.
func (a *array) Index(i int) starlark.Value {
	v, err := a.index(nil, starlark.MakeInt(i))
	if err != nil {
		return starlark.None
	}
	return v
}

// Slice is a[start:end:step].
func (a *array) Slice(start, end, step int) starlark.Value {
	lo, hi := starlark.Value(starlark.MakeInt(start)), starlark.Value(starlark.MakeInt(end))
	if step < 0 && end < 0 {
		hi = starlark.None
	}
	v, err := a.index(nil, starlark.Tuple{sliceValue{lo, hi, starlark.MakeInt(step)}})
	if err != nil {
		return starlark.None
	}
	return v
}

// Get is a[key].
func (a *array) Get(key starlark.Value) (starlark.Value, bool, error) {
	v, err := a.index(new(starlark.Thread), key)
	return v, err == nil, err
}

// SetKey is a[key] = v.
func (a *array) SetKey(key, v starlark.Value) error {
	t := new(starlark.Thread)
	if k, ok := key.(starlark.Tuple); ok && len(k) == len(a.shape) || !ok && len(a.shape) == 1 {
		// One element, unless a slice is among the indexes.
		view := &array{data: a.data, off: a.off, dtype: a.dtype, shape: append(append([]int(nil), a.shape...), 1), strides: append(append([]int(nil), a.strides...), 0)}
		w, err := view.index(t, key)
		if err != nil {
			return err
		}
		if one, ok := w.(*array); ok && len(one.shape) == 1 {
			return one.assign(t, v)
		}
	}
	w, err := a.index(t, key)
	if err != nil {
		return err
	}
	if view, ok := w.(*array); ok {
		return view.assign(t, v)
	}
	return errors.New("this element of an array cannot be assigned to")
}

// Iterate gives the sub-arrays of the first dimension.
func (a *array) Iterate() starlark.Iterator { return &arrayIterator{a: a} }

type arrayIterator struct {
	a *array
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
func (a *array) Unary(op syntax.Token) (starlark.Value, error) {
	if op == syntax.PLUS {
		return a, nil
	}
	if op != syntax.MINUS {
		return nil, nil
	}
	b, err := a.copyAs(new(starlark.Thread), a.dtype)
	if err != nil {
		return nil, err
	}
	for i := range b.data {
		b.data[i] = -b.data[i]
	}
	return b, nil
}

func (a *array) AttrNames() []string {
	return append([]string{"T", "dtype", "ndim", "shape", "size"}, arrayMethodNames...)
}

// Attr gives a property or a bound method.
func (a *array) Attr(name string) (starlark.Value, error) {
	switch name {
	case "shape":
		return intTuple(a.shape), nil
	case "ndim":
		return starlark.MakeInt(len(a.shape)), nil
	case "size":
		return starlark.MakeInt(a.size()), nil
	case "T":
		return a.transpose(nil)
	case "dtype":
		for _, n := range []string{"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float16", "float32", "float64"} {
			if dtypeNames[n] == a.dtype {
				return starlark.String(n), nil
			}
		}
	}
	if !slices.Contains(arrayMethodNames, name) {
		return nil, nil
	}
	f := numpyFunction(name)
	return function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(t, append(starlark.Tuple{a}, args...), kwargs)
	}), nil
}

func intTuple(x []int) starlark.Tuple {
	out := make(starlark.Tuple, len(x))
	for i, v := range x {
		out[i] = starlark.MakeInt(v)
	}
	return out
}

var (
	_ starlark.Sliceable = (*array)(nil)
	_ starlark.Iterable  = (*array)(nil)
	_ starlark.Mapping   = (*array)(nil)
	_ starlark.HasSetKey = (*array)(nil)
	_ starlark.HasUnary  = (*array)(nil)
	_ starlark.HasAttrs  = (*array)(nil)
)
