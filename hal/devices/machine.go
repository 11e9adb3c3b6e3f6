package devices

import (
	"bytes"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Machine is a SoC whose devices share one time: an execution finds the clocks, idle
// states and queues that earlier ones left. Executions of its devices follow one
// another in the order of the calls, or run concurrently as clients; see Together.
// It implements hal.Machine.
type Machine struct {
	mu      sync.Mutex // held by executions without a client, and by Enter
	config  *soc.Config
	soc     *platform.Machine
	clock   *hal.Clock // of deadlines
	devices []hal.Device
	warmed  *warmUps // of Warm; nil: none is under way
	// SimulateAll runs every execution on its engine. Without it an execution of the
	// same program and inputs, on an engine in the same state, is not run again.
	SimulateAll bool
	// Sampled reuses one execution for others of its program and inputs at the same clocks, whatever
	// the contents of the system-level cache, and lets engines that can simulate a part of an execution in time and
	// extrapolate the rest; CollectSampling reports the error. Reports differ from those without.
	Sampled  bool
	sampling Sampling
	parts    sim.Sampled // of the executions of sampling
	// Most bounds how often a program runs with the same inputs on an engine other than the CPU: further executions in
	// a state in which none has run reuse the costs of one that has, at their own clocks. Beside other clients it bounds the
	// executions of a program beside the same others. 0: no bound. CollectBounded counts them.
	Most    int
	bounded Bounded
	beside  *neighbours // executions of concurrent clients; nil: none has been kept
	// Reuse, where there is a bound, treats programs that are alike (base.Call.CostKey) as one, whatever their inputs: a reused
	// execution leaves the outputs of another. nil: each program counts by itself.
	Reuse *ReuseCache
	// Tolerance ends the simulation of a program that repeats itself on an engine other than the CPU: once three executions
	// with the same inputs at the same clocks lie within it of each other, relative in latency and energy, further ones
	// are like one of them. 0: only what begins in a state that has been simulated repeats. CollectRepeated counts them.
	Tolerance float64
	repeated  Repeated
	turns     map[any][]*remembered     // by program, in the order in which they ran
	ran       map[any][]*remembered     // by program, at most Most of its executions; nil: none has been kept
	samples   map[any][]*representative // by program
	memo      map[any][]*remembered     // by program, those requested last first
	lines     []keptLines               // of memo, in the order in which they ran
	programs  map[any]int               // numbers of programs
	caches    [soc.NumEngines]base.Caches
	runs      int
	loop      *Loop      // under way; nil: none
	moving    contention // of an outline
	together  *rounds    // nil: executions without a client follow one another
}

// maxPrograms bounds the programs that a machine distinguishes. It forgets all of them and
// their executions when there are more.
const maxPrograms = 4096

// number is the number of a program.
func (m *Machine) number(program any) int {
	n, ok := m.programs[program]
	if !ok {
		if len(m.programs) == maxPrograms {
			clear(m.programs)
			clear(m.memo)
			clear(m.samples)
			clear(m.ran)
			clear(m.turns)
			m.lines = nil
		}
		n = len(m.programs)
		m.programs[program] = n
	}
	return n
}

// NewMachine makes the devices of a SoC on one machine, cold. Options add to them.
func NewMachine(c *soc.Config, p hal.Preference, options ...Option) (*Machine, error) {
	s, err := platform.NewMachine(c)
	if err != nil {
		return nil, err
	}
	m := &Machine{config: c, soc: s, clock: hal.NewClock(), memo: map[any][]*remembered{}, programs: map[any]int{}}
	around := &surroundings{host: m.Host, attach: m.Foreign, clock: m.clock, kernels: &Kernels{}}
	m.devices, err = open(c, p, around, options)
	return m, err
}

// Devices are the CPU first, then GPU, DSP and NPU.
func (m *Machine) Devices() []hal.Device { return m.devices }

// Reset restores the state of a new machine, cold and at time 0, when all its clients have
// ended: clocks, idle states, heat, caches and the addresses at which programs will be
// placed. Only the count of Simulated and the clock of deadlines continue.
func (m *Machine) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.soc.Reset()
	clear(m.programs)
	for i := range m.caches {
		m.caches[i].Clear()
	}
}

// PinClock keeps the clock of a device's engine at one of its points, also through Reset: see
// platform.Machine.PinClock.
func (m *Machine) PinClock(device string, hz int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := soc.EngineNamed(device)
	if !ok {
		return hal.Errorf(hal.InvalidArgument, "no device %q", device)
	}
	return m.soc.PinClock(e, hz)
}

// PinMemoryClock keeps the clock of the DRAM at one of its points, also through Reset; with 0 it is
// free again.
func (m *Machine) PinMemoryClock(hz int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.soc.PinMemoryClock(hz)
}

