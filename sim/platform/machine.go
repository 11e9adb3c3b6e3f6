package platform

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Machine is a running SoC: the clocks and idle states of its engines and of
// the CPU that drives them. It keeps its state between executions.
// Results are a function of the file and of the
// sequence of calls. A Machine is not safe for concurrent use.
type Machine struct {
	cfg     *soc.Config
	client  *Client // that runs
	group   *group  // nil: there is one client
	window  sim.Time
	host    *sim.Domain // of the cluster that drivers run on
	power   float64     // of a busy host core, uW/MHz/V^2
	engines [soc.NumEngines]*engine
	account *account
	clocks  []domain
	caps    map[string]int64 // highest clocks that the heat allows, by Config.clocks; 0 or none: any
	memory  *soc.SharedMemory
	clock   *memoryClock
	traffic dramMeter
}

// engine is the slot of an engine.
type engine struct {
	clocks  []*sim.Domain // of the CPU one per cluster
	section *soc.Clock    // of the first
	path    soc.Path
	free    sim.Time // when its queue is empty
	owner   *Client  // of a group, while it executes
	queue   []waiting
}

// NewMachine builds the machine of a file, cold.
func NewMachine(c *soc.Config) (*Machine, error) {
	m := &Machine{cfg: c, window: DefaultWindow, caps: map[string]int64{}}
	if c.CPU == nil {
		return nil, fmt.Errorf("platform: %s has no [cpu] section to run drivers on", c.SoC.Name)
	}
	cluster := c.HostCluster()
	if cluster == nil {
		return nil, fmt.Errorf("platform: no cluster named %q", c.Host.Cluster)
	}
	m.power = cluster.PowerUW
	var err error
	add := func(e soc.Engine, clock *soc.Clock, path soc.Path) {
		var d *sim.Domain
		if err == nil {
			d, err = sim.NewDomain(clock.Domain(e.String()))
			m.engines[e] = &engine{clocks: []*sim.Domain{d}, section: clock, path: path}
		}
	}
	add(soc.EngineCPU, &c.CPU.Clusters[0].Clock, soc.Path{Transport: "direct", Preempt: &soc.Preempt{}})
	for i := range c.CPU.Clusters {
		x := &c.CPU.Clusters[i]
		if cpu := m.engines[soc.EngineCPU]; i > 0 && err == nil {
			var d *sim.Domain
			d, err = sim.NewDomain(x.Clock.Domain(x.Name))
			cpu.clocks = append(cpu.clocks, d)
		}
		if x == cluster && err == nil {
			m.host = m.engines[soc.EngineCPU].clocks[i]
		}
	}
	if c.GPU != nil {
		add(soc.EngineGPU, &c.GPU.Clock, c.GPU.Path)
	}
	if c.DSP != nil {
		add(soc.EngineDSP, &c.DSP.Clock, c.DSP.Path)
	}
	if c.NPU != nil {
		add(soc.EngineNPU, &c.NPU.Clock, c.NPU.Path)
	}
	if err == nil {
		m.clocks = m.domains()
		m.account, err = newAccount(m)
	}
	if err != nil {
		return nil, err
	}
	if m.memory, err = c.NewSharedMemory(); err != nil {
		return nil, err
	}
	if m.clock, err = newMemoryClock(c); err != nil {
		return nil, err
	}
	m.watch()
	m.Reset()
	return m, nil
}

// Reset makes the machine cold at time 0: clocks at their lowest points, engines and
// cores asleep since long ago, nothing in the system-level cache.
func (m *Machine) Reset() {
	m.drain()
	m.client = &Client{pool: -sim.Second, shared: &Account{}}
	m.memory.Bus.Reset()
	m.clock.reset()
	for _, e := range m.engines {
		if e != nil {
			for _, d := range e.clocks {
				d.Reset(0)
			}
			e.free = 0
			e.owner, e.queue = nil, nil
		}
	}
	m.account.reset()
}

