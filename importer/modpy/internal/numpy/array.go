package numpy

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/x448/float16"
	"go.starlark.net/starlark"
)

// Array is the part of numpy.ndarray that specifications use: a strided view of float64 storage with a data type that
// determines how values are rounded.
type Array struct {
	data    []float64
	off     int
	shape   []int
	strides []int
	dtype   dtype
}

// dtype is the element type of an array.
type dtype uint8

const (
	dBool dtype = iota
	dInt8
	dUint8
	dInt16
	dUint16
	dInt32
	dUint32
	dInt64
	dFloat16
	dFloat32
	dFloat64
)

var dtypeNames = map[string]dtype{
	"bool": dBool, "bool_": dBool, "int8": dInt8, "uint8": dUint8, "int16": dInt16, "uint16": dUint16,
	"int32": dInt32, "uint32": dUint32, "int64": dInt64, "int": dInt64, "int_": dInt64,
	"float16": dFloat16, "float32": dFloat32, "single": dFloat32, "float64": dFloat64, "float": dFloat64, "double": dFloat64,
}

func (d dtype) float() bool { return d >= dFloat16 }

// round makes x a value of the type; integers are cut and wrap.
func (d dtype) round(x float64) float64 {
	switch d {
	case dBool:
		return float64(builtin.BoolToInt(x != 0))
	case dFloat16:
		return float64(float16.Fromfloat32(float32(x)).Float32())
	case dFloat32:
		return float64(float32(x))
	case dFloat64:
		return x
	}
	if math.IsNaN(x) || math.Abs(x) >= 1<<62 {
		return 0
	}
	i := int64(x)
	switch d {
	case dInt8:
		i = int64(int8(i))
	case dUint8:
		i = int64(uint8(i))
	case dInt16:
		i = int64(int16(i))
	case dUint16:
		i = int64(uint16(i))
	case dInt32:
		i = int64(int32(i))
	case dUint32:
		i = int64(uint32(i))
	}
	return float64(i)
}

func (d dtype) value(x float64) starlark.Value {
	if d == dBool {
		return starlark.Bool(x != 0)
	}
	if d.float() {
		return starlark.Float(x)
	}
	return starlark.MakeInt64(int64(x))
}

// IsArray reports whether v is an array.
func IsArray(v starlark.Value) bool { _, ok := v.(*Array); return ok }

func product(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("dimension %d is negative", d)
		}
		if d > 0 && n > builtin.MaxValues/d {
			return 0, fmt.Errorf("an array of shape %v has more than %d elements", shape, builtin.MaxValues)
		}
		n *= d
	}
	return n, nil
}

func contiguous(shape []int) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= shape[i]
	}
	return s
}

// View is an array over data.
func View(data []float64, shape []int) (*Array, error) {
	if n, err := product(shape); err != nil || n != len(data) {
		return nil, fmt.Errorf("%d values for the dimensions %v", len(data), shape)
	}
	return &Array{data: data, shape: shape, strides: contiguous(shape), dtype: dFloat64}, nil
}

// newArray allocates a zeroed array within the budget.
func newArray(t *starlark.Thread, d dtype, shape []int) (*Array, error) {
	if len(shape) > 32 {
		return nil, errors.New("an array has more than 32 dimensions")
	}
	n, err := product(shape)
	if err == nil {
		err = builtin.Charge(t, n)
	}
	if err != nil {
		return nil, err
	}
	return &Array{data: make([]float64, n), shape: shape, strides: contiguous(shape), dtype: d}, nil
}

// Size is the number of elements.
func (a *Array) Size() int {
	n := 1
	for _, d := range a.shape {
		n *= d
	}
	return n
}

