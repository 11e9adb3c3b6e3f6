package inference

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nnrt"
	"github.com/nnsoc/nnsoc/npu"
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
			o.Cycles, o.TimeFs = res.Operations[i].Cycles, res.Operations[i].TimeFs
		}
		r.Operations = append(r.Operations, o)
	}
}
