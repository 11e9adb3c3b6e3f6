package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Progress is a line on stderr with the present work: rewritten in place on a terminal, one line per step otherwise.
type Progress struct {
	w        io.Writer
	terminal bool
	shown    bool
	part     string // number and total, before the text
}

// NewProgress returns a progress line on w.
func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	return &Progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Part begins number i of n parts of the work, counted from 0; n below 2 is all of it.
func (p *Progress) Part(i, n int) {
	p.part = ""
	if n > 1 {
		p.part = fmt.Sprintf("[%d of %d] ", i+1, n)
	}
}

// Update shows what the command is doing.
func (p *Progress) Update(format string, args ...any) {
	s := p.part + fmt.Sprintf(format, args...)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s ...", s)
		p.shown = true
		return
	}
	fmt.Fprintf(p.w, "%s ...\n", s)
}

// Done clears the line.
func (p *Progress) Done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
