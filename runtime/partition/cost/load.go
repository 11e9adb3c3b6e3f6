package cost

import "github.com/nnsoc/nnsoc/runtime/partition"

// Load is for what time a step holds its engine when that computes, at the clock at which
// its operations were measured. What surrounds a program is no part of it.
type Load struct {
	Device     string
	Operations int
	TimeFs     float64
	Hz         float64 // of the engine's clock, 0 where it counts no cycles
	EnergyPJ   float64
}

// loads are what operations take on each device where it runs all that it supports.
type loads struct {
	problem   *partition.Problem
	devices   []deviceLoads
	subgraphs map[uint32]*loads
}

// deviceLoads are those on one device.
type deviceLoads struct {
	operations []operationLoad
	// begin is what a program takes besides its operations: an engine that starts and ends
	// costs this once, few bytes that enter and leave it next to nothing.
	begin partition.Cost
	cache int64 // bytes of the system-level cache that the device may use
	// crowded says that what the device touched when it was measured is more than that.
	crowded bool
}

// operationLoad is an operation on a device.
type operationLoad struct {
	known  bool
	cost   partition.Cost
	hz     float64 // cycles by time
	warmFs float64 // the time when the system-level cache holds what it reads
}

func newLoads(p *partition.Problem) *loads {
	l := &loads{problem: p, devices: make([]deviceLoads, len(p.Devices))}
	for d := range l.devices {
		l.devices[d].operations = make([]operationLoad, len(p.Graph.Operations))
	}
	return l
}

// measured takes over what a device came to in a loop with all that it supports.
func (l *loads) measured(d int, r *LoopRecord, systemCache func(device string) (bytes int64, bytesPerSecond float64)) {
	x, n, name := &l.devices[d], float64(r.Executions), l.problem.Devices[d].Name
	o := r.Overheads[name]
	x.begin = o.Transfer.over(o.Parts)
	fast := 0.0
	if systemCache != nil {
		x.cache, fast = systemCache(name)
	}
	var all []int
	for _, s := range r.Steps {
		if s.Device != name {
			continue
		}
		all = append(all, s.Operations...)
		for _, i := range s.Operations {
			e := &r.Engines[i]
			y := operationLoad{known: true, cost: r.Operations[i].over(n)}
			y.warmFs = y.cost.TimeFs
			if y.cost.TimeFs > 0 && e.Cycles > 0 {
				y.hz = e.Cycles / n / y.cost.TimeFs * 1e15
				waits := y.cost.TimeFs * e.DRAMCycles / e.Cycles
				if fast > 0 {
					y.warmFs -= max(0, waits-e.DRAMBytes/n/fast*1e15)
				}
			}
			x.operations[i] = y
		}
	}
	x.crowded = l.touched(all) > x.cache
}

// of are the loads of a plan's steps, in place of control flow those of the steps of both
// subgraphs that it calls. ok is false for a plan with a step of an operation
// that was not measured on its device. Where all that a plan leaves to a device fits what the
// device may keep in the system-level cache, and did not when it was measured, its operations
// wait for that cache as long as they waited for the DRAM, at most as long as the cache takes
// for their bytes.
func (l *loads) of(plan partition.Plan) (list []Load, ok bool) {
	steps := l.problem.Steps(plan)
	on := make([][]int, len(l.devices))
	for _, s := range steps {
		if s.Device < len(on) {
			on[s.Device] = append(on[s.Device], s.Operations...)
		}
	}
	warm := make([]bool, len(on))
	for d := range on {
		x := &l.devices[d]
		warm[d] = x.crowded && l.touched(on[d]) <= x.cache
	}
	for _, s := range steps {
		if c := control(l.problem, s); c != nil {
			for _, k := range c.Subgraphs {
				sub, known := l.subgraphs[k]
				if !known {
					return nil, false
				}
				inner, ok := sub.of(plan.Subgraphs[k])
				if !ok {
					return nil, false
				}
				list = append(list, inner...)
			}
			continue
		}
		x := &l.devices[s.Device]
		y := Load{Device: l.problem.DeviceName(s.Device), Operations: len(s.Operations), TimeFs: x.begin.TimeFs, EnergyPJ: x.begin.EnergyPJ}
		cycles, computing := 0.0, 0.0
		for _, i := range s.Operations {
			o := &x.operations[i]
			if !o.known {
				return nil, false
			}
			fs := o.cost.TimeFs
			if warm[s.Device] {
				fs = o.warmFs
			}
			computing += fs
			cycles += fs * o.hz
			y.EnergyPJ += o.cost.EnergyPJ
		}
		y.TimeFs += computing
		if computing > 0 {
			y.Hz = cycles / computing
		}
		list = append(list, y)
	}
	return list, true
}

// touched are the bytes that operations read and write: constants, and each value once,
// whether or not memory is used again.
func (l *loads) touched(operations []int) (bytes int64) {
	p := l.problem
	g := &p.Model.Main
	constants, values := map[uint32]bool{}, map[int]bool{}
	for _, i := range operations {
		for _, x := range g.Operations[i].Inputs {
			if o := &g.Operands[x]; o.IsConst() && !constants[x] {
				constants[x] = true
				bytes += o.Bytes()
			}
		}
		op := &p.Graph.Operations[i]
		for _, list := range [2][]int{op.Inputs, op.Outputs} {
			for _, v := range list {
				if !values[v] {
					values[v] = true
					bytes += p.Graph.Values[v].Bytes
				}
			}
		}
	}
	return bytes
}
