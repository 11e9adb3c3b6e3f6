package modpy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"go.starlark.net/starlark"
)

// metered is a Starlark function whose iterable arguments are charged first.
func metered(name string) *starlark.Builtin {
	b := starlark.Universe[name].(*starlark.Builtin)
	return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		list := make(starlark.Tuple, len(args))
		for i, a := range args {
			if s, ok := a.(starlark.String); ok {
				chars, err := builtin.Elements(t, s)
				if err != nil {
					return nil, err
				}
				a = starlark.NewList(chars)
			}
			if err := builtin.Charge(t, starlark.Len(a)); err != nil {
				return nil, err
			}
			list[i] = a
		}
		return starlark.Call(t, b, list, kwargs)
	})
}

// helpers are the functions that the parser's tree calls.
func helpers(consts [][]starlark.Value) starlark.StringDict {
	d := starlark.StringDict{}
	for op := range python.Symbol {
		d[op] = builtin.Fixed(op, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return arith(t, op, a[0], a[1])
		})
	}
	def := func(name string, n int, f func(*starlark.Thread, starlark.Tuple) (starlark.Value, error)) {
		d[name] = builtin.Fixed(name, n, f)
	}
	def(python.FnEnter, 0, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		if t.CallStackDepth() > maxCalls {
			return nil, fmt.Errorf("calls are nested deeper than %d", maxCalls)
		}
		return starlark.True, nil
	})
	def(python.FnInPlace, 3, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return inPlaceOp(t, string(a[0].(starlark.String)), a[1], a[2])
	})
	def(python.FnConst, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		i, err := starlark.AsInt32(a[0])
		if err != nil {
			return nil, err
		}
		if err := builtin.Charge(t, len(consts[i])); err != nil {
			return nil, err
		}
		return starlark.NewList(append([]starlark.Value(nil), consts[i]...)), nil
	})
	def(python.FnIs, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return starlark.Bool(identical(a[0], a[1])), nil
	})
	def(python.FnSlice, 3, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return builtin.NewSlice(a[0], a[1], a[2]), nil
	})
	for op, name := range python.Comparisons {
		def(name, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			return compareValues(t, op, a[0], a[1])
		})
	}
	def(python.FnIn, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return contains(t, a[0], a[1])
	})
	def(python.FnGetSlice, 4, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return getSlice(t, a[0], a[1], a[2], a[3])
	})
	def(python.FnSetSlice, 5, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return starlark.None, setSlice(t, a[0], a[1], a[2], a[3], a[4])
	})
	def(python.FnDelete, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return starlark.None, deleteItem(t, a[0], a[1])
	})
	def(python.FnAssert, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		if a[0].Truth() {
			return starlark.None, nil
		}
		msg := ""
		if a[1] != starlark.None {
			s, err := text(a[1])
			if err != nil {
				return nil, err
			}
			msg = ": " + s
		}
		return nil, errors.New("assertion failed" + msg)
	})
	def(python.FnRaise, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		s, err := text(a[0])
		if err != nil {
			return nil, err
		}
		return nil, errors.New("raised: " + s)
	})
	def(python.FnMethod, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return method(a[0], string(a[1].(starlark.String)))
	})
	def("·tuple", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		e, err := builtin.Elements(t, a[0])
		return starlark.Tuple(e), err
	})
	def("·set", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		s := new(starlark.Set)
		return s, builtin.Iterate(t, a[0], s.Insert)
	})
	def("·iter", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		if s, ok := a[0].(starlark.String); ok {
			chars, err := builtin.Elements(t, s)
			return starlark.NewList(chars), err
		}
		return a[0], nil
	})
	d[python.FnDict] = builtin.Function("dict", func(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return pairs(t, args)
	})
	d[python.FnUnpack] = builtin.Function("*", func(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		var out []starlark.Value
		for _, a := range args {
			if err := builtin.Iterate(t, a, func(v starlark.Value) error { out = append(out, v); return nil }); err != nil {
				return nil, err
			}
		}
		return starlark.NewList(out), nil
	})
	d[python.FnFormat] = builtin.Function("f-string", func(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		var b strings.Builder
		for _, a := range args {
			if s, ok := a.(starlark.String); ok {
				b.WriteString(string(s))
				continue
			}
			f := a.(starlark.Tuple)
			s, err := converted(f[0], string(f[1].(starlark.String)), string(f[2].(starlark.String)))
			if err == nil && b.Len()+len(s) > maxText {
				err = errText
			}
			if err != nil {
				return nil, err
			}
			b.WriteString(s)
		}
		return starlark.String(b.String()), builtin.Charge(t, b.Len())
	})
	return d
}

