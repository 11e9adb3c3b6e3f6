package modpy

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/x448/float16"
	"go.starlark.net/starlark"
)

func floatToHalf(f float32) uint16 { return float16.Fromfloat32(f).Bits() }
func halfToFloat(h uint16) float32 { return float16.Frombits(h).Float32() }

// modules are what a specification may import.
func modules(builtins starlark.StringDict) map[string]*namespace {
	numpy := numpyModule()
	return map[string]*namespace{
		"math": mathModule(), "copy": copyModule(), "itertools": itertoolsModule(), "random": randomModule(),
		"numpy": numpy, "numpy.random": numpy.members["random"].(*namespace),
		"collections": collectionsModule(builtins), "functools": functoolsModule(), "operator": operatorModule(),
		"sys": {"sys", starlark.StringDict{"maxsize": starlark.MakeInt64(math.MaxInt64)}},
	}
}

// importer is the function behind import statements.
func importer(known map[string]*namespace) *starlark.Builtin {
	return function("import", func(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		name := string(args[0].(starlark.String))
		m, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("module %q is not available to specifications", name)
		}
		if len(args) == 1 {
			return m, nil
		}
		return m.Attr(string(args[1].(starlark.String)))
	})
}

func mathModule() *namespace {
	m := starlark.StringDict{
		"pi": starlark.Float(math.Pi), "e": starlark.Float(math.E),
		"inf": starlark.Float(math.Inf(1)), "nan": starlark.Float(math.NaN()),
	}
	number := func(v starlark.Value) (float64, error) {
		f, ok := starlark.AsFloat(fromBool(v))
		if !ok {
			return 0, fmt.Errorf("a number is needed, not a %s", v.Type())
		}
		return f, nil
	}
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "exp": math.Exp, "expm1": math.Expm1, "log2": math.Log2, "log10": math.Log10,
		"log1p": math.Log1p, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos,
		"atan": math.Atan, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "fabs": math.Abs, "erf": math.Erf,
		"gamma": math.Gamma, "degrees": func(x float64) float64 { return x * 180 / math.Pi },
		"radians": func(x float64) float64 { return x * math.Pi / 180 },
	} {
		m[name] = fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			x, err := number(a[0])
			if err != nil {
				return nil, err
			}
			y := f(x)
			if math.IsNaN(y) && !math.IsNaN(x) {
				return nil, fmt.Errorf("math.%s is not defined for %s", name, floatText(x))
			}
			return starlark.Float(y), nil
		})
	}
	for name, f := range map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc} {
		m[name] = fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			if i, ok := fromBool(a[0]).(starlark.Int); ok {
				return i, nil
			}
			x, err := number(a[0])
			if err != nil {
				return nil, err
			}
			return starlark.NumberToInt(starlark.Float(f(x)))
		})
	}
	for name, f := range map[string]func(x, y float64) float64{
		"pow": math.Pow, "fmod": math.Mod, "atan2": math.Atan2, "hypot": math.Hypot, "copysign": math.Copysign,
		"remainder": math.Remainder,
	} {
		m[name] = fixed(name, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			x, err := number(a[0])
			if err != nil {
				return nil, err
			}
			y, err := number(a[1])
			return starlark.Float(f(x, y)), err
		})
	}
	for name, f := range map[string]func(float64) bool{
		"isnan": math.IsNaN, "isinf": func(x float64) bool { return math.IsInf(x, 0) },
		"isfinite": func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) },
	} {
		m[name] = fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			x, err := number(a[0])
			return starlark.Bool(f(x)), err
		})
	}
	m["log"] = function("log", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := count("log", args, kwargs, 1, 2); err != nil {
			return nil, err
		}
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
	})
	m["modf"] = fixed("modf", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		x, err := number(a[0])
		whole := math.Trunc(x)
		part := math.Copysign(x-whole, x)
		if math.IsInf(x, 0) {
			part = math.Copysign(0, x)
		}
		return starlark.Tuple{starlark.Float(part), starlark.Float(whole)}, err
	})
	m["prod"] = fixed("prod", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		var total starlark.Value = starlark.MakeInt(1)
		err := iterate(t, a[0], func(v starlark.Value) (err error) {
			total, err = arith(t, python.FnMul, total, v)
			return err
		})
		return total, err
	})
	return &namespace{"math", m}
}

// copyModule copies lists and dictionaries; operands, models and the like are
// named things, of which a specification wants the same one.
func copyModule() *namespace {
	var clone func(t *starlark.Thread, v starlark.Value, deep bool, depth int) (starlark.Value, error)
	clone = func(t *starlark.Thread, v starlark.Value, deep bool, depth int) (starlark.Value, error) {
		if depth > python.MaxNesting {
			return nil, fmt.Errorf("a value is nested deeper than %d", python.MaxNesting)
		}
		inner := func(x starlark.Value) (starlark.Value, error) {
			if !deep {
				return x, nil
			}
			return clone(t, x, true, depth+1)
		}
		list := func() ([]starlark.Value, error) {
			out := []starlark.Value{}
			err := iterate(t, v, func(x starlark.Value) error {
				c, err := inner(x)
				out = append(out, c)
				return err
			})
			return out, err
		}
		switch v := v.(type) {
		case *starlark.List:
			l, err := list()
			return starlark.NewList(l), err
		case starlark.Tuple:
			l, err := list()
			return starlark.Tuple(l), err
		case *starlark.Dict:
			if err := charge(t, v.Len()); err != nil {
				return nil, err
			}
			d := new(starlark.Dict)
			for _, e := range v.Items() {
				c, err := inner(e[1])
				if err != nil {
					return nil, err
				}
				if err := d.SetKey(e[0], c); err != nil {
					return nil, err
				}
			}
			return d, nil
		case *array:
			return v.copyAs(t, v.dtype)
		}
		return v, nil
	}
	return &namespace{"copy", starlark.StringDict{
		"copy": fixed("copy", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return clone(t, a[0], false, 0)
		}),
		"deepcopy": fixed("deepcopy", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return clone(t, a[0], true, 0)
		}),
	}}
}

