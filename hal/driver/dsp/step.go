package dsp

// step is a part of an operation that a kernel computes. Which tensors it touches, and by
// which rows, is known first; jobs are made when these have addresses.
type step struct {
	op     int // of the model
	name   string
	reads  []*tensor
	writes []*tensor
	rows   *rowDependence // nil when it is all or nothing
	work   work
}

// work is what a step computes: a record of tensors and numbers, without functions, so that
// steps can be printed, compared and planned more than once.
type work interface {
	// Launch makes the jobs for some rows of the result, which are asked for in order, or
	// for all of it where the step is all or nothing.
	Launch(l *launcher, r rowRange) error
}

// sharedWork is work all of whose rows share constants or a kernel.
type sharedWork interface {
	work
	// Share places what rows share, and returns the work that uses it. It is called
	// once, before Launch.
	Share(l *launcher) (work, error)
}

// rowRange are rows from to to-1 of a result; rows of several images count on.
type rowRange struct{ from, to int }

// rowDependence says which rows of the inputs a step needs for a row of its result:
// row r reads rows r*stride-above and the reach-1 rows behind that one.
type rowDependence struct {
	count                int // rows of the result
	stride, above, reach int
	plain                bool // the kernel fetches nothing ahead by itself
}

// sameRows is the dependence of steps that read row n for row n.
func sameRows(count int) rowDependence { return rowDependence{count: count, stride: 1, reach: 1} }

// needs is how many rows of the inputs the first rows of the result take.
func (d *rowDependence) needs(rows int) int {
	if rows <= 0 {
		return 0
	}
	return (rows-1)*d.stride - d.above + d.reach
}

// starts is the first row of the inputs that a row of the result takes.
func (d *rowDependence) starts(row int) int { return row*d.stride - d.above }

// newStep makes a step that is all or nothing.
func newStep(op int, name string, reads, writes []*tensor, w work) *step {
	return &step{op: op, name: name, reads: reads, writes: writes, work: w}
}

// newRows makes a step that can be done row by row.
func newRows(op int, name string, reads, writes []*tensor, rows rowDependence, w work) *step {
	s := newStep(op, name, reads, writes, w)
	if writes[0].shape.n == 1 { // rows of several images do not need each other in order
		s.rows = &rows
	}
	return s
}

// launchShared is Launch of work that nobody has called Share of.
func launchShared(l *launcher, w sharedWork, r rowRange) error {
	shared, err := w.Share(l)
	if err != nil {
		return err
	}
	return shared.Launch(l, r)
}

// begin is the work of the step with what its rows share placed.
func (l *launcher) begin() (work, error) {
	if w, ok := l.step.work.(sharedWork); ok {
		return w.Share(l)
	}
	return l.step.work, nil
}

// wholeRange is all rows of a step's result.
func (s *step) wholeRange() rowRange {
	if len(s.writes) == 0 {
		return rowRange{}
	}
	o := s.writes[0].shape
	return rowRange{0, o.n * o.h}
}
