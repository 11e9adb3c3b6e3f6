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
