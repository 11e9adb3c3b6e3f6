package builtin

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/internal/try"
)

// Impl is a built-in function.
type Impl func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// Call calls f. What that calls ends with the first error: see package try.
func (f Impl) Call(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (v starlark.Value, err error) {
	defer try.Catch(&err)
	return f(t, args, kwargs)
}

// Function wraps f as a value.
func Function(name string, f Impl) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f.Call(t, args, kwargs)
	})
}

// Arity checks how many arguments a function got, and that none has a name.
func Arity(name string, args starlark.Tuple, kwargs []starlark.Tuple, low, high int) error {
	if len(kwargs) > 0 {
		return fmt.Errorf("%s takes no keyword arguments", name)
	}
	if len(args) < low || len(args) > high {
		return fmt.Errorf("%s got %d arguments, it takes %d to %d", name, len(args), low, high)
	}
	return nil
}

// Fixed wraps a function of n positional arguments.
func Fixed(name string, n int, f func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error)) *starlark.Builtin {
	return Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := Arity(name, args, kwargs, n, n); err != nil {
			return nil, err
		}
		return f(t, args)
	})
}
