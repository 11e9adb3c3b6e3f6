package language

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/numpy"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// native is the Starlark operator that does the scalar work of a built-in.
var native = map[string]syntax.Token{
	python.FnAdd: syntax.PLUS, python.FnSub: syntax.MINUS, python.FnMul: syntax.STAR, python.FnDiv: syntax.SLASH, python.FnFloorDiv: syntax.SLASHSLASH,
	python.FnMod: syntax.PERCENT, python.FnAnd: syntax.AMP, python.FnOr: syntax.PIPE, python.FnXor: syntax.CIRCUMFLEX, python.FnShl: syntax.LTLT, python.FnShr: syntax.GTGT,
}

var errBits = fmt.Errorf("an integer exceeds %d bits", builtin.MaxBits)

// arith applies a binary operator with Python's rules.
func arith(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	if numpy.IsArray(x) || numpy.IsArray(y) {
		return numpy.Binary(t, op, x, y)
	}
	x, y = asTuple(builtin.FromBool(x)), builtin.FromBool(y)
	if _, formatted := x.(starlark.String); !formatted {
		y = asTuple(y)
	}
	switch a := x.(type) {
	case starlark.Float:
		if op == python.FnPow {
			return power(x, y)
		}
	case starlark.Int:
		switch b := y.(type) {
		case starlark.Int:
			return intOp(op, a, b)
		case starlark.Float:
			if op == python.FnPow {
				return power(x, y)
			}
		case *starlark.List, starlark.Tuple, starlark.String:
			if op == python.FnMul {
				return repeated(t, y, a)
			}
		}
	case starlark.String:
		switch op {
		case python.FnMod:
			return formatPercent(t, string(a), y)
		case python.FnMul:
			return repeated(t, x, y)
		}
		if b, ok := y.(starlark.String); ok {
			if err := builtin.Charge(t, len(a)+len(b)); err != nil {
				return nil, err
			}
		}
	case *starlark.List, starlark.Tuple:
		if op == python.FnMul {
			return repeated(t, x, y)
		}
		if err := chargeLen(t, x, y); err != nil {
			return nil, err
		}
	default:
		if err := chargeLen(t, x, y); err != nil {
			return nil, err
		}
	}
	if op == python.FnMod || op == python.FnFloorDiv {
		if v, ok, err := floatDivMod(op, x, y); ok {
			return v, err
		}
	}
	tok, ok := native[op]
	if !ok {
		return nil, fmt.Errorf("operator %s does not apply to %s and %s", python.Symbol[op], x.Type(), y.Type())
	}
	return starlark.Binary(tok, x, y)
}

// floatDivMod is x // y and x % y of numbers at least one of which is a float; ok is false for other operands.
func floatDivMod(op string, x, y starlark.Value) (v starlark.Value, ok bool, err error) {
	a, okA := starlark.AsFloat(x)
	b, okB := starlark.AsFloat(y)
	if !okA || !okB {
		return nil, false, nil
	}
	if b == 0 {
		return nil, true, errors.New("float division by zero")
	}
	quotient, rest := builtin.DivMod(a, b)
	if op == python.FnMod {
		return starlark.Float(rest), true, nil
	}
	return starlark.Float(quotient), true, nil
}

func chargeLen(t *starlark.Thread, values ...starlark.Value) error {
	n := 0
	for _, v := range values {
		if k := starlark.Len(v); k > 0 {
			n += k
		}
	}
	return builtin.Charge(t, n)
}

func intOp(op string, a, b starlark.Int) (starlark.Value, error) {
	if op == python.FnPow {
		return power(a, b)
	}
	v, err := starlark.Binary(native[op], a, b)
	if i, ok := v.(starlark.Int); ok && err == nil {
		if _, small := i.Int64(); !small && i.BigInt().BitLen() > builtin.MaxBits {
			return nil, errBits
		}
	}
	return v, err
}

