package cost

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Row is a share of an execution.
type Row struct {
	TimeFs   int64   `json:"time_fs"`
	EnergyPJ float64 `json:"energy_pj"`
}

func (r Row) plus(s Row) Row { return Row{r.TimeFs + s.TimeFs, r.EnergyPJ + s.EnergyPJ} }

// Record is what the execution of a model on one device cost. Its rows add up to it.
type Record struct {
	Row
	Failed     bool  `json:"failed,omitempty"` // the device could not do it after all
	Launch     Row   `json:"launch"`
	Transfer   Row   `json:"transfer"`
	Operations []Row `json:"operations"`
}

func (r *Record) fits(operations int) bool {
	return len(r.Operations) == operations && r.TimeFs >= 0 && r.EnergyPJ >= 0
}

// LoopRecord is what an execution of a plan cost, the mean over a loop.
type LoopRecord struct {
	Executions int64                `json:"executions"` // of the loop, whose costs are added up
	Loop       Share                `json:"loop"`
	Steps      []Step               `json:"steps"` // of the plan, in order
	Operations []Share              `json:"operations"`
	Engines    []Engines            `json:"engines"`   // of each operation
	Overheads  map[string]Overheads `json:"overheads"` // by device
	// Rounds are the runs of subgraphs by control flow that was interpreted, by operation.
	Rounds map[int][2]float64 `json:"rounds,omitempty"`
}

// Engine is the measured costs of an operation on its engine, in executions at one clock of the engine
// and one of the DRAM.
type Engine struct {
	Hz         float64 `json:"hz"`        // 0: the clock changed, or no cycles are counted
	MemoryHz   int64   `json:"memory_hz"` // 0: the clock changed, or is not known
	Executions float64 `json:"executions"`
	TimeFs     float64 `json:"time_fs"`
	EnergyPJ   float64 `json:"energy_pj"`
	Cycles     float64 `json:"cycles"`      // of the engine's clock
	DRAMCycles float64 `json:"dram_cycles"` // of these, those that it waited for the DRAM
	// CacheCycles are those that it waited for the system-level cache.
	CacheCycles float64 `json:"cache_cycles"`
	DRAMBytes   float64 `json:"dram_bytes"`
	Missed      float64 `json:"missed"` // of these bytes, those that the system-level cache did not hold
}

// Engines are the measured costs of an operation at each pair of clocks that its engine and the DRAM
// kept from the first operation of an execution to the last. The wait of an operation for the DRAM
// also depends on earlier operations, so executions in which a clock changed are not attributed to one.
type Engines []Engine

// sameClock is how far clocks that follow from cycles and time may lie apart.
const sameClock = 1e-4

// conditions says how a device ran in an execution.
type conditions struct {
	hz       float64 // of the engine all through it, 0: it changed
	memoryHz int64   // likewise of the DRAM
	missed   float64 // share of the bytes of operations that moved to and from DRAM
}

// conditionsOf returns the conditions of each device of an execution.
func conditionsOf(x *nnrt.Result) map[string]conditions {
	all, bytes := map[string]conditions{}, map[string]int64{}
	for _, list := range [2][]nnrt.OperationCost{x.Operations, x.Overheads} {
		for i := range list {
			c := &list[i]
			bytes[c.Device] += c.DRAMBytes
			if c.TimeFs == 0 || c.Index == hal.LaunchIndex {
				continue
			}
			hz := float64(c.Cycles) / float64(c.TimeFs) * 1e15
			if known, ok := all[c.Device]; ok && !(math.Abs(known.hz-hz) <= sameClock*hz) {
				hz = 0
			}
			all[c.Device] = conditions{hz: hz}
		}
	}
	for i := range x.Devices {
		d := &x.Devices[i]
		k, m := all[d.Device], &d.Memory
		if m.LowestHz == m.HighestHz {
			k.memoryHz = m.LowestHz
		}
		k.missed = float64(m.ReadBytes+m.WriteBytes) / float64(max(bytes[d.Device], 1))
		all[d.Device] = k
	}
	return all
}

// add adds what some executions under conditions came to.
func (l *Engines) add(c *nnrt.OperationCost, executions float64, at conditions) {
	k := slices.IndexFunc(*l, func(e Engine) bool { return e.has(at.hz, at.memoryHz) })
	if k < 0 {
		*l, k = append(*l, Engine{Hz: at.hz, MemoryHz: at.memoryHz}), len(*l)
	}
	e := &(*l)[k]
	e.Executions += executions
	e.TimeFs += float64(c.TimeFs)
	e.EnergyPJ += c.EnergyPJ
	e.Cycles += float64(c.Cycles)
	e.DRAMBytes += float64(c.DRAMBytes)
	e.Missed += float64(c.DRAMBytes) * at.missed
	for _, s := range c.Stalls {
		switch s.Reason {
		case "dram":
			e.DRAMCycles += float64(s.Cycles)
		case "system_cache":
			e.CacheCycles += float64(s.Cycles)
		}
	}
}

