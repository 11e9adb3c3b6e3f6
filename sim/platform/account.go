package platform

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/sim/thermal"
)

// Sample is the measurement of a machine over a span. Its slices are valid until the next.
type Sample struct {
	From, To  sim.Time
	Watts     [soc.NumRails]float64 // mean of the span
	Celsius   []float64             // at its end, by Machine.Sensors; nil without [thermal]
	Hz        []int64               // clocks at its end, by Machine.Clocks
	SpanHz    []int64               // clocks until then: a span ends where one changes
	Status    soc.ThermalStatus     // at its end
	DRAMBytes float64               // moved to and from memory
}

// account is the power of a machine in time and the resulting heat. Spans are closed in order, once no booking can
// begin before their end.
type account struct {
	m        *Machine
	at       sim.Time // everything before is closed
	bookings []booking
	edges    []sim.Time             // of one close
	last     [soc.NumRails]sim.Time // when the rail's last booking ended
	observe  []*func(*Sample)
	sample   Sample
	hz       []int64       // of the clocks at that instant, by Machine.Clocks
	changes  []clockChange // of them, later ones

	open  []request              // not closed yet
	free  [soc.NumRails]float64  // W that no booking draws, of the present span
	spent [soc.NumRails]float64  // pJ so far
	own   *[soc.NumRails]float64 // of the execution that is being booked; nil: not accounted

	readPJ, backgroundMW float64 // of the memory, by byte and always
	staticMW             [soc.NumEngines]float64

	// With [thermal].
	cfg      *soc.Thermal
	network  *thermal.Network
	node     [soc.NumRails]int
	watts    []float64 // by node
	limiters []limiter
	status   thermal.Limiter
}

// booking is the power of a rail over a span, on top of its idle power.
type booking struct {
	rail     soc.Rail
	from, to sim.Time
	pj       float64
	bytes    int64
}

// request is an execution in flight. Power that no booking accounts for - engines that are awake and wait, memory that
// is not read, the rest of the phone - is divided among those in flight.
type request struct {
	engine   soc.Engine
	from, to sim.Time
	parts    []Part // of an execution alone, which are charged with the energies; nil of one beside others
	pj       *[soc.NumRails]float64
}

// clockChange is a clock that changes.
type clockChange struct {
	at    sim.Time
	clock int
	hz    int64
}

// limiter is a rule and the clock that it limits.
type limiter struct {
	thermal.Limiter
	clock string
}

// newAccount is the account of a machine whose phone has been idle for a long time.
func newAccount(m *Machine) (*account, error) {
	a := &account{m: m, cfg: m.cfg.Thermal, backgroundMW: m.cfg.DRAM.BackgroundMW()}
	a.readPJ, _ = m.cfg.DRAM.StreamPJPerByte()
	for e, x := range m.engines {
		if x != nil {
			a.staticMW[e] = m.cfg.StaticMW(soc.Engine(e))
		}
	}
	if a.cfg == nil {
		return a, nil
	}
	var err error
	if a.network, a.node, err = a.cfg.Network(); err != nil {
		return nil, err
	}
	a.watts = make([]float64, len(a.cfg.Nodes))
	return a, nil
}

// reset is time 0, after a long time without work.
func (a *account) reset() {
	const longAgo = -1000 * sim.Second
	a.at, a.bookings, a.open, a.spent = 0, a.bookings[:0], a.open[:0], [soc.NumRails]float64{}
	defer func() { a.hz, a.changes = a.m.appendHz(a.hz[:0]), a.changes[:0] }()
	for r := range a.last {
		a.last[r] = longAgo
	}
	if a.cfg == nil {
		return
	}
	a.limiters = a.limiters[:0]
	for i := range a.cfg.Rules {
		r := &a.cfg.Rules[i]
		a.limiters = append(a.limiters, limiter{thermal.NewLimiter(a.cfg.Rule(r)), r.Clock})
	}
	a.status = thermal.NewLimiter(a.cfg.Status())
	a.power(0, sim.Second)
	a.network.SteadyState(a.watts)
	a.limit()
}

// heat gives the whole phone a temperature. All rules sample their sensors at once.
func (a *account) heat(celsius float64) error {
	if a.cfg == nil {
		return errors.New("platform: the SoC has no [thermal]: it has no temperature")
	}
	a.network.Heat(celsius)
	c := a.network.Celsius()
	a.status.Update(c)
	for i := range a.limiters {
		a.limiters[i].Update(c)
	}
	a.limit()
	return nil
}

// book adds the energy of a rail over a span that has not been closed.
func (a *account) book(r soc.Rail, from, to sim.Time, pj float64, bytes int64) {
	if to > from {
		if a.own != nil {
			a.own[r] += pj
		}
		a.bookings = append(a.bookings, booking{r, from, to, pj, bytes})
	}
}

// clocked records a change of a clock.
func (a *account) clocked(clock int, at sim.Time, hz int64) {
	a.changes = append(a.changes, clockChange{max(at, a.at), clock, hz})
}

