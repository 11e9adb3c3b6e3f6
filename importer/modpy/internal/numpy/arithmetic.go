package numpy

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/nnsoc/nnsoc/internal/try"
	"go.starlark.net/starlark"
)

// commonShape is the shape that two shapes broadcast to.
func commonShape(x, y []int) ([]int, error) {
	if len(x) < len(y) {
		x, y = y, x
	}
	out := append([]int(nil), x...)
	lead := len(x) - len(y)
	for i, d := range y {
		switch {
		case out[lead+i] == 1:
			out[lead+i] = d
		case d != 1 && d != out[lead+i]:
			return nil, fmt.Errorf("shapes %v and %v do not broadcast", x, y)
		}
	}
	return out, nil
}

// toArray converts nested sequences and scalars.
func toArray(t *starlark.Thread, v starlark.Value) (*Array, error) {
	if a, ok := v.(*Array); ok {
		return a, nil
	}
	var data []float64
	var shape []int
	kind := dBool
	any := false
	var walk func(v starlark.Value, depth int) error
	walk = func(v starlark.Value, depth int) error {
		if depth > 32 {
			return errors.New("an array is nested deeper than 32")
		}
		var x float64
		d := dFloat64
		switch n := v.(type) {
		case starlark.Float:
			x = float64(n)
		case starlark.Bool:
			d = dBool
			x = float64(builtin.BoolToInt(bool(n)))
		case starlark.Int:
			d = dInt64
			x = float64(n.Float())
		default:
			length := starlark.Len(v)
			if _, ok := v.(starlark.String); ok || length < 0 {
				return fmt.Errorf("a %s cannot be an element of an array", v.Type())
			}
			if depth == len(shape) {
				if any {
					return errors.New("the nested lists have different depths")
				}
				shape = append(shape, length)
			} else if shape[depth] != length {
				return fmt.Errorf("nested lists have different lengths, %d and %d", shape[depth], length)
			}
			return builtin.Iterate(t, v, func(e starlark.Value) error { return walk(e, depth+1) })
		}
		if depth != len(shape) {
			return errors.New("the nested lists have different depths")
		}
		any = true
		kind = max(kind, d)
		data = append(data, x)
		return nil
	}
	if err := walk(v, 0); err != nil {
		return nil, err
	}
	if len(data) == 0 {
		kind = dFloat64
	}
	if n, err := product(shape); err != nil || n != len(data) {
		return nil, errors.New("the nested lists have different depths")
	}
	return &Array{data: data, shape: shape, strides: contiguous(shape), dtype: kind}, nil
}

// promote is the type of an operation's result. A scalar does not widen an
// array of the same kind.
func promote(x, y *Array, scalarX, scalarY bool) dtype {
	a, b := x.dtype, y.dtype
	if a.float() == b.float() || !a.float() && b == dBool || !b.float() && a == dBool {
		switch {
		case scalarY && !scalarX && a != dBool:
			return a
		case scalarX && !scalarY && b != dBool:
			return b
		}
	} else if scalarX && b.float() {
		return b
	} else if scalarY && a.float() {
		return a
	}
	d := max(a, b)
	if d == dFloat32 && min(a, b) >= dInt32 && !min(a, b).float() || d == dFloat16 && min(a, b) >= dInt32 && !min(a, b).float() {
		return dFloat64
	}
	return d
}

// Binary applies an operator elementwise.
func Binary(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	a, err := toArray(t, x)
	if err != nil {
		return nil, err
	}
	b, err := toArray(t, y)
	if err != nil {
		return nil, err
	}
	d := promote(a, b, !IsArray(x), !IsArray(y))
	var f func(p, q float64) float64
	switch op {
	case python.FnAdd:
		f = func(p, q float64) float64 { return p + q }
	case python.FnSub:
		f = func(p, q float64) float64 { return p - q }
	case python.FnMul:
		f = func(p, q float64) float64 { return p * q }
	case python.FnDiv:
		if !d.float() {
			d = dFloat64
		}
		f = func(p, q float64) float64 { return p / q }
	case python.FnFloorDiv:
		f = floorDivide
	case python.FnMod:
		f = modulo
	case python.FnPow:
		f = math.Pow
	default:
		return nil, fmt.Errorf("operator %s does not apply to arrays", python.Symbol[op])
	}
	if d == dBool {
		d = dInt64
	}
	return zipWith(t, a, b, d, f)
}

