package modpy

import (
	"fmt"

	"go.starlark.net/starlark"
)

// Bounds of one specification. The largest public one (a whole MobileNet with
// its weights) has 20 MB and 4 million values.
const (
	maxSource = 32 << 20 // bytes of source text
	maxSteps  = 1 << 26  // Starlark steps, and elements touched by built-ins
	maxCalls  = 200      // depth of calls
	maxValues = 1 << 25  // elements and bytes that built-ins allocate
	maxCases  = 1 << 14  // test cases
	maxOutput = 1 << 29  // bytes of tensor data over all cases
	maxBits   = 4096     // of an integer
)

// budget counts what a running specification has used.
type budget struct {
	values int64
	max    int64
}

const budgetKey = "modpy.budget"

func newBudget(max int64) *budget { return &budget{max: max} }

// charge accounts for n elements that a built-in touches or allocates.
func charge(t *starlark.Thread, n int) error {
	if n < 0 {
		return nil
	}
	t.Steps += uint64(n)
	b, _ := t.Local(budgetKey).(*budget)
	if b == nil {
		return nil
	}
	b.values += int64(n)
	if b.values > b.max {
		return fmt.Errorf("the specification uses more than %d values", b.max)
	}
	return nil
}

// iterate calls f for each element of x, within the budget.
func iterate(t *starlark.Thread, x starlark.Value, f func(starlark.Value) error) error {
	if s, ok := x.(starlark.String); ok {
		if err := charge(t, len(s)); err != nil {
			return err
		}
		for _, r := range string(s) {
			if err := f(starlark.String(string(r))); err != nil {
				return err
			}
		}
		return nil
	}
	if n := starlark.Len(x); n > 0 {
		if err := charge(t, n); err != nil {
			return err
		}
	}
	it := starlark.Iterate(x)
	if it == nil {
		return fmt.Errorf("%s is not iterable", x.Type())
	}
	defer it.Done()
	var e starlark.Value
	for it.Next(&e) {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// elements collects an iterable.
func elements(t *starlark.Thread, x starlark.Value) ([]starlark.Value, error) {
	var out []starlark.Value
	if n := starlark.Len(x); n > 0 && n < 1<<20 {
		out = make([]starlark.Value, 0, n)
	}
	err := iterate(t, x, func(v starlark.Value) error { out = append(out, v); return nil })
	return out, err
}
