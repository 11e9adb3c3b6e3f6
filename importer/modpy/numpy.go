package modpy

import (
	"errors"
	"fmt"
	"math"

	"go.starlark.net/starlark"
)

// arrayMethodNames are the functions of numpy that are methods of arrays too.
var arrayMethodNames = []string{
	"all", "any", "argmax", "argmin", "astype", "clip", "copy", "fill", "flatten", "max", "mean", "min", "prod",
	"ravel", "repeat", "reshape", "round", "squeeze", "sum", "swapaxes", "take", "tolist", "transpose",
}

// elementwise are numpy's functions of one argument.
var elementwise = map[string]func(float64) float64{
	"exp": math.Exp, "log": math.Log, "sqrt": math.Sqrt, "sin": math.Sin, "cos": math.Cos, "tanh": math.Tanh,
	"floor": math.Floor, "ceil": math.Ceil, "square": func(x float64) float64 { return x * x }, "rint": math.RoundToEven,
	"abs": math.Abs, "absolute": math.Abs, "sign": func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x
	},
}

// pairwise are numpy's functions of two arguments.
var pairwise = map[string]func(x, y float64) float64{
	"maximum": math.Max, "minimum": math.Min, "power": math.Pow,
	"add": func(x, y float64) float64 { return x + y }, "subtract": func(x, y float64) float64 { return x - y },
	"multiply": func(x, y float64) float64 { return x * y },
}

var otherNumpy = []string{
	"array", "asarray", "arange", "linspace", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "eye",
	"concatenate", "stack", "split", "tile", "expand_dims", "flip", "moveaxis", "broadcast_to", "pad", "dot", "matmul",
}

// numpyModule is numpy.
func numpyModule() *namespace {
	m := starlark.StringDict{
		"pi": starlark.Float(math.Pi), "e": starlark.Float(math.E), "inf": starlark.Float(math.Inf(1)),
		"nan": starlark.Float(math.NaN()), "newaxis": starlark.None, "random": numpyRandom("numpy.random"),
	}
	for _, list := range [][]string{arrayMethodNames, otherNumpy} {
		for _, name := range list {
			m[name] = function(name, numpyFunction(name))
		}
	}
	for name := range elementwise {
		m[name] = function(name, numpyFunction(name))
	}
	for name := range pairwise {
		m[name] = function(name, numpyFunction(name))
	}
	for name, d := range dtypeNames {
		if name == "int" || name == "float" || name == "bool" {
			continue
		}
		m[name] = function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := count(name, args, kwargs, 1, 1); err != nil {
				return nil, err
			}
			a, err := toArray(t, args[0])
			if err != nil {
				return nil, err
			}
			return a.as(t, d)
		})
	}
	return &namespace{"numpy", m}
}

// as is a copy of another type, or a scalar where a has no dimensions.
func (a *array) as(t *starlark.Thread, d dtype) (starlark.Value, error) {
	b, err := a.copyAs(t, d)
	if err != nil {
		return nil, err
	}
	return b.scalarOr(), nil
}

func (a *array) scalarOr() starlark.Value {
	if len(a.shape) == 0 && len(a.data) > a.off {
		return a.dtype.value(a.data[a.off])
	}
	return a
}

// parseDtype reads a dtype argument; none keeps def.
func parseDtype(v starlark.Value, def dtype) (dtype, error) {
	name := ""
	switch v := v.(type) {
	case nil, starlark.NoneType:
		return def, nil
	case starlark.String:
		name = string(v)
	case *starlark.Builtin:
		name = v.Name()
	}
	d, ok := dtypeNames[name]
	if !ok {
		return 0, fmt.Errorf("no array type %.40s", v)
	}
	return d, nil
}

