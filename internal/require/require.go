// Package require ends a test where what it needs is not there.
package require

// T is a test, of the standard library or of random examples.
type T interface {
	Helper()
	Fatal(args ...any)
}

// NoError ends the test with err, at the caller's line, where there is one.
func NoError(t T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
