package report

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// Bounds of the drawing of a page.
const (
	maxSpans   = 40_000
	maxSamples = 40_000
)

// Timeline is the time course of a run on a page.
type Timeline struct {
	Processes []*process `json:"processes"`
	Names     []string   `json:"names"` // of spans
	// Causes gives each name its cause, "" for what contains other spans.
	Causes   []glossary.Class `json:"causes"`
	Counters []*counter       `json:"counters"`
	Dropped  int              `json:"dropped,omitempty"` // spans and samples beyond the bounds
}

// logTag is what Android's traces write before the name of a span, such as [NN_LA_PE].
var logTag = regexp.MustCompile(`^\[[A-Z_]+\]`)

// Recorder keeps a trace for a page. It implements trace.Writer.
type Recorder struct {
	mu             sync.Mutex
	timeline       Timeline
	names          map[nameKey]int
	spans, samples int
}

// nameKey is a name of spans with one cause: an operation has the same name on every device.
type nameKey struct {
	name  string
	cause glossary.Class
}

// NewRecorder returns an empty one.
func NewRecorder() *Recorder {
	return &Recorder{names: map[nameKey]int{}, timeline: Timeline{Processes: []*process{}, Names: []string{}, Counters: []*counter{}}}
}

type process struct {
	Name   string   `json:"name"`
	Tracks []*track `json:"tracks"`
}

type track struct {
	Name  string `json:"name"`
	Spans []span `json:"spans"`
}

// span is encoded as [start us, end us, operation, place of the name].
type span struct {
	start, end float64
	op, name   int
}

// MarshalJSON implements json.Marshaler.
func (s span) MarshalJSON() ([]byte, error) {
	return json.Marshal([4]any{s.start, s.end, s.op, s.name})
}

type counter struct {
	Process string       `json:"process"`
	Name    string       `json:"name"`
	Samples [][2]float64 `json:"samples"` // us, value
}

// Timeline is the recorded trace.
func (r *Recorder) Timeline() *Timeline { return &r.timeline }

// Processes implements trace.Writer.
func (r *Recorder) Processes(names ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range names {
		r.process(n)
	}
}

func (r *Recorder) process(name string) *process {
	t := &r.timeline
	i := slices.IndexFunc(t.Processes, func(p *process) bool { return p.Name == name })
	if i < 0 {
		i = len(t.Processes)
		t.Processes = append(t.Processes, &process{Name: name, Tracks: []*track{}})
	}
	return t.Processes[i]
}

func (p *process) track(name string) *track {
	i := slices.IndexFunc(p.Tracks, func(k *track) bool { return k.Name == name })
	if i < 0 {
		i = len(p.Tracks)
		p.Tracks = append(p.Tracks, &track{Name: name})
	}
	return p.Tracks[i]
}

// Span implements trace.Writer.
func (r *Recorder) Span(process, track, name string, startFs, endFs int64, args ...trace.Arg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spans++; r.spans > maxSpans {
		r.timeline.Dropped++
		return
	}
	op, stall := -1, ""
	for _, a := range args {
		switch v := a.Value.(type) {
		case int:
			if a.Key == "operation" {
				op = v
			}
		case string:
			if a.Key == "stall" {
				stall = v
			}
		}
	}
	key := nameKey{name, glossary.SpanClass(logTag.ReplaceAllString(name, ""), stall)}
	n, ok := r.names[key]
	if !ok {
		n = len(r.names)
		r.names[key] = n
		r.timeline.Names = append(r.timeline.Names, name)
		r.timeline.Causes = append(r.timeline.Causes, key.cause)
	}
	s := span{us(startFs), us(max(startFs, endFs)), op, n}
	k := r.process(process).track(track)
	k.Spans = append(k.Spans, s)
}

// Counter implements trace.Writer. Stall counters have their bars by operation.
func (r *Recorder) Counter(process, name string, atFs int64, value float64) {
	if trace.IsStall(name) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.samples++; r.samples > maxSamples || math.IsNaN(value) || math.IsInf(value, 0) {
		r.timeline.Dropped++
		return
	}
	t := &r.timeline
	i := slices.IndexFunc(t.Counters, func(c *counter) bool { return c.Process == process && c.Name == name })
	if i < 0 {
		i = len(t.Counters)
		t.Counters = append(t.Counters, &counter{Process: process, Name: name})
	}
	t.Counters[i].Samples = append(t.Counters[i].Samples, [2]float64{us(atFs), value})
}

// Spans implements trace.Writer.
func (r *Recorder) Spans() int { return r.spans }

// Close implements trace.Writer.
func (r *Recorder) Close() error { return nil }

// us are microseconds, to the picosecond.
func us(fs int64) float64 { return math.Round(float64(fs)/1e3) / 1e6 }
