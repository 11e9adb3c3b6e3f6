package language

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/numpy"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// compareTokens are Starlark's operators for the same.
var compareTokens = map[string]syntax.Token{
	"==": syntax.EQL, "!=": syntax.NEQ, "<": syntax.LT, "<=": syntax.LE, ">": syntax.GT, ">=": syntax.GE,
}

// compareValues applies a comparison, elementwise where arrays are involved.
func compareValues(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	if numpy.IsArray(x) || numpy.IsArray(y) {
		return numpy.Compare(t, op, x, y)
	}
	x, y = asTuple(x), asTuple(y)
	if err := chargeWeight(t, x, y); err != nil {
		return nil, err
	}
	if _, ok := starlark.AsFloat(y); ok {
		x = builtin.FromBool(x)
	} else if _, ok := starlark.AsFloat(x); ok {
		y = builtin.FromBool(y)
	}
	b, err := starlark.Compare(compareTokens[op], x, y)
	return starlark.Bool(b), err
}

// chargeWeight charges the elements in containers, each as often as it occurs: a list of lists may have far more
// elements than its memory suggests.
func chargeWeight(t *starlark.Thread, values ...starlark.Value) error {
	left := MaxSteps / 16
	for _, v := range values {
		if !weigh(v, &left, 0) {
			return errors.New("the values are too large to compare")
		}
	}
	t.Steps += uint64(MaxSteps/16 - left)
	return nil
}

func weigh(v starlark.Value, left *int, depth int) bool {
	var list starlark.Indexable
	switch v := v.(type) {
	case *starlark.List:
		list = v
	case starlark.Tuple:
		list = v
	case *record:
		list = v.Tuple
	case *starlark.Dict:
		if *left -= v.Len(); *left < 0 || depth > 20 {
			return false
		}
		for _, e := range v.Items() {
			if !weigh(e[1], left, depth+1) {
				return false
			}
		}
		return true
	default:
		return true
	}
	if *left -= list.Len(); *left < 0 || depth > 20 {
		return false
	}
	for i := range list.Len() {
		if !weigh(list.Index(i), left, depth+1) {
			return false
		}
	}
	return true
}

// contains is "x in y".
func contains(t *starlark.Thread, x, y starlark.Value) (starlark.Value, error) {
	switch y.(type) {
	case *starlark.List, starlark.Tuple:
		if err := chargeLen(t, y); err != nil {
			return nil, err
		}
		if starlark.Len(x) >= 0 && x.Type() != "string" {
			if err := chargeWeight(t, x, y); err != nil {
				return nil, err
			}
		}
	}
	return starlark.Binary(syntax.IN, x, y)
}

// getSlice is x[lo:hi:step].
func getSlice(t *starlark.Thread, x, lo, hi, step starlark.Value) (starlark.Value, error) {
	s := builtin.NewSlice(lo, hi, step)
	switch x := x.(type) {
	case *numpy.Array:
		return x.At(t, starlark.Tuple{s})
	case *starlark.List, starlark.Tuple:
		list := x.(starlark.Indexable)
		start, n, by, err := s.Resolve(list.Len())
		if err != nil {
			return nil, err
		}
		if err := builtin.Charge(t, n); err != nil {
			return nil, err
		}
		out := make([]starlark.Value, n)
		for i := range out {
			out[i] = list.Index(start + i*by)
		}
		if _, ok := x.(starlark.Tuple); ok {
			return starlark.Tuple(out), nil
		}
		return starlark.NewList(out), nil
	case *record:
		return getSlice(t, x.Tuple, lo, hi, step)
	case starlark.String:
		r := []rune(string(x))
		if err := builtin.Charge(t, len(r)); err != nil {
			return nil, err
		}
		start, n, by, err := s.Resolve(len(r))
		if err != nil {
			return nil, err
		}
		out := make([]rune, n)
		for i := range out {
			out[i] = r[start+i*by]
		}
		return starlark.String(string(out)), nil
	}
	if list, ok := x.(starlark.Sliceable); ok { // a range
		start, n, by, err := s.Resolve(list.Len())
		if err != nil {
			return nil, err
		}
		return list.Slice(start, start+n*by, by), nil
	}
	return nil, fmt.Errorf("a %s has no slices", x.Type())
}
