package modpy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// array is the part of numpy.ndarray that specifications use: a strided view of
// float64 storage with a data type that says how values are rounded.
type array struct {
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
		return float64(btoi(x != 0))
	case dFloat16:
		return float64(halfToFloat(floatToHalf(float32(x))))
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

func isArray(v starlark.Value) bool { _, ok := v.(*array); return ok }

func product(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("dimension %d is negative", d)
		}
		if d > 0 && n > maxValues/d {
			return 0, fmt.Errorf("an array of shape %v has more than %d elements", shape, maxValues)
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

// newArray allocates a zeroed array within the budget.
func newArray(t *starlark.Thread, d dtype, shape []int) (*array, error) {
	if len(shape) > 32 {
		return nil, errors.New("an array has more than 32 dimensions")
	}
	n, err := product(shape)
	if err == nil {
		err = charge(t, n)
	}
	if err != nil {
		return nil, err
	}
	return &array{data: make([]float64, n), shape: shape, strides: contiguous(shape), dtype: d}, nil
}

func (a *array) size() int {
	n := 1
	for _, d := range a.shape {
		n *= d
	}
	return n
}

// each calls f with the storage index of every element in row-major order.
func (a *array) each(f func(at int)) {
	n := a.size()
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

// flat copies the elements in row-major order.
func (a *array) flat() []float64 {
	out := make([]float64, 0, a.size())
	a.each(func(at int) { out = append(out, a.data[at]) })
	return out
}

func (a *array) copyAs(t *starlark.Thread, d dtype) (*array, error) {
	if err := charge(t, a.size()); err != nil {
		return nil, err
	}
	b := &array{data: a.flat(), shape: append([]int(nil), a.shape...), strides: contiguous(a.shape), dtype: d}
	if d != a.dtype {
		for i, x := range b.data {
			b.data[i] = d.round(x)
		}
	}
	return b, nil
}

func (a *array) reshape(t *starlark.Thread, shape []int) (*array, error) {
	known, free := 1, -1
	for i, d := range shape {
		if d == -1 && free < 0 {
			free = i
		} else {
			if d < 0 || d > 0 && known > maxValues/d {
				return nil, fmt.Errorf("an array cannot have the shape %v", shape)
			}
			known *= d
		}
	}
	shape = append([]int(nil), shape...)
	if free >= 0 && known > 0 && a.size()%known == 0 {
		shape[free] = a.size() / known
		known *= shape[free]
	}
	if known != a.size() {
		return nil, fmt.Errorf("%d elements cannot have the shape %v", a.size(), shape)
	}
	b, err := a.copyAs(t, a.dtype)
	if err != nil {
		return nil, err
	}
	b.shape, b.strides = shape, contiguous(shape)
	return b, nil
}

// transpose permutes the axes; with no permutation it reverses them.
func (a *array) transpose(perm []int) (*array, error) {
	n := len(a.shape)
	if perm == nil {
		for i := n - 1; i >= 0; i-- {
			perm = append(perm, i)
		}
	}
	seen := make([]bool, n)
	b := &array{data: a.data, off: a.off, dtype: a.dtype}
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

// index is a[key]: integers and slices give views, lists and arrays copies.
func (a *array) index(t *starlark.Thread, key starlark.Value) (starlark.Value, error) {
	keys := starlark.Tuple{key}
	if k, ok := key.(starlark.Tuple); ok {
		keys = k
	}
	given := 0
	for _, k := range keys {
		if s, ok := k.(sliceValue); (!ok || !s.ellipsis()) && k != starlark.None {
			given++
		}
	}
	if given > len(a.shape) {
		return nil, fmt.Errorf("%d indexes into %d dimensions", given, len(a.shape))
	}
	b := &array{data: a.data, off: a.off, dtype: a.dtype}
	axis := 0
	for _, k := range keys {
		if k == starlark.None { // a new axis
			b.shape, b.strides = append(b.shape, 1), append(b.strides, 0)
			continue
		}
		if s, ok := k.(sliceValue); ok {
			if s.ellipsis() {
				for range len(a.shape) - given {
					b.shape, b.strides = append(b.shape, a.shape[axis]), append(b.strides, a.strides[axis])
					axis++
				}
				continue
			}
			start, n, step, err := s.resolve(a.shape[axis])
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

func (s sliceValue) ellipsis() bool { return s.lo == starlark.String("...") }

// gather takes the given positions of an axis.
func (a *array) gather(t *starlark.Thread, list starlark.Value, axis int) (starlark.Value, error) {
	idx, err := toArray(t, list)
	if err != nil {
		return nil, err
	}
	positions := idx.flat()
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
		idx = &array{shape: []int{len(p)}}
	}
	parts := make([]*array, len(positions))
	for i, p := range positions {
		key := make(starlark.Tuple, 0, axis+1)
		for range axis {
			key = append(key, sliceValue{starlark.None, starlark.None, starlark.None})
		}
		k := starlark.MakeInt(int(p))
		hi := starlark.Value(starlark.MakeInt(int(p) + 1))
		if int(p) == -1 {
			hi = starlark.None
		}
		if int(p) >= a.shape[axis] || int(p) < -a.shape[axis] {
			return nil, fmt.Errorf("index %v is out of range for dimension %d of size %d", p, axis, a.shape[axis])
		}
		v, err := a.index(t, append(key, sliceValue{k, hi, starlark.None}))
		if err != nil {
			return nil, err
		}
		parts[i] = v.(*array)
	}
	shape := append(append(append([]int(nil), a.shape[:axis]...), idx.shape...), a.shape[axis+1:]...)
	if len(parts) == 0 {
		return newArray(t, a.dtype, shape)
	}
	all, err := concatenate(t, parts, axis)
	if err != nil {
		return nil, err
	}
	return all.reshape(t, shape)
}

// assign sets all elements to v, which is broadcast.
func (a *array) assign(t *starlark.Thread, v starlark.Value) error {
	b, err := toArray(t, v)
	if err != nil {
		return err
	}
	if b, err = b.broadcast(a.shape); err != nil {
		return err
	}
	if err := charge(t, a.size()); err != nil {
		return err
	}
	values := b.flat()
	i := 0
	a.each(func(at int) { a.data[at] = a.dtype.round(values[i]); i++ })
	return nil
}

func (a *array) broadcast(shape []int) (*array, error) {
	b := &array{data: a.data, off: a.off, dtype: a.dtype, shape: shape, strides: make([]int, len(shape))}
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

// commonShape is what two shapes broadcast to.
func commonShape(x, y []int) ([]int, error) {
	if len(x) < len(y) {
		x, y = y, x
	}
	out := append([]int(nil), x...)
	lead := len(x) - len(y)
	for i, d := range y {
		switch {
		case out[lead+i] == 1:
			out[lead+i] = d
		case d != 1 && d != out[lead+i]:
			return nil, fmt.Errorf("shapes %v and %v do not broadcast", x, y)
		}
	}
	return out, nil
}

// toArray converts nested sequences and scalars.
func toArray(t *starlark.Thread, v starlark.Value) (*array, error) {
	if a, ok := v.(*array); ok {
		return a, nil
	}
	var data []float64
	var shape []int
	kind := dBool
	any := false
	var walk func(v starlark.Value, depth int) error
	walk = func(v starlark.Value, depth int) error {
		if depth > 32 {
			return errors.New("an array is nested deeper than 32")
		}
		var x float64
		d := dFloat64
		switch n := v.(type) {
		case starlark.Float:
			x = float64(n)
		case starlark.Bool:
			d = dBool
			x = float64(btoi(bool(n)))
		case starlark.Int:
			d = dInt64
			x = float64(n.Float())
		default:
			length := starlark.Len(v)
			if _, ok := v.(starlark.String); ok || length < 0 {
				return fmt.Errorf("a %s cannot be an element of an array", v.Type())
			}
			if depth == len(shape) {
				if any {
					return errors.New("the nested lists have different depths")
				}
				shape = append(shape, length)
			} else if shape[depth] != length {
				return fmt.Errorf("nested lists have different lengths, %d and %d", shape[depth], length)
			}
			return iterate(t, v, func(e starlark.Value) error { return walk(e, depth+1) })
		}
		if depth != len(shape) {
			return errors.New("the nested lists have different depths")
		}
		any = true
		kind = max(kind, d)
		data = append(data, x)
		return nil
	}
	if err := walk(v, 0); err != nil {
		return nil, err
	}
	if len(data) == 0 {
		kind = dFloat64
	}
	if n, err := product(shape); err != nil || n != len(data) {
		return nil, errors.New("the nested lists have different depths")
	}
	return &array{data: data, shape: shape, strides: contiguous(shape), dtype: kind}, nil
}

// promote is the type of an operation's result. A scalar does not widen an
// array of its own kind.
func promote(x, y *array, scalarX, scalarY bool) dtype {
	a, b := x.dtype, y.dtype
	if a.float() == b.float() || !a.float() && b == dBool || !b.float() && a == dBool {
		switch {
		case scalarY && !scalarX && a != dBool:
			return a
		case scalarX && !scalarY && b != dBool:
			return b
		}
	} else if scalarX && b.float() {
		return b
	} else if scalarY && a.float() {
		return a
	}
	d := max(a, b)
	if d == dFloat32 && min(a, b) >= dInt32 && !min(a, b).float() || d == dFloat16 && min(a, b) >= dInt32 && !min(a, b).float() {
		return dFloat64
	}
	return d
}

// arrayOp applies an operator elementwise.
func arrayOp(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	a, err := toArray(t, x)
	if err != nil {
		return nil, err
	}
	b, err := toArray(t, y)
	if err != nil {
		return nil, err
	}
	d := promote(a, b, !isArray(x), !isArray(y))
	var f func(p, q float64) float64
	switch op {
	case fnAdd:
		f = func(p, q float64) float64 { return p + q }
	case fnSub:
		f = func(p, q float64) float64 { return p - q }
	case fnMul:
		f = func(p, q float64) float64 { return p * q }
	case fnDiv:
		if !d.float() {
			d = dFloat64
		}
		f = func(p, q float64) float64 { return p / q }
	case fnFloorDiv:
		f = func(p, q float64) float64 { return math.Floor(p / q) }
	case fnMod:
		f = func(p, q float64) float64 {
			r := math.Mod(p, q)
			if r != 0 && (r < 0) != (q < 0) {
				r += q
			}
			return r
		}
	case fnPow:
		f = math.Pow
	default:
		return nil, fmt.Errorf("operator %s does not apply to arrays", symbol[op])
	}
	if d == dBool {
		d = dInt64
	}
	return zipWith(t, a, b, d, f)
}

func zipWith(t *starlark.Thread, a, b *array, d dtype, f func(p, q float64) float64) (*array, error) {
	shape, err := commonShape(a.shape, b.shape)
	if err != nil {
		return nil, err
	}
	out, err := newArray(t, d, shape)
	if err != nil {
		return nil, err
	}
	if a, err = a.broadcast(shape); err != nil {
		return nil, err
	}
	if b, err = b.broadcast(shape); err != nil {
		return nil, err
	}
	p, q := a.flat(), b.flat()
	for i := range out.data {
		out.data[i] = d.round(f(p[i], q[i]))
	}
	return out, nil
}

// concatenate joins arrays along an axis.
func concatenate(t *starlark.Thread, parts []*array, axis int) (*array, error) {
	if len(parts) == 0 {
		return nil, errors.New("nothing to concatenate")
	}
	first := parts[0]
	n := len(first.shape)
	if axis < 0 {
		axis += n
	}
	if axis < 0 || axis >= n {
		return nil, fmt.Errorf("axis %d of %d dimensions", axis, n)
	}
	shape := append([]int(nil), first.shape...)
	shape[axis] = 0
	d := first.dtype
	for _, p := range parts {
		for i := range shape {
			if len(p.shape) != n || i != axis && p.shape[i] != shape[i] {
				return nil, fmt.Errorf("shapes %v and %v cannot be joined on axis %d", first.shape, p.shape, axis)
			}
		}
		shape[axis] += p.shape[axis]
		d = max(d, p.dtype)
	}
	out, err := newArray(t, d, shape)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, p := range parts {
		view := &array{data: out.data, off: at * out.strides[axis], shape: p.shape, strides: out.strides, dtype: d}
		values := p.flat()
		i := 0
		view.each(func(k int) { out.data[k] = values[i]; i++ })
		at += p.shape[axis]
	}
	return out, nil
}

// list is the nested list of the elements.
func (a *array) list(t *starlark.Thread) (starlark.Value, error) {
	if err := charge(t, a.size()); err != nil {
		return nil, err
	}
	var walk func(off, axis int) starlark.Value
	walk = func(off, axis int) starlark.Value {
		if axis == len(a.shape) {
			return a.dtype.value(a.data[off])
		}
		out := make([]starlark.Value, a.shape[axis])
		for i := range out {
			out[i] = walk(off+i*a.strides[axis], axis+1)
		}
		return starlark.NewList(out)
	}
	return walk(a.off, 0), nil
}

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
