package gpu

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
)

// Events that are counted as they happen; instructions and lanes are counted
// per operation.
const (
	cntLines = iota // L0 lines that vector memory instructions touched
	cntL0Bytes
	cntScalarBytes
	cntLDSBytes
	cntLDSCycles
	numCounts
)

var countNames = [numCounts]string{"vector_lines", "l0_bytes", "scalar_bytes", "lds_bytes", "lds_cycles"}

var classNames = [NumClasses]string{
	"none", "move", "int", "int_mul", "int64", "f32", "fma32", "f16", "dot", "special", "f64",
	"salu", "smem", "vmem", "lds", "branch",
}

// traffic is the number of bytes moved by the cache levels so far.
type traffic struct {
	gl1, l2, dram int64
	dramPJ        float64
	counts        [numCounts]int64
}

// traffic is the bytes moved since the caches were made.
func (h *hierarchy) traffic() traffic {
	t := traffic{counts: h.count}
	t.l2 = lookups(h.l2) * int64(h.spec.L2.Line)
	t.dram = (h.l2.Count(cache.Fill) + h.l2.Count(cache.LineWriteBack)) * int64(h.spec.L2.Line)
	t.dramPJ, _ = mem.EnergyOf(h.dram)
	t.dramPJ -= h.surplusPJ
	if h.gl1 != nil {
		t.gl1 = lookups(h.gl1) * int64(h.spec.GL1.Line)
	}
	return t
}

// add adds the bytes moved between two instants.
func (t *traffic) add(now, before *traffic) {
	t.gl1 += now.gl1 - before.gl1
	t.l2 += now.l2 - before.l2
	t.dram += now.dram - before.dram
	t.dramPJ += now.dramPJ - before.dramPJ
	for i := range t.counts {
		t.counts[i] += now.counts[i] - before.counts[i]
	}
}

func lookups(c *cache.Cache) int64 {
	return c.Count(cache.ReadLookup) + c.Count(cache.WriteLookup)
}

// regionEvents counts the events of a region's dispatches.
type regionEvents struct {
	waveCycles, waveSlots int64 // cycles that waves were resident, that they could have been
	lanes, laneSlots      int64 // of vector and memory instructions: active lanes, all lanes
	flops                 int64
	l0, scalar, lds, l2   int64 // bytes
}

// counters are the events by name.
func (e *regionEvents) counters() []sim.Counter {
	return []sim.Counter{
		{Name: "wave_cycles", Value: e.waveCycles}, {Name: "wave_slots", Value: e.waveSlots},
		{Name: "lanes", Value: e.lanes}, {Name: "lane_slots", Value: e.laneSlots}, {Name: "flops", Value: e.flops},
		{Name: "l0_bytes", Value: e.l0}, {Name: "scalar_bytes", Value: e.scalar}, {Name: "lds_bytes", Value: e.lds}, {Name: "l2_bytes", Value: e.l2},
	}
}

// account is what a run has cost so far, in all and by region.
type account struct {
	regions    []sim.RegionReport
	events     []regionEvents // of regions
	energy     float64
	classes    [NumClasses]int64 // active lanes
	instrs     int64
	laneInstrs int64 // instructions times wave size
	stalls     sim.StallTable
	cycles     int64
}

// eventsOf are the events of a region of the account.
func (a *account) eventsOf(r *sim.RegionReport) *regionEvents {
	i := len(a.regions) - 1
	for i > 0 && &a.regions[i] != r {
		i--
	}
	return &a.events[i]
}

// region is the report of a region id, made when it is new.
func (a *account) region(id int) *sim.RegionReport {
	for i := len(a.regions) - 1; i >= 0; i-- {
		if a.regions[i].ID == id {
			return &a.regions[i]
		}
	}
	a.regions = append(a.regions, sim.RegionReport{ID: id})
	a.events = append(a.events, regionEvents{})
	return &a.regions[len(a.regions)-1]
}

