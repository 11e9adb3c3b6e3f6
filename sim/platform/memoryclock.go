package platform

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// vote is the request of an engine from an instant on: a point of the DRAM, and the point of the system-level cache
// that carries it.
type vote struct {
	from          sim.Time
	point, system int
}

// Traffic is the DRAM traffic of an execution alone, as the governor of its clock has seen it.
type Traffic struct {
	moved  []int64 // until each quantum since the start
	points []int   // of the DRAM: at the start and after each quantum
	total  int64
	length sim.Time
	votes  []vote // since the start

	lowest, highest     int // points
	lowestHz, highestHz int64
}

// Bytes returns how many bytes the execution moved.
func (x *Traffic) Bytes() int64 { return x.total }

// MemoryClocks are the lowest and the highest clock that the DRAM had in the execution.
func (x *Traffic) MemoryClocks() (lowest, highest int64) { return x.lowestHz, x.highestHz }

// memoryClock is the clock of a machine's DRAM. It implements dram.Clocking.
type memoryClock struct {
	points   []float64      // MHz
	configs  []*dram.Config // by point
	governor *sim.Domain    // nil: votes alone
	quantum  sim.Time       // the governor learns the traffic so often
	peak     float64        // bytes per second that its highest point is a vote for

	passed  sim.Time // the clock until then is known while no memory's time runs
	start   sim.Time // of the memory's time
	votes   [soc.NumEngines][]vote
	point   int         // of the DRAM
	pinned  *int        // that it keeps
	live    *sim.Domain // the governor in use: a copy of it for an execution alone
	ahead   sim.Domain
	learns  sim.Time // next, Never without a governor
	learnt  sim.Time // last
	bytes   int64    // until then
	traffic *Traffic // of an execution alone
	changed func(at sim.Time, hz int64)
	system  systemClock
}

// newMemoryClock is the clock of a SoC's memory.
func newMemoryClock(c *soc.Config) (*memoryClock, error) {
	k := &memoryClock{system: newSystemClock(c)}
	d := c.DRAM.Clock
	if d == nil {
		config := c.DRAM.Config()
		k.points, k.configs = []float64{0}, []*dram.Config{&config}
		return k, nil
	}
	for _, mhz := range d.MHz {
		config := c.VotedMHz(mhz).DRAM.Config()
		k.points, k.configs = append(k.points, mhz), append(k.configs, &config)
	}
	if d.Governor == nil {
		return k, nil
	}
	domain := d.Domain()
	var err error
	if k.governor, err = sim.NewDomain(domain); err != nil {
		return nil, err
	}
	k.quantum = domain.Governor.Interval() / 4
	k.peak = d.MHz[len(d.MHz)-1] * 1e6 * d.Governor.BytesPerClock
	return k, nil
}

// reset is time 0, after a long time without work.
func (k *memoryClock) reset() {
	if k.governor != nil {
		k.governor.Reset(0)
		k.governor.Prefer(0) // any has the highest vote as its limit
	}
	k.votes = [soc.NumEngines][]vote{}
	k.point, k.system.point = 0, 0
	k.passed, k.live = 0, k.governor
}

// begin lets the memory's time begin at an instant: of one execution, or of several.
func (k *memoryClock) begin(m *soc.SharedMemory, start sim.Time, alone bool) {
	k.start, k.learnt, k.learns, k.bytes, k.traffic = start, start, sim.Never, 0, nil
	if k.governor != nil {
		k.learns, k.live = start+k.quantum, k.governor
		if alone {
			k.ahead = *k.governor
			k.live = &k.ahead
		}
	}
	k.set(start)
	if alone {
		k.traffic = &Traffic{points: []int{k.point}, lowest: k.point, highest: k.point}
	}
	d := m.DRAM
	d.Start(k.configs[k.point])
	k.system.begin(k, m.Cache)
	if next := k.next(start); next != sim.Never {
		d.SetClocking(k, next-start)
	} else if !alone {
		d.SetClocking(k, sim.Never)
	}
}

// requestAlone makes the requests of an engine from an instant on the only votes. Until then all engines are idle.
func (k *memoryClock) requestAlone(e soc.Engine, clock *soc.Clock, start sim.Time, points []sim.Change) {
	k.pass(start, 0)
	k.votes = [soc.NumEngines][]vote{}
	k.request(e, clock, start, points)
	k.update(start)
}

// pass moves the clock to an instant, with traffic of a share of the governor's peak, while the memory has no time
// axis.
func (k *memoryClock) pass(t sim.Time, share float64) {
	k.live = k.governor
	for next := k.nextVote(k.passed); next <= t; next = k.nextVote(next) {
		k.measured(next, share)
		k.update(next)
	}
	k.measured(t, share)
	k.passed = max(k.passed, t)
}

