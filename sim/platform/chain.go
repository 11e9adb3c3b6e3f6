package platform

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Part is one link of an execution's chain.
type Part struct {
	Name     string
	Time     sim.Time
	EnergyPJ float64
}

// Names of parts. The source of a part's time is beside its key in Host, Path and Clock.
const (
	PartRuntime    = "runtime"    // the NNAPI runtime's own work
	PartBinder     = "binder"     // to the driver's process and back
	PartBurst      = "burst"      // the same over message queues
	PartMap        = "map"        // mapping the buffers for the engine
	PartClean      = "clean"      // cache maintenance of the inputs
	PartRPC        = "rpc"        // message to the engine's own system
	PartQueue      = "queue"      // waiting for the engine
	PartWake       = "wake"       // the engine leaves its idle state
	PartRamp       = "ramp"       // its clock changes
	PartLaunch     = "launch"     // submission to the engine's queue
	PartExecution  = "execution"  // as the engine reports it
	PartPreempted  = "preempted"  // programs of higher priority have the engine
	PartSwitch     = "switch"     // the engine's state is saved for one, or restored
	PartInterrupt  = "interrupt"  // message back
	PartCPUWake    = "cpu_wake"   // cores of waiting threads leave their idle states
	PartInvalidate = "invalidate" // cache maintenance of the outputs
	PartUnmap      = "unmap"      // returning the buffers
	PartThread     = "thread"     // one thread of the application wakes another
	PartShared     = "shared"     // no time: energy divided among executions beside each other
)

// chain is an execution under way: its parts so far, and the time of the client.
type chain struct {
	m     *Machine
	r     *Request
	e     *engine
	t     sim.Time
	parts []Part
	work  sim.Time // of the host's cores

	onEngine int      // the first part of the time on the engine
	base     sim.Time // when that begins, on the clock of the memory
	paused   sim.Time // while others had the engine, switches included
	began    sim.Time // the engine's own time at which the present run of a program began
	ran      sim.Time // the engine's own time that is in parts
	out      Outcome
	enginePJ float64 // of the engine and its memory, leakage included

	blocked   sim.Time // when the application's thread began to wait
	slept     sim.Time // when the driver's thread began to wait
	sleepWait int      // the first part of that wait
	woken     bool     // the engine was asleep
	aborted   bool     // the engine stopped at the deadline
}

// code adds a part that keeps a host core busy for a time at the reference clock.
func (c *chain) code(name string, referenceUs float64) { c.busy(name, c.m.scaled(referenceUs)) }

// busy adds a part that keeps a host core busy for a time.
func (c *chain) busy(name string, d sim.Time) {
	o, _ := c.m.host.Point()
	c.t += d
	c.work += d
	c.m.host.Advance(c.t, true)
	if c.r.Engine == soc.EngineCPU { // the thread is one of those that execute
		c.e.advance(c.t, 1)
	}
	c.add(name, d, c.m.power*float64(o.Hz)/1e6*o.Volts*o.Volts/1e3)
}

// wait adds a part during which the host's cores sleep; their power is known when they
// wake up.
func (c *chain) wait(name string, d sim.Time) {
	c.t += d
	c.m.idleHost(c.t)
	c.add(name, d, 0)
}

// add adds a part of a power in mW.
func (c *chain) add(name string, d sim.Time, mw float64) {
	if d > 0 {
		c.parts = append(c.parts, Part{name, d, mw * float64(d) / 1e6})
	}
}

// longest is the longest exit of an idle state that is allowed, -1 without a bound.
func (c *chain) longest() sim.Time {
	bound := sim.Time(-1)
	if x := c.e.path.CPULatencyUs; x > 0 {
		bound = sim.Microseconds(x)
	}
	if b := c.burst(); b != nil && (bound < 0 || sim.Microseconds(b.WakeUs) < bound) {
		bound = sim.Microseconds(b.WakeUs)
	}
	return bound
}

// burst are the votes of a burst object, nil without one.
func (c *chain) burst() *soc.Burst {
	if !c.r.Burst || c.e.path.Transport != "binder" {
		return nil
	}
	return c.m.cfg.Host.Burst
}