// Heat gives every part of the phone a temperature, in Celsius, at time 0: thermal rules find it there. A SoC without
// [thermal] is an error.
func (m *Machine) Heat(celsius float64) error { return m.account.heat(celsius) }

// Now is the time of the client: the end of its last execution, or later.
func (m *Machine) Now() sim.Time { return m.client.now }

// Sleep lets the client wait until t; nothing happens when that has passed.
func (m *Machine) Sleep(t sim.Time) {
	if t > m.client.now {
		m.client.now = t
		m.idleHost(t)
		if m.group == nil {
			for _, e := range m.engines {
				if e != nil {
					e.advance(t, 0)
				}
			}
			m.clock.pass(t, 0)
		}
		m.account.close(m.earliest())
	}
}

// AwaitTurn returns when no other client of the machine can still do anything before the present instant of this one:
// what clients share outside the machine, such as a queue of jobs, is then seen in the order of time.
func (m *Machine) AwaitTurn() {
	if m.group != nil {
		m.group.reach(m.client, m.client.now, 0)
	}
}

// Request is one execution as the host sees it.
type Request struct {
	Engine     soc.Engine
	Preference sim.Preference
	Burst      bool  // through a burst object of the client
	Buffers    int   // inputs and outputs outside the engine's memory
	In, Out    int64 // their bytes
	// Priority ranks requests that wait for one engine: the higher is served first.
	Priority int
	// Longest is how long after the request its deadline is, at which the engine stops; 0: there is
	// none.
	Longest sim.Time
	// Program numbers the program. Executions of one program find in the memory the data that those before have left;
	// those of others have their own addresses.
	Program int
}

// Conditions are the state of the machine when a program starts on an engine.
type Conditions struct {
	Start sim.Time // since the request
	// Points are the operating points of the engine while it works, the first from the start on. The CPU, whose work
	// occupies all clusters, begins with a point for each.
	Points []sim.Change
	// Memory is the engine's port of the memory that all engines share. Its times count from the start of the
	// execution. It is nil for the CPU while there is one client: the costs of its kernels alone include the memory.
	Memory mem.Level
	// Woken is set when the engine has been asleep: its caches are empty.
	Woken bool
	// Begin marks the instant in the execution at which one of its runs begins. Times of Memory and Turn count from
	// there.
	Begin func(at sim.Time)
	// Preemption is nil for a client that has the machine to itself.
	Preemption sim.Preemption
}

// Outcome is the outcome of running a program.
type Outcome struct {
	Time      sim.Time
	EnergyPJ  float64
	Launches  int   // programs started one after the other; at least 1
	DRAMBytes int64 // moved to and from memory
	// Traffic is Machine.Traffic of the run, or of one like it; nil beside other clients.
	Traffic *Traffic
}

// Execution is a finished request.
type Execution struct {
	Start   sim.Time
	Latency sim.Time // the parts add up to it
	// EnergyPJ is the energy of the whole phone meanwhile, waits included; of an execution beside others its own
	// energy: see Machine.Account.
	EnergyPJ float64
	Rails    [soc.NumRails]float64 // that by rail, pJ
	Parts    []Part                // in order; a name may occur several times
	// Aborted: the engine had not ended at the deadline, and stopped.
	Aborted bool
}