// each calls f with the storage index of every element in row-major order.
func (a *Array) each(f func(at int)) {
	n := a.Size()
	if n == 0 {
		return
	}
	idx := make([]int, len(a.shape))
	at := a.off
	for range n {
		f(at)
		for i := len(idx) - 1; i >= 0; i-- {
			idx[i]++
			at += a.strides[i]
			if idx[i] < a.shape[i] {
				break
			}
			at -= idx[i] * a.strides[i]
			idx[i] = 0
		}
	}
}

// Flat copies the elements in row-major order.
func (a *Array) Flat() []float64 {
	out := make([]float64, 0, a.Size())
	a.each(func(at int) { out = append(out, a.data[at]) })
	return out
}

func (a *Array) copyAs(t *starlark.Thread, d dtype) (*Array, error) {
	if err := builtin.Charge(t, a.Size()); err != nil {
		return nil, err
	}
	b := &Array{data: a.Flat(), shape: append([]int(nil), a.shape...), strides: contiguous(a.shape), dtype: d}
	if d != a.dtype {
		for i, x := range b.data {
			b.data[i] = d.round(x)
		}
	}
	return b, nil
}

// Clone is a copy of the same type.
func (a *Array) Clone(t *starlark.Thread) (*Array, error) { return a.copyAs(t, a.dtype) }

func (a *Array) reshape(t *starlark.Thread, shape []int) (*Array, error) {
	known, free := 1, -1
	for i, d := range shape {
		if d == -1 && free < 0 {
			free = i
		} else {
			if d < 0 || d > 0 && known > builtin.MaxValues/d {
				return nil, fmt.Errorf("an array cannot have the shape %v", shape)
			}
			known *= d
		}
	}
	shape = append([]int(nil), shape...)
	if free >= 0 && known > 0 && a.Size()%known == 0 {
		shape[free] = a.Size() / known
		known *= shape[free]
	}
	if known != a.Size() {
		return nil, fmt.Errorf("%d elements cannot have the shape %v", a.Size(), shape)
	}
	b, err := a.Clone(t)
	if err != nil {
		return nil, err
	}
	b.shape, b.strides = shape, contiguous(shape)
	return b, nil
}

// Transpose permutes the axes; with no permutation it reverses them.
func (a *Array) Transpose(perm []int) (*Array, error) {
	n := len(a.shape)
	if perm == nil {
		for i := n - 1; i >= 0; i-- {
			perm = append(perm, i)
		}
	}
	seen := make([]bool, n)
	b := &Array{data: a.data, off: a.off, dtype: a.dtype}
	for _, p := range perm {
		if p < 0 {
			p += n
		}
		if p < 0 || p >= n || seen[p] || len(perm) != n {
			return nil, fmt.Errorf("%v does not permute %d axes", perm, n)
		}
		seen[p] = true
		b.shape = append(b.shape, a.shape[p])
		b.strides = append(b.strides, a.strides[p])
	}
	return b, nil
}

// At is a[key]: integers and slices return views, lists and arrays copies.
func (a *Array) At(t *starlark.Thread, key starlark.Value) (starlark.Value, error) {
	keys := starlark.Tuple{key}
	if k, ok := key.(starlark.Tuple); ok {
		keys = k
	}
	given := 0
	for _, k := range keys {
		if s, ok := k.(builtin.Slice); (!ok || !s.Ellipsis()) && k != starlark.None {
			given++
		}
	}
	if given > len(a.shape) {
		return nil, fmt.Errorf("%d indexes into %d dimensions", given, len(a.shape))
	}
	b := &Array{data: a.data, off: a.off, dtype: a.dtype}
	axis := 0
	for _, k := range keys {
		if k == starlark.None { // a new axis
			b.shape, b.strides = append(b.shape, 1), append(b.strides, 0)
			continue
		}
		if s, ok := k.(builtin.Slice); ok {
			if s.Ellipsis() {
				for range len(a.shape) - given {
					b.shape, b.strides = append(b.shape, a.shape[axis]), append(b.strides, a.strides[axis])
					axis++
				}
				continue
			}
			start, n, step, err := s.Resolve(a.shape[axis])
			if err != nil {
				return nil, err
			}
			if n > 0 {
				b.off += start * a.strides[axis]
			}
			b.shape, b.strides = append(b.shape, n), append(b.strides, step*a.strides[axis])
			axis++
			continue
		}
		if starlark.Len(k) >= 0 {
			if len(keys) != 1 {
				return nil, errors.New("a list among several indexes is not supported")
			}
			return a.gather(t, k, 0)
		}
		i, err := starlark.AsInt32(k)
		if err != nil {
			return nil, fmt.Errorf("array index: %w", err)
		}
		if i < 0 {
			i += a.shape[axis]
		}
		if i < 0 || i >= a.shape[axis] {
			return nil, fmt.Errorf("index %d is out of range for dimension %d of size %d", i, axis, a.shape[axis])
		}
		b.off += i * a.strides[axis]
		axis++
	}
	b.shape = append(b.shape, a.shape[axis:]...)
	b.strides = append(b.strides, a.strides[axis:]...)
	if len(b.shape) == 0 {
		return a.dtype.value(a.data[b.off]), nil
	}
	return b, nil
}

