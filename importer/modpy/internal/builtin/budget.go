package builtin

import (
	"fmt"

	"go.starlark.net/starlark"
)

// Bounds of one specification.
const (
	MaxValues = 1 << 25 // elements and bytes that built-ins allocate
	MaxBits   = 4096    // of an integer
)

// budget counts the values used by a running specification.
type budget struct {
	values int64
	max    int64
}

const budgetKey = "modpy.budget"

// SetBudget sets the limit of charge on a thread.
func SetBudget(t *starlark.Thread, max int64) { t.SetLocal(budgetKey, &budget{max: max}) }

// Charge accounts for n elements that a built-in touches or allocates.
func Charge(t *starlark.Thread, n int) error {
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

// Iterate calls f for each element of x, within the budget.
func Iterate(t *starlark.Thread, x starlark.Value, f func(starlark.Value) error) error {
	if s, ok := x.(starlark.String); ok {
		if err := Charge(t, len(s)); err != nil {
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
		if err := Charge(t, n); err != nil {
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

// Elements collects an iterable.
func Elements(t *starlark.Thread, x starlark.Value) ([]starlark.Value, error) {
	var out []starlark.Value
	if n := starlark.Len(x); n > 0 && n < 1<<20 {
		out = make([]starlark.Value, 0, n)
	}
	err := Iterate(t, x, func(v starlark.Value) error { out = append(out, v); return nil })
	return out, err
}