// at is the mean of an execution at a pair of clocks, of all with zeros. ok is false when there
// was none.
func (l Engines) at(k clocks) (mean Engine, ok bool) {
	var sum Engine
	for i := range l {
		e := &l[i]
		if k != (clocks{}) && !e.has(float64(k.hz), k.memoryHz) {
			continue
		}
		sum.Executions += e.Executions
		sum.TimeFs += e.TimeFs
		sum.EnergyPJ += e.EnergyPJ
		sum.Cycles += e.Cycles
		sum.DRAMCycles += e.DRAMCycles
		sum.CacheCycles += e.CacheCycles
		sum.DRAMBytes += e.DRAMBytes
		sum.Missed += e.Missed
	}
	n := max(sum.Executions, 1)
	return Engine{float64(k.hz), k.memoryHz, n, sum.TimeFs / n, sum.EnergyPJ / n, sum.Cycles / n, sum.DRAMCycles / n, sum.CacheCycles / n, sum.DRAMBytes / n, sum.Missed / n}, sum.Executions > 0
}

// memoryClocks returns the clocks of the DRAM, rising, that an operation has seen at a clock of its engine.
func (r *LoopRecord) memoryClocks(operation int, hz int64) (list []int64) {
	for i := range r.Engines[operation] {
		if e := &r.Engines[operation][i]; e.MemoryHz > 0 && e.has(float64(hz), e.MemoryHz) {
			list = append(list, e.MemoryHz)
		}
	}
	slices.Sort(list)
	return list
}

// meanMemoryHz is the clock of the DRAM in the executions of operations in which it did not change, a mean; 0: in none.
func (r *LoopRecord) meanMemoryHz(operations []int) float64 {
	sum, n := 0.0, 0.0
	for _, i := range operations {
		for _, e := range r.Engines[i] {
			if e.MemoryHz > 0 {
				sum += e.Executions * float64(e.MemoryHz)
				n += e.Executions
			}
		}
	}
	return sum / max(n, 1)
}

// clocks holds the clocks of an engine and of the DRAM, in Hz.
type clocks struct{ hz, memoryHz int64 }

// has reports whether the clocks were these.
func (e *Engine) has(hz float64, memoryHz int64) bool {
	return e.MemoryHz == memoryHz && math.Abs(e.Hz-hz) <= sameClock*hz
}

func (e *Engine) work() Work {
	return Work{e.TimeFs, e.Cycles, e.EnergyPJ, e.Missed, min(1, (e.DRAMCycles+e.CacheCycles)/max(e.Cycles, 1))}
}

// Share is time and energy, and for how long of it an engine was held.
type Share struct {
	TimeFs   float64 `json:"time_fs"`
	EngineFs float64 `json:"engine_fs"`
	EnergyPJ float64 `json:"energy_pj"`
}

func (s *Share) add(timeFs, engineFs int64, energyPJ float64) {
	s.TimeFs += float64(timeFs)
	s.EngineFs += float64(engineFs)
	s.EnergyPJ += energyPJ
}

// over is the share of one of n.
func (s Share) over(n float64) partition.Cost {
	n = max(n, 1)
	return partition.Cost{TimeFs: s.TimeFs / n, EngineFs: s.EngineFs / n, EnergyPJ: s.EnergyPJ / n}
}

// Step is a part of a plan as it ran.
type Step struct {
	Share
	Device     string `json:"device"`
	Operations []int  `json:"operations"`
}

// Overheads are what the parts on one device cost besides their operations.
type Overheads struct {
	Parts    float64 `json:"parts"`
	Bytes    float64 `json:"bytes"` // of their inputs and outputs
	Launch   Share   `json:"launch"`
	Transfer Share   `json:"transfer"`
	Engines  Engines `json:"engines"` // the transfers of each part
}

