package cli

import "io"

// CheckedWriter keeps the first error of writing, so that a command whose
// output got lost fails even when it did not look.
type CheckedWriter struct {
	io.Writer
	Err error
}

// Write implements io.Writer.
func (w *CheckedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.Err == nil {
		w.Err = err
	}
	return n, err
}
