package trace

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"sync"
)

// Chrome streams spans to a writer. The file is valid JSON after Close, at
// whatever point that comes. Its methods may be called from several goroutines.
type Chrome struct {
	mu     sync.Mutex
	w      *bufio.Writer
	tracks map[string]int // track -> thread id, in order of appearance
	buf    []byte
	events int
	closed bool
	err    error
}

// NewChrome begins a trace on w. The caller closes w after Close.
func NewChrome(w io.Writer) *Chrome {
	c := &Chrome{w: bufio.NewWriterSize(w, 1<<16), tracks: map[string]int{}}
	c.buf = append(c.buf, `{"displayTimeUnit":"ns","traceEvents":[`...)
	return c
}

// Span records that track was busy with name from startFs to endFs (simulated
// femtoseconds). A span that ends before it starts is drawn empty.
func (c *Chrome) Span(track, name string, startFs, endFs int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.err != nil {
		return
	}
	tid, ok := c.tracks[track]
	if !ok {
		tid = len(c.tracks) + 1
		c.tracks[track] = tid
		c.begin(`{"ph":"M","pid":1,"tid":`, tid)
		c.buf = append(c.buf, `,"name":"thread_name","args":{"name":`...)
		c.text(track)
		c.buf = append(c.buf, `}}`...)
	}
	c.begin(`{"ph":"X","pid":1,"tid":`, tid)
	c.buf = append(c.buf, `,"ts":`...)
	c.micros(startFs)
	c.buf = append(c.buf, `,"dur":`...)
	c.micros(max(endFs, startFs) - startFs)
	c.buf = append(c.buf, `,"name":`...)
	c.text(name)
	c.buf = append(c.buf, '}')
	_, c.err = c.w.Write(c.buf)
	c.buf = c.buf[:0]
}

// Close ends the JSON document and reports the first error of writing.
func (c *Chrome) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.err
	}
	c.closed = true
	if c.err == nil {
		_, c.err = c.w.Write(append(c.buf, "\n]}\n"...))
	}
	if err := c.w.Flush(); c.err == nil {
		c.err = err
	}
	return c.err
}

func (c *Chrome) begin(head string, tid int) {
	if c.events > 0 {
		c.buf = append(c.buf, ',')
	}
	c.events++
	c.buf = append(c.buf, '\n')
	c.buf = append(c.buf, head...)
	c.buf = strconv.AppendInt(c.buf, int64(tid), 10)
}

// text appends s as a JSON string.
func (c *Chrome) text(s string) {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < 0x20 || b >= 0x7f || b == '"' || b == '\\' {
			q, err := json.Marshal(s)
			if err != nil {
				q = []byte(`"?"`)
			}
			c.buf = append(c.buf, q...)
			return
		}
	}
	c.buf = append(c.buf, '"')
	c.buf = append(c.buf, s...)
	c.buf = append(c.buf, '"')
}

// micros appends femtoseconds as a decimal number of microseconds.
func (c *Chrome) micros(fs int64) {
	u := uint64(fs)
	if fs < 0 {
		c.buf = append(c.buf, '-')
		u = -u
	}
	c.buf = strconv.AppendUint(c.buf, u/1e9, 10)
	frac := u % 1e9
	if frac == 0 {
		return
	}
	c.buf = append(c.buf, '.')
	digits := len(c.buf)
	c.buf = strconv.AppendUint(c.buf, 1e9+frac, 10)
	copy(c.buf[digits:], c.buf[digits+1:]) // drop the leading 1
	c.buf = c.buf[:len(c.buf)-1]
	for c.buf[len(c.buf)-1] == '0' {
		c.buf = c.buf[:len(c.buf)-1]
	}
}
