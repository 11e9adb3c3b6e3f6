// Package require ends a test where a prerequisite is missing, and reports values that differ from the expected ones.
package require

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// T is a test, of the standard library or of random examples.
type T interface {
	Helper()
	Error(args ...any)
	Fatal(args ...any)
}

// NoError ends the test with err, if it is not nil, at the caller's line and after the names of its subject.
func NoError(t T, err error, of ...any) {
	if err == nil {
		return
	}
	t.Helper()
	t.Fatal(named(err, of))
}

// named is an error after the names of its subject.
func named(err error, of []any) error {
	for i := len(of) - 1; i >= 0; i-- {
		err = fmt.Errorf("%v: %w", of[i], err)
	}
	return err
}

// ErrorContains reports an error that is nil or lacks a text, after the names of its subject.
func ErrorContains(t T, err error, text string, of ...any) {
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Helper()
		t.Error(named(fmt.Errorf("error %v, want %q", err, text), of))
	}
}

// Fails reports that there is no error, after the names of what should have failed.
func Fails(t T, err error, of ...any) {
	if err == nil {
		t.Helper()
		t.Error(named(errors.New("no error"), of))
	}
}

// Report reports an error, if it is not nil, like NoError, and the test continues.
func Report(t T, err error, of ...any) {
	if err != nil {
		t.Helper()
		t.Error(named(err, of))
	}
}

// Check reports, in the words of a format, that a condition does not hold.
func Check(t T, ok bool, format string, args ...any) {
	if !ok {
		t.Helper()
		t.Error(fmt.Sprintf(format, args...))
	}
}

// Same reports a value that is not the wanted one, after the names of its subject.
func Same[V comparable](t T, want, got V, of ...any) {
	if got != want {
		t.Helper()
		t.Error(named(fmt.Errorf("%v, want %v", got, want), of))
	}
}

// Equal reports the differences of two values, unexported fields included, after the names of their subject.
func Equal(t T, want, got any, of ...any) {
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Helper()
		t.Error(named(errors.New("(-want +got):\n"+diff), of))
	}
}

// Err is the error of a call whose value is not needed.
func Err[X any](_ X, err error) error { return err }

// File is the content of a file, which must exist.
func File(t T, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
	return b
}

// V is the value of a call without an error, or the end of the test like NoError: x := require.V(f())(t).
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

// AllTests skips a test that takes more than some ten seconds of a processor, unless `make test-all` runs it.
func AllTests(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: needs make test-all")
	}
}
