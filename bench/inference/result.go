package inference

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim"
)

// Result is one run. Cycles are of the NPU's clock; TimeFs and EnergyPJ are of
// all steps.
type Result struct {
	Outputs [][]byte

	Cycles       int64 // of the NPU, launches included
	ActiveCycles int64 // without launches: NPU_ACTIVE of the performance counters
	Hz           int64
	Stalls       sim.StallTable // adds up to Cycles
	Ports        []Port
	Counters     []sim.Counter // events of the NPU

	NPUTimeFs, CPUTimeFs int64
	TimeFs               int64
	EnergyPJ             float64
	Operations           []Operation
}

// Port is the traffic of one AXI port.
type Port struct {
	Memory                string // behind it
	ReadBeats, WriteBeats int64  // of npu.Spec.BeatBytes each
}

// Operation is a command of the NPU that starts work, or an operator of the CPU.
type Operation struct {
	Step     int
	CPU      bool
	NPU      npu.Operation    // of a command
	Type     nn.OperationType // of a CPU operator
	Cycles   int64            // of the NPU's clock, or of the CPU's
	Stalls   sim.StallTable   // of a command, adds up to Cycles
	TimeFs   int64
	EnergyPJ float64
	Work     Work // of a command
}

// Work is the work of the NPU's units and ports for a command.
type Work struct {
	MACActive, OutputActive int64     // cycles
	Ports                   []Traffic // as Result.Ports
}

// Traffic is the bytes read from and written to the memory of a port.
type Traffic struct{ Read, Written int64 }

// Utilization is the share of the multipliers' cycles, while a command ran, spent on its multiply-accumulates.
func (o *Operation) Utilization(s *npu.Spec) float64 {
	return float64(o.NPU.MACs) / float64(max(o.Cycles, 1)*int64(s.MACsPerCycle()))
}

// PaddingWaste is the share of the multipliers' cycles, while the array worked, spent on padding of micro-blocks,
// channels and taps.
func (o *Operation) PaddingWaste(s *npu.Spec) float64 {
	if o.Work.MACActive == 0 || o.NPU.MACs == 0 {
		return 0
	}
	return 1 - min(1, float64(o.NPU.MACs)/float64(o.Work.MACActive*int64(s.MACsPerCycle())))
}

// counters reads the work of a region: two units, then reads and writes of each memory.
func (w *Work) counters(list []sim.Counter, memories int) {
	if len(list) < 2+2*memories {
		return
	}
	w.MACActive, w.OutputActive = list[0].Value, list[1].Value
	for i := range memories {
		w.Ports = append(w.Ports, Traffic{list[2+2*i].Value, list[3+2*i].Value})
	}
}

func (r *Result) addNPU(step int, operations []npu.Operation, rep *sim.Report, spec *npu.Spec) {
	r.Hz = spec.Hz
	r.Cycles += rep.Cycles
	r.ActiveCycles += rep.Cycles - rep.Stalls[sim.StallLaunch]
	r.NPUTimeFs += int64(rep.Time)
	r.TimeFs += int64(rep.Time)
	r.EnergyPJ += rep.EnergyPJ
	r.Stalls.Add(&rep.Stalls)
	r.count(rep.Counters, spec)
	clock := sim.Clock{Hz: spec.Hz}
	first := len(r.Operations)
	for i := range operations {
		r.Operations = append(r.Operations, Operation{Step: step, NPU: operations[i]})
	}
	for i := range rep.Regions {
		g := &rep.Regions[i]
		if g.ID < 0 {
			continue // the launch
		}
		o := &r.Operations[first+g.ID]
		o.Cycles, o.Stalls, o.EnergyPJ, o.TimeFs = g.Cycles, g.Stalls, g.EnergyPJ, int64(clock.At(g.Cycles))
		o.Work.counters(g.Counters, len(spec.Memories))
	}
}

// EstimateVela makes the cycles of a functional run those that Vela's performance model
// estimates for each operation on the NPU, and their sum; operators of the CPU have none.
func (r *Result) EstimateVela() {
	clock := sim.Clock{Hz: r.Hz}
	for i := range r.Operations {
		o := &r.Operations[i]
		if o.CPU {
			continue
		}
		o.Cycles = o.NPU.Estimate + o.NPU.Exposed
		o.TimeFs = int64(clock.At(o.Cycles))
		r.Cycles += o.Cycles
	}
	r.ActiveCycles, r.NPUTimeFs = r.Cycles, int64(clock.At(r.Cycles))
	r.TimeFs = r.NPUTimeFs
}

// count adds event counts. A memory's beats become those of its port: AXI0 is
// the first memory of the machine, AXI1 the second.
func (r *Result) count(counters []sim.Counter, spec *npu.Spec) {
	if r.Ports == nil {
		for _, m := range spec.Memories {
			r.Ports = append(r.Ports, Port{Memory: m.Name})
		}
	}
	at := map[string]int{}
	for i, c := range r.Counters {
		at[c.Name] = i
	}
	for _, c := range counters {
		for i := range r.Ports {
			switch p := &r.Ports[i]; c.Name {
			case p.Memory + "_read_beats":
				p.ReadBeats += c.Value
			case p.Memory + "_write_beats":
				p.WriteBeats += c.Value
			}
		}
		if i, ok := at[c.Name]; ok {
			r.Counters[i].Value += c.Value
		} else {
			r.Counters = append(r.Counters, c)
		}
	}
}

func (r *Result) addCPU(step int, m *nn.Model, res *nnrt.Result) {
	r.CPUTimeFs += res.LatencyFs
	r.TimeFs += res.LatencyFs
	r.EnergyPJ += res.EnergyPJ
	for i := range m.Main.Operations {
		o := Operation{Step: step, CPU: true, Type: m.Main.Operations[i].Type}
		if i < len(res.Operations) {
			x := &res.Operations[i]
			o.Cycles, o.TimeFs, o.EnergyPJ = x.Cycles, x.TimeFs, x.EnergyPJ
		}
		r.Operations = append(r.Operations, o)
	}
}
