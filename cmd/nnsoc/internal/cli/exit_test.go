package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
)

func TestExitCodeOfError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, ExitOK},
		{Usage(errors.New("x")), ExitUsage},
		{fmt.Errorf("wrapped: %w", Usage(errors.New("x"))), ExitUsage},
		{&ExitError{ExitMismatch, errors.New("x")}, ExitMismatch},
		{hal.Errorf(hal.InvalidArgument, "x"), ExitUsage},
		{hal.Errorf(hal.DeviceUnavailable, "x"), ExitMismatch},
		{hal.Errorf(hal.GeneralFailure, "x"), ExitInternal},
		{errors.New("x"), ExitInternal},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}
