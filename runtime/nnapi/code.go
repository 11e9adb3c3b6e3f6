package nnapi

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
)

// ResultCode is NNAPI's ResultCode.
type ResultCode int

// Result codes of NNAPI up to feature level 30.
const (
	NoError ResultCode = iota
	OutOfMemory
	Incomplete
	UnexpectedNull
	BadData
	OpFailed
	BadState
	Unmappable
	OutputInsufficientSize
	UnavailableDevice
	MissedDeadlineTransient
	MissedDeadlinePersistent
	ResourceExhaustedTransient
	ResourceExhaustedPersistent
	DeadObject
)

var codeNames = [...]string{
	"NO_ERROR", "OUT_OF_MEMORY", "INCOMPLETE", "UNEXPECTED_NULL", "BAD_DATA", "OP_FAILED", "BAD_STATE", "UNMAPPABLE",
	"OUTPUT_INSUFFICIENT_SIZE", "UNAVAILABLE_DEVICE", "MISSED_DEADLINE_TRANSIENT", "MISSED_DEADLINE_PERSISTENT",
	"RESOURCE_EXHAUSTED_TRANSIENT", "RESOURCE_EXHAUSTED_PERSISTENT", "DEAD_OBJECT",
}

// String is the code's name in NNAPI.
func (c ResultCode) String() string {
	if c >= 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("ResultCode(%d)", int(c))
}

// Error is a failure with a result code.
type Error struct {
	Code ResultCode
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(c ResultCode, format string, args ...any) error {
	return &Error{c, fmt.Errorf("nnapi: "+format, args...)}
}

// CodeOf is the result code of an error: that of the first Error in its chain,
// otherwise the one that a HAL status becomes.
func CodeOf(err error) ResultCode {
	var e *Error
	switch {
	case err == nil:
		return NoError
	case errors.As(err, &e):
		return e.Code
	}
	return FromStatus(hal.StatusOf(err))
}

// statusCodes are the result codes that statuses become, by status.
var statusCodes = [...]ResultCode{
	hal.StatusNone: NoError, hal.DeviceUnavailable: UnavailableDevice, hal.GeneralFailure: OpFailed, hal.OutputInsufficientSize: OutputInsufficientSize,
	hal.InvalidArgument: BadData, hal.MissedDeadlineTransient: MissedDeadlineTransient, hal.MissedDeadlinePersistent: MissedDeadlinePersistent,
	hal.ResourceExhaustedTransient: ResourceExhaustedTransient, hal.ResourceExhaustedPersistent: ResourceExhaustedPersistent,
}

// FromStatus is the result code that a HAL status becomes.
func FromStatus(s hal.Status) ResultCode {
	if s < 0 || int(s) >= len(statusCodes) {
		return OpFailed
	}
	return statusCodes[s]
}

// Status is the HAL status that a result code becomes.
func (c ResultCode) Status() hal.Status {
	switch c {
	case UnexpectedNull:
		return hal.InvalidArgument
	}
	for s, x := range statusCodes {
		if x == c {
			return hal.Status(s)
		}
	}
	return hal.GeneralFailure
}

// wrap gives an error of the HAL or of nnrt its result code.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{CodeOf(err), err}
}
