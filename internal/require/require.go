// Package require ends a test where what it needs is not there.
package require

import (
	"fmt"
	"os"
)

// T is a test, of the standard library or of random examples.
type T interface {
	Helper()
	Fatal(args ...any)
}

// NoError ends the test with err, where there is one, at the caller's line and after the names of what it is of.
func NoError(t T, err error, of ...any) {
	if err == nil {
		return
	}
	t.Helper()
	for i := len(of) - 1; i >= 0; i-- {
		err = fmt.Errorf("%v: %w", of[i], err)
	}
	t.Fatal(err)
}

// File is what a file holds, which must be there.
func File(t T, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
	return b
}

// V is a value that comes with no error, or the end of the test like NoError: x := require.V(f())(t).
func V[X any](x X, err error) func(t T, of ...any) X {
	return func(t T, of ...any) X {
		t.Helper()
		NoError(t, err, of...)
		return x
	}
}

// V2 is V for two values.
func V2[X, Y any](x X, y Y, err error) func(t T, of ...any) (X, Y) {
	return func(t T, of ...any) (X, Y) {
		t.Helper()
		NoError(t, err, of...)
		return x, y
	}
}