// add adds an execution.
func (r *LoopRecord) add(x *nnrt.Result) {
	parts := mainParts(x)
	if r.Executions == 0 {
		r.Steps, r.Operations, r.Overheads = make([]Step, len(parts)), make([]Share, len(x.Operations)), map[string]Overheads{}
		r.Engines = make([]Engines, len(x.Operations))
	}
	r.Executions++
	r.Loop.add(x.LatencyFs, 0, x.EnergyPJ)
	under := conditionsOf(x)
	ran := map[string]float64{} // parts of each device
	for i := range min(len(parts), len(r.Steps)) {
		p := parts[i]
		r.Steps[i].Device, r.Steps[i].Operations = p.Device, p.Operations
		r.Steps[i].add(p.EndFs-p.StartFs, p.EngineFs, p.EnergyPJ)
		if p.Device == partition.Interpreter {
			continue
		}
		o := r.Overheads[p.Device]
		o.Parts++
		ran[p.Device]++
		o.Launch.EngineFs += float64(p.EngineFs)
		r.Overheads[p.Device] = o
	}
	for op, n := range x.Rounds {
		if r.Rounds == nil {
			r.Rounds = map[int][2]float64{}
		}
		sum := r.Rounds[op]
		for k := range sum {
			sum[k] += float64(n[k])
		}
		r.Rounds[op] = sum
	}
	for i := range x.Operations {
		c := &x.Operations[i]
		r.Operations[i].add(c.TimeFs, c.TimeFs, c.EnergyPJ)
		r.Engines[i].add(c, 1, under[c.Device])
		o := r.Overheads[c.Device]
		o.Launch.EngineFs -= float64(c.TimeFs) // what the engine is held for beside operations
		r.Overheads[c.Device] = o
	}
	for i := range x.Overheads {
		c := &x.Overheads[i]
		o := r.Overheads[c.Device]
		if c.Index == hal.LaunchIndex {
			o.Launch.add(c.TimeFs, 0, c.EnergyPJ)
		} else {
			o.Transfer.add(c.TimeFs, c.TimeFs, c.EnergyPJ)
			o.Launch.EngineFs -= float64(c.TimeFs)
			o.Engines.add(c, ran[c.Device], under[c.Device])
		}
		r.Overheads[c.Device] = o
	}
}

// mainParts are the parts of the main subgraph, each once. Those of subgraphs make one part of
// the control flow that they belong to.
func mainParts(x *nnrt.Result) []*nnrt.PartCost {
	var parts []*nnrt.PartCost
	for i := range x.Parts {
		p := &x.Parts[i]
		if p.Subgraph == "" {
			parts = append(parts, p)
			continue
		}
		k := slices.IndexFunc(parts, func(x *nnrt.PartCost) bool { return x.Device == partition.Interpreter && x.Operations[0] == p.Within })
		if k < 0 {
			parts, k = append(parts, &nnrt.PartCost{Device: partition.Interpreter, Operations: []int{p.Within}, StartFs: p.StartFs}), len(parts)
		}
		parts[k].EndFs = max(parts[k].EndFs, p.EndFs)
		parts[k].EngineFs += p.EngineFs
		parts[k].EnergyPJ += p.EnergyPJ
	}
	return parts
}

func (r *LoopRecord) fits(operations int) bool {
	if r.Executions < 1 || len(r.Operations) != operations || len(r.Engines) != operations || !(r.Loop.TimeFs >= 0) || !(r.Loop.EnergyPJ >= 0) {
		return false
	}
	seen := make([]bool, operations) // each is of one step
	for _, s := range r.Steps {
		for _, i := range s.Operations {
			if i < 0 || i >= operations || seen[i] {
				return false
			}
			seen[i] = true
		}
	}
	return true
}

// run is the record as package partition has it. A step that another device ran than
// was planned costs as much as what is impossible; one that was cut otherwise is not
// known.
func (r *LoopRecord) run(p *partition.Problem, plan partition.Plan) *partition.Run {
	n := float64(r.Executions)
	x := &partition.Run{LatencyFs: r.Loop.TimeFs / n, EnergyPJ: r.Loop.EnergyPJ / n}
	ran, on := map[string]*Step{}, make([]string, len(r.Operations))
	for k := range r.Steps {
		t := &r.Steps[k]
		ran[stepKey(t.Device, t.Operations)] = t
		for _, i := range t.Operations {
			on[i] = t.Device
		}
	}
	for _, s := range p.Steps(plan) {
		name := p.DeviceName(s.Device)
		if t := ran[stepKey(name, s.Operations)]; t != nil {
			x.Segments = append(x.Segments, partition.Segment{Device: s.Device, Operations: s.Operations, Cost: t.over(n), Control: control(p, s)})
		} else if slices.ContainsFunc(s.Operations, func(i int) bool { return on[i] != "" && on[i] != name }) {
			x.Segments = append(x.Segments, partition.Segment{Device: s.Device, Operations: s.Operations, Cost: partition.Never, Control: control(p, s)})
		}
	}
	return x
}

// control is the control flow of a step that the runtime executes, nil of other steps.
func control(p *partition.Problem, s partition.Step) *partition.Control {
	if s.Device < len(p.Devices) {
		return nil
	}
	k := slices.IndexFunc(p.Control, func(c partition.Control) bool { return c.Operation == s.Operations[0] })
	if k < 0 {
		return nil // a view
	}
	return &p.Control[k]
}