// Execute carries a request from the client through the machine and back. run is
// called once, when the engine starts.
func (m *Machine) Execute(r Request, run func(Conditions) (Outcome, error)) (Execution, error) {
	me := m.client
	c := chain{m: m, r: &r, t: me.now}
	if c.e = m.engines[r.Engine]; c.e == nil {
		return Execution{}, fmt.Errorf("platform: %s has no %s", m.cfg.SoC.Name, r.Engine)
	}
	if err := m.account.alive(); err != nil {
		return Execution{}, err
	}
	g := m.group
	if g != nil {
		g.reach(me, c.t, 0)
	}
	c.request()
	if g != nil {
		if err := g.acquire(me, c.e, r.Priority, c.t); err != nil {
			return Execution{}, err
		}
	}
	c.start()
	k := Conditions{Start: c.t - me.now, Points: c.e.plan(), Woken: c.woken}
	if r.Engine == soc.EngineCPU && g == nil {
		m.clock.requestAlone(r.Engine, c.e.section, c.t, voting(k.Points))
	} else {
		g.activate(r.Engine, me)
		k.Memory = m.place(r.Engine, c.t, k.Points)
		if g != nil {
			c.base = c.t - g.start
		}
	}
	k.Begin = c.begin
	c.begin(0)
	if g != nil {
		me.preemption = &preemption{g, &c, me}
		k.Preemption = me.preemption
	}
	out, err := run(k)
	if err == nil {
		c.abort(&out)
	}
	m.clock.system.end(c.t + c.paused + out.Time)
	if g != nil {
		g.vacate(me, &c, out, err == nil)
	} else if err == nil {
		m.advance(&c, out)
	}
	if err != nil {
		return Execution{}, err
	}
	c.finish(out)
	if g == nil {
		m.clock.pass(c.t, 0)
	}
	x := Execution{Start: me.now, Latency: c.t - me.now, Parts: c.parts, Aborted: c.aborted}
	a := m.account
	a.own = &x.Rails
	a.execution(me.now, &c)
	a.own = nil
	if g == nil {
		a.open = append(a.open, request{r.Engine, me.now, c.t, c.parts, &x.Rails})
	} else {
		a.open = append(a.open, request{r.Engine, me.now, c.t, nil, &me.shared.PJ})
	}
	me.now = c.t
	a.close(m.earliest())
	for i := range c.parts {
		x.EnergyPJ += c.parts[i].EnergyPJ
	}
	return x, nil
}

// vacate ends an execution beside others on its engine, which is then free for the next.
func (g *group) vacate(me *Client, c *chain, out Outcome, done bool) {
	m, engine := g.m, c.r.Engine
	g.activate(engine, nil)
	end := c.t + c.paused
	if done {
		end += out.Time
		g.reach(me, end, 0)
		c.e.free = end
	}
	asleep := end + c.e.clocks[0].Config().IdleAfter
	m.clock.retainVote(engine, end, asleep)
	m.memory.Due(asleep - g.start)
	g.release(c.e)
	if done {
		m.measured(m.earliest())
	}
}

// advance ends an execution by itself on its engine: clocks, heat and memory have its time behind them.
func (m *Machine) advance(c *chain, out Outcome) {
	end := c.t + out.Time
	if c.r.Engine == soc.EngineCPU {
		m.traffic.add(&DRAMUse{c.t, end, soc.EngineCPU, out.DRAMBytes})
		m.clock.pass(end, m.clock.share(out.DRAMBytes, out.Time))
	} else {
		m.clock.ran(out.Traffic, out.Time)
	}
	m.clock.retainVote(c.r.Engine, end, end+c.e.clocks[0].Config().IdleAfter)
	m.measured(sim.Never)
}

// Has reports whether the SoC has an engine.
func (m *Machine) Has(e soc.Engine) bool { return e < soc.NumEngines && m.engines[e] != nil }

// Occupy marks an engine as busy until an instant with work that no client of the
// machine submitted: requests wait in its queue.
func (m *Machine) Occupy(e soc.Engine, until sim.Time) {
	x := m.engines[e]
	if x == nil || until <= x.free {
		return
	}
	x.free = until
	if e != soc.EngineCPU { // the host's clock is one of the CPU's
		x.advance(until, 1)
		x.sleep(until)
	}
}

