package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// Chrome writes Chrome trace events in JSON. Its times keep each femtosecond. The
// file is valid after Close. It implements Writer.
type Chrome struct {
	mu        sync.Mutex
	w         *bufio.Writer
	processes map[string]*process // in order of appearance: ids from 1
	buf       []byte
	events    int
	spans     int
	closed    bool
	err       error
}

// process is a group of tracks in the viewer.
type process struct {
	id    int
	lanes lanes
}

// NewChrome begins a trace on w. The caller closes w after Close.
func NewChrome(w io.Writer) *Chrome {
	c := &Chrome{w: bufio.NewWriterSize(w, 1<<16), processes: map[string]*process{}}
	c.buf = append(c.buf, `{"displayTimeUnit":"ns","traceEvents":[`...)
	return c
}

// Span implements Writer.
func (c *Chrome) Span(process, track, name string, startFs, endFs int64, args ...Arg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.err != nil {
		return
	}
	c.spans++
	p := c.process(process)
	tid, known := p.lanes.find(track)
	if !known {
		c.begin('M', p.id, tid)
		c.buf = append(c.buf, `,"name":"thread_name","args":{"name":`...)
		c.text(track)
		c.buf = append(c.buf, `}}`...)
		c.sortIndex("thread", p.id, tid, p.lanes.rank(track))
	}
	c.begin('X', p.id, tid)
	c.buf = append(c.buf, `,"ts":`...)
	c.micros(startFs)
	c.buf = append(c.buf, `,"dur":`...)
	c.micros(max(endFs, startFs) - startFs)
	c.buf = append(c.buf, `,"name":`...)
	c.text(name)
	begun := false
	for _, a := range args {
		if _, flow := a.Value.(Flow); flow {
			continue
		}
		if c.buf = append(c.buf, ','); !begun {
			c.buf = append(c.buf, `"args":{`...)
		}
		begun = true
		c.text(a.Key)
		c.buf = append(c.buf, ':')
		c.value(a.Value)
	}
	if begun {
		c.buf = append(c.buf, '}')
	}
	c.end()
	for _, a := range args {
		if flow, ok := a.Value.(Flow); ok {
			c.flow(p.id, tid, startFs, a.Key, flow)
		}
	}
}

// flow is an end of an arrow, on the span that has begun at that instant.
func (c *Chrome) flow(pid, tid int, atFs int64, name string, f Flow) {
	if f.Ends {
		c.begin('f', pid, tid)
		c.buf = append(c.buf, `,"bp":"e"`...)
	} else {
		c.begin('s', pid, tid)
	}
	c.buf = append(c.buf, `,"cat":"flow","id":`...)
	c.buf = strconv.AppendUint(c.buf, f.ID, 10)
	c.buf = append(c.buf, `,"ts":`...)
	c.micros(atFs)
	c.buf = append(c.buf, `,"name":`...)
	c.text(name)
	c.end()
}

// Processes implements Writer.
func (c *Chrome) Processes(names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if !c.closed && c.err == nil {
			c.process(name)
		}
	}
}

// Counter implements Writer.
func (c *Chrome) Counter(process, name string, atFs int64, value float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.err != nil {
		return
	}
	c.begin('C', c.process(process).id, 0)
	c.buf = append(c.buf, `,"ts":`...)
	c.micros(atFs)
	c.buf = append(c.buf, `,"name":`...)
	c.text(name)
	c.buf = append(c.buf, `,"args":{"value":`...)
	c.value(value)
	c.buf = append(c.buf, '}')
	c.end()
}

// Spans implements Writer.
func (c *Chrome) Spans() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// Close implements Writer.
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

// process returns the process of a name and introduces a new one.
func (c *Chrome) process(name string) *process {
	p := c.processes[name]
	if p == nil {
		p = &process{len(c.processes) + 1, newLanes()}
		c.processes[name] = p
		c.begin('M', p.id, 0)
		c.buf = append(c.buf, `,"name":"process_name","args":{"name":`...)
		c.text(name)
		c.buf = append(c.buf, `}}`...)
		c.sortIndex("process", p.id, 0, p.id)
	}
	return p
}

// sortIndex sets the position of a process or a thread.
func (c *Chrome) sortIndex(of string, pid, tid, rank int) {
	c.begin('M', pid, tid)
	c.buf = append(c.buf, `,"name":"`...)
	c.buf = append(c.buf, of...)
	c.buf = append(c.buf, `_sort_index","args":{"sort_index":`...)
	c.buf = strconv.AppendInt(c.buf, int64(rank), 10)
	c.buf = append(c.buf, `}}`...)
}

// begin starts an event of a phase of the format.
func (c *Chrome) begin(phase byte, pid, tid int) {
	if c.events > 0 {
		c.buf = append(c.buf, ',')
	}
	c.events++
	c.buf = append(c.buf, "\n{\"ph\":\""...)
	c.buf = append(c.buf, phase)
	c.buf = append(c.buf, `","pid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(pid), 10)
	c.buf = append(c.buf, `,"tid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(tid), 10)
}

// end finishes an event and writes the buffered text.
func (c *Chrome) end() {
	c.buf = append(c.buf, '}')
	_, c.err = c.w.Write(c.buf)
	c.buf = c.buf[:0]
}

// value appends v as JSON; a value without a JSON form becomes a string.
func (c *Chrome) value(v any) {
	if s, ok := v.(string); ok {
		c.text(s)
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		c.text(fmt.Sprint(v))
		return
	}
	c.buf = append(c.buf, b...)
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
