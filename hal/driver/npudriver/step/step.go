// Package step is what lowering makes of a graph: a list of kernels and copies as data,
// before activations have addresses and weights are packed.
package step

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
)

// Step is one kernel or copy.
type Step struct {
	Op      int // operation of the model; -1 for inputs and outputs of the model
	Part    int // from 1: what the program's marks call it in place of its operation
	Kernel  kernel.Kernel
	Cascade Cascade
}

// Mark is the operation or part to which costs of the step are charged.
func (s *Step) Mark() int {
	if s.Part > 0 {
		return s.Part - 1
	}
	return s.Op
}

// Cascade marks a step that computes a part of the rows of a kernel: the kernels of a cascade alternate, and
// the maps between them are in rolling buffers.
type Cascade struct {
	ID    int // from 1; 0: the kernel is computed at once
	Stage int // of the cascade, from 0
	Row   int // first row of the kernel's output
}

// List is a lowered graph.
type List struct {
	Steps           []Step
	Values          []layout.Value // activations and temporaries
	Consts          layout.Constants
	IO              int             // bytes of inputs and outputs
	Inputs, Outputs []layout.Buffer // in that region; no bytes for an input that is not read
	// InPlace are the values of inputs and outputs that the client reads and writes where
	// kernels do, in place of the buffers; layout.Placed for an input that is not read.
	InPlace struct{ Inputs, Outputs []int }
}

// Write prints the steps, one per line: operation, kind, output and inputs with the
// values they are in, "bricks" where their order is NHCWB16, those in a rolling buffer with its rows, window and block, and of a part of a
// kernel its cascade and the rows of its output.
func (l *List) Write(w io.Writer) error {
	for i := range l.Steps {
		s := &l.Steps[i]
		k := &s.Kernel
		in := describe(&k.IFM)
		if k.IFM2 != nil {
			in += " " + describe(k.IFM2)
		}
		cascade := ""
		if c := &s.Cascade; c.ID != 0 {
			cascade = fmt.Sprintf(" cascade %d stage %d rows %d-%d", c.ID, c.Stage, c.Row, c.Row+k.OFM.H-1)
		}
		if _, err := fmt.Fprintf(w, "%d: operation %d %s %d: %s = %s kernel %dx%d stride %dx%d block %dx%dx%d%s\n",
			i, s.Op, k.Kind, k.Mode, describe(&k.OFM), in, k.KH, k.KW, k.SY, k.SX, k.Block.H, k.Block.W, k.Block.D, cascade); err != nil {
			return err
		}
	}
	return nil
}

func describe(r *layout.Ref) string {
	at := fmt.Sprintf("v%d", r.Value)
	if r.Value == layout.Placed {
		at = fmt.Sprintf("r%d", r.Region)
	}
	if r.Ring > 0 {
		at = fmt.Sprintf("%s(row %d of %d)", at, r.Row, r.Ring)
	}
	bricks := ""
	if r.StrideC > 0 {
		bricks = " bricks"
	}
	return fmt.Sprintf("%s+%d[%dx%dx%d%s]", at, r.Addr, r.H, r.W, r.C, bricks)
}