func itertoolsModule() *namespace {
	rows := func(t *starlark.Thread, args starlark.Tuple) ([][]starlark.Value, error) {
		out := make([][]starlark.Value, len(args))
		for i, a := range args {
			var err error
			if out[i], err = elements(t, a); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	product := function("product", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		repeat := 1
		if err := starlark.UnpackArgs("product", nil, kwargs, "repeat?", &repeat); err != nil {
			return nil, err
		}
		if repeat < 0 || repeat*len(args) > 64 {
			return nil, errors.New("product of more than 64 iterables")
		}
		one, err := rows(t, args)
		if err != nil {
			return nil, err
		}
		var pools [][]starlark.Value
		for range repeat {
			pools = append(pools, one...)
		}
		out := []starlark.Value{starlark.Tuple{}}
		for _, pool := range pools {
			if err := charge(t, len(out)*len(pool)); err != nil {
				return nil, err
			}
			next := make([]starlark.Value, 0, len(out)*len(pool))
			for _, head := range out {
				for _, v := range pool {
					h := head.(starlark.Tuple)
					next = append(next, append(h[:len(h):len(h)], v))
				}
			}
			out = next
		}
		return starlark.NewList(out), nil
	})
	chain := function("chain", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var out []starlark.Value
		for _, a := range args {
			if err := iterate(t, a, func(v starlark.Value) error { out = append(out, v); return nil }); err != nil {
				return nil, err
			}
		}
		return starlark.NewList(out), nil
	})
	choose := func(name string, ordered bool) *starlark.Builtin {
		return function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var x starlark.Value
			r := -1
			if err := starlark.UnpackArgs(name, args, kwargs, "iterable", &x, "r?", &r); err != nil {
				return nil, err
			}
			pool, err := elements(t, x)
			if err != nil {
				return nil, err
			}
			if r < 0 {
				r = len(pool)
			}
			var out []starlark.Value
			used := make([]bool, len(pool))
			var pick func(head starlark.Tuple, from int) error
			pick = func(head starlark.Tuple, from int) error {
				if len(head) == r {
					out = append(out, append(starlark.Tuple(nil), head...))
					return charge(t, r+1)
				}
				for i := from; i < len(pool); i++ {
					if used[i] {
						continue
					}
					if err := charge(t, 1); err != nil {
						return err
					}
					used[i] = true
					next := i + 1
					if ordered {
						next = 0
					}
					if err := pick(append(head, pool[i]), next); err != nil {
						return err
					}
					used[i] = false
				}
				return nil
			}
			if r > 64 {
				return nil, fmt.Errorf("%s of %d elements", name, r)
			}
			err = pick(nil, 0)
			return starlark.NewList(out), err
		})
	}
	return &namespace{"itertools", starlark.StringDict{
		"product": product, "chain": chain,
		"permutations": choose("permutations", true), "combinations": choose("combinations", false),
	}}
}

func functoolsModule() *namespace {
	return &namespace{"functools", starlark.StringDict{
		"reduce": function("reduce", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := count("reduce", args, kwargs, 2, 3); err != nil {
				return nil, err
			}
			var acc starlark.Value
			if len(args) == 3 {
				acc = args[2]
			}
			err := iterate(t, args[1], func(v starlark.Value) (err error) {
				if acc == nil {
					acc = v
					return nil
				}
				acc, err = starlark.Call(t, args[0], starlark.Tuple{acc, v}, nil)
				return err
			})
			if err == nil && acc == nil {
				err = errors.New("reduce of nothing")
			}
			return acc, err
		}),
		"partial": function("partial", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) == 0 {
				return nil, errors.New("partial needs a function")
			}
			return function("partial", func(t *starlark.Thread, more starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
				if t.CallStackDepth() > maxCalls {
					return nil, fmt.Errorf("calls are nested deeper than %d", maxCalls)
				}
				all := append(append(starlark.Tuple(nil), args[1:]...), more...)
				merged := append([]starlark.Tuple(nil), named...)
			next:
				for _, kv := range kwargs {
					for _, n := range named {
						if n[0] == kv[0] {
							continue next
						}
					}
					merged = append(merged, kv)
				}
				return starlark.Call(t, args[0], all, merged)
			}), nil
		}),
	}}
}

func operatorModule() *namespace {
	m := starlark.StringDict{}
	for name, op := range map[string]string{"add": python.FnAdd, "sub": python.FnSub, "mul": python.FnMul, "truediv": python.FnDiv,
		"floordiv": python.FnFloorDiv, "mod": python.FnMod, "pow": python.FnPow} {
		m[name] = fixed(name, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return arith(t, op, a[0], a[1])
		})
	}
	m["neg"] = fixed("neg", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return arith(t, python.FnMul, a[0], starlark.MakeInt(-1))
	})
	m["itemgetter"] = fixed("itemgetter", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return fixed("itemgetter", 1, func(t *starlark.Thread, x starlark.Tuple) (starlark.Value, error) {
			i, err := starlark.AsInt32(a[0])
			l, ok := x[0].(starlark.Indexable)
			if err != nil || !ok || i < 0 || i >= l.Len() {
				return nil, fmt.Errorf("itemgetter(%s) does not apply to a %s", a[0], x[0].Type())
			}
			return l.Index(i), nil
		}), nil
	})
	return &namespace{"operator", m}
}
