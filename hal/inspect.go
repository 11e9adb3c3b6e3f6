package hal

import (
	"io"

	"github.com/nnsoc/nnsoc/nn"
)

// The optional interfaces of a driver, for tools. As finds them behind wrappers.

// PassResult is a graph of a driver's middle end in text form. Long constants are counted,
// not printed.
type PassResult struct {
	Pass    string // "" for the model as it comes
	Changed bool
	Graph   string // "" when the pass changed nothing
}

// PassPrinter is a Device that can print a model after each pass that it runs before
// lowering.
type PassPrinter interface {
	Passes(m *nn.Model) ([]PassResult, error)
}

// StepPrinter is a PreparedModel that can print the steps its program was planned from.
type StepPrinter interface {
	WriteSteps(w io.Writer) error
}

// Explainer is a PreparedModel that can print the estimated and simulated costs of its steps,
// and the candidates they were chosen from.
type Explainer interface {
	Explain(w io.Writer) error
}

// Candidate is a kernel, or a way to cut one, that a driver considered.
type Candidate struct {
	Name   string
	Cycles int64 // estimated
	Chosen bool
}

// Choice is a step of a program that was chosen among candidates.
type Choice struct {
	Operation  int // of the model
	Candidates []Candidate
}

// Chooser is a PreparedModel that can list the candidates of its steps; steps without an
// alternative are left out. PrepareOptions.Candidates makes it choose otherwise.
type Chooser interface {
	Choices() ([]Choice, error)
}

// Cascade lists operations of the model, in order, that a program computes alternately, a few rows of each at a
// time, so that the values between them are never stored whole.
type Cascade struct {
	Operations []int
	Parts      int // stripes of all operations together
}

// Cascader is a PreparedModel that can list its cascades.
type Cascader interface {
	Cascades() []Cascade
}

// As returns the first that implements T of a device or prepared model and those that it wraps,
// by their methods Unwrap.
func As[T any](x any) (t T, ok bool) {
	for {
		if t, ok = x.(T); ok {
			return t, true
		}
		switch u := x.(type) {
		case interface{ Unwrap() Device }:
			x = u.Unwrap()
		case interface{ Unwrap() PreparedModel }:
			x = u.Unwrap()
		default:
			return t, false
		}
	}
}