// measured informs the governor of a share of its peak until an instant.
func (k *memoryClock) measured(t sim.Time, share float64) {
	if k.governor == nil {
		return
	}
	k.governor.Watch(func(at sim.Time, _ sim.OPP) { k.set(at) })
	k.governor.AdvanceLoad(t, share)
	k.governor.Watch(nil)
}

// update sets the points of an instant, of the system-level cache too.
func (k *memoryClock) update(t sim.Time) {
	k.set(t)
	k.system.set(t, k.voted(t))
}

// at is the point that is enough for votes at an instant and for the governor.
func (k *memoryClock) at(t sim.Time) int {
	if k.pinned != nil {
		return *k.pinned
	}
	p := k.voted(t).point
	if k.live != nil {
		_, at := k.live.Point()
		p = max(p, at)
	}
	return p
}

// voted is the combined request of all engines at an instant.
func (k *memoryClock) voted(t sim.Time) (all vote) {
	for _, list := range k.votes {
		for i := len(list) - 1; i >= 0; i-- {
			if v := &list[i]; v.from <= t {
				all.point, all.system = max(all.point, v.point), max(all.system, v.system)
				break
			}
		}
	}
	return all
}

// set applies the point of an instant.
func (k *memoryClock) set(t sim.Time) {
	if p := k.at(t); p != k.point {
		k.point = p
		k.changed(t, k.hz())
	}
}

// next is when something may change after an instant.
func (k *memoryClock) next(t sim.Time) sim.Time { return min(k.learns, k.nextVote(t)) }

// nextVote is when a vote changes after an instant.
func (k *memoryClock) nextVote(t sim.Time) sim.Time {
	next := sim.Never
	for _, list := range k.votes {
		for _, v := range list {
			if v.from > t {
				next = min(next, v.from)
				break
			}
		}
	}
	return next
}

// Clock implements dram.Clocking.
func (k *memoryClock) Clock(at sim.Time, bytes int64) (*dram.Config, sim.Time) {
	at += k.start
	learns := at >= k.learns
	if learns {
		k.live.AdvanceLoad(k.learns, k.share(bytes-k.bytes, k.learns-k.learnt))
		k.learnt, k.bytes = k.learns, bytes
		k.learns += k.quantum
	}
	k.set(at)
	if x := k.traffic; x != nil {
		x.lowest, x.highest = min(x.lowest, k.point), max(x.highest, k.point)
		if learns {
			x.moved, x.points = append(x.moved, bytes), append(x.points, k.point)
		}
	}
	next := k.next(at)
	if next != sim.Never {
		next -= k.start
	}
	return k.configs[k.point], next
}

// share is traffic as the governor's load.
func (k *memoryClock) share(bytes int64, span sim.Time) float64 {
	return float64(bytes) / (k.peak * span.Seconds())
}

// request makes an engine request points from an instant on, in place of its previous requests.
func (k *memoryClock) request(e soc.Engine, clock *soc.Clock, from sim.Time, points []sim.Change) {
	list := slices.DeleteFunc(k.votes[e], func(v vote) bool { return v.from >= from })
	if n := len(list); n > 1 {
		list = append(list[:0], list[n-1])
	}
	for _, c := range points {
		v := k.lowestVote(clock, c.OPP)
		v.from = from + c.At
		list = append(list, v)
	}
	k.votes[e] = list
}

// lowestVote is the vote for the lowest points that an engine's operating point demands.
func (k *memoryClock) lowestVote(clock *soc.Clock, o sim.OPP) vote {
	for i := range clock.OPPs {
		if x := &clock.OPPs[i]; sim.Hertz(x.MHz) == o.Hz && x.DDRMHz > 0 {
			p, _ := slices.BinarySearch(k.points, x.DDRMHz)
			return vote{point: min(p, len(k.points)-1), system: k.system.lowestPoint(x.DDRMHz)}
		}
	}
	return vote{point: len(k.points) - 1, system: k.system.lowestPoint(0)}
}

// retainVote keeps the vote that an engine has at the end of its work until it sleeps.
func (k *memoryClock) retainVote(e soc.Engine, end, asleep sim.Time) {
	k.votes[e] = append(slices.DeleteFunc(k.votes[e], func(v vote) bool { return v.from > end }), vote{from: asleep})
}

// end completes the traffic of an execution alone, of a length.
func (k *memoryClock) end(d *dram.DRAM, length sim.Time) *Traffic {
	if k.traffic == nil {
		return nil
	}
	for k.learns <= k.start+length {
		k.Clock(k.learns-k.start, d.Bytes())
	}
	x := k.traffic
	x.total, x.length, x.votes = d.Bytes(), length, k.requests(length)
	x.lowestHz, x.highestHz = k.configs[x.lowest].ClockHz(), k.configs[x.highest].ClockHz()
	return x
}

