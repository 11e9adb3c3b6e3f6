package hal

import (
	"errors"
	"fmt"
)

// Status is the HAL 1.3 error status.
type Status int32

// Statuses of HAL 1.3.
const (
	StatusNone Status = iota
	DeviceUnavailable
	GeneralFailure
	OutputInsufficientSize
	InvalidArgument
	MissedDeadlineTransient
	MissedDeadlinePersistent
	ResourceExhaustedTransient
	ResourceExhaustedPersistent
)

var statusNames = [...]string{
	"NONE", "DEVICE_UNAVAILABLE", "GENERAL_FAILURE", "OUTPUT_INSUFFICIENT_SIZE", "INVALID_ARGUMENT",
	"MISSED_DEADLINE_TRANSIENT", "MISSED_DEADLINE_PERSISTENT",
	"RESOURCE_EXHAUSTED_TRANSIENT", "RESOURCE_EXHAUSTED_PERSISTENT",
}

// String returns the HAL's name of the status.
func (s Status) String() string {
	if s >= 0 && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", int32(s))
}

// ToV1_2 is the status that callbacks and queues of HAL 1.0 to 1.2 can show: those that
// HAL 1.3 added are GENERAL_FAILURE.
func (s Status) ToV1_2() Status {
	if s > InvalidArgument {
		return GeneralFailure
	}
	return s
}

// Error is a failure with a HAL status.
type Error struct {
	Status Status
	Err    error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error; the format may wrap with %w.
func Errorf(s Status, format string, args ...any) error {
	return &Error{Status: s, Err: fmt.Errorf(format, args...)}
}

// StatusOf is the HAL status of err: StatusNone for nil, that of the first
// Error in its chain, GeneralFailure when there is none.
func StatusOf(err error) Status {
	if err == nil {
		return StatusNone
	}
	if s, ok := StatusIn(err); ok {
		return s
	}
	return GeneralFailure
}

// StatusIn is the status of the first Error in err's chain, if there is one.
func StatusIn(err error) (Status, bool) {
	var e *Error
	ok := errors.As(err, &e)
	if !ok {
		return StatusNone, false
	}
	return e.Status, true
}
