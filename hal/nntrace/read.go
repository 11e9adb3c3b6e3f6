package nntrace

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Event is the beginning or the end of a slice on a thread.
type Event struct {
	Thread string
	Name   string // of a beginning
	Begin  bool
	Us     float64
}

// ftrace is a line of Linux's trace with a marker of atrace: "B|pid|name" or "E|pid".
var ftrace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:<[^>]*>)?\s*(\S.*?)-(\d+)\s.*?(\d+\.\d+): (?:tracing_mark_write|print):(?: \S+:)? ([BE])(?:\|(\d+)(?:\|(.*))?)?\s*$`)
})

// maxEvents bounds the memory of a trace, which depends on its slices, not on its size.
const maxEvents = 1 << 24

var errTooMany = fmt.Errorf("more than %d slices begin or end", maxEvents)

// Read reads a trace: ftrace text, also inside the HTML file of systrace, Chrome trace
// events in JSON, or Perfetto's format; any of them compressed by gzip as well. Lines and
// events that begin or end no slice are left out.
func Read(r io.Reader) ([]Event, error) {
	in := bufio.NewReaderSize(r, headBytes)
	if head, _ := in.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("nntrace: %w", err)
		}
		in = bufio.NewReaderSize(z, headBytes)
	}
	if head, _ := in.Peek(headBytes); isPerfetto(head) {
		return readPerfetto(in)
	}
	for {
		b, err := in.Peek(1)
		if err == io.EOF {
			return nil, fmt.Errorf("nntrace: the file is empty")
		}
		if err != nil {
			return nil, err
		}
		if b[0] != ' ' && b[0] != '\n' && b[0] != '\t' && b[0] != '\r' {
			if b[0] == '{' || b[0] == '[' {
				return readChrome(in)
			}
			return readText(in)
		}
		_, _ = in.Discard(1)
	}
}

func readText(r io.Reader) ([]Event, error) {
	var list []Event
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<22)
	for line := 1; s.Scan(); line++ {
		m := ftrace().FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		seconds, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, fmt.Errorf("nntrace: line %d: time %q", line, m[3])
		}
		if len(list) >= maxEvents {
			return nil, fmt.Errorf("nntrace: line %d: %w", line, errTooMany)
		}
		// Copies: the match is a part of the line.
		list = append(list, Event{Thread: strings.Clone(m[2]), Name: strings.Clone(m[6]), Begin: m[4] == "B", Us: seconds * 1e6})
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("nntrace: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("nntrace: there is no tracing_mark_write in it: no trace of atrace")
	}
	return list, nil
}

// chromeEvent is a Chrome trace event.
type chromeEvent struct {
	Name string          `json:"name"`
	Ph   string          `json:"ph"`
	Pid  json.RawMessage `json:"pid"`
	Tid  json.RawMessage `json:"tid"`
	Ts   float64         `json:"ts"`
	Dur  float64         `json:"dur"`
}

// chromeSlice is a complete slice.
type chromeSlice struct {
	Event
	end float64
}

// readChrome reads Chrome trace events: a list of them, or an object with the list traceEvents.
func readChrome(r io.Reader) ([]Event, error) {
	var list []Event
	whole := map[string][]chromeSlice{}
	n := 0
	in := &meter{r, maxPacket}
	err := eachChromeEvent(json.NewDecoder(in), func(e *chromeEvent) error {
		if n++; n > maxEvents {
			return errTooMany
		}
		in.left = maxPacket
		thread := strings.Trim(string(e.Pid), `"`) + "/" + strings.Trim(string(e.Tid), `"`)
		switch e.Ph {
		case "B", "E":
			list = append(list, Event{thread, e.Name, e.Ph == "B", e.Ts})
		case "X":
			whole[thread] = append(whole[thread], chromeSlice{Event{thread, e.Name, true, e.Ts}, e.Ts + e.Dur})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("nntrace: %w", err)
	}
	for _, slices_ := range whole { // complete slices become pairs: parents before children
		slices.SortStableFunc(slices_, func(a, b chromeSlice) int {
			if a.Us != b.Us {
				return cmp.Compare(a.Us, b.Us)
			}
			return cmp.Compare(b.end, a.end)
		})
		var open []chromeSlice
		closeUntil := func(us float64) {
			for len(open) > 0 && open[len(open)-1].end <= us+rounding {
				top := open[len(open)-1]
				list = append(list, Event{Thread: top.Thread, Us: top.end})
				open = open[:len(open)-1]
			}
		}
		for _, s := range slices_ {
			closeUntil(s.Us)
			list = append(list, s.Event)
			open = append(open, s)
		}
		closeUntil(maxTime)
	}
	return list, nil
}

// meter is a reader that fails when what it read since left was set is more than that: an
// event has a bound, a trace has none.
type meter struct {
	io.Reader
	left int
}

// Read implements io.Reader.
func (m *meter) Read(b []byte) (int, error) {
	if m.left <= 0 {
		return 0, fmt.Errorf("more than %d MiB without an event", maxPacket>>20)
	}
	n, err := m.Reader.Read(b[:min(len(b), m.left)])
	m.left -= n
	return n, err
}

// eachChromeEvent calls f for each event, one of which is in memory at a time.
func eachChromeEvent(d *json.Decoder, f func(*chromeEvent) error) error {
	first, err := d.Token()
	if err != nil {
		return notEnd(err)
	}
	if first == json.Delim('[') {
		return eachElement(d, f)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return notEnd(err)
		}
		if key != "traceEvents" {
			var other json.RawMessage
			if err := d.Decode(&other); err != nil {
				return notEnd(err)
			}
			continue
		}
		switch begin, err := d.Token(); {
		case err != nil:
			return notEnd(err)
		case begin != json.Delim('['):
			return fmt.Errorf("traceEvents is no list: %v", begin)
		}
		if err := eachElement(d, f); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return notEnd(err)
}

// eachElement calls f for the elements of a list and reads its end.
func eachElement(d *json.Decoder, f func(*chromeEvent) error) error {
	for d.More() {
		var e chromeEvent
		if err := d.Decode(&e); err != nil {
			return notEnd(err)
		}
		if err := f(&e); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return notEnd(err)
}

const (
	maxTime  = 1e300
	rounding = 1e-6 // us: the end of a slice is a sum
)