// tally adds the executions of a dispatch's operations to the run and charges its region with their energy and with its
// cycles, of which SIMD last keeps the account.
func (m *machine) tally(last int, cycles int64) {
	p := m.p
	var classes [NumClasses]int64
	var instrs, visits, lanes int64
	ev := m.eventsOf(m.region(m.d.Region))
	for i := range p.Ops {
		visits += m.executions[i].visits
		lanes += m.executions[i].lanes
		instrs += visits
		classes[p.Ops[i].Class] += lanes
		if p.Vector[i] {
			ev.laneSlots += visits * int64(p.k.WaveSize)
			ev.lanes += lanes
			ev.flops += lanes * int64(p.Flops[i])
		}
	}
	ev.waveCycles += m.waveCycles
	ev.waveSlots += cycles * int64(len(m.simds)*m.spec.WavesPerSIMD)
	pj := float64(instrs) * m.spec.Energy.InstrPJ
	for c, n := range classes {
		m.classes[c] += n
		pj += float64(n) * m.spec.Energy.LanePJ[c]
	}
	m.instrs += instrs
	m.laneInstrs += instrs * int64(p.k.WaveSize)
	pj = m.charge(m.region(m.d.Region), pj, cycles)
	if m.opt.Profile != nil && !m.opt.Functional {
		m.collect(last, pj)
	}
}

// charge adds dynamic energy, the traffic of the dispatch since the last charge and the static
// energy of some cycles to a region, and returns the sum.
func (m *machine) charge(r *sim.RegionReport, pj float64, cycles int64) float64 {
	e := &m.spec.Energy
	if !m.opt.Functional {
		m.noteTraffic()
		t := &m.moved
		scale, watts := m.supply()
		pj = e.trafficPJ(pj, t, &traffic{}) * scale
		// DRAM has its own supply.
		pj += t.dramPJ
		seconds := float64(cycles) / float64(m.point.Hz)
		pj += float64(watts * seconds * 1e12)
		r.DRAMBytes += t.dram
		ev := m.eventsOf(r)
		ev.l0 += t.counts[cntL0Bytes]
		ev.scalar += t.counts[cntScalarBytes]
		ev.lds += t.counts[cntLDSBytes]
		ev.l2 += t.l2
		*t = traffic{}
	} else {
		pj = 0
	}
	r.EnergyPJ += pj
	m.energy += pj
	return pj
}

// supply is the factor of dynamic energies at the present voltage, and the static power.
func (m *machine) supply() (scale, watts float64) {
	e := &m.spec.Energy
	scale = 1.0
	if e.Vref > 0 {
		scale = m.point.Volts / e.Vref * m.point.Volts / e.Vref
	}
	_, background := mem.EnergyOf(m.h.dram)
	return scale, e.StaticW*scale + background/1e3
}

// counters are the event counts of a run.
func (m *machine) counters() []sim.Counter {
	out := []sim.Counter{{Name: "lane_instructions", Value: m.laneInstrs}}
	for c, n := range m.classes[ClassMove:] {
		out = append(out, sim.Counter{Name: "lanes_" + classNames[ClassMove+Class(c)], Value: n})
	}
	if m.opt.Functional {
		return out
	}
	return append(out, m.h.counters()...)
}

// counters are the events of the memory by name.
func (h *hierarchy) counters() (out []sim.Counter) {
	for i, n := range h.count {
		out = append(out, sim.Counter{Name: countNames[i], Value: n})
	}
	out = append(out, sumCounters("l0", h.l0)...)
	out = append(out, sumCounters("scalar", h.scalar)...)
	out = append(out, sumCounters("icache", h.icache)...)
	if h.gl1 != nil {
		out = append(out, h.gl1.Counters()...)
	}
	out = append(out, h.l2.Counters()...)
	return append(out, sim.Counter{Name: "dram_bytes", Value: h.traffic().dram})
}

// sumCounters adds up the counters of caches of one kind.
func sumCounters(name string, caches []*cache.Cache) []sim.Counter {
	var sum []sim.Counter
	for _, c := range caches {
		n := c.Counters()
		if sum == nil {
			sum = n
			continue
		}
		for i := range n {
			sum[i].Value += n[i].Value
		}
	}
	return sum
}