// reclock sets the clocks to their values at the present instant.
func (a *account) reclock() {
	n := 0
	for _, c := range a.changes { // of one clock in order
		if c.at > a.at {
			a.changes[n] = c
			n++
			continue
		}
		a.hz[c.clock] = c.hz
	}
	a.changes = a.changes[:n]
}

// execution books a request that began at an instant.
func (a *account) execution(start sim.Time, c *chain) {
	from, at := start, start // of the CPU's next booking, of the part
	var cpu float64
	memory, bytes := a.memoryPJ(c), c.out.DRAMBytes
	for i := range c.parts {
		p := &c.parts[i]
		end := at + p.Time
		switch {
		case i >= c.onEngine && p.Name == PartExecution:
			share := c.share(p)
			part := min(bytes, int64(float64(c.out.DRAMBytes)*share))
			bytes -= part
			a.book(soc.RailCPU, from, at, cpu, 0)
			a.book(soc.RailCPU, at, end, p.EnergyPJ-c.enginePJ*share, 0)
			a.book(soc.Rail(c.r.Engine), at, end, (c.enginePJ-memory)*share, 0)
			a.book(soc.RailDRAM, at, end, memory*share, part)
			from, cpu = end, 0
		case p.Name == PartSwitch:
			a.book(soc.Rail(c.r.Engine), at, end, c.switchPJ(p), 0)
			cpu += p.EnergyPJ - c.switchPJ(p)
		default:
			cpu += p.EnergyPJ
		}
		at = end
	}
	a.book(soc.RailCPU, from, at, cpu, 0)
}

// memoryPJ is the share of its memory in an execution's energy: cores report both together. All its traffic counts as
// streams of reads.
func (a *account) memoryPJ(c *chain) float64 {
	return min(c.enginePJ, float64(c.out.DRAMBytes)*a.readPJ+a.backgroundMW*float64(c.out.Time)/1e6)
}

// loop books executions like one, back to back, over a span.
func (a *account) loop(from sim.Time, c *chain, latency, span sim.Time) {
	times := float64(span) / float64(latency)
	all, memory := 0.0, a.memoryPJ(c)
	for i := range c.parts {
		all += c.parts[i].EnergyPJ
	}
	a.book(soc.RailCPU, from, from+span, (all-c.enginePJ)*times, 0)
	a.book(soc.Rail(c.r.Engine), from, from+span, (c.enginePJ-memory)*times, 0)
	a.book(soc.RailDRAM, from, from+span, memory*times, int64(float64(c.out.DRAMBytes)*times))
}

// close passes the time up to an instant.
func (a *account) close(t sim.Time) {
	if t <= a.at {
		return
	}
	a.edges = append(a.edges[:0], t)
	for i := range a.bookings {
		for _, e := range [2]sim.Time{a.bookings[i].from, a.bookings[i].to} {
			if e > a.at && e < t {
				a.edges = append(a.edges, e)
			}
		}
	}
	for _, c := range a.changes {
		if c.at > a.at && c.at < t {
			a.edges = append(a.edges, c.at)
		}
	}
	slices.Sort(a.edges)
	for _, e := range a.edges {
		for a.at < e {
			a.span(min(e, a.nextSample()))
		}
	}
	a.bookings = slices.DeleteFunc(a.bookings, func(b booking) bool { return b.to <= t })
	a.open = slices.DeleteFunc(a.open, func(r request) bool { return r.to <= t })
}

// divide charges the unbooked energy of a span to the executions in flight: an engine's to those on it, if there are
// any, all else to all.
func (a *account) divide(from, to sim.Time) {
	n, on := 0, [soc.NumRails]int{}
	for i := range a.open {
		if r := &a.open[i]; r.in(from, to) {
			n++
			on[r.engine]++
		}
	}
	if n == 0 {
		return
	}
	for i := range a.open {
		r := &a.open[i]
		if !r.in(from, to) {
			continue
		}
		all := 0.0
		for rail, w := range a.free {
			switch {
			case on[rail] == 0:
				w /= float64(n)
			case r.engine == soc.Engine(rail):
				w /= float64(on[rail])
			default:
				w = 0
			}
			r.pj[rail] += w * float64(to-from) / 1e3
			all += w
		}
		at := r.from
		for k := range r.parts {
			p := &r.parts[k]
			if share := min(at+p.Time, to) - max(at, from); share > 0 {
				p.EnergyPJ += all * float64(share) / 1e3
			}
			at += p.Time
		}
	}
}

// in reports whether a request is in flight in a span.
func (r *request) in(from, to sim.Time) bool { return r.from < to && r.to > from }

// nextSample is when a thermal rule samples its sensor next.
func (a *account) nextSample() sim.Time {
	if a.cfg == nil {
		return sim.Never
	}
	t := a.status.Next(a.at)
	for i := range a.limiters {
		t = min(t, a.limiters[i].Next(a.at))
	}
	return t
}