// pairs builds a dictionary: (key,), value; or None, dictionary to merge.
func pairs(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	d := new(starlark.Dict)
	for i := 0; i+1 < len(args); i += 2 {
		if k, ok := args[i].(starlark.Tuple); ok {
			if err := d.SetKey(k[0], args[i+1]); err != nil {
				return nil, err
			}
			continue
		}
		m, ok := args[i+1].(*starlark.Dict)
		if !ok {
			return nil, fmt.Errorf("** needs a dict, not a %s", args[i+1].Type())
		}
		if err := merge(t, d, m); err != nil {
			return nil, err
		}
	}
	return d, nil
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

// identical is Python's "is", as far as it is defined.
func identical(x, y starlark.Value) bool {
	switch x.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.String, starlark.Float:
		eq, err := starlark.Equal(x, y)
		return eq && err == nil
	case starlark.Tuple, builtin.Slice:
		return false
	}
	switch y.(type) {
	case starlark.Tuple, builtin.Slice:
		return false
	}
	return x == y
}

func deleteItem(t *starlark.Thread, x, k starlark.Value) error {
	switch x := x.(type) {
	case *starlark.Dict:
		_, found, err := x.Delete(k)
		if err == nil && !found {
			err = errors.New("the key to delete is not in the dict")
		}
		return err
	case *starlark.List:
		i, err := starlark.AsInt32(k)
		if err != nil {
			return err
		}
		if i < 0 {
			i += x.Len()
		}
		if i < 0 || i >= x.Len() {
			return fmt.Errorf("index %d to delete is out of range", i)
		}
		return setSlice(t, x, starlark.MakeInt(i), starlark.MakeInt(i+1), starlark.None, starlark.NewList(nil))
	}
	return fmt.Errorf("an element of a %s cannot be deleted", x.Type())
}

// pythonBuiltins are Python's functions that Starlark lacks, or whose cost
// Starlark does not bound.
func pythonBuiltins() starlark.StringDict {
	d := starlark.StringDict{}
	for _, name := range []string{"list", "tuple", "sorted", "reversed", "zip", "enumerate", "min", "max", "any", "all", "set"} {
		d[name] = metered(name)
	}
	d["dict"] = builtin.Function("dict", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := chargeLen(t, args...); err != nil {
			return nil, err
		}
		return starlark.Call(t, starlark.Universe["dict"], args, kwargs)
	})
	d["print"] = builtin.Function("print", func(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return starlark.None, nil
	})
	d["len"] = builtin.Fixed("len", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		if s, ok := a[0].(starlark.String); ok {
			return starlark.MakeInt(utf8.RuneCountInString(string(s))), nil
		}
		n := starlark.Len(a[0])
		if n < 0 {
			return nil, fmt.Errorf("a %s has no length", a[0].Type())
		}
		return starlark.MakeInt(n), nil
	})
	d["object"] = starlark.None
	d["Ellipsis"] = builtin.NewSlice(starlark.String("..."), starlark.None, starlark.None)
	d["__name__"] = starlark.String("__main__")
	d["str"] = builtin.Function("str", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := builtin.Arity("str", args, kwargs, 0, 1); err != nil || len(args) == 0 {
			return starlark.String(""), err
		}
		s, err := text(args[0])
		if err == nil {
			err = builtin.Charge(t, len(s))
		}
		return starlark.String(s), err
	})
	d["repr"] = builtin.Fixed("repr", 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		s, err := repr(a[0])
		if err == nil {
			err = builtin.Charge(t, len(s))
		}
		return starlark.String(s), err
	})
	d["sum"] = builtin.Function("sum", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := builtin.Arity("sum", args, kwargs, 1, 2); err != nil {
			return nil, err
		}
		var total starlark.Value = starlark.MakeInt(0)
		if len(args) == 2 {
			total = args[1]
		}
		err := builtin.Iterate(t, args[0], func(v starlark.Value) (err error) {
			total, err = arith(t, python.FnAdd, total, v)
			return err
		})
		return total, err
	})
	d["map"] = builtin.Function("map", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := builtin.Arity("map", args, kwargs, 2, 9); err != nil {
			return nil, err
		}
		rows := make([][]starlark.Value, len(args)-1)
		n := math.MaxInt
		for i, a := range args[1:] {
			e, err := builtin.Elements(t, a)
			if err != nil {
				return nil, err
			}
			rows[i], n = e, min(n, len(e))
		}
		out := make([]starlark.Value, n)
		for i := range out {
			one := make(starlark.Tuple, len(rows))
			for j := range rows {
				one[j] = rows[j][i]
			}
			v, err := starlark.Call(t, args[0], one, nil)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return starlark.NewList(out), nil
	})
	d["filter"] = builtin.Fixed("filter", 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
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
	})
	d["round"] = builtin.Function("round", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := builtin.Arity("round", args, kwargs, 1, 2); err != nil {
			return nil, err
		}
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
	})
	d["pow"] = builtin.Fixed("pow", 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		return arith(t, python.FnPow, a[0], a[1])
	})
	d["divmod"] = builtin.Fixed("divmod", 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		q, err := arith(t, python.FnFloorDiv, a[0], a[1])
		if err != nil {
			return nil, err
		}
		r, err := arith(t, python.FnMod, a[0], a[1])
		return starlark.Tuple{q, r}, err
	})
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
