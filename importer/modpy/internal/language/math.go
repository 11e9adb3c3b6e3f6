package language

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/nnsoc/nnsoc/internal/try"
	"go.starlark.net/starlark"
)

// mathFunctions are the functions of math that Go has, by signature: a number to a number, to an integer, two numbers
// to a number, a predicate.
var (
	mathFunctions = map[string]func(float64) float64{
		"sqrt": math.Sqrt, "exp": math.Exp, "expm1": math.Expm1, "log2": math.Log2, "log10": math.Log10,
		"log1p": math.Log1p, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos,
		"atan": math.Atan, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "fabs": math.Abs, "erf": math.Erf,
		"gamma": math.Gamma, "degrees": func(x float64) float64 { return x * 180 / math.Pi },
		"radians": func(x float64) float64 { return x * math.Pi / 180 },
	}
	mathIntegers = map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc}
	mathPairs    = map[string]func(x, y float64) float64{
		"pow": math.Pow, "fmod": math.Mod, "atan2": math.Atan2, "hypot": math.Hypot, "copysign": math.Copysign,
		"remainder": math.Remainder,
	}
	mathTests = map[string]func(float64) bool{
		"isnan": math.IsNaN, "isinf": func(x float64) bool { return math.IsInf(x, 0) },
		"isfinite": func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) },
	}
)

func mathModule() *builtin.Namespace {
	m := starlark.StringDict{
		"pi": starlark.Float(math.Pi), "e": starlark.Float(math.E),
		"inf": starlark.Float(math.Inf(1)), "nan": starlark.Float(math.NaN()),
		"log": builtin.Function("log", mathLog), "modf": builtin.Fixed("modf", 1, mathModf), "prod": builtin.Fixed("prod", 1, mathProd),
	}
	for name, f := range mathFunctions {
		m[name] = builtin.Fixed(name, 1, func(_ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			x := try.V(number(a[0]))
			y := f(x)
			if math.IsNaN(y) && !math.IsNaN(x) {
				return nil, fmt.Errorf("math.%s is not defined for %s", name, FloatText(x))
			}
			return starlark.Float(y), nil
		})
	}
	for name, f := range mathIntegers {
		m[name] = builtin.Fixed(name, 1, func(_ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			if i, ok := builtin.FromBool(a[0]).(starlark.Int); ok {
				return i, nil
			}
			x := try.V(number(a[0]))
			return starlark.NumberToInt(starlark.Float(f(x)))
		})
	}
	for name, f := range mathPairs {
		m[name] = builtin.Fixed(name, 2, func(_ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			x := try.V(number(a[0]))
			y, err := number(a[1])
			return starlark.Float(f(x, y)), err
		})
	}
	for name, f := range mathTests {
		m[name] = builtin.Fixed(name, 1, func(_ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			x, err := number(a[0])
			return starlark.Bool(f(x)), err
		})
	}
	return builtin.NewNamespace("math", m)
}

// number is a value as a float.
func number(v starlark.Value) (float64, error) {
	f, ok := starlark.AsFloat(builtin.FromBool(v))
	if !ok {
		return 0, fmt.Errorf("a number is needed, not a %s", v.Type())
	}
	return f, nil
}

// mathLog is the logarithm to a base, e by default.
func mathLog(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	try.E(builtin.Arity("log", args, kwargs, 1, 2))
	base := 1.0
	x, err := number(args[0])
	if err == nil && len(args) == 2 {
		base, err = number(args[1])
		base = math.Log(base)
	}
	if err == nil && x <= 0 {
		err = errors.New("math.log is defined for positive numbers only")
	}
	return starlark.Float(math.Log(x) / base), err
}

// mathModf is the fraction and the whole part of a number.
func mathModf(_ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	x, err := number(a[0])
	whole := math.Trunc(x)
	part := math.Copysign(x-whole, x)
	if math.IsInf(x, 0) {
		part = math.Copysign(0, x)
	}
	return starlark.Tuple{starlark.Float(part), starlark.Float(whole)}, err
}

// mathProd is the product of the elements of an iterable.
func mathProd(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	var total starlark.Value = starlark.MakeInt(1)
	err := builtin.Iterate(t, a[0], func(v starlark.Value) (err error) {
		total, err = arith(t, python.FnMul, total, v)
		return err
	})
	return total, err
}
