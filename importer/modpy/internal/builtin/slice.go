package builtin

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
)

// Slice is a slice among several indexes.
type Slice struct{ lo, hi, step starlark.Value }

// NewSlice is lo:hi:step; None leaves a part out.
func NewSlice(lo, hi, step starlark.Value) Slice { return Slice{lo, hi, step} }

// All is the slice of everything.
var All = NewSlice(starlark.None, starlark.None, starlark.None)

// String is "slice".
func (s Slice) String() string { return "slice" }

// Type is "slice".
func (s Slice) Type() string { return "slice" }

// Freeze does nothing: a slice does not change.
func (s Slice) Freeze() {}

// Truth is true.
func (s Slice) Truth() starlark.Bool { return true }

// Hash is an error.
func (s Slice) Hash() (uint32, error) { return 0, errors.New("a slice is not hashable") }

// Resolve returns the first index, the number of elements and the step of the slice of a sequence of n.
func (s Slice) Resolve(n int) (start, count, step int, err error) {
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

// Ellipsis reports whether the index is "...".
func (s Slice) Ellipsis() bool { return s.lo == starlark.String("...") }
