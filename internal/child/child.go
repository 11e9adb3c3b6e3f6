// Package child is what programs need that start others: a bounded memory of what these write, and an end for all of
// the processes that one of them has started.
package child

import (
	"bytes"
	"strings"
)

// Bounded keeps the first bytes that are written to it.
type Bounded struct {
	Limit int
	Lost  bool // more were written

	buf bytes.Buffer // no embedded one, whose ReadFrom has no limit
}

// Write implements io.Writer. It never fails, so that the program goes on.
func (b *Bounded) Write(data []byte) (int, error) {
	n := len(data)
	if room := b.Limit - b.buf.Len(); n > room {
		data, b.Lost = data[:max(0, room)], true
	}
	b.buf.Write(data)
	return n, nil
}

// Read implements io.Reader: it takes the bytes that are kept.
func (b *Bounded) Read(data []byte) (int, error) { return b.buf.Read(data) }

// String is the bytes that are kept.
func (b *Bounded) String() string { return b.buf.String() }

// LastLine is the last line with text.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
