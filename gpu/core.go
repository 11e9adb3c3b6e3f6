package gpu

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Core is one GPU. It keeps decoded kernels and its state between runs; a Core
// must not be used by two goroutines at once.
type Core struct {
	spec     Spec
	dram     mem.Level
	h        *hierarchy
	programs map[*Kernel]*program
	nextCode uint64
	pool     []*wave
	groups   []*workgroup
	m        *machine
}

// New builds a core in front of dram, which serves what misses in L2. dram may
// be nil when every run is functional.
func New(spec Spec, dram mem.Level) (*Core, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	c := &Core{spec: spec, dram: dram, programs: map[*Kernel]*program{}, nextCode: codeWindow}
	if dram != nil {
		h, err := newHierarchy(&spec, dram)
		if err != nil {
			return nil, err
		}
		c.h = h
	}
	return c, nil
}

// Spec is the machine.
func (c *Core) Spec() Spec { return c.spec }

// program decodes a kernel the first time it is seen. A kernel must not change
// afterwards.
func (c *Core) program(k *Kernel) (*program, error) {
	if p := c.programs[k]; p != nil {
		return p, nil
	}
	p, err := decodeKernel(k, &c.spec)
	if err != nil {
		return nil, err
	}
	if p.base = k.Base; p.base == 0 {
		p.base = c.nextCode
		c.nextCode += uint64(len(k.Code)+4095) &^ 4095
	}
	c.programs[k] = p
	return p, nil
}

// Run executes dispatches one after the other on the bytes of space and says
// what it cost, from the first cycle of the first dispatch until the last byte
// has reached DRAM. Errors of the program are *Fault; the space then holds
// whatever was written before.
func (c *Core) Run(space *mem.Space, dispatches []Dispatch, opt Options) (*sim.Report, error) {
	if space == nil {
		return nil, errors.New("gpu: run: no address space")
	}
	if !opt.Functional && c.h == nil {
		return nil, errors.New("gpu: run: a timed run needs the memory behind L2")
	}
	m := c.machine(space, opt)
	report := &sim.Report{Hz: c.spec.Hz}
	for i := range dispatches {
		if err := m.dispatch(&dispatches[i]); err != nil {
			return nil, err
		}
	}
	m.finish(report)
	return report, nil
}

// machine is the state of one run. It is kept for the next one.
type machine struct {
	core  *Core
	spec  *Spec
	opt   Options
	space *mem.Space
	h     *hierarchy
	clock sim.Clock

	// The dispatch under way.
	p          *program
	d          *Dispatch
	size       [3]int // work-groups
	next       int64  // work-group to place
	total      int64
	args, code mem.Segment
	seg        *mem.Segment
	err        error
	cur        int32 // uop being executed, for messages
	executed   int64
	limit      int64

	// Scratch of the instruction being executed.
	tmp         [4]row
	pre         [2]row // sources of execPrepared
	old, zero   row
	wide        [3][64]uint64
	addr, addr2 [64]uint64
	scalarAddr  uint64
	swizzled    bool   // the lane addresses are those of dwords 4*lanes bytes apart
	inLDS       uint64 // lanes of a generic access that are in LDS
	at          int64  // cycle of the issue, 0 in a functional run
	slots       []bool // scratch slots in use
	lines       []lineUse
	lineShift   uint
	bankWord    [64][64]uint64

	// Timing.
	cus        []cu
	simds      []simd
	cands      []int64 // earliest issue of each SIMD
	lds        []ldsUnit
	half       int64 // issue cycles of one wave on a SIMD
	codeShift  uint
	codeFits   bool // the code fits the instruction cache
	charged    traffic
	fetch      [][]int64 // per cluster: cycle at which each code line is there, 0 unknown
	now        int64     // start of the dispatch
	live       int       // work-groups resident
	ages       int64
	woken      bool
	count      [numCounts]int64
	regions    []sim.RegionReport
	energy     float64
	classes    [NumClasses]int64 // active lanes
	instrs     int64
	laneInstrs int64 // instructions times wave size
	stalls     sim.StallTable
	cycles     int64
}

func (c *Core) machine(space *mem.Space, opt Options) *machine {
	if c.m == nil {
		c.m = &machine{core: c, spec: &c.spec, h: c.h}
	}
	m := c.m
	m.opt, m.space = opt, space
	m.seg, m.err = nil, nil
	m.executed, m.limit = 0, opt.MaxInstructions
	if m.limit <= 0 {
		m.limit = DefaultMaxInstructions
	}
	m.clock = sim.Clock{Hz: c.spec.Hz}
	m.now, m.cycles, m.instrs, m.laneInstrs, m.energy = 0, 0, 0, 0, 0
	m.count = [numCounts]int64{}
	m.classes = [NumClasses]int64{}
	m.stalls = sim.StallTable{}
	m.regions = nil
	m.charged = traffic{}
	m.at = 0
	if !opt.Functional {
		m.h.reset()
		m.lineShift = shiftOf(c.spec.L0.Line)
		m.buildUnits()
	}
	return m
}

