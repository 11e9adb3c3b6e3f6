package numpy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

// elementwise are numpy's functions of one argument.
var elementwise = map[string]func(float64) float64{
	"exp": math.Exp, "log": math.Log, "sqrt": math.Sqrt, "sin": math.Sin, "cos": math.Cos, "tanh": math.Tanh,
	"tan": math.Tan, "sinh": math.Sinh, "cosh": math.Cosh, "expm1": math.Expm1, "log1p": math.Log1p, "log2": math.Log2, "log10": math.Log10,
	"negative": func(x float64) float64 { return -x }, "reciprocal": func(x float64) float64 { return 1 / x },
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
	"divide": func(x, y float64) float64 { return x / y }, "multiply": func(x, y float64) float64 { return x * y },
	"mod": modulo, "remainder": modulo, "fmod": math.Mod, "floor_divide": floorDivide,
}

// functions are numpy's other functions, by their names.
var functions = map[string]struct {
	of     func(*call) (starlark.Value, error)
	method bool // of arrays, too
}{
	"array": {of: (*call).array}, "asarray": {of: (*call).array}, "arange": {of: (*call).arange}, "linspace": {of: (*call).linspace},
	"zeros": {of: (*call).filled}, "ones": {of: (*call).filled}, "full": {of: (*call).filled}, "eye": {of: (*call).eye},
	"zeros_like": {of: (*call).filledLike}, "ones_like": {of: (*call).filledLike}, "full_like": {of: (*call).filledLike},

	"reshape": {onArray((*call).reshape), true}, "flatten": {onArray((*call).flatten), true}, "ravel": {onArray((*call).flatten), true},
	"squeeze": {onArray((*call).squeeze), true}, "expand_dims": {of: onArray((*call).expandDims)}, "broadcast_to": {of: onArray((*call).broadcastTo)},
	"transpose": {onArray((*call).transpose), true}, "swapaxes": {onArray((*call).swapaxes), true}, "moveaxis": {of: onArray((*call).swapaxes)},
	"flip": {of: onArray((*call).flip)}, "roll": {of: onArray((*call).roll)}, "take": {onArray((*call).take), true}, "sort": {of: onArray((*call).sort)},
	"repeat": {onArray((*call).repeat), true}, "tile": {of: onArray((*call).tile)}, "pad": {of: onArray((*call).pad)}, "split": {of: onArray((*call).split)},
	"tolist": {onArray((*call).tolist), true}, "copy": {onArray((*call).copied), true}, "astype": {onArray((*call).astype), true},
	"fill": {onArray((*call).fill), true}, "clip": {onArray((*call).clip), true}, "round": {onArray((*call).round), true}, "cumsum": {of: onArray((*call).cumsum)},

	"concatenate": {of: (*call).join}, "stack": {of: (*call).join}, "vstack": {of: (*call).join}, "hstack": {of: (*call).join},
	"dot": {of: (*call).product}, "matmul": {of: (*call).product},

	"sum": {(*call).reduce, true}, "prod": {(*call).reduce, true}, "max": {(*call).reduce, true}, "min": {(*call).reduce, true}, "mean": {(*call).reduce, true},
	"all": {(*call).reduce, true}, "any": {(*call).reduce, true}, "argmax": {(*call).reduce, true}, "argmin": {(*call).reduce, true},
}

// Module is numpy.
func Module() *builtin.Namespace {
	m := starlark.StringDict{
		"pi": starlark.Float(math.Pi), "e": starlark.Float(math.E), "inf": starlark.Float(math.Inf(1)),
		"nan": starlark.Float(math.NaN()), "newaxis": starlark.None, "random": numpyRandom("numpy.random"),
	}
	for name, f := range functions {
		m[name] = function(name, f.of)
	}
	for name, f := range elementwise {
		m[name] = function(name, func(c *call) (starlark.Value, error) { return c.unary(f) })
	}
	for name, f := range pairwise {
		m[name] = function(name, func(c *call) (starlark.Value, error) { return c.binary(f) })
	}
	for name, d := range dtypeNames {
		if name == "int" || name == "float" || name == "bool" {
			continue
		}
		m[name] = function(name, func(c *call) (starlark.Value, error) {
			if err := builtin.Arity(name, c.args, c.kwargs, 1, 1); err != nil {
				return nil, err
			}
			a, err := toArray(c.t, c.args[0])
			if err != nil {
				return nil, err
			}
			return a.as(c.t, d)
		})
	}
	return builtin.NewNamespace("numpy", m)
}

// as is a copy of another type, or a scalar where a has no dimensions.
func (a *Array) as(t *starlark.Thread, d dtype) (starlark.Value, error) {
	b, err := a.copyAs(t, d)
	if err != nil {
		return nil, err
	}
	return b.scalarOr(), nil
}

func (a *Array) scalarOr() starlark.Value {
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

// call is the arguments of a numpy function: the first is an array.
type call struct {
	t      *starlark.Thread
	name   string
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

func (c *call) unpack(pairs ...any) error {
	return starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...)
}

// function makes a builtin of a function with a call as parameter.
func function(name string, f func(*call) (starlark.Value, error)) *starlark.Builtin {
	return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(&call{t, name, args, kwargs})
	})
}