// parseShape reads a shape: an integer or a sequence of integers.
func parseShape(t *starlark.Thread, v starlark.Value) ([]int, error) {
	if _, ok := v.(starlark.Int); ok {
		v = starlark.Tuple{v}
	}
	e, err := elements(t, v)
	if err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	out := make([]int, len(e))
	for i, x := range e {
		if out[i], err = starlark.AsInt32(fromBool(x)); err != nil {
			return nil, fmt.Errorf("shape: %w", err)
		}
	}
	return out, nil
}

// numpyCall is the arguments of a numpy function: the first is an array.
type numpyCall struct {
	t      *starlark.Thread
	name   string
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

func (c *numpyCall) unpack(pairs ...any) error {
	return starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...)
}

// numpyFunction is the function of a name in the tables above.
func numpyFunction(name string) impl {
	return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		c := &numpyCall{t, name, args, kwargs}
		if f, ok := elementwise[name]; ok {
			return c.unary(f)
		}
		if f, ok := pairwise[name]; ok {
			return c.binary(f)
		}
		for _, family := range []func(*numpyCall) (starlark.Value, bool, error){
			(*numpyCall).create, (*numpyCall).arrange, (*numpyCall).combine, (*numpyCall).reduce,
		} {
			if v, ok, err := family(c); ok || err != nil {
				return v, err
			}
		}
		return nil, fmt.Errorf("numpy.%s is not supported", name)
	}
}

func (c *numpyCall) unary(f func(float64) float64) (starlark.Value, error) {
	if err := count(c.name, c.args, c.kwargs, 1, 1); err != nil {
		return nil, err
	}
	a, err := toArray(c.t, c.args[0])
	if err != nil {
		return nil, err
	}
	d := a.dtype
	if !d.float() && c.name != "abs" && c.name != "absolute" && c.name != "square" && c.name != "sign" {
		d = dFloat64
	}
	b, err := a.copyAs(c.t, d)
	if err != nil {
		return nil, err
	}
	for i, x := range b.data {
		b.data[i] = d.round(f(x))
	}
	return b.scalarOr(), nil
}

func (c *numpyCall) binary(f func(x, y float64) float64) (starlark.Value, error) {
	if err := count(c.name, c.args, c.kwargs, 2, 2); err != nil {
		return nil, err
	}
	a, err := toArray(c.t, c.args[0])
	if err != nil {
		return nil, err
	}
	b, err := toArray(c.t, c.args[1])
	if err != nil {
		return nil, err
	}
	out, err := zipWith(c.t, a, b, promote(a, b, !isArray(c.args[0]), !isArray(c.args[1])), f)
	if err != nil {
		return nil, err
	}
	return out.scalarOr(), nil
}

