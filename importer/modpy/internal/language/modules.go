package language

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/numpy"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/random"
	"github.com/nnsoc/nnsoc/internal/try"
	"go.starlark.net/starlark"
)

// Modules are the modules that a specification may import.
func Modules(builtins starlark.StringDict) map[string]*builtin.Namespace {
	numpy := numpy.Module()
	return map[string]*builtin.Namespace{
		"math": mathModule(), "copy": copyModule(), "itertools": itertoolsModule(), "random": random.Module(),
		"numpy": numpy, "numpy.random": numpy.Members["random"].(*builtin.Namespace),
		"collections": collectionsModule(builtins), "functools": functoolsModule(), "operator": operatorModule(),
		"sys": builtin.NewNamespace("sys", starlark.StringDict{"maxsize": starlark.MakeInt64(math.MaxInt64)}),
	}
}

// Importer is the function behind import statements.
func Importer(known map[string]*builtin.Namespace) *starlark.Builtin {
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

// copyModule copies lists and dictionaries; operands, models and the like have an identity, which copies keep.
func copyModule() *builtin.Namespace {
	var clone func(t *starlark.Thread, v starlark.Value, deep bool, depth int) (starlark.Value, error)
	clone = func(t *starlark.Thread, v starlark.Value, deep bool, depth int) (_ starlark.Value, err error) {
		defer try.Catch(&err)
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
			try.E(builtin.Charge(t, v.Len()))
			d := new(starlark.Dict)
			for _, e := range v.Items() {
				c := try.V(inner(e[1]))
				try.E(d.SetKey(e[0], c))
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

func functoolsModule() *builtin.Namespace {
	return builtin.NewNamespace("functools", starlark.StringDict{
		"reduce": builtin.Function("reduce", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			try.E(builtin.Arity("reduce", args, kwargs, 2, 3))
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