// Governed reports whether the clock of an engine has a governor.
func (m *Machine) Governed(e soc.Engine) bool { return m.config.Governed(e) }

// SoC is the machine under the devices: its time, clocks and heat.
func (m *Machine) SoC() *platform.Machine { return m.soc }

// Simulated is the number of executions that ran on an engine.
func (m *Machine) Simulated() int { return m.runs }

// engineHost is the host of a machine's device. It implements base.Host.
type engineHost struct {
	m      *Machine
	engine soc.Engine
	// foreign: of a driver from outside, each of whose executions runs.
	foreign bool
}

// Execute implements base.Host.
func (h *engineHost) Execute(c *base.Call, run func(hal.Tracer, base.Place) (*hal.Result, error)) (res *hal.Result, err error) {
	if h.m.together == nil || c.Buffers.Client != nil {
		return h.execute(c, run)
	}
	h.m.together.do(func(client *Client) {
		defer hal.Contain(&err, h.engine.String(), "Execute")
		if client != nil {
			c.Buffers.Client = client
			defer func() { c.Buffers.Client = nil }()
		}
		res, err = h.execute(c, run)
	})
	return res, err
}

// execute runs an execution of a client, or of the machine's own.
func (h *engineHost) execute(c *base.Call, run func(hal.Tracer, base.Place) (*hal.Result, error)) (*hal.Result, error) {
	m := h.m
	var warmed *warmUps
	switch client := c.Buffers.Client.(type) {
	case nil:
		m.mu.Lock()
		defer m.mu.Unlock()
		warmed = m.warmed
	case *Client: // clients take turns by themselves
		if client.m != m {
			return nil, hal.Errorf(hal.InvalidArgument, "the client is of another machine")
		}
		if warmed = m.warmed; client.warmed != nil {
			warmed = client.warmed
		}
	default:
		return nil, hal.Errorf(hal.InvalidArgument, "the client, a %T, is of another machine", client)
	}
	r := requestOf(h.engine, c)
	r.Program = m.number(c.Program)
	switch {
	case warmed.first() && m.soc.Exclusive():
		if failed, err := h.warmUp(c, r, run); err != nil {
			return failed, err // an output may be too small: the result says how large it is
		}
	case warmed.first():
		if _, err := m.soc.Saturated(r); err != nil {
			return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
		}
	}
	r.Longest = longest(c, m.clock)
	var spans recorder
	var res *hal.Result
	var failed, halted error
	x, err := m.soc.Execute(r, func(k platform.Conditions) (platform.Outcome, error) {
		var traffic *platform.Traffic
		if res, traffic = warmed.recall(h, c, k); res == nil {
			res, traffic, failed = h.run(c, k, &spans, until(run, r.Longest, k.Start))
		} else if !m.soc.Exclusive() {
			h.moved(0, sim.Time(res.Stats.LatencyFs), outcomeOf(&res.Stats).DRAMBytes)
		}
		if late := lateness(failed); late != nil {
			halted, failed = failed, nil
			spans.stop(h.engine, late.At)
			return h.stopped(m.memo[c.Program], k, late.At), nil
		}
		if failed != nil {
			return platform.Outcome{}, failed
		}
		warmed.note(h.engine, c, k, res, traffic)
		return outcome(res, traffic), nil
	})
	if failed != nil {
		return res, failed
	}
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	ended := !x.Aborted && halted == nil
	m.loop.executed(h, c, run, r, &x, ended)
	if !ended {
		return nil, missed(h.engine, m.clock, c, r, &x, spans, halted)
	}
	wrap(res, &x, c.Buffers.Trace, spans)
	return res, nil
}

// memoryState is the placement of a program in memory and the contents of its engine's caches
// and of the system-level cache when an execution starts.
type memoryState struct {
	number         int
	program        any // who left the caches
	caches, system uint64
}

func (h *engineHost) memory(program any) (s memoryState) {
	if h.engine == soc.EngineCPU {
		return s
	}
	s.number = h.m.number(program)
	s.program, s.caches = h.m.caches[h.engine].State()
	s.system = h.m.soc.Fingerprint()
	return s
}