// create makes arrays from values or from nothing.
func (c *numpyCall) create() (starlark.Value, bool, error) {
	t := c.t
	var x, kind starlark.Value
	fill := func(shape []int, d dtype, v float64) (starlark.Value, bool, error) {
		a, err := newArray(t, d, shape)
		if err != nil {
			return nil, true, err
		}
		for i := range a.data {
			a.data[i] = d.round(v)
		}
		return a, true, nil
	}
	switch c.name {
	case "array", "asarray":
		if err := c.unpack("object", &x, "dtype?", &kind); err != nil {
			return nil, true, err
		}
		a, err := toArray(t, x)
		if err != nil {
			return nil, true, err
		}
		d, err := parseDtype(kind, a.dtype)
		if err != nil {
			return nil, true, err
		}
		b, err := a.copyAs(t, d)
		return b, true, err
	case "zeros", "ones", "full":
		var v starlark.Value = starlark.Float(float64(btoi(c.name == "ones")))
		var err error
		if c.name == "full" {
			err = c.unpack("shape", &x, "fill_value", &v, "dtype?", &kind)
		} else {
			err = c.unpack("shape", &x, "dtype?", &kind)
		}
		if err != nil {
			return nil, true, err
		}
		shape, err := parseShape(t, x)
		if err != nil {
			return nil, true, err
		}
		f, ok := starlark.AsFloat(fromBool(v))
		if !ok {
			return nil, true, fmt.Errorf("%s needs a number", c.name)
		}
		def := dFloat64
		if _, isInt := v.(starlark.Int); isInt {
			def = dInt64
		}
		d, err := parseDtype(kind, def)
		if err != nil {
			return nil, true, err
		}
		return fill(shape, d, f)
	case "zeros_like", "ones_like", "full_like":
		v := float64(btoi(c.name == "ones_like"))
		var number starlark.Value = starlark.Float(v)
		var err error
		if c.name == "full_like" {
			err = c.unpack("a", &x, "fill_value", &number, "dtype?", &kind)
		} else {
			err = c.unpack("a", &x, "dtype?", &kind)
		}
		if err != nil {
			return nil, true, err
		}
		a, err := toArray(t, x)
		if err != nil {
			return nil, true, err
		}
		d, err := parseDtype(kind, a.dtype)
		f, ok := starlark.AsFloat(number)
		if err != nil || !ok {
			return nil, true, fmt.Errorf("%s: number or type is wrong", c.name)
		}
		return fill(append([]int(nil), a.shape...), d, f)
	case "eye":
		var n int
		if err := c.unpack("N", &n, "dtype?", &kind); err != nil {
			return nil, true, err
		}
		v, _, err := fill([]int{n, n}, dFloat64, 0)
		if err != nil {
			return nil, true, err
		}
		for i := range n {
			v.(*array).data[i*n+i] = 1
		}
		d, err := parseDtype(kind, dFloat64)
		v.(*array).dtype = d
		return v, true, err
	case "arange":
		v, err := c.arange()
		return v, true, err
	case "linspace":
		v, err := c.linspace()
		return v, true, err
	}
	return nil, false, nil
}

func (c *numpyCall) arange() (starlark.Value, error) {
	var a, b, s, kind starlark.Value
	if err := c.unpack("start", &a, "stop?", &b, "step?", &s, "dtype?", &kind); err != nil {
		return nil, err
	}
	if b == nil || b == starlark.None {
		a, b = starlark.MakeInt(0), a
	}
	if s == nil || s == starlark.None {
		s = starlark.MakeInt(1)
	}
	def := dInt64
	var f [3]float64
	for i, v := range []starlark.Value{a, b, s} {
		x, ok := starlark.AsFloat(v)
		if !ok {
			return nil, errors.New("arange needs numbers")
		}
		if isFloat(v) {
			def = dFloat64
		}
		f[i] = x
	}
	d, err := parseDtype(kind, def)
	if err != nil {
		return nil, err
	}
	n := math.Ceil((f[1] - f[0]) / f[2])
	if math.IsNaN(n) || n > maxValues {
		return nil, fmt.Errorf("arange has more than %d values", maxValues)
	}
	out, err := newArray(c.t, d, []int{int(max(n, 0))})
	if err != nil {
		return nil, err
	}
	// NumPy takes the difference of the first two as the step.
	delta := f[0] + f[2] - f[0]
	for i := range out.data {
		out.data[i] = d.round(f[0] + float64(i)*delta)
	}
	return out, nil
}

func (c *numpyCall) linspace() (starlark.Value, error) {
	var a, b, kind starlark.Value
	n, endpoint := 50, true
	if err := c.unpack("start", &a, "stop", &b, "num?", &n, "endpoint?", &endpoint, "dtype?", &kind); err != nil {
		return nil, err
	}
	from, ok1 := starlark.AsFloat(a)
	to, ok2 := starlark.AsFloat(b)
	d, err := parseDtype(kind, dFloat64)
	if err != nil || !ok1 || !ok2 || n < 0 {
		return nil, errors.New("linspace needs two numbers, a count and a type")
	}
	out, err := newArray(c.t, d, []int{n})
	if err != nil {
		return nil, err
	}
	div := n
	if endpoint {
		div--
	}
	for i := range out.data {
		x := from
		if div > 0 {
			x = float64(float64(i)*((to-from)/float64(div))) + from
		}
		if endpoint && i == n-1 && n > 1 {
			x = to
		}
		out.data[i] = d.round(x)
	}
	return out, nil
}

