package modpy

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/numpy"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/random"
	"go.starlark.net/starlark"
)

// modules are what a specification may import.
func modules(builtins starlark.StringDict) map[string]*builtin.Namespace {
	numpy := numpy.Module()
	return map[string]*builtin.Namespace{
		"math": mathModule(), "copy": copyModule(), "itertools": itertoolsModule(), "random": random.Module(),
		"numpy": numpy, "numpy.random": numpy.Members["random"].(*builtin.Namespace),
		"collections": collectionsModule(builtins), "functools": functoolsModule(), "operator": operatorModule(),
		"sys": builtin.NewNamespace("sys", starlark.StringDict{"maxsize": starlark.MakeInt64(math.MaxInt64)}),
	}
}

// importer is the function behind import statements.
func importer(known map[string]*builtin.Namespace) *starlark.Builtin {
	return builtin.Function("import", func(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
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

func mathModule() *builtin.Namespace {
	m := starlark.StringDict{
		"pi": starlark.Float(math.Pi), "e": starlark.Float(math.E),
		"inf": starlark.Float(math.Inf(1)), "nan": starlark.Float(math.NaN()),
	}
	number := func(v starlark.Value) (float64, error) {
		f, ok := starlark.AsFloat(builtin.FromBool(v))
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
		m[name] = builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
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
		m[name] = builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			if i, ok := builtin.FromBool(a[0]).(starlark.Int); ok {
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
		m[name] = builtin.Fixed(name, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
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
		m[name] = builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			x, err := number(a[0])
			return starlark.Bool(f(x)), err
		})
	}
	m["log"] = builtin.Function("log", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := builtin.Arity("log", args, kwargs, 1, 2); err != nil {
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
	m["modf"] = builtin.Fixed("modf", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		x, err := number(a[0])
		whole := math.Trunc(x)
		part := math.Copysign(x-whole, x)
		if math.IsInf(x, 0) {
			part = math.Copysign(0, x)
		}
		return starlark.Tuple{starlark.Float(part), starlark.Float(whole)}, err
	})
	m["prod"] = builtin.Fixed("prod", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		var total starlark.Value = starlark.MakeInt(1)
		err := builtin.Iterate(t, a[0], func(v starlark.Value) (err error) {
			total, err = arith(t, python.FnMul, total, v)
			return err
		})
		return total, err
	})
	return builtin.NewNamespace("math", m)
}

// copyModule copies lists and dictionaries; operands, models and the like are
// named things, of which a specification wants the same one.
func copyModule() *builtin.Namespace {
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
			err := builtin.Iterate(t, v, func(x starlark.Value) error {
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
			if err := builtin.Charge(t, v.Len()); err != nil {
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
		case *numpy.Array:
			return v.Clone(t)
		}
		return v, nil
	}
	return builtin.NewNamespace("copy", starlark.StringDict{
		"copy": builtin.Fixed("copy", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return clone(t, a[0], false, 0)
		}),
		"deepcopy": builtin.Fixed("deepcopy", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return clone(t, a[0], true, 0)
		}),
	})
}

func itertoolsModule() *builtin.Namespace {
	rows := func(t *starlark.Thread, args starlark.Tuple) ([][]starlark.Value, error) {
		out := make([][]starlark.Value, len(args))
		for i, a := range args {
			var err error
			if out[i], err = builtin.Elements(t, a); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	product := builtin.Function("product", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
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
			if err := builtin.Charge(t, len(out)*len(pool)); err != nil {
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
	chain := builtin.Function("chain", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var out []starlark.Value
		for _, a := range args {
			if err := builtin.Iterate(t, a, func(v starlark.Value) error { out = append(out, v); return nil }); err != nil {
				return nil, err
			}
		}
		return starlark.NewList(out), nil
	})
	choose := func(name string, ordered bool) *starlark.Builtin {
		return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var x starlark.Value
			r := -1
			if err := starlark.UnpackArgs(name, args, kwargs, "iterable", &x, "r?", &r); err != nil {
				return nil, err
			}
			pool, err := builtin.Elements(t, x)
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
					return builtin.Charge(t, r+1)
				}
				for i := from; i < len(pool); i++ {
					if used[i] {
						continue
					}
					if err := builtin.Charge(t, 1); err != nil {
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
	return builtin.NewNamespace("itertools", starlark.StringDict{
		"product": product, "chain": chain,
		"permutations": choose("permutations", true), "combinations": choose("combinations", false),
	})
}

func functoolsModule() *builtin.Namespace {
	return builtin.NewNamespace("functools", starlark.StringDict{
		"reduce": builtin.Function("reduce", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := builtin.Arity("reduce", args, kwargs, 2, 3); err != nil {
				return nil, err
			}
			var acc starlark.Value
			if len(args) == 3 {
				acc = args[2]
			}
			err := builtin.Iterate(t, args[1], func(v starlark.Value) (err error) {
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
		"partial": builtin.Function("partial", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) == 0 {
				return nil, errors.New("partial needs a function")
			}
			return builtin.Function("partial", func(t *starlark.Thread, more starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
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
	})
}

func operatorModule() *builtin.Namespace {
	m := starlark.StringDict{}
	for name, op := range map[string]string{"add": python.FnAdd, "sub": python.FnSub, "mul": python.FnMul, "truediv": python.FnDiv,
		"floordiv": python.FnFloorDiv, "mod": python.FnMod, "pow": python.FnPow} {
		m[name] = builtin.Fixed(name, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return arith(t, op, a[0], a[1])
		})
	}
	m["neg"] = builtin.Fixed("neg", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return arith(t, python.FnMul, a[0], starlark.MakeInt(-1))
	})
	m["itemgetter"] = builtin.Fixed("itemgetter", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return builtin.Fixed("itemgetter", 1, func(t *starlark.Thread, x starlark.Tuple) (starlark.Value, error) {
			i, err := starlark.AsInt32(a[0])
			l, ok := x[0].(starlark.Indexable)
			if err != nil || !ok || i < 0 || i >= l.Len() {
				return nil, fmt.Errorf("itemgetter(%s) does not apply to a %s", a[0], x[0].Type())
			}
			return l.Index(i), nil
		}), nil
	})
	return builtin.NewNamespace("operator", m)
}