// wakeCore wakes a core that has slept since an instant.
func (c *chain) wakeCore(since sim.Time) {
	h := &c.m.cfg.Host
	d := h.WakeTime(c.t-since, c.longest())
	c.t += d
	c.m.idleHost(c.t)
	c.add(PartCPUWake, d, h.Idle[0].MW)
}

// transfer is half a round trip between the application's and the driver's process.
func (c *chain) transfer() {
	h := &c.m.cfg.Host
	switch b := c.burst(); {
	case c.e.path.Transport != "binder":
	case b != nil:
		c.code(PartBurst, b.Us/2)
	default:
		c.code(PartBinder, h.BinderUs/2)
	}
}

// request is the work before the engine: the driver's thread runs on the caller's core, which waits from then on.
func (c *chain) request() {
	m, h, p := c.m, &c.m.cfg.Host, &c.e.path
	floor := int64(0)
	if b := c.burst(); b != nil {
		opps := m.host.Config().OPPs
		floor = int64(b.MinShare * float64(opps[len(opps)-1].Hz))
	}
	m.host.Floor(floor)
	m.idleHost(c.t)
	c.code(PartRuntime, h.RuntimeUs)
	c.blocked = c.t
	c.transfer()
	c.busy(PartMap, sim.Microseconds(p.MapUs*float64(c.r.Buffers)))
	if p.Maintenance {
		c.busy(PartClean, span(h.Clean, c.r.In))
	}
	c.slept, c.sleepWait = c.t, len(c.parts)
	c.wait(PartRPC, m.scaled(p.RPCUs/2))
	c.wait(PartLaunch, m.scaled(p.LaunchUs))
}

// start brings the engine to its first cycle.
func (c *chain) start() {
	c.wait(PartQueue, max(0, c.e.free-c.t))
	c.e.prefer(c.r.Preference)
	wake, ramp := c.m.wake(c.e, c.r.Engine, c.t)
	c.woken = wake > 0
	if c.r.Engine == soc.EngineCPU { // the calling thread's core waits for the others
		c.t += wake
		c.add(PartWake, wake, c.m.cfg.Host.Idle[0].MW)
		c.t += ramp
		c.add(PartRamp, ramp, c.m.cfg.Host.Idle[0].MW)
	} else {
		c.wait(PartWake, wake)
		c.wait(PartRamp, ramp)
	}
	c.e.advance(c.t, 0)
	c.onEngine = len(c.parts)
}

// wake makes an engine work from an instant on: see sim.Domain. Of a CPU with one thread the
// only core is awake.
func (m *Machine) wake(e *engine, engine soc.Engine, t sim.Time) (wake, ramp sim.Time) {
	wake, ramp = e.wake(t)
	if engine == soc.EngineCPU && m.cfg.CPU.Threads == 1 {
		wake = 0
	}
	return wake, ramp
}

// idleHost moves the host's clock to an instant at which a driver waits. Its cores work
// meanwhile while the CPU executes for another client.
func (m *Machine) idleHost(t sim.Time) { m.host.Advance(t, m.engines[soc.EngineCPU].owner != nil) }

// executed adds the engine's own time up to an instant of it.
func (c *chain) executed(own sim.Time) {
	c.parts = append(c.parts, Part{PartExecution, own - c.ran, 0})
	c.ran = own
}

// share is the share of a part in the engine's own time.
func (c *chain) share(x *Part) float64 {
	if x.Time == c.out.Time {
		return 1
	}
	return float64(x.Time) / float64(c.out.Time)
}

// switchPJ is the energy of an engine that computes nothing during a part.
func (c *chain) switchPJ(x *Part) float64 {
	a, e := c.m.account, c.r.Engine
	return (a.staticMW[e] + a.leak(e)) * float64(x.Time) / 1e6
}

// begin sets at which of the engine's own time the present run of a program began. Its times on the memory count from
// there.
func (c *chain) begin(own sim.Time) {
	c.began = own
	c.m.memory.Ports[c.r.Engine].Place(c.base+c.paused+own, uint64(c.r.Program)*programBytes)
}

