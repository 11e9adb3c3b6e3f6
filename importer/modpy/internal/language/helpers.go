package language

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/nnsoc/nnsoc/internal/try"
	"go.starlark.net/starlark"
)

// Helpers are the functions that the parser's tree calls.
func Helpers(consts [][]starlark.Value) starlark.StringDict {
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
	def(python.FnAssert, 2, assertion)
	def(python.FnRaise, 1, raise)
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
	def("·iter", 1, iterated)
	d[python.FnDict] = builtin.Function("dict", func(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return pairs(t, args)
	})
	d[python.FnUnpack] = builtin.Function("*", unpacked)
	d[python.FnFormat] = builtin.Function("f-string", formatted)
	return d
}

// unpacked is *a, *b: one list of all elements.
func unpacked(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	var out []starlark.Value
	for _, a := range args {
		try.E(builtin.Iterate(t, a, func(v starlark.Value) error { out = append(out, v); return nil }))
	}
	return starlark.NewList(out), nil
}

// formatted is an f-string: parts of text, and values with conversion and format.
func formatted(t *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
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
}

// assertion is an assert statement.
func assertion(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	if a[0].Truth() {
		return starlark.None, nil
	}
	msg := ""
	if a[1] != starlark.None {
		s := try.V(text(a[1]))
		msg = ": " + s
	}
	return nil, errors.New("assertion failed" + msg)
}

// raise is a raise statement, whose exception is not modelled.
func raise(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	s := try.V(text(a[0]))
	return nil, errors.New("raised: " + s)
}

// iterated is the sequence that a loop iterates over: the characters of a string.
func iterated(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	if s, ok := a[0].(starlark.String); ok {
		chars, err := builtin.Elements(t, s)
		return starlark.NewList(chars), err
	}
	return a[0], nil
}

// pairs builds a dictionary: (key,), value; or None, dictionary to merge.
func pairs(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	d := new(starlark.Dict)
	for i := 0; i+1 < len(args); i += 2 {
		if k, ok := args[i].(starlark.Tuple); ok {
			try.E(d.SetKey(k[0], args[i+1]))
			continue
		}
		m, ok := args[i+1].(*starlark.Dict)
		if !ok {
			return nil, fmt.Errorf("** needs a dict, not a %s", args[i+1].Type())
		}
		try.E(merge(t, d, m))
	}
	return d, nil
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
