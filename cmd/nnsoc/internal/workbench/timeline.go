package workbench

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/bench/plot"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/internal/try"
)

// maxTrace bounds a trace that is read, expanded.
const maxTrace = 1 << 30

// chromeEvent is one of Chrome's trace events: "X" a span, "M" a name of a process or
// thread.
type chromeEvent struct {
	Phase   string  `json:"ph"`
	Process int     `json:"pid"`
	Thread  int     `json:"tid"`
	Start   float64 `json:"ts"`
	Length  float64 `json:"dur"`
	Name    string  `json:"name"`
	Args    struct {
		Name  any `json:"name"`
		Order any `json:"sort_index"`
	} `json:"args"`
}

// prefix precedes the kind of a span in its name: a layer and phase of NNAPI, or the number of an operation.
var prefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\[[A-Z_]+\]|[0-9]+ )`) })

// timeline draws the spans of traces, a lane for each thread that has any.
func timeline(f *plotFlags, files []string) (*plot.Figure, error) {
	var lanes []plot.Lane
	for _, name := range files {
		l, err := readLanes(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(files) > 1 {
			for i := range l {
				l[i].Name = name + ": " + l[i].Name
			}
		}
		lanes = append(lanes, l...)
	}
	return plot.Timeline(f.title, lanes)
}

// readLanes reads a trace of "nnsoc run --trace FILE.json", compressed or not.
func readLanes(name string) (_ []plot.Lane, err error) {
	defer try.Catch(&err)
	data := try.V(input.ReadModelFile(name))
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z := try.V(gzip.NewReader(bytes.NewReader(data)))
		data = try.V(cli.ReadAll(name, z, maxTrace))
	}
	var trace struct {
		Events []chromeEvent `json:"traceEvents"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&trace); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("no trace of Chrome's trace events, as \"nnsoc run --trace FILE.json\" writes: %w", err)
	}
	type key struct{ process, thread int }
	type lane struct {
		key
		order float64
		plot.Lane
	}
	at := map[key]*lane{}
	processes := map[int]string{}
	of := func(e *chromeEvent) *lane {
		k := key{e.Process, e.Thread}
		if at[k] == nil {
			at[k] = &lane{key: k}
		}
		return at[k]
	}
	for i := range trace.Events {
		e := &trace.Events[i]
		text, _ := e.Args.Name.(string)
		switch {
		case e.Phase == "M" && e.Name == "process_name":
			processes[e.Process] = text
		case e.Phase == "M" && e.Name == "thread_name":
			of(e).Name = text
		case e.Phase == "M" && e.Name == "thread_sort_index":
			of(e).order, _ = e.Args.Order.(float64)
		case e.Phase == "X":
			l := of(e)
			l.Spans = append(l.Spans, plot.Span{Start: e.Start, End: e.Start + e.Length, Kind: prefix().ReplaceAllString(e.Name, "")})
		}
	}
	var list []*lane
	for _, l := range at {
		if len(l.Spans) > 0 {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.order, b.order), cmp.Compare(a.thread, b.thread))
	})
	lanes := make([]plot.Lane, len(list))
	for i, l := range list {
		lanes[i] = l.Lane
		switch process := processes[l.process]; {
		case process == "":
		case strings.HasSuffix(process, l.Name): // "npu: application" has one thread of that name
			lanes[i].Name = process
		default:
			lanes[i].Name = process + " " + l.Name
		}
	}
	return lanes, nil
}
