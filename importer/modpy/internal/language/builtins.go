// Package language is Python where Starlark is not it: operators, built-in functions, methods of strings and
// containers, and the modules that specifications import.
package language

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/nnsoc/nnsoc/internal/try"
)

// metered is a Starlark function whose iterable arguments are charged first.
func metered(name string) *starlark.Builtin {
	b := starlark.Universe[name].(*starlark.Builtin)
	return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		list := make(starlark.Tuple, len(args))
		for i, a := range args {
			if s, ok := a.(starlark.String); ok {
				chars := try.V(builtin.Elements(t, s))
				a = starlark.NewList(chars)
			}
			try.E(builtin.Charge(t, starlark.Len(a)))
			list[i] = a
		}
		return starlark.Call(t, b, list, kwargs)
	})
}

func merge(t *starlark.Thread, d, from *starlark.Dict) error {
	if err := builtin.Charge(t, from.Len()); err != nil {
		return err
	}
	for _, e := range from.Items() {
		if err := d.SetKey(e[0], e[1]); err != nil {
			return err
		}
	}
	return nil
}

// Builtins are Python's functions that Starlark lacks, or whose cost
// Starlark does not bound. isClass reports whether a value is of a class that they do not know.
func Builtins(isClass func(v, k starlark.Value) bool) starlark.StringDict {
	d := starlark.StringDict{}
	for _, name := range []string{"list", "tuple", "sorted", "reversed", "zip", "enumerate", "min", "max", "any", "all", "set"} {
		d[name] = metered(name)
	}
	d["dict"] = builtin.Function("dict", pyDict)
	d["print"] = builtin.Function("print", func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return starlark.None, nil
	})
	d["len"] = builtin.Fixed("len", 1, pyLen)
	d["object"] = starlark.None
	d["Ellipsis"] = builtin.NewSlice(starlark.String("..."), starlark.None, starlark.None)
	d["__name__"] = starlark.String("__main__")
	d["str"] = builtin.Function("str", pyStr)
	d["repr"] = builtin.Fixed("repr", 1, pyRepr)
	d["sum"] = builtin.Function("sum", pySum)
	d["map"] = builtin.Function("map", pyMap)
	d["filter"] = builtin.Fixed("filter", 2, pyFilter)
	d["round"] = builtin.Function("round", pyRound)
	d["pow"] = builtin.Fixed("pow", 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return arith(t, python.FnPow, a[0], a[1])
	})
	d["divmod"] = builtin.Fixed("divmod", 2, pyDivmod)
	d["type"] = builtin.Fixed("type", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return typeOf(d, a[0]), nil
	})
	d["isinstance"] = builtin.Fixed("isinstance", 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		kinds := starlark.Tuple{a[1]}
		if k, ok := a[1].(starlark.Tuple); ok {
			kinds = k
		}
		own := typeOf(d, a[0])
		for _, k := range kinds {
			if own == k || isClass(a[0], k) {
				return starlark.True, nil
			}
			if _, named := a[0].(*record); named && typeOf(d, starlark.Tuple{}) == k {
				return starlark.True, nil
			}
			if b, ok := k.(*starlark.Builtin); ok && b.Name() == "int" {
				if _, ok := a[0].(starlark.Bool); ok {
					return starlark.True, nil
				}
			}
		}
		return starlark.False, nil
	})
	return d
}

// pyDict is dict, charged for the copied entries.
func pyDict(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	try.E(chargeLen(t, args...))
	return starlark.Call(t, starlark.Universe["dict"], args, kwargs)
}

// pyLen is len, in characters of a string.
func pyLen(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	if s, ok := a[0].(starlark.String); ok {
		return starlark.MakeInt(utf8.RuneCountInString(string(s))), nil
	}
	n := starlark.Len(a[0])
	if n < 0 {
		return nil, fmt.Errorf("a %s has no length", a[0].Type())
	}
	return starlark.MakeInt(n), nil
}

