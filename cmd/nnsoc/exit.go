package main

import (
	"errors"
	"io/fs"

	"github.com/nnsoc/nnsoc/hal"
)

// Exit codes; docs and scripts rely on them.
const (
	exitOK       = 0
	exitMismatch = 1 // a result differs from the reference, or a test failed
	exitUsage    = 2 // bad input or usage
	exitInternal = 3
)

// exitError is an error with the exit code it asks for; without err there is
// nothing left to say.
type exitError struct {
	code int
	err  error
}

// Error implements error.
func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the user's to fix.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

func exitCode(err error) int {
	var e *exitError
	var path *fs.PathError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case errors.As(err, &path), hal.StatusOf(err) == hal.InvalidArgument:
		return exitUsage
	}
	return exitInternal
}