// run runs a program under conditions, or finds an earlier execution to reuse.
func (h *engineHost) run(c *base.Call, k platform.Conditions, spans *recorder, run func(hal.Tracer, base.Place) (*hal.Result, error)) (*hal.Result, *platform.Traffic, error) {
	m, b := h.m, c.Buffers
	var to hal.Tracer
	if b.Trace != nil {
		to = spans
	}
	at := base.Place{Points: k.Points, Memory: k.Memory, Caches: &m.caches[h.engine], Begin: k.Begin, Preemption: k.Preemption}
	if h.engine == soc.EngineCPU { // whose model has its caches in its costs
		at.Caches = nil
	}
	if k.Woken {
		m.caches[h.engine].Reset()
	}
	plain := !m.SimulateAll && !h.foreign && to == nil && !b.Detail && b.Profile == nil
	keep := plain && m.soc.Exclusive()
	var before memoryState
	if keep {
		before = h.memory(c.Program)
		if x := h.recall(c, k, before, func(x *remembered) bool { return x.same(b) }); x != nil {
			return x.replay(b), x.traffic, nil
		}
	}
	shared := m.Most > 0 && !m.soc.Exclusive()
	var met meeting
	if shared {
		n := m.neighbours()
		met = n.meets(h.engine, c.Program)
		defer n.enter(h.engine, c.Program)()
		if shared = plain && h.engine != soc.EngineCPU; shared {
			m.bounded.Executions++
			if x := n.find(h.engine, c, m.Most); x != nil {
				n.at[h.engine].repeated = true
				return h.pass(x, c, k), nil, nil
			}
			m.bounded.Simulated++
		}
	}
	bounded := keep && m.Most > 0 && h.engine != soc.EngineCPU
	if bounded {
		m.bounded.Executions++
		if x := h.nearest(c, k); x != nil {
			return x.replay(b), x.traffic, nil
		}
		m.bounded.Simulated++
	}
	repeats := keep && m.Tolerance > 0 && !bounded && !m.Sampled && h.engine != soc.EngineCPU
	if repeats {
		m.repeated.Executions++
		if x := h.repetition(c, k, before); x != nil {
			return x.replay(b), x.traffic, nil
		}
		m.repeated.Simulated++
	}
	var like *representative
	sampled := keep && m.Sampled && h.engine != soc.EngineCPU
	if sampled {
		m.sampling.Executions++
		if like = h.sampleOf(c, k); like.reuse() {
			return like.replay(b), like.traffic, nil
		}
		m.sampling.Simulated++
		m.parts.Memory = m.soc.MemoryHz
		at.Sampled = &m.parts
	}
	m.runs++
	var looks []sim.Time
	at.PointRead = func(t sim.Time) { looks = append(looks, t) }
	used := m.soc.MemoryUse(h.engine)
	res, err := run(to, at)
	if err != nil {
		return res, nil, err
	}
	if h.foreign {
		h.moved(0, sim.Time(res.Stats.LatencyFs), outcomeOf(&res.Stats).DRAMBytes)
	}
	var traffic *platform.Traffic
	if h.engine != soc.EngineCPU {
		traffic = m.soc.Traffic(sim.Time(res.Stats.LatencyFs))
	}
	res.Stats.Memory = m.memoryStats(m.soc.MemoryUse(h.engine).Since(used), sim.Time(res.Stats.LatencyFs))
	if s := &res.Stats.Memory; traffic != nil {
		s.LowestHz, s.HighestHz = traffic.MemoryClocks()
	} else if h.engine != soc.EngineCPU && m.soc.Exclusive() { // no governor moves it
		s.LowestHz = m.soc.MemoryHz()
		s.HighestHz = s.LowestHz
	}
	if shared {
		x := remember(b, k.Points, before, res)
		x.pointReads, x.hz = looks, clockHz(h.engine, res)
		m.neighbours().note(met, x)
	}
	if keep {
		x := remember(b, k.Points, before, res)
		x.pointReads, x.traffic, x.sampled = looks, traffic, sampled
		if sampled {
			m.compared(c, like, x)
		}
		if bounded {
			x.hz, x.program = clockHz(h.engine, res), c.Program
			key, _ := m.key(c)
			m.executions()[key] = append(m.executions()[key], x)
		}
		if repeats {
			m.turn(c, x)
		}
		h.remember(c, x)
	}
	return res, traffic, nil
}

// maxRemembered bounds the executions of one program that are kept: enough for each operating
// point of a clock that goes up and down, each with several of the memory's, and for contents of
// the system-level cache that recur after some executions. The least recently requested are
// dropped first.
const maxRemembered = 32

// maxLines bounds the executions that are kept with what they left in the system-level cache,
// each with as much memory as the cache has tags.
const maxLines = 64

// remember remembers an execution that has begun in a state.
func (h *engineHost) remember(c *base.Call, x *remembered) {
	m, before, after := h.m, x.memory, h.memory(c.Program)
	list := m.memo[c.Program]
	if before != after {
		left := m.caches[h.engine].Clone()
		x.left = &left
	}
	if before.system != after.system {
		x.lines = m.soc.SystemLines()
		m.lines = append(m.lines, keptLines{c.Program, x})
		if len(m.lines) > maxLines {
			first := m.lines[0]
			m.lines = m.lines[1:]
			m.memo[first.program] = slices.DeleteFunc(m.memo[first.program], func(x *remembered) bool { return x == first.execution })
			list = m.memo[c.Program]
		}
	}
	list = append([]*remembered{x}, list...)
	m.memo[c.Program] = list[:min(len(list), maxRemembered)]
}