// Repeat repeats a request of known outcome back to back for a time: a warm-up, after which clocks and idle states are
// those of such a loop. Few of the executions, including the last, are simulated one by one; the load of each other
// represents the following ones.
func (m *Machine) Repeat(r Request, out Outcome, span sim.Time) error {
	e := m.engines[r.Engine]
	if e == nil {
		return fmt.Errorf("platform: %s has no %s", m.cfg.SoC.Name, r.Engine)
	}
	const step = 10 * sim.Millisecond
	c := chain{m: m, r: &r, e: e}
	once := func() (latency sim.Time) {
		c = chain{m: m, r: &r, e: e, t: m.client.now, parts: c.parts[:0]}
		c.request()
		c.start()
		c.finish(out)
		latency = c.t - m.client.now
		m.account.execution(m.client.now, &c)
		m.clock.spread(m.client.now, c.t, out.DRAMBytes)
		m.client.now = c.t
		m.account.close(c.t)
		return latency
	}
	for end := m.client.now + span; ; {
		latency := once()
		if m.client.now >= end {
			return nil
		}
		if latency >= step {
			continue
		}
		m.clock.spread(c.t, c.t+step, int64(float64(out.DRAMBytes)*float64(step)/float64(latency)))
		m.account.loop(m.client.now, &c, latency, step)
		m.client.now += step
		m.host.AdvanceLoad(m.client.now, float64(c.work)/float64(latency))
		work := out.Time
		if r.Engine == soc.EngineCPU {
			work = c.work
		}
		e.advance(m.client.now, float64(work)/float64(latency))
		e.sleep(m.client.now - (latency - (e.free - (c.t - latency))))
		m.client.pool = m.client.now - (c.t - m.client.pool)
		e.free = m.client.now
	}
}

// Present are the conditions that a request would find on its engine now; they hold
// until the next request. A client beside others has no memory in them.
func (m *Machine) Present(r Request) (k Conditions, err error) {
	ahead := m.engines[r.Engine].ahead()
	ahead.prefer(r.Preference)
	ahead.wake(m.client.now)
	k.Points = ahead.plan()
	if m.group == nil && r.Engine != soc.EngineCPU {
		k.Memory = m.place(r.Engine, m.client.now, k.Points)
		k.Begin = (&chain{m: m, r: &r}).begin
		k.Begin(0)
	}
	return k, err
}

// Fingerprint identifies the state of the memory that engines share: the content of its cache.
func (m *Machine) Fingerprint() uint64 { return m.memory.Fingerprint() }

// SystemLines is the contents of that cache; nil without one.
func (m *Machine) SystemLines() *interconnect.Lines { return m.memory.Lines() }

// PutSystemLines restores an earlier content of that cache, after an execution alone that
// is not run again.
func (m *Machine) PutSystemLines(l *interconnect.Lines) { m.memory.Cache.Put(l) }

// Traffic is the traffic of an execution alone, of a length, in the conditions of Execute or Present, as the governor
// of the DRAM's clock sees it; nil without one.
func (m *Machine) Traffic(length sim.Time) *Traffic {
	if m.group != nil {
		return nil
	}
	return m.clock.end(m.memory.DRAM, length)
}

// Fits reports whether an execution of such traffic finds the DRAM at the clocks that it has
// had before, in the conditions of Execute or Present.
func (m *Machine) Fits(x *Traffic) bool { return m.clock.fits(x) }

// MemoryUse is an engine's use of the shared memory since the present group of clients began, or since its execution
// began when it is alone.
func (m *Machine) MemoryUse(e soc.Engine) soc.MemoryUse { return m.memory.Use(e) }

// Saturated are the conditions after work without a pause, which it makes the present
// ones unless the engine is at work for another client.
func (m *Machine) Saturated(r Request) (Conditions, error) {
	e := m.engines[r.Engine]
	if e.owner != nil || e.free > m.client.now {
		return m.Present(r)
	}
	e.prefer(r.Preference)
	e.wake(m.client.now)
	e.saturate()
	e.sleep(m.client.now)
	e.release(r.Engine)
	return m.Present(r)
}

// WarmUp is how long TensorFlow Lite's benchmark_model warms up at least.
const WarmUp = 500 * sim.Millisecond

// scaled is the time of code at the host's present clock.
func (m *Machine) scaled(referenceUs float64) sim.Time {
	o, _ := m.host.Point()
	return sim.Time(math.Round(referenceUs * m.cfg.Host.ReferenceMHz * 1e6 / float64(o.Hz) * 1e9))
}
