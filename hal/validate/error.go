package validate

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Error is a rule that a model breaks, with its place. Indexes are -1 where
// they do not apply; Subgraph is -1 for the main subgraph.
type Error struct {
	Subgraph  int
	Operation int
	Type      nn.OperationType // of the operation
	Operand   int
	Rule      error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("validate: ")
	if e.Subgraph >= 0 {
		fmt.Fprintf(&b, "subgraph %d: ", e.Subgraph)
	}
	if e.Operation >= 0 {
		fmt.Fprintf(&b, "operation %d (%s): ", e.Operation, e.Type)
	}
	if e.Operand >= 0 {
		fmt.Fprintf(&b, "operand %d: ", e.Operand)
	}
	return b.String() + e.Rule.Error()
}

// Unwrap returns the rule.
func (e *Error) Unwrap() error { return e.Rule }

// invalid wraps an error with the HAL status.
func invalid(e error) error { return &hal.Error{Status: hal.InvalidArgument, Err: e} }