// keptLines is an execution of a program that is kept with lines of the system-level cache.
type keptLines struct {
	program   any
	execution *remembered
}

// remembered is an execution: the state it began in and what came out.
type remembered struct {
	inputs, outputs [][]byte
	dimensions      [][]uint32 // of the inputs
	points          []sim.Change
	pointReads      []sim.Time          // at which the engine read its operating point, nil: it depends on all points
	memory          memoryState         // in which it began
	left            *base.Caches        // what it left in the engine's caches, nil: what it had found
	lines           *interconnect.Lines // and in the system-level cache
	traffic         *platform.Traffic   // of the DRAM
	hz              float64             // of the engine's clock, 0 where it is of no account; of a warm-up
	sampled         bool                // its costs may be estimates
	result          hal.Result
	program         any // that ran, where others may reuse it
}

func remember(b *hal.Buffers, points []sim.Change, memory memoryState, res *hal.Result) *remembered {
	x := &remembered{points: points, memory: memory, result: copyOf(res), dimensions: cloned(b.InputDimensions)}
	for _, data := range b.Inputs {
		x.inputs = append(x.inputs, bytes.Clone(data))
	}
	for _, data := range b.Outputs {
		x.outputs = append(x.outputs, bytes.Clone(data))
	}
	return x
}

// recall finds an execution of a program under conditions among those that same is true
// of, and leaves the engine's caches as it did; nil: there is none.
func (h *engineHost) recall(c *base.Call, k platform.Conditions, before memoryState, same func(*remembered) bool) *remembered {
	list := h.m.memo[c.Program]
	for i, x := range list {
		if x.memory == before && (h.m.Sampled || !x.sampled) && x.began(k.Points) && same(x) && h.m.soc.Fits(x.traffic) {
			if x.left != nil {
				h.m.caches[h.engine] = x.left.Clone()
			}
			if x.lines != nil {
				h.m.soc.PutSystemLines(x.lines)
			}
			copy(list[1:i+1], list[:i])
			list[0] = x
			return x
		}
	}
	return nil
}

// began reports whether an execution at these points is the same: changes of the clock after its
// end do not count, nor does the instant of a change between two reads of the operating point.
func (x *remembered) began(points []sim.Change) bool {
	if x.pointReads != nil {
		return !slices.ContainsFunc(x.pointReads, func(t sim.Time) bool { return pointAt(x.points, t) != pointAt(points, t) })
	}
	return slices.Equal(x.during(x.points), x.during(points))
}

// pointAt is the operating point at an instant, the first before all changes.
func pointAt(points []sim.Change, t sim.Time) (o sim.OPP) {
	for i, c := range points {
		if i == 0 || c.At <= t {
			o = c.OPP
		}
	}
	return o
}

// same reports whether the buffers are alike and the inputs are the same.
func (x *remembered) same(b *hal.Buffers) bool {
	return x.fits(b) && slices.EqualFunc(x.inputs, b.Inputs, bytes.Equal)
}

// fits reports whether the buffers are alike.
func (x *remembered) fits(b *hal.Buffers) bool {
	long := func(a, b []byte) bool { return len(a) == len(b) }
	alike := func(a, b []uint32) bool { return slices.Equal(a, b) }
	return slices.EqualFunc(x.dimensions, b.InputDimensions, alike) && slices.EqualFunc(x.inputs, b.Inputs, long) && slices.EqualFunc(x.outputs, b.Outputs, long)
}

// during are the points of an execution's time, which begins at 0.
func (x *remembered) during(points []sim.Change) []sim.Change {
	for i, c := range points { // in order
		if c.At > 0 && int64(c.At) >= x.result.Stats.LatencyFs {
			return points[:i]
		}
	}
	return points
}

// replay gives the outputs and the costs again.
func (x *remembered) replay(b *hal.Buffers) *hal.Result {
	for i, data := range x.outputs {
		copy(b.Outputs[i], data)
	}
	r := copyOf(&x.result)
	return &r
}

// copyOf is a result whose lists are its own, so that nobody changes what is remembered.
func copyOf(res *hal.Result) hal.Result {
	r := *res
	r.OutputDimensions = cloned(r.OutputDimensions)
	r.Insufficient = slices.Clone(r.Insufficient)
	r.Stats.Operations = slices.Clone(r.Stats.Operations)
	r.Stats.Stalls = slices.Clone(r.Stats.Stalls)
	return r
}

func cloned[T any](list [][]T) [][]T {
	c := slices.Clone(list)
	for i := range c {
		c[i] = slices.Clone(c[i])
	}
	return c
}
