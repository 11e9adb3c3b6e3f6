package try

import (
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

var errFirst = errors.New("first")

func read(fail bool) (int, error) {
	if fail {
		return 1, errFirst
	}
	return 2, nil
}

// sum adds up values of calls; the second may fail.
func sum(fail bool) (n int, err error) {
	defer Catch(&err)
	add := func(fail bool) { n += V(read(fail)) }
	add(false)
	add(fail)
	E(nil)
	return n, nil
}

func TestCatch(t *testing.T) {
	if n, err := sum(false); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := sum(true); n != 2 || err != errFirst {
		t.Errorf("%d, %v", n, err)
	}
}

// TestPanic: a panic other than an error of a call continues.
func TestPanic(t *testing.T) {
	defer func() {
		require.Same(t, "other", recover(), "recovered")
	}()
	var err error
	defer Catch(&err)
	panic("other")
}
