package dsp

import (
	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/power"
)

// EnergyTable is picojoules per event at ReferenceV, and static power.
type EnergyTable struct {
	ReferenceV float64
	PJ         map[string]float64 // exactly the events that the core counts
	StaticMW   float64
}

// jobCost is the cost of one job.
type jobCost struct {
	cycles int64
	stalls sim.StallTable
	// threads are the cycles of all threads that may use vectors, and of those that
	// did run if they are more; idle where a thread has ended or was not started.
	threads sim.StallTable
	events  energy.Events // of the memory system
	dram    int64         // bytes to and from DRAM
	// dramPJ is the dynamic energy of the DRAM, dramMW its background power.
	dramPJ, dramMW float64
}

// reporter adds up the jobs of a run.
type reporter struct {
	spec   *Spec
	meter  *power.Meter
	report sim.Report
	total  energy.Events
	dram   int64
	index  map[int]int // region id to place in report.Regions
}

func newReporter(s *Spec) *reporter {
	m, err := power.NewMeter(energy.Names[:], s.Energy.PJ, s.Energy.ReferenceV)
	if err != nil {
		panic(err) // New has checked the table
	}
	return &reporter{spec: s, meter: m, index: map[int]int{}}
}

func (p *reporter) add(region int, r *run, c jobCost) {
	i, ok := p.index[region]
	if !ok {
		i = len(p.report.Regions)
		p.index[region] = i
		p.report.Regions = append(p.report.Regions, sim.RegionReport{ID: region})
	}
	g := &p.report.Regions[i]
	p.report.Instructions += r.insts
	if r.timing == nil {
		return
	}
	g.Cycles += c.cycles
	g.Stalls.Add(&c.stalls)
	g.Threads.Add(&c.threads)
	g.DRAMBytes += c.dram
	r.count.Add(&c.events, 1)
	p.total.Add(&r.count, 1)
	p.dram += c.dram

	p.meter.Reset()
	p.meter.SetVoltage(p.spec.VoltageV)
	for e, n := range r.count {
		p.meter.Add(e, n)
	}
	span := sim.Clock{Hz: p.spec.ClockHz}.At(c.cycles)
	g.EnergyPJ += p.meter.PJ() + c.dramPJ + power.StaticPJ(p.spec.Energy.StaticMW+c.dramMW, span)
	p.report.Cycles += c.cycles
	p.report.Stalls.Add(&c.stalls)
}

func (p *reporter) finish(r *run) *sim.Report {
	rep := &p.report
	rep.Hz = p.spec.ClockHz
	rep.Time = sim.Clock{Hz: p.spec.ClockHz}.At(rep.Cycles)
	for i := range rep.Regions {
		rep.EnergyPJ += rep.Regions[i].EnergyPJ
	}
	if r.timing != nil {
		for e, n := range p.total {
			rep.Counters = append(rep.Counters, sim.Counter{Name: energy.Names[e], Value: n})
		}
		rep.Counters = append(rep.Counters, sim.Counter{Name: "dram_bytes", Value: p.dram})
		rep.Counters = append(rep.Counters, r.timing.mem.counters()...)
	}
	return rep
}