// gather copies the given positions of an axis.
func (a *Array) gather(t *starlark.Thread, list starlark.Value, axis int) (_ starlark.Value, err error) {
	defer try.Catch(&err)
	idx := try.V(toArray(t, list))
	positions := idx.Flat()
	if idx.dtype == dBool {
		if len(idx.shape) != 1 || len(positions) != a.shape[axis] {
			return nil, errors.New("a mask of several dimensions is not supported")
		}
		var p []float64
		for i, m := range positions {
			if m != 0 {
				p = append(p, float64(i))
			}
		}
		positions = p
		idx = &Array{shape: []int{len(p)}}
	}
	parts := make([]*Array, len(positions))
	for i, p := range positions {
		key := make(starlark.Tuple, 0, axis+1)
		for range axis {
			key = append(key, builtin.All)
		}
		k := starlark.MakeInt(int(p))
		hi := starlark.Value(starlark.MakeInt(int(p) + 1))
		if int(p) == -1 {
			hi = starlark.None
		}
		if int(p) >= a.shape[axis] || int(p) < -a.shape[axis] {
			return nil, fmt.Errorf("index %v is out of range for dimension %d of size %d", p, axis, a.shape[axis])
		}
		v := try.V(a.At(t, append(key, builtin.NewSlice(k, hi, starlark.None))))
		parts[i] = v.(*Array)
	}
	shape := append(append(append([]int(nil), a.shape[:axis]...), idx.shape...), a.shape[axis+1:]...)
	if len(parts) == 0 {
		return newArray(t, a.dtype, shape)
	}
	all := try.V(concatenate(t, parts, axis))
	return all.reshape(t, shape)
}

// Assign sets all elements to v, which is broadcast.
func (a *Array) Assign(t *starlark.Thread, v starlark.Value) error {
	b, err := toArray(t, v)
	if err != nil {
		return err
	}
	b, err = b.broadcast(a.shape)
	if err != nil {
		return err
	}
	if err := builtin.Charge(t, a.Size()); err != nil {
		return err
	}
	values := b.Flat()
	i := 0
	a.each(func(at int) { a.data[at] = a.dtype.round(values[i]); i++ })
	return nil
}

func (a *Array) broadcast(shape []int) (*Array, error) {
	b := &Array{data: a.data, off: a.off, dtype: a.dtype, shape: shape, strides: make([]int, len(shape))}
	lead := len(shape) - len(a.shape)
	for i := range a.shape {
		if lead < 0 || a.shape[i] != 1 && a.shape[i] != shape[lead+i] {
			return nil, fmt.Errorf("shape %v does not broadcast to %v", a.shape, shape)
		}
		if a.shape[i] != 1 {
			b.strides[lead+i] = a.strides[i]
		}
	}
	return b, nil
}
