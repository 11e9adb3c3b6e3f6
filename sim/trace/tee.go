package trace

// Tee returns a writer of both a and b.
func Tee(a, b Writer) Writer { return tee{a, b} }

type tee struct{ a, b Writer }

// Span implements Writer.
func (t tee) Span(process, track, name string, startFs, endFs int64, args ...Arg) {
	t.a.Span(process, track, name, startFs, endFs, args...)
	t.b.Span(process, track, name, startFs, endFs, args...)
}

// Processes implements Writer.
func (t tee) Processes(names ...string) {
	t.a.Processes(names...)
	t.b.Processes(names...)
}

// Counter implements Writer.
func (t tee) Counter(process, name string, atFs int64, value float64) {
	t.a.Counter(process, name, atFs, value)
	t.b.Counter(process, name, atFs, value)
}

// Spans implements Writer.
func (t tee) Spans() int { return t.a.Spans() }

// Close implements Writer.
func (t tee) Close() error {
	err := t.a.Close()
	if e := t.b.Close(); err == nil {
		err = e
	}
	return err
}
