package step

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
)

// List is a lowered graph: steps, and the tensors of the client's data.
type List struct {
	*Object
	Steps   []*Step
	Tensors []*layout.Tensor
	Inputs  []*layout.Tensor // dense, in model order; nil for one that the program does not read
	Outputs []*layout.Tensor
	Faults  []Fault
	Forms   []FormChoice
	Extents map[uint32]*layout.Tensor // a word with the entries of an output along dimension 0, by operand
}

// FormChoice is the form of an operand with several possible ones.
type FormChoice struct {
	Operand uint32
	Shape   layout.Shape
	Forms   []layout.Form
	Costs   func() []int // works out cycles of all operations around such operands, with each of the forms
	Chosen  layout.Form
}

// Fault is a word that a program sets to a value other than 0 when a value that
// is known only in an execution is not valid.
type Fault struct {
	Op     int
	Word   *layout.Tensor
	Reason string
}