// requests is the combined request of all engines since the start of the memory's time, for a length.
func (k *memoryClock) requests(length sim.Time) (list []vote) {
	for t := k.start; t == k.start || t < k.start+length; t = k.nextVote(t) {
		v := k.voted(t)
		if n := len(list); n == 0 || list[n-1].point != v.point || list[n-1].system != v.system {
			list = append(list, vote{t - k.start, v.point, v.system})
		}
	}
	return list
}

// fits reports whether an execution with such traffic that begins now would find the DRAM and the
// system-level cache at the same points all the time.
func (k *memoryClock) fits(x *Traffic) bool {
	if x == nil {
		return true
	}
	if !slices.Equal(x.votes, k.requests(x.length)) {
		return false
	}
	if k.governor == nil {
		return true
	}
	held := k.live
	defer func() { k.live = held }()
	ahead := *k.governor
	k.live = &ahead
	if k.at(k.start) != x.points[0] {
		return false
	}
	same := true
	k.walk(x, func(t sim.Time, share float64, i int) {
		ahead.AdvanceLoad(t, share)
		same = same && k.at(t) == x.points[i+1]
	})
	return same
}

// walk iterates over the quanta of an execution that begins now.
func (k *memoryClock) walk(x *Traffic, f func(t sim.Time, share float64, i int)) {
	t, bytes := k.start, int64(0)
	for i, moved := range x.moved {
		t += k.quantum
		f(t, k.share(moved-bytes, k.quantum), i)
		bytes = moved
	}
}

// ran informs the governor of an execution alone that began with the memory's time.
func (k *memoryClock) ran(x *Traffic, length sim.Time) {
	k.passed = k.start + length
	if k.governor == nil || x == nil {
		return
	}
	end, bytes := k.start, int64(0)
	k.walk(x, func(t sim.Time, share float64, i int) {
		k.governor.AdvanceLoad(t, share)
		end, bytes = t, x.moved[i]
	})
	k.spread(end, k.start+length, x.total-bytes)
}

// spread informs the governor of traffic that is even over a span.
func (k *memoryClock) spread(from, to sim.Time, bytes int64) {
	if k.governor != nil && to > from {
		k.governor.Advance(from, false)
		k.governor.AdvanceLoad(to, k.share(bytes, to-from))
	}
}

// hz is the present clock.
func (k *memoryClock) hz() int64 { return k.configs[k.point].ClockHz() }

// PinMemoryClock keeps the clock of the DRAM at one of its points whatever requests another, also
// through Reset; with 0 it is free again.
func (m *Machine) PinMemoryClock(hz int64) error {
	k := m.clock
	p := slices.IndexFunc(k.configs, func(c *dram.Config) bool { return c.ClockHz() == hz })
	switch {
	case hz == 0:
		k.pinned = nil
	case p < 0:
		return fmt.Errorf("platform: the DRAM has no point of %d Hz", hz)
	default:
		k.pinned = &p
	}
	return nil
}

// MemoryHz is the clock of the DRAM, within an execution that of the instant that Moved has reached.
func (m *Machine) MemoryHz() int64 { return m.clock.hz() }

// MemoryBytesPerSecond is the pin bandwidth of the DRAM at that clock.
func (m *Machine) MemoryBytesPerSecond() float64 {
	return m.clock.configs[m.clock.point].PeakBytesPerSecond()
}

// MemoryClocks are the lowest and the highest clock that the DRAM may have for an engine alone
// at an operating point of the machine's engine.
func (m *Machine) MemoryClocks(e soc.Engine, hz int64) (lowest, highest int64) {
	k := m.clock
	low := k.lowestVote(m.engines[e].section, sim.OPP{Hz: hz}).point
	high := low
	if k.governor != nil {
		high = max(low, m.cfg.DRAM.Clock.Domain().Points[0])
	}
	return k.configs[low].ClockHz(), k.configs[high].ClockHz()
}

// Moved is time of the present execution, on an engine, in which that moves bytes to and from
// DRAM, evenly, without an access to the memory.
func (m *Machine) Moved(e soc.Engine, from, to sim.Time, bytes int64) {
	d, g := m.memory.DRAM, m.group
	if g == nil {
		d.Elapse(int(e), from, to, bytes)
		return
	}
	me := m.client
	for more := true; more; {
		next, part := to, bytes
		if more = to-from > movedAtOnce; more {
			next = from + movedAtOnce
			part = int64(float64(bytes) * float64(movedAtOnce) / float64(to-from))
		}
		g.reach(me, me.preemption.at(next), 0)
		d.Elapse(int(e), me.preemption.at(from)-g.start, me.preemption.at(next)-g.start, part)
		from, bytes = next, bytes-part
	}
}

// movedAtOnce is for how long a client may move bytes ahead of others.
const movedAtOnce = 100 * sim.Microsecond
