package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
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
		require.Same(t, c.want, ExitCode(c.err), c.err, "exit code")
	}
}