// span passes a time in which no booking begins or ends and no rule looks but at its end.
func (a *account) span(t sim.Time) {
	from := a.at
	a.power(from, t)
	for r, w := range a.sample.Watts {
		a.spent[r] += w * float64(t-from) / 1e3
	}
	a.divide(from, t)
	a.at = t
	if a.cfg != nil {
		a.network.Advance(t-from, a.watts)
		a.applyRules(from)
	}
	s := &a.sample
	s.SpanHz = append(s.SpanHz[:0], a.hz...)
	a.reclock()
	if len(a.observe) == 0 {
		return
	}
	s.From, s.To, s.Status = from, t, a.thermalStatus()
	s.Hz = append(s.Hz[:0], a.hz...)
	if a.cfg != nil {
		s.Celsius = a.network.Celsius()
	}
	for _, f := range a.observe {
		(*f)(s)
	}
}

// power computes the mean power of a span by rail and by node.
func (a *account) power(from, to sim.Time) {
	s := &a.sample
	s.Watts, s.DRAMBytes = [soc.NumRails]float64{}, 0
	var busy [soc.NumRails]bool
	for i := range a.bookings {
		b := &a.bookings[i]
		if b.from >= to || b.to <= from {
			continue
		}
		busy[b.rail] = true
		a.last[b.rail] = max(a.last[b.rail], min(b.to, to))
		share := float64(min(b.to, to)-max(b.from, from)) / float64(b.to-b.from)
		s.Watts[b.rail] += b.pj * share
		s.DRAMBytes += float64(b.bytes) * share
	}
	seconds := (to - from).Seconds()
	a.free = [soc.NumRails]float64{}
	for r := range s.Watts {
		s.Watts[r] *= 1e-12 / seconds
		if !busy[r] {
			a.free[r] = a.idle(soc.Rail(r), from, to) / 1e3
		}
	}
	if a.cfg != nil {
		a.free[soc.RailRest] += a.cfg.RestMW / 1e3
	}
	for r, w := range a.free {
		s.Watts[r] += w
	}
	if a.cfg == nil {
		return
	}
	clear(a.watts)
	for r, w := range s.Watts {
		a.watts[a.node[r]] += w
	}
}

// idle is the mean power in mW of a rail without work: an engine's static power until it
// falls asleep, a core's in the idle state that its sleep allows, the memory's until it
// refreshes itself.
func (a *account) idle(r soc.Rail, from, to sim.Time) float64 {
	m := a.m
	awake := func(after sim.Time) float64 {
		return float64(min(max(a.last[r]+after-from, 0), to-from)) / float64(to-from)
	}
	switch {
	case r == soc.RailCPU:
		return m.cfg.Host.IdleMW(to-a.last[r], -1)
	case r == soc.RailDRAM:
		d := &m.cfg.DRAM
		if d.SelfRefreshAfterUs == 0 {
			return a.backgroundMW
		}
		share := awake(sim.Microseconds(d.SelfRefreshAfterUs))
		return a.backgroundMW*share + d.Energy.SelfRefreshMW*(1-share)
	case r == soc.RailRest:
	case m.engines[r] != nil:
		return (a.staticMW[r] + a.leak(soc.Engine(r))) * awake(m.engines[r].clocks[0].Config().IdleAfter)
	}
	return 0
}

// leak is the power of an engine above its static power because it is warm, in mW.
func (a *account) leak(e soc.Engine) float64 {
	if a.cfg == nil {
		return 0
	}
	more := a.cfg.LeakagePerK * (a.network.Celsius()[a.node[e]] - a.cfg.LeakageC)
	return max(-1, more) * a.staticMW[e]
}

// applyRules updates the rules that sample their sensors at the end of a span.
func (a *account) applyRules(from sim.Time) {
	c, changed := a.network.Celsius(), false
	if a.status.Next(from) == a.at {
		a.status.Update(c)
	}
	for i := range a.limiters {
		if l := &a.limiters[i]; l.Next(from) == a.at {
			before := l.Hz()
			l.Update(c)
			changed = changed || l.Hz() != before
		}
	}
	if changed {
		a.limit()
	}
}

// limit sets each clock to the lowest of its rules' limits.
func (a *account) limit() {
	clear(a.m.caps)
	for i := range a.limiters {
		l := &a.limiters[i]
		if old, now := a.m.caps[l.clock], l.Hz(); now > 0 && (old == 0 || now < old) {
			a.m.caps[l.clock] = now
		}
	}
	a.m.applyCaps()
}

// thermalStatus is the status that the skin's temperature has.
func (a *account) thermalStatus() soc.ThermalStatus {
	if a.cfg == nil {
		return 0
	}
	return soc.ThermalStatus(a.status.Active())
}

// alive is an error when the phone has switched itself off.
func (a *account) alive() error {
	if a.thermalStatus() < soc.StatusShutdown {
		return nil
	}
	return fmt.Errorf("%w: %s at %.1f C", ErrShutdown, a.cfg.Skin.Sensor, a.network.Celsius()[a.cfg.Node(a.cfg.Skin.Sensor)])
}
