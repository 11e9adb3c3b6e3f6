package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"
)

// Progress is a line on stderr with the present work: rewritten in place on a terminal. Otherwise the first step
// of each text without its digits has a line, and one more whenever interval has passed.
type Progress struct {
	w        io.Writer
	terminal bool
	shown    bool
	part     string          // number and total, before the text
	kinds    map[string]bool // texts without digits of this part that have a line
	now      func() time.Time
	printed  time.Time
}

// interval is between lines of a file: a data set has 50,000 samples.
const interval = 10 * time.Second

// NewProgress returns a progress line on w.
func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	return &Progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd())), kinds: map[string]bool{}, now: time.Now}
}

// Part begins number i of n parts of the work, counted from 0; n below 2 is all of it.
func (p *Progress) Part(i, n int) {
	p.part = ""
	clear(p.kinds)
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
	kind := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
	if t := p.now(); !p.kinds[kind] || t.Sub(p.printed) >= interval {
		p.kinds[kind], p.printed = true, t
		fmt.Fprintf(p.w, "%s ...\n", s)
	}
}

// Done clears the line.
func (p *Progress) Done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
