package step

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
)

// Step is a part of an operation that a kernel computes. Which tensors it touches, and by
// which rows, is known first; jobs are made when these have addresses.
type Step struct {
	Op     int // of the model
	Name   string
	Reads  []*layout.Tensor
	Writes []*layout.Tensor
	Rows   *RowDependence // nil when it is all or nothing
	Work   Work
	// Choices are the kernels that it could use, once one of them is chosen.
	Choices []cost.Choice
	Halo    bool // it fills what surrounds the images of its tensor, behind whoever writes these
}

// Work is what a step computes: a record of tensors and numbers, without functions, so that
// steps can be printed, compared and planned more than once.
type Work interface {
	// Launch makes the jobs for some rows of the result, which are requested in order, or
	// for all of it where the step is all or nothing. Where it cannot, it calls l.Fail.
	Launch(l *Launcher, r Rows)
}

// SharedWork is work all of whose rows share constants or a kernel.
type SharedWork interface {
	Work
	// Share places what rows share, and returns the work that uses it. It is called
	// once, before Launch.
	Share(l *Launcher) Work
}

// Rows are rows from to to-1 of a result; rows of several images count on.
type Rows struct{ From, To int }

// RowDependence is the rows of the inputs that a step needs for a row of its result:
// row r reads row r*stride-above and the reach-1 rows after it.
type RowDependence struct {
	Count                int // rows of the result
	Stride, Above, Reach int
	Plain                bool // the kernel fetches nothing ahead by itself
}

// SameRows is the dependence of steps that read row n for row n.
func SameRows(count int) RowDependence { return RowDependence{Count: count, Stride: 1, Reach: 1} }

// Needs is how many rows of the inputs the first rows of the result need.
func (d *RowDependence) Needs(rows int) int {
	if rows <= 0 {
		return 0
	}
	return (rows-1)*d.Stride - d.Above + d.Reach
}

// Starts is the first row of the inputs that a row of the result needs.
func (d *RowDependence) Starts(row int) int { return row*d.Stride - d.Above }

// New makes a step that is all or nothing.
func New(op int, name string, reads, writes []*layout.Tensor, w Work) *Step {
	return &Step{Op: op, Name: name, Reads: reads, Writes: writes, Work: w}
}

// NewRows makes a step that can be done row by row.
func NewRows(op int, name string, reads, writes []*layout.Tensor, rows RowDependence, w Work) *Step {
	s := New(op, name, reads, writes, w)
	if writes[0].Shape.N == 1 { // rows of several images do not need each other in order
		s.Rows = &rows
	}
	return s
}

// LaunchShared is Launch of work that nobody has called Share of.
func LaunchShared(l *Launcher, w SharedWork, r Rows) { w.Share(l).Launch(l, r) }

// Begin is the work of the step with what its rows share placed.
func (l *Launcher) Begin() Work {
	if w, ok := l.Step.Work.(SharedWork); ok {
		return w.Share(l)
	}
	return l.Step.Work
}

// AllRows is all rows of a step's result.
func (s *Step) AllRows() Rows {
	if len(s.Writes) == 0 {
		return Rows{}
	}
	o := s.Writes[0].Shape
	return Rows{0, o.N * o.H}
}
