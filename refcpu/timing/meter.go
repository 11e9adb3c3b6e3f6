package timing

import (
	"math"
	"math/bits"
	"time"

	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Change is a machine that the CPU becomes at an instant of an execution: other operating
// points of its clusters.
type Change struct {
	AtFs int64
	Spec *CPUSpec
}

// Meter adds up the cost of the operations of one execution. A change of the machine within an operation splits it: the
// rest of its work has the costs from then on.
type Meter struct {
	spec        *CPUSpec
	all, single team      // threads of operations that they share, and of others
	watts       float64   // of all threads
	waited      []float64 // for how long the threads of a group have waited, s
	timing      Timing
	ahead       []Change

	// Since the last change.
	originFs, originCycles int64
}

// NewMeter returns a meter for a main subgraph of some operations.
func (s *CPUSpec) NewMeter(operations int) (*Meter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	m := &Meter{timing: Timing{Operations: make([]OperationTiming, operations)}}
	for i := range m.timing.Operations {
		m.timing.Operations[i].Index = i
	}
	m.become(s)
	return m, nil
}

// Plan replaces the pending changes, in order. One that is due takes effect at once.
func (m *Meter) Plan(changes []Change) error {
	for _, c := range changes {
		if err := c.Spec.check(); err != nil {
			return err
		}
	}
	m.ahead = changes
	m.change()
	return nil
}

// change makes the changes that are due.
func (m *Meter) change() {
	for len(m.ahead) > 0 && m.ahead[0].AtFs <= m.timing.TimeFs {
		m.become(m.ahead[0].Spec)
		m.ahead = m.ahead[1:]
	}
}

func (m *Meter) become(s *CPUSpec) {
	m.spec, m.watts = s, s.watts()
	m.waited = append(m.waited, make([]float64, max(0, len(s.Cores)-len(m.waited)))...)
	m.all, m.single = s.teams()
	m.timing.ClockHz = s.Cores[0].ClockHz
	m.originFs, m.originCycles = m.timing.TimeFs, m.timing.Cycles
}

const femto = 1_000_000_000_000_000 // of a second

// pass lets cycles pass and returns their time.
func (m *Meter) pass(cycles int64) (fs int64) {
	t := &m.timing
	before := t.TimeFs
	t.Cycles += cycles
	n := t.Cycles - m.originCycles
	whole, rest := n/t.ClockHz, n%t.ClockHz
	hi, lo := bits.Mul64(uint64(rest), femto)
	part, _ := bits.Div64(hi, lo, uint64(t.ClockHz))
	t.TimeFs = m.originFs + whole*femto + int64(part)
	return t.TimeFs - before
}

// cyclesOf is a time in cycles of the present clock, rounded up.
func (m *Meter) cyclesOf(fs int64) int64 {
	whole, rest := fs/femto, fs%femto
	hi, lo := bits.Mul64(uint64(rest), uint64(m.timing.ClockHz))
	part, left := bits.Div64(hi, lo, femto)
	if left > 0 {
		part++
	}
	return whole*m.timing.ClockHz + int64(part)
}

// Add charges work to an operation of the main subgraph. It is the function for Options.Work.
func (m *Meter) Add(operation int, w *opspec.Work) {
	var charged OperationTiming
	for left := 1.; ; {
		m.change()
		var o OperationTiming // all of it, on the present machine
		waited := m.cost(w, &o)
		for _, c := range o.Reasons {
			o.Cycles += c
		}
		cycles, share, last := int64(math.Ceil(left*float64(o.Cycles))), left, true
		if len(m.ahead) > 0 {
			if room := m.cyclesOf(m.ahead[0].AtFs - m.timing.TimeFs); room < cycles {
				cycles, share, last = room, float64(room)/float64(o.Cycles), false
			}
		}
		part := o.part(share, cycles)
		if last {
			part.MACs, part.CacheBytes = o.MACs-charged.MACs, o.CacheBytes-charged.CacheBytes
			part.DRAMBytes, part.DRAMWriteBytes = o.DRAMBytes-charged.DRAMBytes, o.DRAMWriteBytes-charged.DRAMWriteBytes
		}
		m.charge(operation, &part)
		if last {
			copy(m.waited, waited)
			return
		}
		charged.count(&part)
		left -= share
	}
}

// part is a share of an operation, with so many of its cycles.
func (o *OperationTiming) part(share float64, cycles int64) OperationTiming {
	of := func(n int64) int64 { return int64(share * float64(n)) }
	p := OperationTiming{
		Cycles: cycles, EnergyPJ: share * o.EnergyPJ, MACs: of(o.MACs),
		CacheBytes: of(o.CacheBytes), DRAMBytes: of(o.DRAMBytes), DRAMWriteBytes: of(o.DRAMWriteBytes),
	}
	var all, parts int64 // of the reasons so far; the last ends with all cycles
	for r, c := range o.Reasons {
		all += c
		n := cycles
		if all < o.Cycles {
			n = int64(float64(all) / float64(o.Cycles) * float64(cycles))
		}
		p.Reasons[r] = n - parts
		parts = n
	}
	return p
}

// count adds the counts of another.
func (o *OperationTiming) count(p *OperationTiming) {
	o.MACs += p.MACs
	o.CacheBytes += p.CacheBytes
	o.DRAMBytes += p.DRAMBytes
	o.DRAMWriteBytes += p.DRAMWriteBytes
}

// charge adds a part of an operation, and the power of the machine meanwhile.
func (m *Meter) charge(operation int, p *OperationTiming) {
	t, to := &m.timing, &m.timing.Operations[operation]
	for r, c := range p.Reasons {
		to.Reasons[r] += c
		t.Reasons[r] += c
	}
	seconds := float64(p.Cycles) / float64(t.ClockHz)
	pj := p.EnergyPJ + float64(sum(m.spec.StaticWatts, m.spec.DRAMWatts)*seconds*1e12)
	to.Cycles += p.Cycles
	to.TimeFs += m.pass(p.Cycles)
	to.EnergyPJ += pj
	to.count(p)
	t.EnergyPJ += pj
	t.DRAMBytes += p.DRAMBytes
}

// Wait extends an operation by a time, in whole cycles, for which all threads wait for the DRAM.
func (m *Meter) Wait(operation int, fs int64) {
	cycles := m.cyclesOf(fs)
	p := OperationTiming{Cycles: cycles, EnergyPJ: m.watts * float64(cycles) / float64(m.timing.ClockHz) * 1e12}
	p.Reasons[ReasonDRAM] = cycles
	m.charge(operation, &p)
}

// Elapsed is the time of the operations added so far.
func (m *Meter) Elapsed() time.Duration { return time.Duration(m.timing.TimeFs / 1e6) }

// Timing is the timing of the operations added so far.
func (m *Meter) Timing() *Timing { return &m.timing }
