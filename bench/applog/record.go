package applog

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"

	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Line is a line of the file: one of the two.
type Line struct {
	Compilation *Compilation `json:"compilation,omitempty"`
	Execution   *Execution   `json:"execution,omitempty"`
}

// Compilation is a call of Compilation_finish.
type Compilation struct {
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
	Compilation int       `json:"compilation"`
	Mode        string    `json:"mode"` // the call that began it
	Result      string    `json:"result"`
	LatencyUs   float64   `json:"latency_us"`
	EnergyUj    float64   `json:"energy_uj"`
	Parts       []PartRun `json:"parts,omitempty"`
}

// PartRun is when a part ran since the execution began.
type PartRun struct {
	Device  string  `json:"device"`
	StartUs float64 `json:"start_us"`
	EndUs   float64 `json:"end_us"`
}

// Recorder writes a log. It implements nnapi.Diagnostics.
type Recorder struct {
	mu  sync.Mutex
	to  *json.Encoder
	err error
}

// NewRecorder returns a recorder that writes each line at once.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{to: json.NewEncoder(w)} }

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
		Number: c.Compilation, Model: hex.EncodeToString(c.Model[:]), Devices: c.Devices, Result: c.Result.String(),
		HostMs: float64(c.Duration.Microseconds()) / 1e3,
	}
	if c.Compiled != nil {
		l.describe(c.Compiled)
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
	l := &Execution{Compilation: e.Compilation, Mode: modes[e.Mode], Result: e.Result.String()}
	if c := e.Cost; c != nil {
		l.LatencyUs, l.EnergyUj = float64(c.LatencyFs)/1e9, c.EnergyPJ/1e6
		for _, p := range c.Parts {
			l.Parts = append(l.Parts, PartRun{p.Device, float64(p.StartFs) / 1e9, float64(p.EndFs) / 1e9})
		}
	}
	r.write(Line{Execution: l})
}