// abort cuts off the part of a run after its request's deadline. Beside other clients, which have seen it on the
// memory, it stops no earlier than its last access. Its energy and traffic until then are a share of the whole by time.
func (c *chain) abort(out *Outcome) {
	me, begin := c.m.client, c.t+c.paused
	if c.r.Longest <= 0 {
		return
	}
	left := max(0, me.now+c.r.Longest-begin, c.ran)
	if c.m.group != nil {
		left = max(left, me.at-begin)
	}
	if left >= out.Time {
		return
	}
	share := float64(left) / float64(out.Time)
	out.Time, out.Launches = left, 1
	out.EnergyPJ *= share
	out.DRAMBytes = int64(float64(out.DRAMBytes) * share)
	c.aborted = true
}

// finish adds the engine's own time and the return path. Further launches repeat the time of the first between driver
// and engine.
func (c *chain) finish(out Outcome) {
	h, p := &c.m.cfg.Host, &c.e.path
	c.executed(out.Time)
	c.t += out.Time + c.paused
	onHost := c.r.Engine == soc.EngineCPU
	if !onHost {
		c.m.idleHost(c.t)
	}
	c.out, c.enginePJ = out, out.EnergyPJ+c.m.account.leak(c.r.Engine)*float64(out.Time)/1e6
	for i := c.onEngine; i < len(c.parts); i++ {
		switch x := &c.parts[i]; x.Name {
		case PartExecution:
			x.EnergyPJ = c.enginePJ * c.share(x)
		case PartSwitch:
			x.EnergyPJ = c.switchPJ(x)
		}
	}
	c.e.advance(c.t, 1)
	c.e.sleep(c.t)
	c.e.free = c.t
	if onHost {
		c.e.release(soc.EngineCPU)
		c.work += out.Time
		return
	}
	for range max(out.Launches, 1) - 1 {
		c.interrupt()
		c.slept, c.sleepWait = c.t, len(c.parts)
		c.wait(PartRPC, c.m.scaled(p.RPCUs/2))
		c.wait(PartLaunch, c.m.scaled(p.LaunchUs))
	}
	c.interrupt()
	if p.Maintenance {
		c.busy(PartInvalidate, span(h.Invalidate, c.r.Out))
	}
	if c.r.Buffers > 0 {
		c.busy(PartUnmap, sim.Microseconds(p.UnmapUs))
	}
	c.returnPath()
}

// interrupt is the engine's interrupt and the wake-up of the driver's thread.
func (c *chain) interrupt() {
	c.wait(PartInterrupt, c.m.scaled(c.e.path.RPCUs/2))
	mw := c.m.cfg.Host.IdleMW(c.t-c.slept, c.longest())
	for i := c.sleepWait; i < len(c.parts); i++ {
		c.parts[i].EnergyPJ += mw * float64(c.parts[i].Time) / 1e6
	}
	c.wakeCore(c.slept)
}

// returnPath is the return path to the application's thread. The core that it waits on is not the driver's, which is busy
// with the answer.
func (c *chain) returnPath() {
	c.transfer()
	if c.e.path.Transport != "binder" {
		return
	}
	if c.e.path.Callback && c.burst() == nil {
		c.wakeCore(c.m.client.pool)
		c.code(PartThread, c.m.cfg.Host.Burst.Us/2)
		c.m.client.pool = c.t
	}
	c.wakeCore(c.blocked)
}

// span reads a curve at a number of bytes: 0 for none, the first point's time up to
// its size, linear between points and beyond the last two.
func span(curve [][2]float64, bytes int64) sim.Time {
	if bytes <= 0 || len(curve) == 0 {
		return 0
	}
	kib := float64(bytes) / 1024
	if kib <= curve[0][0] || len(curve) == 1 {
		return sim.Microseconds(curve[0][1])
	}
	i := 1
	for i < len(curve)-1 && kib > curve[i][0] {
		i++
	}
	a, b := curve[i-1], curve[i]
	return sim.Microseconds(max(0, a[1]+(kib-a[0])*(b[1]-a[1])/(b[0]-a[0])))
}
