// Package require ends a test where what it needs is not there.
package require

import "fmt"

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