// pyStr is str.
func pyStr(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := builtin.Arity("str", args, kwargs, 0, 1); err != nil || len(args) == 0 {
		return starlark.String(""), err
	}
	s, err := text(args[0])
	if err == nil {
		err = builtin.Charge(t, len(s))
	}
	return starlark.String(s), err
}

// pyRepr is repr.
func pyRepr(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	s, err := repr(a[0])
	if err == nil {
		err = builtin.Charge(t, len(s))
	}
	return starlark.String(s), err
}

// pySum is sum.
func pySum(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	try.E(builtin.Arity("sum", args, kwargs, 1, 2))
	var total starlark.Value = starlark.MakeInt(0)
	if len(args) == 2 {
		total = args[1]
	}
	err := builtin.Iterate(t, args[0], func(v starlark.Value) (err error) {
		total, err = arith(t, python.FnAdd, total, v)
		return err
	})
	return total, err
}

// pyMap is map, as a list.
func pyMap(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	try.E(builtin.Arity("map", args, kwargs, 2, 9))
	rows := make([][]starlark.Value, len(args)-1)
	n := math.MaxInt
	for i, a := range args[1:] {
		e := try.V(builtin.Elements(t, a))
		rows[i], n = e, min(n, len(e))
	}
	out := make([]starlark.Value, n)
	for i := range out {
		one := make(starlark.Tuple, len(rows))
		for j := range rows {
			one[j] = rows[j][i]
		}
		v := try.V(starlark.Call(t, args[0], one, nil))
		out[i] = v
	}
	return starlark.NewList(out), nil
}

// pyFilter is filter, as a list.
func pyFilter(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	var out []starlark.Value
	err := builtin.Iterate(t, a[1], func(v starlark.Value) error {
		keep := v
		if a[0] != starlark.None {
			var err error
			if keep, err = starlark.Call(t, a[0], starlark.Tuple{v}, nil); err != nil {
				return err
			}
		}
		if keep.Truth() {
			out = append(out, v)
		}
		return nil
	})
	return starlark.NewList(out), err
}

// pyRound is round: half to even.
func pyRound(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	try.E(builtin.Arity("round", args, kwargs, 1, 2))
	if len(args) == 1 {
		if f, ok := args[0].(starlark.Float); ok {
			return starlark.NumberToInt(starlark.Float(math.RoundToEven(float64(f))))
		}
		return builtin.FromBool(args[0]), nil
	}
	f, ok := starlark.AsFloat(args[0])
	n, err := starlark.AsInt32(args[1])
	if !ok || err != nil {
		return nil, errors.New("round needs a number and a count of digits")
	}
	return starlark.Float(roundDigits(f, n)), nil
}

// pyDivmod is divmod.
func pyDivmod(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	q := try.V(arith(t, python.FnFloorDiv, a[0], a[1]))
	r, err := arith(t, python.FnMod, a[0], a[1])
	return starlark.Tuple{q, r}, err
}

// typeOf is the function that makes values of v's type.
func typeOf(d starlark.StringDict, v starlark.Value) starlark.Value {
	if r, ok := v.(*record); ok {
		return r.kind
	}
	name := v.Type()
	switch name {
	case "string":
		name = "str"
	}
	if f, ok := d[name]; ok {
		return f
	}
	if f, ok := starlark.Universe[name]; ok {
		return f
	}
	return starlark.String(name)
}

// roundDigits rounds the decimal text of f half to even, as Python does.
func roundDigits(f float64, n int) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) || n > 330 {
		return f
	}
	if n >= 0 {
		var out float64
		fmt.Sscan(fmt.Sprintf("%.*f", n, f), &out)
		return out
	}
	if n < -330 {
		return 0
	}
	p, _ := new(big.Float).SetString("1e" + strconv.Itoa(-n))
	unit, _ := p.Float64()
	return math.RoundToEven(f/unit) * unit
}
