package nntrace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Event is the beginning or the end of a slice on a thread.
type Event struct {
	Thread string
	Name   string // of a beginning
	Begin  bool
	Us     float64
}

// ftrace is a line of Linux's trace with a marker of atrace: "B|pid|name" or "E|pid".
var ftrace = regexp.MustCompile(`^\s*(?:<[^>]*>)?\s*(\S.*?)-(\d+)\s.*?(\d+\.\d+): (?:tracing_mark_write|print):(?: \S+:)? ([BE])(?:\|(\d+)(?:\|(.*))?)?\s*$`)

// maxTrace bounds what is read of a trace in JSON or Perfetto's format, which take the
// file in memory.
const maxTrace = 1 << 30

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
	if head, _ := in.Peek(headBytes); looksLikePerfetto(head) {
		data, err := readAll(in)
		if err != nil {
			return nil, err
		}
		return readPerfetto(data)
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

// readAll reads the rest of a trace.
func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTrace+1))
	if err == nil && len(data) > maxTrace {
		err = fmt.Errorf("nntrace: larger than %d MiB", maxTrace>>20)
	}
	return data, err
}

func readText(r io.Reader) ([]Event, error) {
	var list []Event
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<22)
	for line := 1; s.Scan(); line++ {
		m := ftrace.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		seconds, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, fmt.Errorf("nntrace: line %d: time %q", line, m[3])
		}
		list = append(list, Event{Thread: m[2], Name: m[6], Begin: m[4] == "B", Us: seconds * 1e6})
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

func readChrome(r io.Reader) ([]Event, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	var file struct {
		TraceEvents []chromeEvent `json:"traceEvents"`
	}
	if bytes.HasPrefix(data, []byte("[")) {
		err = json.Unmarshal(data, &file.TraceEvents)
	} else {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("nntrace: %w", err)
	}
	type slice struct {
		Event
		end float64
	}
	var list []Event
	whole := map[string][]slice{}
	for _, e := range file.TraceEvents {
		thread := strings.Trim(string(e.Pid), `"`) + "/" + strings.Trim(string(e.Tid), `"`)
		switch e.Ph {
		case "B", "E":
			list = append(list, Event{thread, e.Name, e.Ph == "B", e.Ts})
		case "X":
			whole[thread] = append(whole[thread], slice{Event{thread, e.Name, true, e.Ts}, e.Ts + e.Dur})
		}
	}
	for _, slices_ := range whole { // complete slices become pairs: parents before children
		slices.SortStableFunc(slices_, func(a, b slice) int {
			if a.Us != b.Us {
				return compare(a.Us, b.Us)
			}
			return compare(b.end, a.end)
		})
		var open []slice
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

const (
	maxTime  = 1e300
	rounding = 1e-6 // us: the end of a slice is a sum
)

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