// power is x ** y.
func power(x, y starlark.Value) (starlark.Value, error) {
	a, okA := x.(starlark.Int)
	b, okB := y.(starlark.Int)
	if okA && okB && b.Sign() >= 0 {
		n, ok := b.Int64()
		base := a.BigInt()
		if base.BitLen() > 1 && (!ok || n > builtin.MaxBits || int64(base.BitLen()-1)*n > builtin.MaxBits) {
			return nil, errBits
		}
		if base.BitLen() <= 1 && !ok { // 0, 1 and -1
			n = 2 + int64(b.BigInt().Bit(0))
		}
		if base.BitLen() <= 1 && n > 3 {
			n = 2 + n%2
		}
		return starlark.MakeBigInt(new(big.Int).Exp(base, big.NewInt(n), nil)), nil
	}
	f, ok1 := starlark.AsFloat(x)
	g, ok2 := starlark.AsFloat(y)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("operator ** does not apply to %s and %s", x.Type(), y.Type())
	}
	if f == 0 && g < 0 {
		return nil, errors.New("0.0 cannot be raised to a negative power")
	}
	if f < 0 && g != math.Trunc(g) {
		return nil, errors.New("complex numbers are not supported")
	}
	return starlark.Float(math.Pow(f, g)), nil
}

// repeated is a sequence times a number.
func repeated(t *starlark.Thread, seq, count starlark.Value) (starlark.Value, error) {
	i, ok := count.(starlark.Int)
	if !ok {
		return nil, fmt.Errorf("a %s cannot be multiplied by a %s", seq.Type(), count.Type())
	}
	n, ok := i.Int64()
	if i.Sign() <= 0 {
		n, ok = 0, true
	}
	length := int64(starlark.Len(seq))
	if !ok || n > builtin.MaxValues || n*length > builtin.MaxValues {
		return nil, fmt.Errorf("a %s of %d elements is repeated %s times: more than %d values", seq.Type(), length, i, builtin.MaxValues)
	}
	if err := builtin.Charge(t, int(n*length)); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.STAR, seq, starlark.MakeInt64(n))
}

// inPlaceOp is the value that "x op= y" binds x to. Lists and arrays change in place.
func inPlaceOp(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	if l, ok := x.(*starlark.List); ok && op == python.FnAdd {
		return l, extend(t, l, y)
	}
	v, err := arith(t, op, x, y)
	if err != nil {
		return nil, err
	}
	if a, ok := x.(*numpy.Array); ok {
		return a, a.Assign(t, v)
	}
	return v, nil
}

func extend(t *starlark.Thread, l *starlark.List, y starlark.Value) error {
	more, err := builtin.Elements(t, y)
	if err != nil {
		return err
	}
	for _, v := range more {
		if err := l.Append(v); err != nil {
			return err
		}
	}
	return nil
}

// setSlice is x[lo:hi:step] = v on a list, or on an array.
func setSlice(t *starlark.Thread, x, lo, hi, step, v starlark.Value) error {
	if a, ok := x.(*numpy.Array); ok {
		view, err := a.At(t, starlark.Tuple{builtin.NewSlice(lo, hi, step)})
		if err != nil {
			return err
		}
		return view.(*numpy.Array).Assign(t, v)
	}
	l, ok := x.(*starlark.List)
	if !ok {
		return fmt.Errorf("a slice of a %s cannot be assigned to", x.Type())
	}
	if err := builtin.Charge(t, l.Len()); err != nil {
		return err
	}
	start, count, by, err := builtin.NewSlice(lo, hi, step).Resolve(l.Len())
	if err != nil {
		return err
	}
	values, err := builtin.Elements(t, v)
	if err != nil {
		return err
	}
	if by != 1 || step != starlark.None {
		if len(values) != count {
			return fmt.Errorf("%d values are assigned to a slice of %d", len(values), count)
		}
		for i, e := range values {
			if err := l.SetIndex(start+i*by, e); err != nil {
				return err
			}
		}
		return nil
	}
	all := make([]starlark.Value, 0, l.Len()-count+len(values))
	for i := range l.Len() {
		if i == start {
			all = append(all, values...)
		}
		if i < start || i >= start+count {
			all = append(all, l.Index(i))
		}
	}
	if start == l.Len() {
		all = append(all, values...)
	}
	if err := l.Clear(); err != nil {
		return err
	}
	for _, e := range all {
		if err := l.Append(e); err != nil {
			return err
		}
	}
	return nil
}
