package dsp

// step is a part of an operation that a kernel computes. Which tensors it touches, and by
// which rows, is known first; jobs are made when these have addresses.
type step struct {
	region int // operation of the model
	name   string
	reads  []*tensor
	writes []*tensor
	rows   *rowDependence // nil when it is all or nothing
	work   work
}

// work is what a step computes: a record of tensors and numbers, without functions, so that
// steps can be printed, compared and planned more than once.
type work interface {
	// launch makes the jobs for some rows of the result, which are asked for in order, or
	// for all of it where the step is all or nothing.
	launch(l *planner, s *step, r rowRange) error
}

// sharedWork is work all of whose rows share constants or a kernel.
type sharedWork interface {
	work
	// share places what rows share, and returns the work that uses it. It is called
	// once, before launch.
	share(l *planner, s *step) (work, error)
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

// addStep appends a step of the current operation.
func (l *lowering) addStep(name string, reads, writes []*tensor, w work) {
	l.steps = append(l.steps, &step{region: l.op, name: name, reads: reads, writes: writes, work: w})
}

// addRows appends a step of the current operation that can be done row by row.
func (l *lowering) addRows(name string, reads, writes []*tensor, rows rowDependence, w work) {
	l.steps = append(l.steps, rowStep(l.op, name, reads, writes, rows, w))
}

func rowStep(region int, name string, reads, writes []*tensor, rows rowDependence, w work) *step {
	s := &step{region: region, name: name, reads: reads, writes: writes, work: w}
	if writes[0].shape.n == 1 { // rows of several images do not need each other in order
		s.rows = &rows
	}
	return s
}

// launchShared is launch of work that nobody has called share of.
func launchShared(l *planner, s *step, w sharedWork, r rowRange) error {
	shared, err := w.share(l, s)
	if err != nil {
		return err
	}
	return shared.launch(l, s, r)
}

// begin is the work of a step with what its rows share placed.
func (s *step) begin(l *planner) (work, error) {
	if w, ok := s.work.(sharedWork); ok {
		return w.share(l, s)
	}
	return s.work, nil
}

// wholeRange is all rows of a step's result.
func (s *step) wholeRange() rowRange {
	if len(s.writes) == 0 {
		return rowRange{}
	}
	o := s.writes[0].shape
	return rowRange{0, o.n * o.h}
}