// floorDivide is numpy's //, in which a division by 0 is no error.
func floorDivide(p, q float64) float64 {
	if q == 0 {
		return p / q
	}
	quotient, _ := builtin.DivMod(p, q)
	return quotient
}

// modulo is numpy's %.
func modulo(p, q float64) float64 {
	if q == 0 {
		return math.NaN()
	}
	_, rest := builtin.DivMod(p, q)
	return rest
}

func zipWith(t *starlark.Thread, a, b *Array, d dtype, f func(p, q float64) float64) (_ *Array, err error) {
	defer try.Catch(&err)
	shape := try.V(commonShape(a.shape, b.shape))
	out := try.V(newArray(t, d, shape))
	a = try.V(a.broadcast(shape))
	b = try.V(b.broadcast(shape))
	p, q := a.Flat(), b.Flat()
	for i := range out.data {
		out.data[i] = d.round(f(p[i], q[i]))
	}
	return out, nil
}

// concatenate joins arrays along an axis.
func concatenate(t *starlark.Thread, parts []*Array, axis int) (*Array, error) {
	if len(parts) == 0 {
		return nil, errors.New("nothing to concatenate")
	}
	first := parts[0]
	n := len(first.shape)
	if axis < 0 {
		axis += n
	}
	if axis < 0 || axis >= n {
		return nil, fmt.Errorf("axis %d of %d dimensions", axis, n)
	}
	shape := append([]int(nil), first.shape...)
	shape[axis] = 0
	d := first.dtype
	for _, p := range parts {
		for i := range shape {
			if len(p.shape) != n || i != axis && p.shape[i] != shape[i] {
				return nil, fmt.Errorf("shapes %v and %v cannot be joined on axis %d", first.shape, p.shape, axis)
			}
		}
		shape[axis] += p.shape[axis]
		d = max(d, p.dtype)
	}
	out, err := newArray(t, d, shape)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, p := range parts {
		view := &Array{data: out.data, off: at * out.strides[axis], shape: p.shape, strides: out.strides, dtype: d}
		values := p.Flat()
		i := 0
		view.each(func(k int) { out.data[k] = values[i]; i++ })
		at += p.shape[axis]
	}
	return out, nil
}

// list is the nested list of the elements.
func (a *Array) list(t *starlark.Thread) (starlark.Value, error) {
	if err := builtin.Charge(t, a.Size()); err != nil {
		return nil, err
	}
	var walk func(off, axis int) starlark.Value
	walk = func(off, axis int) starlark.Value {
		if axis == len(a.shape) {
			return a.dtype.value(a.data[off])
		}
		out := make([]starlark.Value, a.shape[axis])
		for i := range out {
			out[i] = walk(off+i*a.strides[axis], axis+1)
		}
		return starlark.NewList(out)
	}
	return walk(a.off, 0), nil
}

// Compare is a comparison, elementwise; None is equal to no array.
func Compare(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	if x == starlark.None || y == starlark.None {
		return starlark.Bool(op == "!="), nil
	}
	a, err := toArray(t, x)
	if err != nil {
		return nil, err
	}
	b, err := toArray(t, y)
	if err != nil {
		return nil, err
	}
	return zipWith(t, a, b, dBool, func(p, q float64) float64 {
		switch op {
		case "==":
			return float64(builtin.BoolToInt(p == q))
		case "!=":
			return float64(builtin.BoolToInt(p != q))
		case "<":
			return float64(builtin.BoolToInt(p < q))
		case "<=":
			return float64(builtin.BoolToInt(p <= q))
		case ">":
			return float64(builtin.BoolToInt(p > q))
		}
		return float64(builtin.BoolToInt(p >= q))
	})
}
