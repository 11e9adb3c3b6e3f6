package lowering

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// Error is a model that cannot be imported.
type Error struct {
	Format string // of the file: "onnx"
	Where  string // part of the file: `node 3 "conv1" (Conv)`
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Where == "" {
		return e.Format + ": " + e.Err.Error()
	}
	return e.Format + ": " + e.Where + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Unforeseen is the prefix of the error of a file that its operator's conversion does not check sufficiently; the tests
// treat it as a failure.
const Unforeseen = "the operator's tensors do not fit each other"

// unforeseen is a recovered panic. Its message leaves out the program's own words, which say nothing about the file.
type unforeseen struct{ cause runtime.Error }

// Error implements error.
func (*unforeseen) Error() string { return Unforeseen }

// Unwrap returns the panic.
func (u *unforeseen) Unwrap() error { return u.cause }

// Ended converts the value of a conversion's panic to an error, nil for nothing: a Fault, a Refusal, an *Error or,
// since a file that no check foresaw must not end the program, a runtime.Error. It panics on with anything else.
func Ended(format, where string, panicked any) error {
	switch e := panicked.(type) {
	case nil:
		return nil
	case *Error:
		return e
	case *Fault:
		return &Error{format, where, e.Err}
	case Refusal:
		return &Error{format, where, errors.New(e.Reason)}
	case runtime.Error:
		return &Error{format, where, &unforeseen{e}}
	}
	panic(panicked)
}

// Unsupported is the error of a network that NNAPI cannot express: all operators that have
// no NNAPI form, in order of name and reason, and how often each occurs.
type Unsupported struct {
	Operators []UnsupportedOperator
}

// UnsupportedOperator is an operator without NNAPI form.
type UnsupportedOperator struct {
	// Name is the operator with its attributes: `GridSample(mode="cubic")`. An input that NNAPI cannot have is listed as
	// `input "x"`.
	Name   string
	Count  int
	Reason string
	// Instead is the nearest thing that works, "" where none is known.
	Instead string
	Nodes   []string // of the file, the first few of them
}

// listedNodes bounds the nodes that are named for each operator.
const listedNodes = 3

// Error implements error.
func (o *UnsupportedOperator) Error() string {
	text := fmt.Sprintf("%s (%d): %s", o.Name, o.Count, o.Reason)
	if o.Instead != "" {
		text += "; instead: " + o.Instead
	}
	if len(o.Nodes) == 0 {
		return text
	}
	text += fmt.Sprintf(" [at %s", strings.Join(o.Nodes, ", "))
	if more := o.Count - len(o.Nodes); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "]"
}

// Error implements error.
func (u *Unsupported) Error() string {
	list, total := make([]string, len(u.Operators)), 0
	for i, o := range u.Operators {
		total += o.Count
		list[i] = o.Error()
	}
	parts := "parts"
	if total == 1 {
		parts = "part"
	}
	return fmt.Sprintf("NNAPI cannot express %d %s of this network: %s", total, parts, strings.Join(list, "; "))
}

// Add notes one more operator that NNAPI has no form for, with the name of its node and the nearest thing that works, which
// may be "".
func (u *Unsupported) Add(name, reason, node, instead string) {
	at, found := slices.BinarySearchFunc(u.Operators, name+"\x00"+reason, func(o UnsupportedOperator, key string) int {
		return strings.Compare(o.Name+"\x00"+o.Reason, key)
	})
	if !found {
		u.Operators = slices.Insert(u.Operators, at, UnsupportedOperator{Name: name, Reason: reason, Instead: instead})
	}
	o := &u.Operators[at]
	if o.Count++; node != "" && len(o.Nodes) < listedNodes {
		o.Nodes = append(o.Nodes, strconv.Quote(node))
	}
}

// Refer makes a finished subgraph one of a model's, and returns the operand of g that refers to it.
func (g *Graph) Refer(m *nn.Model, sub nn.Subgraph) uint32 {
	n := len(m.Referenced)
	m.Referenced = append(m.Referenced, sub)
	return g.Add(nn.SubgraphOperand(uint32(n)))
}
