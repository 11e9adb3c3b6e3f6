package gpu

import (
	"slices"

	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/sim"
)

// profiler collects the costs of the operations of a run; nil costs one comparison per issue. Cycles are counted on the
// SIMD that ends its dispatch last, as in the account of the run; energy is that of the whole machine.
type profiler struct {
	before traffic            // the issue that is under way
	rows   map[profiledAt]int // places in the profile
}

// memoryEnergy is in picojoules: of levels on the GPU's supply at the reference voltage, and of DRAM.
type memoryEnergy struct{ chip, dram float64 }

// profiledAt is where a cost arose.
type profiledAt struct {
	region int
	kernel *Kernel
	at     int64
	what   string // without an instruction
}

// profile begins the profiles of the dispatches under way.
func (m *machine) profile() {
	if m.opt.Profile == nil {
		return
	}
	if m.profiler == nil {
		m.profiler = &profiler{rows: map[profiledAt]int{}}
	}
	for _, g := range m.grids {
		if g.profiles == nil {
			g.profiles = make([][]sim.StallTable, len(m.simds))
		}
		n := len(g.p.Ops) + 1
		for i := range g.profiles {
			g.profiles[i] = resized(g.profiles[i], n)
			m.simds[i].profile = m.grids[0].profiles[i]
		}
		g.accesses = resized(g.accesses, n)
	}
}

// resized is a list of n zero elements, in the memory of an old one if it fits.
func resized[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// charge adds cycles of a SIMD to an operation.
func (s *simd) charge(pc int32, why sim.Reason, n int64) {
	if s.profile == nil {
		return
	}
	if why == sim.StallLaunch || why == sim.StallDrain {
		pc = int32(len(s.profile) - 1)
	}
	s.profile[pc][why] += n
}

// chargeRun divides the cycles of a run of vector operations among them: busy cycles of the unit go to those that occupy
// it for longer than their issue.
func (s *simd) chargeRun(ops []schedule.Op, half int64, pc, end int32, busy, issue int64) {
	if s.profile == nil {
		return
	}
	for i := end - 1; i >= pc; i-- {
		took := int64(ops[i+1].Cost - ops[i].Cost)
		unit := min(busy, max(took-half, 0))
		own := min(issue, took-unit)
		busy, issue = busy-unit, issue-own
		s.profile[i][sim.StallUnit] += unit
		s.profile[i][sim.StallIssue] += own
	}
}

// access charges an operation with the memory traffic of its issue.
func (m *machine) access(pc int32) {
	now, before := m.h.traffic(), &m.profiler.before
	x := &m.grid.accesses[pc]
	x.chip += m.spec.Energy.trafficPJ(0, &now, before)
	x.dram += now.dramPJ - before.dramPJ
}

// row is the sample of a place.
func (m *machine) row(at profiledAt) *sim.Sample {
	p := m.opt.Profile
	i, ok := m.profiler.rows[at]
	if !ok {
		i = len(p.Samples)
		m.profiler.rows[at] = i
		x := sim.Sample{Region: at.region, Program: at.kernel.Name, At: at.at, Text: at.what}
		if at.at != sim.NoInstruction {
			x.Text = m.p.Text(int32(slices.Index(m.p.Offsets, int32(at.at))))
		}
		p.Samples = append(p.Samples, x)
	}
	return &p.Samples[i]
}

// collect adds the costs of a dispatch, whose energy is pj, to the profile: the cycles of SIMD last.
func (m *machine) collect(last int, pj float64) {
	p := m.p
	table := m.profiles[last]
	scale, watts := m.supply()
	perCycle := watts / float64(m.point.Hz) * 1e12
	var visits, lanes int64
	left := pj
	for i := range p.Ops {
		visits += m.executions[i].visits
		lanes += m.executions[i].lanes
		stalls := &table[i]
		if visits == 0 && *stalls == (sim.StallTable{}) {
			continue
		}
		e := m.accesses[i]
		own := (float64(visits)*m.spec.Energy.InstrPJ+float64(lanes)*m.spec.Energy.LanePJ[p.Ops[i].Class]+e.chip)*scale + e.dram +
			float64(stalls.Total())*perCycle
		x := m.row(profiledAt{region: m.d.Region, kernel: m.d.Kernel, at: int64(p.Offsets[i])})
		x.Count += visits
		x.Stalls.Add(stalls)
		x.EnergyPJ += own
		left -= own
	}
	// What no operation has: launch and drain, and the traffic of the instruction caches.
	others := table[len(p.Ops)]
	for why, n := range others {
		if n == 0 {
			continue
		}
		x := m.row(profiledAt{region: m.d.Region, kernel: m.d.Kernel, at: sim.NoInstruction, what: sim.Reason(why).String()})
		x.Stalls[why] += n
		x.EnergyPJ += float64(n) * perCycle
		left -= float64(n) * perCycle
	}
	m.row(profiledAt{region: m.d.Region, kernel: m.d.Kernel, at: sim.NoInstruction, what: "instruction fetch"}).EnergyPJ += left
}

// drained adds the cost of writing the caches back after a dispatch.
func (m *machine) drained(cycles int64, pj float64) {
	if m.opt.Profile == nil {
		return
	}
	x := m.row(profiledAt{region: m.d.Region, kernel: m.d.Kernel, at: sim.NoInstruction, what: "write back"})
	x.Stalls[sim.StallDrain] += cycles
	x.EnergyPJ += pj
}

// trafficPJ adds to pj the energy of the on-chip levels for the bytes moved since before.
func (e *EnergySpec) trafficPJ(pj float64, now, before *traffic) float64 {
	cost := func(now, before int64, each float64) { pj += float64(now-before) * each }
	cost(now.counts[cntL0Bytes], before.counts[cntL0Bytes], e.L0BytePJ)
	cost(now.counts[cntScalarBytes], before.counts[cntScalarBytes], e.ScalarBytePJ)
	cost(now.counts[cntLDSBytes], before.counts[cntLDSBytes], e.LDSBytePJ)
	cost(now.gl1, before.gl1, e.L1BytePJ)
	cost(now.l2, before.l2, e.L2BytePJ)
	return pj
}
