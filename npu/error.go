package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// CommandError is a command that could not be executed.
type CommandError struct {
	Index int // of the command in the stream
	Word  int // of its first word
	Code  ethosu.Code
	Err   error
}

// Error names the command by index and name.
func (e *CommandError) Error() string {
	return fmt.Sprintf("npu: command %d (%s) at offset %#06x: %v", e.Index, e.Code, 4*e.Word, e.Err)
}

// Unwrap is the cause.
func (e *CommandError) Unwrap() error { return e.Err }
