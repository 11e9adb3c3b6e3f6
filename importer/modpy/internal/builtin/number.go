package builtin

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"
)

// DivMod is Python's division of floats with rest: the rest has the sign of the
// divisor, also where it is 0, and the quotient is (a-rest)/b rounded down, so
// that 1 // 0.1 is 9 and -0.5 // inf is -1.
func DivMod(a, b float64) (quotient, rest float64) {
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

// FromBool converts a boolean to an integer, as Python's arithmetic does.
func FromBool(x starlark.Value) starlark.Value {
	if b, ok := x.(starlark.Bool); ok {
		if b {
			return starlark.MakeInt(1)
		}
		return starlark.MakeInt(0)
	}
	return x
}

// BoolToInt is 1 for true.
func BoolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// IsFloat reports whether v is a float.
func IsFloat(v starlark.Value) bool { _, ok := v.(starlark.Float); return ok }

// Ints reads a shape: an integer or a sequence of integers.
func Ints(t *starlark.Thread, v starlark.Value) ([]int, error) {
	if _, ok := v.(starlark.Int); ok {
		v = starlark.Tuple{v}
	}
	e, err := Elements(t, v)
	if err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	out := make([]int, len(e))
	for i, x := range e {
		if out[i], err = starlark.AsInt32(FromBool(x)); err != nil {
			return nil, fmt.Errorf("shape: %w", err)
		}
	}
	return out, nil
}

// IntTuple is a tuple of integers.
func IntTuple(x []int) starlark.Tuple {
	out := make(starlark.Tuple, len(x))
	for i, v := range x {
		out[i] = starlark.MakeInt(v)
	}
	return out
}
