package numpy

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
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

var otherNumpy = []string{
	"array", "asarray", "arange", "linspace", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "eye",
	"concatenate", "stack", "split", "tile", "expand_dims", "flip", "moveaxis", "broadcast_to", "pad", "dot", "matmul", "roll", "sort", "cumsum", "vstack", "hstack",
}

// Module is numpy.
func Module() *builtin.Namespace {
	m := starlark.StringDict{
		"pi": starlark.Float(math.Pi), "e": starlark.Float(math.E), "inf": starlark.Float(math.Inf(1)),
		"nan": starlark.Float(math.NaN()), "newaxis": starlark.None, "random": numpyRandom("numpy.random"),
	}
	for _, list := range [][]string{arrayMethodNames, otherNumpy} {
		for _, name := range list {
			m[name] = builtin.Function(name, numpyFunction(name))
		}
	}
	for name := range elementwise {
		m[name] = builtin.Function(name, numpyFunction(name))
	}
	for name := range pairwise {
		m[name] = builtin.Function(name, numpyFunction(name))
	}
	for name, d := range dtypeNames {
		if name == "int" || name == "float" || name == "bool" {
			continue
		}
		m[name] = builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := builtin.Arity(name, args, kwargs, 1, 1); err != nil {
				return nil, err
			}
			a, err := toArray(t, args[0])
			if err != nil {
				return nil, err
			}
			return a.as(t, d)
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

// numpyFunction is the function of a name in the tables above.
func numpyFunction(name string) builtin.Impl {
	return func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		c := &call{t, name, args, kwargs}
		if f, ok := elementwise[name]; ok {
			return c.unary(f)
		}
		if f, ok := pairwise[name]; ok {
			return c.binary(f)
		}
		for _, family := range []func(*call) (starlark.Value, bool, error){
			(*call).create, (*call).arrange, (*call).combine, (*call).reduce,
		} {
			if v, ok, err := family(c); ok || err != nil {
				return v, err
			}
		}
		return nil, fmt.Errorf("numpy.%s is not supported", name)
	}
}

func (c *call) unary(f func(float64) float64) (starlark.Value, error) {
	if err := builtin.Arity(c.name, c.args, c.kwargs, 1, 1); err != nil {
		return nil, err
	}
	a, err := toArray(c.t, c.args[0])
	if err != nil {
		return nil, err
	}
	d := a.dtype
	if !d.float() && c.name != "abs" && c.name != "absolute" && c.name != "square" && c.name != "sign" && c.name != "negative" {
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

func (c *call) binary(f func(x, y float64) float64) (starlark.Value, error) {
	if err := builtin.Arity(c.name, c.args, c.kwargs, 2, 2); err != nil {
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
	d := promote(a, b, !IsArray(c.args[0]), !IsArray(c.args[1]))
	if c.name == "divide" && !d.float() {
		d = dFloat64
	}
	out, err := zipWith(c.t, a, b, d, f)
	if err != nil {
		return nil, err
	}
	return out.scalarOr(), nil
}

// create makes arrays from values or from nothing.
func (c *call) create() (starlark.Value, bool, error) {
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
		var v starlark.Value = starlark.Float(float64(builtin.BoolToInt(c.name == "ones")))
		var err error
		if c.name == "full" {
			err = c.unpack("shape", &x, "fill_value", &v, "dtype?", &kind)
		} else {
			err = c.unpack("shape", &x, "dtype?", &kind)
		}
		if err != nil {
			return nil, true, err
		}
		shape, err := builtin.Ints(t, x)
		if err != nil {
			return nil, true, err
		}
		f, ok := starlark.AsFloat(builtin.FromBool(v))
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
		v := float64(builtin.BoolToInt(c.name == "ones_like"))
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
			v.(*Array).data[i*n+i] = 1
		}
		d, err := parseDtype(kind, dFloat64)
		v.(*Array).dtype = d
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

func (c *call) arange() (starlark.Value, error) {
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
		if builtin.IsFloat(v) {
			def = dFloat64
		}
		f[i] = x
	}
	d, err := parseDtype(kind, def)
	if err != nil {
		return nil, err
	}
	n := math.Ceil((f[1] - f[0]) / f[2])
	if math.IsNaN(n) || n > builtin.MaxValues {
		return nil, fmt.Errorf("arange has more than %d values", builtin.MaxValues)
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

func (c *call) linspace() (starlark.Value, error) {
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
