package cli

import (
	"errors"
	"io/fs"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
)

// Exit codes; docs and scripts rely on them.
const (
	ExitOK       = 0
	ExitMismatch = 1 // a result differs from the reference, a test failed, or a driver in another process failed or is gone
	ExitUsage    = 2 // bad input or usage
	ExitInternal = 3
)

// ExitError is an error with the exit code it requests; without err there is nothing left to report.
type ExitError struct {
	Code int
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Usage marks an error as the user's to fix.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{ExitUsage, err}
}

// ExitCode returns the exit code that an error requests.
func ExitCode(err error) int {
	var e *ExitError
	var path *fs.PathError
	var driver service.DriverError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &driver):
		return ExitMismatch
	case errors.As(err, &path), hal.StatusOf(err) == hal.InvalidArgument:
		return ExitUsage
	case hal.StatusOf(err) == hal.DeviceUnavailable: // its driver is gone
		return ExitMismatch
	}
	return ExitInternal
}