// arrange changes the shape or order of one array.
func (c *numpyCall) arrange() (starlark.Value, bool, error) {
	t := c.t
	if len(c.args) == 0 {
		return nil, false, nil
	}
	switch c.name {
	case "concatenate", "stack", "dot", "matmul":
		return nil, false, nil
	}
	a, err := toArray(t, c.args[0])
	if err != nil {
		return nil, true, err
	}
	rest := &numpyCall{t, c.name, c.args[1:], c.kwargs}
	// one accepts f(2, 3) as well as f((2, 3)).
	ints := func() ([]int, error) {
		if err := count(c.name, rest.args, c.kwargs, 0, 32); err != nil {
			return nil, err
		}
		if len(rest.args) == 1 {
			return parseShape(t, rest.args[0])
		}
		return parseShape(t, rest.args)
	}
	var v *array
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
				perm, err = parseShape(t, x)
			}
		} else {
			perm, err = ints()
		}
		if err == nil {
			if len(perm) == 0 {
				perm = nil
			}
			v, err = a.transpose(perm)
		}
	case "flatten", "ravel":
		v, err = a.reshape(t, []int{-1})
		if a.size() == 0 {
			v, err = a.reshape(t, []int{0})
		}
	case "tolist":
		list, err := a.list(t)
		return list, true, err
	case "copy":
		v, err = a.copyAs(t, a.dtype)
	case "fill":
		if err = rest.unpack("value", &x); err == nil {
			err = a.assign(t, x)
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
				key[i] = sliceValue{starlark.None, starlark.None, starlark.MakeInt(-1)}
				if x != nil && x != starlark.None {
					k, err := starlark.AsInt32(x)
					if err != nil {
						return nil, true, err
					}
					if i != k && i != k+len(a.shape) {
						key[i] = sliceValue{starlark.None, starlark.None, starlark.None}
					}
				}
			}
			w, err := a.index(t, key)
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
			if b, ok := w.(*array); ok && err == nil {
				w = b.scalarOr()
			}
			return w, true, err
		}
	case "repeat":
		v, err = rest.repeat(a)
	case "tile":
		v, err = rest.tile(a)
	case "split":
		w, err := rest.split(a)
		return w, true, err
	case "clip":
		var lo, hi starlark.Value
		if err = rest.unpack("min", &lo, "max", &hi); err == nil {
			v, err = a.copyAs(t, a.dtype)
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
			v, err = a.copyAs(t, a.dtype)
			scale := math.Pow10(digits)
			for i := range a.size() {
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

func (a *array) moved(from, to int, swap bool) (*array, error) {
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
	return a.transpose(perm)
}

func (c *numpyCall) repeat(a *array) (*array, error) {
	var n int
	var axis starlark.Value
	if err := c.unpack("repeats", &n, "axis?", &axis); err != nil {
		return nil, err
	}
	if n < 0 || n > maxValues {
		return nil, fmt.Errorf("repeat: %d times", n)
	}
	k := 0
	if axis == nil || axis == starlark.None {
		var err error
		if a, err = a.reshape(c.t, []int{a.size()}); err != nil {
			return nil, err
		}
	} else {
		var err error
		if k, err = starlark.AsInt32(axis); err != nil {
			return nil, err
		}
		if k < 0 {
			k += len(a.shape)
		}
		if k < 0 || k >= len(a.shape) {
			return nil, fmt.Errorf("repeat: axis %d of %d", k, len(a.shape))
		}
	}
	// A new axis of stride 0 behind k, then merged with it.
	view := &array{data: a.data, off: a.off, dtype: a.dtype,
		shape:   append(append(append([]int(nil), a.shape[:k+1]...), n), a.shape[k+1:]...),
		strides: append(append(append([]int(nil), a.strides[:k+1]...), 0), a.strides[k+1:]...)}
	if _, err := product(view.shape); err != nil {
		return nil, err
	}
	shape := append([]int(nil), a.shape...)
	shape[k] *= n
	return view.reshape(c.t, shape)
}

func (c *numpyCall) tile(a *array) (*array, error) {
	var x starlark.Value
	if err := c.unpack("reps", &x); err != nil {
		return nil, err
	}
	reps, err := parseShape(c.t, x)
	if err != nil {
		return nil, err
	}
	shape := a.shape
	for len(reps) < len(shape) {
		reps = append([]int{1}, reps...)
	}
	for len(shape) < len(reps) {
		shape = append([]int{1}, shape...)
	}
	if a, err = a.reshape(c.t, shape); err != nil {
		return nil, err
	}
	for i, n := range reps {
		if n < 0 || n > 1<<16 {
			return nil, fmt.Errorf("tile: %d times", n)
		}
		if n == 0 {
			z := append([]int(nil), a.shape...)
			z[i] = 0
			if a, err = newArray(c.t, a.dtype, z); err != nil {
				return nil, err
			}
			continue
		}
		parts := make([]*array, n)
		for k := range parts {
			parts[k] = a
		}
		if a, err = concatenate(c.t, parts, i); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (c *numpyCall) split(a *array) (starlark.Value, error) {
	var x starlark.Value
	axis := 0
	if err := c.unpack("indices_or_sections", &x, "axis?", &axis); err != nil {
		return nil, err
	}
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
		if ends, err = parseShape(c.t, x); err != nil {
			return nil, err
		}
		ends = append(ends, size)
	}
	if err := charge(c.t, len(ends)); err != nil {
		return nil, err
	}
	var out []starlark.Value
	from := 0
	for _, end := range ends {
		key := make(starlark.Tuple, axis+1)
		for i := range key {
			key[i] = sliceValue{starlark.None, starlark.None, starlark.None}
		}
		key[axis] = sliceValue{starlark.MakeInt(from), starlark.MakeInt(end), starlark.None}
		v, err := a.index(c.t, key)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		from = end
	}
	return starlark.NewList(out), nil
}

// combine joins or multiplies several arrays.
func (c *numpyCall) combine() (starlark.Value, bool, error) {
	t := c.t
	switch c.name {
	case "concatenate", "stack":
		var x starlark.Value
		axis := 0
		if err := c.unpack("arrays", &x, "axis?", &axis); err != nil {
			return nil, true, err
		}
		var parts []*array
		err := iterate(t, x, func(v starlark.Value) error {
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
			parts = append(parts, a)
			return nil
		})
		if err != nil {
			return nil, true, err
		}
		v, err := concatenate(t, parts, axis)
		return v, true, err
	case "dot", "matmul":
		if err := count(c.name, c.args, c.kwargs, 2, 2); err != nil {
			return nil, true, err
		}
		v, err := c.product()
		return v, true, err
	}
	return nil, false, nil
}

// product is the matrix product of two arrays of one or two dimensions.
func (c *numpyCall) product() (starlark.Value, error) {
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
	} else if err := charge(c.t, cost); err != nil {
		return nil, err
	}
	out, err := newArray(c.t, max(a.dtype, b.dtype), shape)
	if err != nil {
		return nil, err
	}
	p, q := a.flat(), b.flat()
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
func (c *numpyCall) reduce() (starlark.Value, bool, error) {
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
		list, err := parseShape(c.t, axes)
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
	b, err := a.transpose(append(outer, inner...))
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
	if err := charge(c.t, a.size()); err != nil {
		return nil, true, err
	}
	values := b.flat()
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
			acc *= float64(btoi(v != 0))
		case "any":
			acc = max(acc, float64(btoi(v != 0)))
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

// numpyRandom is numpy.random's RandomState, seeded with 0.
func numpyRandom(name string) *namespace {
	m := new(twister)
	m.seed(0)
	members := starlark.StringDict{}
	draw := func(t *starlark.Thread, size starlark.Value, d dtype, f func() float64) (starlark.Value, error) {
		if size == nil || size == starlark.None {
			return d.value(f()), nil
		}
		shape, err := parseShape(t, size)
		if err != nil {
			return nil, err
		}
		a, err := newArray(t, d, shape)
		if err != nil {
			return nil, err
		}
		for i := range a.data {
			a.data[i] = f()
		}
		return a, nil
	}
	def := func(name string, f func(c *numpyCall) (starlark.Value, error)) {
		members[name] = function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(&numpyCall{t, name, args, kwargs})
		})
	}
	def("seed", func(c *numpyCall) (starlark.Value, error) {
		var s int64
		if err := c.unpack("seed?", &s); err != nil {
			return nil, err
		}
		if s < 0 || s > math.MaxUint32 {
			return nil, fmt.Errorf("seed %d is not within 32 bits", s)
		}
		m.seed(uint32(s))
		return starlark.None, nil
	})
	floats := func(name string, f func(x, y float64) float64, x, y float64, kx, ky string) {
		def(name, func(c *numpyCall) (starlark.Value, error) {
			var size, a, b starlark.Value
			if err := c.unpack(kx+"?", &a, ky+"?", &b, "size?", &size); err != nil {
				return nil, err
			}
			p, q := x, y
			if v, ok := starlark.AsFloat(a); a != nil && ok {
				p = v
			}
			if v, ok := starlark.AsFloat(b); b != nil && ok {
				q = v
			}
			return draw(c.t, size, dFloat64, func() float64 { return f(p, q) })
		})
	}
	floats("uniform", func(x, y float64) float64 { return x + (y-x)*m.float() }, 0, 1, "low", "high")
	floats("normal", func(x, y float64) float64 { return x + y*m.legacyNormal() }, 0, 1, "loc", "scale")
	for name, f := range map[string]func() float64{
		"random": m.float, "random_sample": m.float, "standard_normal": m.legacyNormal,
	} {
		def(name, func(c *numpyCall) (starlark.Value, error) {
			var size starlark.Value
			if err := c.unpack("size?", &size); err != nil {
				return nil, err
			}
			return draw(c.t, size, dFloat64, f)
		})
	}
	for name, f := range map[string]func() float64{"rand": m.float, "randn": m.legacyNormal} {
		def(name, func(c *numpyCall) (starlark.Value, error) {
			if len(c.args) == 0 {
				return draw(c.t, nil, dFloat64, f)
			}
			return draw(c.t, c.args, dFloat64, f)
		})
	}
	def("randint", func(c *numpyCall) (starlark.Value, error) {
		var low int
		var high, size, kind starlark.Value
		if err := c.unpack("low", &low, "high?", &high, "size?", &size, "dtype?", &kind); err != nil {
			return nil, err
		}
		from, to := 0, low
		if high != nil && high != starlark.None {
			h, err := starlark.AsInt32(high)
			if err != nil {
				return nil, err
			}
			from, to = low, h
		}
		d, err := parseDtype(kind, dInt64)
		if err != nil || to <= from || to-from > math.MaxUint32 {
			return nil, fmt.Errorf("randint from %d to %d is not possible", from, to)
		}
		limit := uint32(to - from - 1)
		mask := limit
		for _, s := range []int{1, 2, 4, 8, 16} {
			mask |= mask >> s
		}
		return draw(c.t, size, d, func() float64 {
			for limit > 0 {
				if v := m.uint32() & mask; v <= limit {
					return float64(from + int(v))
				}
			}
			return float64(from)
		})
	})
	if name == "numpy.random" {
		members["RandomState"] = function("RandomState", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			r := numpyRandom("numpy.random.RandomState")
			_, err := starlark.Call(t, r.members["seed"], args, kwargs)
			return r, err
		})
	}
	return &namespace{name, members}
}
