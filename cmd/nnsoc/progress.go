package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// progress is a line on stderr that says what is being worked on: rewritten
// in place on a terminal, one line per step otherwise.
type progress struct {
	w        io.Writer
	terminal bool
	shown    bool
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

func (p *progress) say(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s ...", s)
		p.shown = true
		return
	}
	fmt.Fprintf(p.w, "%s ...\n", s)
}

// done clears the line.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
