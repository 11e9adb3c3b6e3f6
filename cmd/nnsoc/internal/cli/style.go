package cli

import (
	"os"

	"golang.org/x/term"
)

// Style marks text on a terminal. On anything else it leaves text as it is.
type Style struct{ on bool }

// Style returns how the standard output is written: with style on a terminal that is not dumb, unless NO_COLOR is set (no-color.org).
func (a *App) Style() Style {
	w := a.Out
	if c, ok := w.(*CheckedWriter); ok {
		w = c.Writer
	}
	f, ok := w.(interface{ Fd() uintptr })
	return Style{ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
}

// Bold marks what answers a question.
func (s Style) Bold(text string) string { return s.mark("1", text) }

// Bad marks what is wrong.
func (s Style) Bad(text string) string { return s.mark("31", text) }

// Good marks what has become better.
func (s Style) Good(text string) string { return s.mark("32", text) }

// mark puts text between a select-graphic-rendition sequence and its end.
func (s Style) mark(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
