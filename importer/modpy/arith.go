package modpy

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// native is the Starlark operator that does the scalar work of a built-in.
var native = map[string]syntax.Token{
	python.FnAdd: syntax.PLUS, python.FnSub: syntax.MINUS, python.FnMul: syntax.STAR, python.FnDiv: syntax.SLASH, python.FnFloorDiv: syntax.SLASHSLASH,
	python.FnMod: syntax.PERCENT, python.FnAnd: syntax.AMP, python.FnOr: syntax.PIPE, python.FnXor: syntax.CIRCUMFLEX, python.FnShl: syntax.LTLT, python.FnShr: syntax.GTGT,
}

// symbol is an operator as it is written.
var symbol = map[string]string{
	python.FnAdd: "+", python.FnSub: "-", python.FnMul: "*", python.FnDiv: "/", python.FnFloorDiv: "//", python.FnMod: "%", python.FnPow: "**",
	python.FnAnd: "&", python.FnOr: "|", python.FnXor: "^", python.FnShl: "<<", python.FnShr: ">>",
}

var errBits = fmt.Errorf("an integer exceeds %d bits", maxBits)

// arith applies a binary operator with Python's rules.
func arith(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	if isArray(x) || isArray(y) {
		return arrayOp(t, op, x, y)
	}
	x, y = asTuple(fromBool(x)), fromBool(y)
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
			if err := charge(t, len(a)+len(b)); err != nil {
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
		return nil, fmt.Errorf("operator %s does not apply to %s and %s", symbol[op], x.Type(), y.Type())
	}
	return starlark.Binary(tok, x, y)
}

// floatDivMod is x // y and x % y of numbers of which one is a float; ok is
// false for other operands.
func floatDivMod(op string, x, y starlark.Value) (v starlark.Value, ok bool, err error) {
	a, okA := starlark.AsFloat(x)
	b, okB := starlark.AsFloat(y)
	if !okA || !okB {
		return nil, false, nil
	}
	if b == 0 {
		return nil, true, errors.New("float division by zero")
	}
	quotient, rest := divMod(a, b)
	if op == python.FnMod {
		return starlark.Float(rest), true, nil
	}
	return starlark.Float(quotient), true, nil
}

// divMod is Python's division of floats with rest: the rest has the sign of the
// divisor, also where it is 0, and the quotient is (a-rest)/b rounded down, so
// that 1 // 0.1 is 9 and -0.5 // inf is -1.
func divMod(a, b float64) (quotient, rest float64) {
	rest = math.Mod(a, b)
	quotient = (a - rest) / b
	switch {
	case rest == 0:
		rest = math.Copysign(0, b)
	case (b < 0) != (rest < 0):
		rest += b
		quotient--
	}
	if quotient == 0 {
		return math.Copysign(0, a/b), rest
	}
	down := math.Floor(quotient)
	if quotient-down > 0.5 {
		down++
	}
	return down, rest
}

func chargeLen(t *starlark.Thread, values ...starlark.Value) error {
	n := 0
	for _, v := range values {
		if k := starlark.Len(v); k > 0 {
			n += k
		}
	}
	return charge(t, n)
}

func fromBool(x starlark.Value) starlark.Value {
	if b, ok := x.(starlark.Bool); ok {
		if b {
			return starlark.MakeInt(1)
		}
		return starlark.MakeInt(0)
	}
	return x
}

func intOp(op string, a, b starlark.Int) (starlark.Value, error) {
	if op == python.FnPow {
		return power(a, b)
	}
	v, err := starlark.Binary(native[op], a, b)
	if i, ok := v.(starlark.Int); ok && err == nil {
		if _, small := i.Int64(); !small && i.BigInt().BitLen() > maxBits {
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
		if base.BitLen() > 1 && (!ok || n > maxBits || int64(base.BitLen()-1)*n > maxBits) {
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
	if !ok || n > maxValues || n*length > maxValues {
		return nil, fmt.Errorf("a %s of %d elements is repeated %s times: more than %d values", seq.Type(), length, i, maxValues)
	}
	if err := charge(t, int(n*length)); err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.STAR, seq, starlark.MakeInt64(n))
}

// inPlaceOp is what "x op= y" binds x to. Lists and arrays change in place.
func inPlaceOp(t *starlark.Thread, op string, x, y starlark.Value) (starlark.Value, error) {
	if l, ok := x.(*starlark.List); ok && op == python.FnAdd {
		return l, extend(t, l, y)
	}
	v, err := arith(t, op, x, y)
	if err != nil {
		return nil, err
	}
	if a, ok := x.(*array); ok {
		return a, a.assign(t, v)
	}
	return v, nil
}

func extend(t *starlark.Thread, l *starlark.List, y starlark.Value) error {
	more, err := elements(t, y)
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
	if a, ok := x.(*array); ok {
		view, err := a.index(t, starlark.Tuple{sliceValue{lo, hi, step}})
		if err != nil {
			return err
		}
		return view.(*array).assign(t, v)
	}
	l, ok := x.(*starlark.List)
	if !ok {
		return fmt.Errorf("a slice of a %s cannot be assigned to", x.Type())
	}
	if err := charge(t, l.Len()); err != nil {
		return err
	}
	start, count, by, err := sliceValue{lo, hi, step}.resolve(l.Len())
	if err != nil {
		return err
	}
	values, err := elements(t, v)
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

// sliceValue is a slice among several indexes.
type sliceValue struct{ lo, hi, step starlark.Value }

func (s sliceValue) String() string        { return "slice" }
func (s sliceValue) Type() string          { return "slice" }
func (s sliceValue) Freeze()               {}
func (s sliceValue) Truth() starlark.Bool  { return true }
func (s sliceValue) Hash() (uint32, error) { return 0, errors.New("a slice is not hashable") }

// resolve gives the first index, the number of elements and the step of the
// slice of a sequence of n.
func (s sliceValue) resolve(n int) (start, count, step int, err error) {
	step = 1
	if s.step != starlark.None {
		if step, err = starlark.AsInt32(s.step); err != nil {
			return 0, 0, 0, fmt.Errorf("slice step: %w", err)
		}
		if step == 0 {
			return 0, 0, 0, errors.New("slice step is 0")
		}
	}
	low, high := 0, n
	start, end := 0, n
	if step < 0 {
		low, high = -1, n-1
		start, end = n-1, -1
	}
	for _, b := range []struct {
		v  starlark.Value
		to *int
	}{{s.lo, &start}, {s.hi, &end}} {
		if b.v == starlark.None {
			continue
		}
		i, err := starlark.AsInt32(b.v)
		if err != nil {
			return 0, 0, 0, fmt.Errorf("slice bound: %w", err)
		}
		if i < 0 {
			i += n
		}
		*b.to = min(max(i, low), high)
	}
	if step > 0 {
		count = (end - start + step - 1) / step
	} else {
		count = (start - end - step - 1) / -step
	}
	return start, max(count, 0), step, nil
}