// onArray is f of the first argument as an array and a call with the others.
func onArray(f func(*call, *Array) (starlark.Value, error)) func(*call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		if len(c.args) == 0 {
			return nil, fmt.Errorf("%s needs an array", c.name)
		}
		a, err := toArray(c.t, c.args[0])
		if err != nil {
			return nil, err
		}
		v, err := f(&call{c.t, c.name, c.args[1:], c.kwargs}, a)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
}

func (c *call) unary(f func(float64) float64) (starlark.Value, error) {
	try.E(builtin.Arity(c.name, c.args, c.kwargs, 1, 1))
	a := try.V(toArray(c.t, c.args[0]))
	d := a.dtype
	if !d.float() && c.name != "abs" && c.name != "absolute" && c.name != "square" && c.name != "sign" && c.name != "negative" {
		d = dFloat64
	}
	b := try.V(a.copyAs(c.t, d))
	for i, x := range b.data {
		b.data[i] = d.round(f(x))
	}
	return b.scalarOr(), nil
}

func (c *call) binary(f func(x, y float64) float64) (starlark.Value, error) {
	try.E(builtin.Arity(c.name, c.args, c.kwargs, 2, 2))
	a := try.V(toArray(c.t, c.args[0]))
	b := try.V(toArray(c.t, c.args[1]))
	d := promote(a, b, !IsArray(c.args[0]), !IsArray(c.args[1]))
	if c.name == "divide" && !d.float() {
		d = dFloat64
	}
	out := try.V(zipWith(c.t, a, b, d, f))
	return out.scalarOr(), nil
}

// full is a new array of one value.
func (c *call) full(shape []int, d dtype, v float64) (*Array, error) {
	a := try.V(newArray(c.t, d, shape))
	for i := range a.data {
		a.data[i] = d.round(v)
	}
	return a, nil
}

func (c *call) array() (starlark.Value, error) {
	var x, kind starlark.Value
	try.E(c.unpack("object", &x, "dtype?", &kind))
	a := try.V(toArray(c.t, x))
	d := try.V(parseDtype(kind, a.dtype))
	return a.copyAs(c.t, d)
}

// filling is the fill value and type of zeros, ones, full and their likes of another array.
type filling struct {
	of    starlark.Value // a shape or an array
	kind  starlark.Value
	value float64
	whole bool // an integer was passed
}

func (c *call) filling(first string) (f filling, err error) {
	var value starlark.Value = starlark.Float(float64(builtin.BoolToInt(strings.HasPrefix(c.name, "ones"))))
	if strings.HasPrefix(c.name, "full") {
		err = c.unpack(first, &f.of, "fill_value", &value, "dtype?", &f.kind)
	} else {
		err = c.unpack(first, &f.of, "dtype?", &f.kind)
	}
	if err != nil {
		return f, err
	}
	ok := false
	_, f.whole = value.(starlark.Int)
	if f.value, ok = starlark.AsFloat(builtin.FromBool(value)); !ok {
		return f, fmt.Errorf("%s needs a number", c.name)
	}
	return f, nil
}

// filled is zeros, ones and full.
func (c *call) filled() (starlark.Value, error) {
	f := try.V(c.filling("shape"))
	shape := try.V(builtin.Ints(c.t, f.of))
	def := dFloat64
	if f.whole {
		def = dInt64
	}
	d := try.V(parseDtype(f.kind, def))
	return c.full(shape, d, f.value)
}

// filledLike is zeros_like, ones_like and full_like.
func (c *call) filledLike() (starlark.Value, error) {
	f := try.V(c.filling("a"))
	a := try.V(toArray(c.t, f.of))
	d := try.V(parseDtype(f.kind, a.dtype))
	return c.full(slices.Clone(a.shape), d, f.value)
}

func (c *call) eye() (starlark.Value, error) {
	var n int
	var kind starlark.Value
	try.E(c.unpack("N", &n, "dtype?", &kind))
	d := try.V(parseDtype(kind, dFloat64))
	a := try.V(c.full([]int{n, n}, d, 0))
	for i := range n {
		a.data[i*n+i] = 1
	}
	return a, nil
}

func (c *call) arange() (starlark.Value, error) {
	var a, b, s, kind starlark.Value
	try.E(c.unpack("start", &a, "stop?", &b, "step?", &s, "dtype?", &kind))
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
		if builtin.IsFloat(v) {
			def = dFloat64
		}
		f[i] = x
	}
	d := try.V(parseDtype(kind, def))
	n := math.Ceil((f[1] - f[0]) / f[2])
	if math.IsNaN(n) || n > builtin.MaxValues {
		return nil, fmt.Errorf("arange has more than %d values", builtin.MaxValues)
	}
	out := try.V(newArray(c.t, d, []int{int(max(n, 0))}))
	// NumPy uses the difference of the first two as the step.
	delta := f[0] + f[2] - f[0]
	for i := range out.data {
		out.data[i] = d.round(f[0] + float64(i)*delta)
	}
	return out, nil
}

func (c *call) linspace() (starlark.Value, error) {
	var a, b, kind starlark.Value
	n, endpoint := 50, true
	try.E(c.unpack("start", &a, "stop", &b, "num?", &n, "endpoint?", &endpoint, "dtype?", &kind))
	from, ok1 := starlark.AsFloat(a)
	to, ok2 := starlark.AsFloat(b)
	d, err := parseDtype(kind, dFloat64)
	if err != nil || !ok1 || !ok2 || n < 0 {
		return nil, errors.New("linspace needs two numbers, a count and a type")
	}
	out := try.V(newArray(c.t, d, []int{n}))
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
