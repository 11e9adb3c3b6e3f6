package cost

import (
	"cmp"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Load is the costs of a step on its engine alone, without the software around a program.
type Load struct {
	Device     string
	Operations int
	// At returns the parts of the step in order at a clock of the engine and one of the DRAM;
	// neither counts for an engine whose clock no governor moves.
	At func(hz, memoryHz int64) ([]Work, error)
}

// Work is the costs of an engine for an operation, or for beginning and ending a program.
type Work struct {
	TimeFs, Cycles, EnergyPJ, DRAMBytes float64
	Waits                               float64 // the share of its time in which it waits for the DRAM and the system-level cache
}

// between interpolates linearly between two Works.
func (w Work) between(x Work, share float64) Work {
	mid := func(a, b float64) float64 { return a + share*(b-a) }
	return Work{mid(w.TimeFs, x.TimeFs), mid(w.Cycles, x.Cycles), mid(w.EnergyPJ, x.EnergyPJ), mid(w.DRAMBytes, x.DRAMBytes), mid(w.Waits, x.Waits)}
}

// loads are the costs of operations on each device when it runs all that it supports.
type loads struct {
	problem   *partition.Problem
	devices   []deviceLoads
	subgraphs map[uint32]*loads
}

// deviceLoads are those on one device.
type deviceLoads struct {
	operations []int // those that it runs
	known      []bool
	points     map[clocks]*pointLoads  // of a loop at its own clocks by zeros
	measured   map[int64][]*pointLoads // at a clock of the engine, by rising clock of the DRAM
	loop       *LoopRecord             // the device ran all that it supports
	// moves: a governor moves the engine's clock.
	moves bool
	// pinned is such a loop with clocks held; nil: costs at other clocks are computed from the loop.
	pinned func(clocks) (*LoopRecord, error)
	// memory are the lowest and the highest clock of the DRAM at a clock of the engine, ends those of the engine.
	memory func(hz int64) (lowest, highest int64)
	ends   [2]int64

	cache int64   // bytes of the system-level cache that the device may use
	fast  float64 // bytes per second from there
	// exceedsCache: the device touched more bytes than that when it was measured.
	exceedsCache bool

	copyRate float64 // bytes per cycle at which programs copy their inputs and outputs; 0: no copies
	copied   float64 // mean bytes of a program's inputs and outputs in the measurement
}

// pointLoads are the operations on a device at one clock of its engine and one of the DRAM.
type pointLoads struct {
	memoryHz   int64
	operations []operationLoad
	// begin is the cost of a program besides its operations: starting and ending the engine
	// costs this once, with copies of the mean bytes of inputs and outputs in the measurement.
	begin Work
}

// operationLoad is an operation on a device.
type operationLoad struct {
	Work
	warmFs float64 // the time when the system-level cache holds what it reads
}

func newLoads(p *partition.Problem) *loads {
	l := &loads{problem: p, devices: make([]deviceLoads, len(p.Devices))}
	for d := range l.devices {
		l.devices[d].known = make([]bool, len(p.Graph.Operations))
	}
	return l
}

// measured sets the loads of a device from a loop with all that it supports.
func (l *loads) measured(d int, r *LoopRecord, m *Measurer) {
	x, name := &l.devices[d], l.problem.Devices[d].Name
	x.loop, x.points, x.measured = r, map[clocks]*pointLoads{}, map[int64][]*pointLoads{}
	if m.SystemCache != nil {
		x.cache, x.fast = m.SystemCache(name)
	}
	if m.CopyRate != nil {
		x.copyRate = m.CopyRate(name)
	}
	o := r.Overheads[name]
	x.copied = o.Bytes / max(1, o.Parts)
	for _, s := range r.Steps {
		if s.Device != name {
			continue
		}
		x.operations = append(x.operations, s.Operations...)
		for _, i := range s.Operations {
			x.known[i] = true
		}
	}
	x.exceedsCache = l.touched(x.operations) > x.cache
}

// at are the operations of a device at a pair of clocks: as measured there in the loop of all that
// it supports, or in a loop with these clocks held; between two such clocks, interpolated by period. If no
// clock can be held, waits for the DRAM scale with its clock and all other time with the engine's clock.
func (l *loads) at(d int, k clocks) (_ *pointLoads, err error) {
	x := &l.devices[d]
	if !x.moves {
		k = clocks{}
	}
	if p, known := x.points[k]; known {
		return p, nil
	}
	name := l.problem.Devices[d].Name
	p, ok := x.point(x.loop, name, k)
	switch {
	case ok:
	case x.pinned == nil:
		p, _ = x.point(x.loop, name, clocks{})
		memory := 1.0
		if hz := x.loop.meanMemoryHz(x.operations); hz > 0 {
			memory = hz / float64(k.memoryHz)
		}
		p.scale(memory, float64(k.hz))
	case x.ends[0] < k.hz && k.hz < x.ends[1]:
		low, err := l.at(d, clocks{x.ends[0], k.memoryHz})
		if err != nil {
			return nil, err
		}
		high, err := l.at(d, clocks{x.ends[1], k.memoryHz})
		if err != nil {
			return nil, err
		}
		p = low.between(high, periods(x.ends[0], x.ends[1], k.hz))
		log := func(hz int64) float64 { return math.Log(float64(hz) / float64(x.ends[0])) }
		p.power(low, high, log(k.hz)/log(x.ends[1]))
	default:
		below, above, err := l.neighbours(d, k)
		if err != nil {
			return nil, err
		}
		p = below.between(above, periods(below.memoryHz, above.memoryHz, k.memoryHz))
	}
	p.memoryHz = k.memoryHz
	x.points[k] = p
	return p, nil
}

// periods is the position of the period of clock hz between those of from and to, from 0 to 1.
func periods(from, to, hz int64) float64 {
	if from == to {
		return 0
	}
	period := func(hz int64) float64 { return 1 / float64(hz) }
	return (period(hz) - period(from)) / (period(to) - period(from))
}

// power gives operations at a clock between two the energy of a power that goes by a power of the clock: share is how much of the
// logarithm's way.
func (p *pointLoads) power(low, high *pointLoads, share float64) {
	energy := func(w, a, b *Work) {
		if a.TimeFs > 0 && b.TimeFs > 0 && a.EnergyPJ > 0 && b.EnergyPJ > 0 {
			from, to := a.EnergyPJ/a.TimeFs, b.EnergyPJ/b.TimeFs
			w.EnergyPJ = w.TimeFs * from * math.Pow(to/from, share)
		}
	}
	energy(&p.begin, &low.begin, &high.begin)
	for i := range p.operations {
		energy(&p.operations[i].Work, &low.operations[i].Work, &high.operations[i].Work)
	}
}

// scale gives operations another clock of their engine, and to what waits for it a period of the DRAM that is memory times as
// long.
func (p *pointLoads) scale(memory, hz float64) {
	work := func(w *Work) {
		if w.Cycles > 0 && w.TimeFs > 0 {
			waits := w.TimeFs * w.Waits * memory
			w.TimeFs = w.Cycles/hz*1e15*(1-w.Waits) + waits
			w.Cycles, w.Waits = w.TimeFs*hz/1e15, waits/w.TimeFs
		}
	}
	work(&p.begin)
	for i := range p.operations {
		o := &p.operations[i]
		before := o.TimeFs
		work(&o.Work)
		o.warmFs *= o.TimeFs / max(before, 1)
	}
}

// neighbours returns the operations of a device as they were measured at an engine's clock and those of
// the DRAM next to one. Beyond those of a loop the lowest or the highest that the DRAM may have is measured.
func (l *loads) neighbours(d int, k clocks) (below, above *pointLoads, err error) {
	x, name := &l.devices[d], l.problem.Devices[d].Name
	list, known := x.measured[k.hz]
	if !known {
		for _, memory := range x.loop.memoryClocks(x.operations[0], k.hz) {
			if p, ok := x.point(x.loop, name, clocks{k.hz, memory}); ok {
				list = append(list, p)
			}
		}
	}
	hold := func(memory int64) (*pointLoads, error) {
		r, err := x.pinned(clocks{k.hz, memory})
		if err != nil {
			return nil, err
		}
		p, _ := x.point(r, name, clocks{}) // it had no others
		p.memoryHz = memory
		return p, nil
	}
	lowest, highest := x.memory(k.hz)
	i, found := slices.BinarySearchFunc(list, k.memoryHz, byMemoryClock)
	if !found && i == 0 {
		p, err := hold(min(lowest, k.memoryHz))
		if err != nil {
			return nil, nil, err
		}
		list = slices.Insert(list, 0, p)
		i, found = slices.BinarySearchFunc(list, k.memoryHz, byMemoryClock)
	}
	if !found && i == len(list) {
		p, err := hold(max(highest, k.memoryHz))
		if err != nil {
			return nil, nil, err
		}
		list = append(list, p)
		i, found = slices.BinarySearchFunc(list, k.memoryHz, byMemoryClock)
	}
	x.measured[k.hz] = list
	if found {
		return list[i], list[i], nil
	}
	return list[i-1], list[i], nil
}

func byMemoryClock(p *pointLoads, hz int64) int { return cmp.Compare(p.memoryHz, hz) }

// between are the operations at a share of the way from one point to another.
func (p *pointLoads) between(q *pointLoads, share float64) *pointLoads {
	mid := &pointLoads{begin: p.begin.between(q.begin, share), operations: make([]operationLoad, len(p.operations))}
	for i := range mid.operations {
		a, b := &p.operations[i], &q.operations[i]
		mid.operations[i] = operationLoad{a.between(b.Work, share), a.warmFs + share*(b.warmFs-a.warmFs)}
	}
	return mid
}

// point is the measurement of a loop at a pair of clocks, zeros for all clocks that it has had; ok is
// false when an operation was not measured there.
func (x *deviceLoads) point(r *LoopRecord, device string, k clocks) (*pointLoads, bool) {
	p := &pointLoads{memoryHz: k.memoryHz, operations: make([]operationLoad, len(r.Engines))}
	around := r.Overheads[device].Engines
	begin, ok := around.at(k)
	ok = ok || len(around) == 0
	p.begin = begin.work()
	for _, i := range x.operations {
		e, seen := r.Engines[i].at(k)
		ok = ok && seen
		y := operationLoad{Work: e.work()}
		y.warmFs = y.TimeFs
		if e.Cycles > 0 && x.fast > 0 {
			waits := y.TimeFs * min(1, e.DRAMCycles/e.Cycles)
			missed := min(1, e.Missed/max(1, e.DRAMBytes))
			y.warmFs -= missed * max(0, waits-e.DRAMBytes/x.fast*1e15)
		}
		p.operations[i] = y
	}
	return p, ok
}

// of are the loads of a plan's steps, in place of control flow those of the steps of both
// subgraphs that it calls. ok is false for a plan with a step of an operation
// that was not measured on its device. Where all that a plan leaves to a device fits what the
// device may keep in the system-level cache, and did not when it was measured, its operations
// wait for that cache as long as they waited for the DRAM, where they missed the cache at most
// for the time of their bytes.
func (l *loads) of(plan partition.Plan) (list []Load, ok bool) {
	steps := l.problem.Steps(plan)
	links := partition.Link(l.problem.Graph, steps)
	on := make([][]int, len(l.devices))
	for _, s := range steps {
		if s.Device < len(on) {
			on[s.Device] = append(on[s.Device], s.Operations...)
		}
	}
	for k, s := range steps {
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
		if s.Device >= len(l.devices) {
			continue // a view takes no time
		}
		x := &l.devices[s.Device]
		for _, i := range s.Operations {
			if !x.known[i] {
				return nil, false
			}
		}
		warm := x.exceedsCache && l.touched(on[s.Device]) <= x.cache
		more := float64(links[k].In+links[k].Out) - x.copied
		list = append(list, Load{Device: l.problem.DeviceName(s.Device), Operations: len(s.Operations), At: func(hz, memoryHz int64) ([]Work, error) {
			return l.works(s, clocks{hz, memoryHz}, warm, more)
		}})
	}
	return list, true
}

// Loads are the costs of a network's operations on each device, from which those of plans and of parts follow.
type Loads struct{ *loads }

// Loads measures a problem as Measured does.
func (m *Measurer) Loads(p *partition.Problem) (*Loads, error) {
	_, l, err := m.measured(p)
	return &Loads{l}, err
}

// Of are the loads of a plan's steps in order; ok is false for a plan with a step of an operation that was not measured on
// its device.
func (l *Loads) Of(plan partition.Plan) (list []Load, ok bool) { return l.of(plan) }

// Part is the load of some operations as a program of its own, of so many bytes of inputs and outputs; ok is false where
// one was not measured on the device.
func (l *Loads) Part(device int, operations []int, bytes int64) (x Load, ok bool) {
	d := &l.devices[device]
	for _, i := range operations {
		if !d.known[i] {
			return x, false
		}
	}
	s := partition.Step{Device: device, Operations: operations}
	return Load{Device: l.problem.DeviceName(device), Operations: len(operations), At: func(hz, memoryHz int64) ([]Work, error) {
		return l.works(s, clocks{hz, memoryHz}, false, float64(bytes)-d.copied)
	}}, true
}

// works is the costs of a step at a pair of clocks. Its inputs and outputs have so many more bytes than the mean of
// the measurement.
func (l *loads) works(s partition.Step, k clocks, warm bool, more float64) ([]Work, error) {
	p, err := l.at(s.Device, k)
	if err != nil {
		return nil, err
	}
	begin := p.begin
	if rate := l.devices[s.Device].copyRate; rate > 0 && begin.Cycles > 0 {
		period := begin.TimeFs / begin.Cycles
		begin.Cycles = max(0, begin.Cycles+more/rate)
		begin.TimeFs = begin.Cycles * period
	}
	list := append(make([]Work, 0, 1+len(s.Operations)), begin)
	for _, i := range s.Operations {
		w := p.operations[i].Work
		if took := p.operations[i].warmFs; warm && took > 0 {
			w.Cycles *= took / w.TimeFs
			w.Waits = max(0, 1-(1-w.Waits)*w.TimeFs/took)
			w.TimeFs, w.DRAMBytes = took, 0
		}
		list = append(list, w)
	}
	return list, nil
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
