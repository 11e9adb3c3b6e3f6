package applog

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"

	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Line is a line of the file: one of the three.
type Line struct {
	Process     *Process     `json:"process,omitempty"`
	Compilation *Compilation `json:"compilation,omitempty"`
	Execution   *Execution   `json:"execution,omitempty"`
}

// Process is a process that has opened its phone. Compilations and executions name it by its number, that of the system.
type Process struct {
	ID      int      `json:"id"`
	Program string   `json:"program"`
	SoC     string   `json:"soc"`
	Devices []string `json:"devices"`
}

// Compilation is a call of Compilation_finish.
type Compilation struct {
	Process    int            `json:"process"`
	Number     int            `json:"number"` // in its process, from 1
	Model      string         `json:"model"`  // hash of its architecture, in hexadecimal
	Devices    string         `json:"devices"`
	Result     string         `json:"result"`
	HostMs     float64        `json:"host_ms"`
	Operations int            `json:"operations"`
	Types      map[string]int `json:"types,omitempty"` // operations by type
	Parts      []Part         `json:"parts,omitempty"`
	Fallbacks  []Fallback     `json:"fallbacks,omitempty"`
	CacheHits  int            `json:"cache_hits"`
	Saved      *Saved         `json:"saved,omitempty"` // with Options.Models
}

// Saved is the file of a model that was compiled, or why there is none.
type Saved struct {
	File  string `json:"file,omitempty"`
	Error string `json:"error,omitempty"`
}

// Part is a part of a model, in the order of execution.
type Part struct {
	Device     string `json:"device"`
	Subgraph   string `json:"subgraph,omitempty"` // of an IF or WHILE; the main one without
	Operations []int  `json:"operations"`
}

// Fallback is an operation that a device declined, and why.
type Fallback struct {
	Operation int    `json:"operation"`
	Type      string `json:"type"`
	Reason    string `json:"reason"`
}

// Execution is an execution that has ended.
type Execution struct {
	Process     int       `json:"process"`
	Compilation int       `json:"compilation"`
	Mode        string    `json:"mode"` // the call that began it
	Result      string    `json:"result"`
	StartUs     float64   `json:"start_us"` // on the phone's clock
	LatencyUs   float64   `json:"latency_us"`
	EnergyUj    float64   `json:"energy_uj"`
	Parts       []PartRun `json:"parts,omitempty"`
	Spans       []Span    `json:"spans,omitempty"` // of the first executions, with Options.Traced
	Check       *Check    `json:"check,omitempty"` // with Options.Check
}

// PartRun is when a part ran since the execution began.
type PartRun struct {
	Device  string  `json:"device"`
	StartUs float64 `json:"start_us"`
	EndUs   float64 `json:"end_us"`
}

// Span is an interval of a unit of a device since the execution began.
type Span struct {
	Device  string  `json:"device"`
	Track   string  `json:"track"`
	Name    string  `json:"name"`
	StartUs float64 `json:"start_us"`
	EndUs   float64 `json:"end_us"`
}

// Check is the comparison of an execution with the reference.
type Check struct {
	Compared   bool   `json:"compared"` // false: Reason says why not
	Mismatches int    `json:"mismatches"`
	Reason     string `json:"reason,omitempty"` // or the first difference
}

// Options are what a recorder records besides.
type Options struct {
	Process Process
	Check   bool         // compare executions with the reference
	Traced  int          // executions with their spans, the first ones of the process
	Models  string       // folder to which the models that are compiled are written as .tflite; "": none
	NowFs   func() int64 // the phone's clock
}

// Recorder writes a log. It implements nnapi.Observer.
type Recorder struct {
	options Options
	mu      sync.Mutex
	to      *json.Encoder
	err     error
	traced  int
}

// NewRecorder returns a recorder that writes each line at once, the first now.
func NewRecorder(w io.Writer, o Options) *Recorder {
	r := &Recorder{options: o, to: json.NewEncoder(w)}
	r.write(Line{Process: &o.Process})
	return r
}

// Err is the first error of writing.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Recorder) write(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.to.Encode(l)
	}
}

// Compiled implements nnapi.Diagnostics.
func (r *Recorder) Compiled(c nnapi.CompilationInfo) {
	l := &Compilation{
		Process: r.options.Process.ID, Number: c.Compilation, Model: hex.EncodeToString(c.Model[:]), Devices: c.Devices, Result: c.Result.String(),
		HostMs: float64(c.Duration.Microseconds()) / 1e3,
	}
	if c.Compiled != nil {
		l.describe(c.Compiled)
		if r.options.Models != "" {
			l.Saved = save(r.options.Models, c.Compiled.Model)
		}
	}
	r.write(Line{Compilation: l})
}

// describe adds the operations and how they were divided.
func (l *Compilation) describe(c *nnrt.Compilation) {
	operations := c.Model.Main.Operations
	l.Operations, l.CacheHits, l.Types = len(operations), c.CacheHits, map[string]int{}
	for _, op := range operations {
		l.Types[op.Type.String()]++
	}
	for i := range c.Steps() {
		if s := c.Step(i); !s.Jump {
			l.Parts = append(l.Parts, Part{s.Device, s.Subgraph, s.Operations})
		}
	}
	for _, f := range c.Fallbacks {
		l.Fallbacks = append(l.Fallbacks, Fallback{f.Operation, operations[f.Operation].Type.String(), f.Reason})
	}
}

// modes are the names of calls that begin an execution.
var modes = [...]string{
	nnapi.Asynchronous: "startCompute", nnapi.Synchronous: "compute", nnapi.ThroughBurst: "burstCompute",
	nnapi.WithDependencies: "startComputeWithDependencies",
}

// Executed implements nnapi.Diagnostics.
func (r *Recorder) Executed(e nnapi.ExecutionInfo) {
	l := &Execution{Process: r.options.Process.ID, Compilation: e.Compilation, Mode: modes[e.Mode], Result: e.Result.String()}
	if c := e.Cost; c != nil {
		if r.options.NowFs != nil {
			l.StartUs = max(0, micros(r.options.NowFs()-c.LatencyFs))
		}
		l.LatencyUs, l.EnergyUj = micros(c.LatencyFs), c.EnergyPJ/1e6
		for _, p := range c.Parts {
			l.Parts = append(l.Parts, PartRun{p.Device, micros(p.StartFs), micros(p.EndFs)})
		}
	}
	if o, ok := e.Observation.(*observation); ok {
		l.Spans = o.spans
		l.Check = o.verdict()
	}
	r.write(Line{Execution: l})
}

func micros(fs int64) float64 { return float64(fs) / 1e9 }