func shiftOf(v int) uint {
	n := uint(0)
	for 1<<n < v {
		n++
	}
	return n
}

// fail records the first error of the program.
func (m *machine) fail(w *wave, err error) {
	if m.err != nil {
		return
	}
	g := w.wg.id
	m.err = &Fault{
		Kernel: m.p.k.Name, PC: int(m.p.offs[m.cur]), Instr: m.p.text(m.cur),
		Where: fmt.Sprintf("work-group %d,%d,%d wave %d", g[0], g[1], g[2], w.id),
		Err:   err,
	}
}

// runaway is the error of a kernel that reached the instruction limit, with who
// waits for the wave that goes on.
func (m *machine) runaway(w *wave) {
	waiting, at := 0, int32(0)
	for _, o := range w.wg.waves {
		if o.atBarrier {
			waiting++
			at = o.barrierPC
		}
	}
	if waiting > 0 {
		m.fail(w, fmt.Errorf("instruction limit reached; %d waves of its work-group wait for it at the barrier at pc %#x", waiting, m.p.offs[at]))
		return
	}
	m.fail(w, errors.New("instruction limit reached; the kernel may not end"))
}

// dispatch runs one grid.
func (m *machine) dispatch(d *Dispatch) error {
	if d.Kernel == nil {
		return errors.New("gpu: dispatch without a kernel")
	}
	p, err := m.core.program(d.Kernel)
	if err != nil {
		return err
	}
	if err := m.shape(p, d); err != nil {
		return fmt.Errorf("gpu: kernel %s: %w", d.Kernel.Name, err)
	}
	m.p, m.d = p, d
	m.next, m.err = 0, nil
	m.arguments(d)
	m.code = mem.Segment{Name: "code", Base: p.base, Data: p.k.Code, ReadOnly: true}
	clear(p.visits)
	clear(p.lanes)
	before := m.cycles
	if m.opt.Functional {
		m.runFunctional()
	} else {
		m.runTimed()
	}
	if m.err != nil {
		m.drop()
		return m.err
	}
	m.tally(p, m.cycles-before)
	return nil
}

// shape checks the grid and counts work-groups.
func (m *machine) shape(p *program, d *Dispatch) error {
	items := 1
	total := int64(1)
	for i := range 3 {
		g, w := max(d.Grid[i], 1), max(d.Workgroup[i], 1)
		if d.Grid[i] < 0 || d.Workgroup[i] < 0 || g > 1<<31-1 || w > m.spec.MaxWorkgroup {
			return fmt.Errorf("grid %v, work-group %v: out of range", d.Grid, d.Workgroup)
		}
		items *= w
		m.size[i] = (g + w - 1) / w
		if total > 1<<40/int64(m.size[i]) {
			return fmt.Errorf("grid %v: too many work-groups", d.Grid)
		}
		total *= int64(m.size[i])
	}
	if items > m.spec.MaxWorkgroup {
		return fmt.Errorf("work-group of %d work-items, the machine takes %d", items, m.spec.MaxWorkgroup)
	}
	waves := (items + p.k.WaveSize - 1) / p.k.WaveSize
	rows := rowsOf(m.spec, p.k)
	perSIMD := min(m.spec.WavesPerSIMD, m.spec.VGPRRows/rows)
	if waves > perSIMD*m.spec.SIMDsPerCU {
		return fmt.Errorf("work-group of %d waves with %d registers does not fit a compute unit", waves, p.k.VGPRs)
	}
	m.total = total
	return nil
}

// rowsOf is the vector register rows one wave takes.
func rowsOf(s *Spec, k *Kernel) int {
	g := s.VGPRGranule
	if k.WaveSize == 64 {
		g = max(g/2, 1)
	}
	return (k.VGPRs + g - 1) / g * g * (k.WaveSize / 32)
}

// finish fills in the report.
func (m *machine) finish(r *sim.Report) {
	r.Instructions = m.instrs
	if !m.opt.Functional {
		m.drain()
		r.Cycles = m.cycles
		r.Time = m.clock.At(m.cycles)
		r.Stalls = m.stalls
	}
	r.EnergyPJ = m.energy
	r.Regions = m.regions
	r.Counters = m.counters()
}
