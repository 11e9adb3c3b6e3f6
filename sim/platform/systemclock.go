package platform

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// systemClock is the clock of a machine's system-level cache, which follows the votes for
// the DRAM's. It implements interconnect.SystemClocking.
type systemClock struct {
	cfg     *soc.Config
	clocks  []interconnect.SystemClock // by point; none without a cache
	point   int
	changed func(at sim.Time, hz int64)
	meter   systemMeter

	k     *memoryClock
	cache *interconnect.SystemCache
}

func newSystemClock(c *soc.Config) systemClock {
	s := systemClock{cfg: c}
	if c.SystemCache != nil {
		s.clocks = c.SystemCache.Clocks()
	}
	return s
}

// lowestPoint is the lowest point that a vote for the DRAM's clock demands, 0 for none.
func (s *systemClock) lowestPoint(ddrMHz float64) int {
	if len(s.clocks) < 2 {
		return 0
	}
	return s.cfg.SystemPoint(ddrMHz)
}

// hz is the present clock.
func (s *systemClock) hz() int64 { return s.clocks[s.point].Hz }

// begin lets the memory's time begin, at the votes of that instant.
func (s *systemClock) begin(k *memoryClock, cache *interconnect.SystemCache) {
	if cache == nil {
		return
	}
	s.k, s.cache = k, cache
	s.meter.begin(k.start)
	s.set(k.start, k.voted(k.start))
	cache.Start(s.clocks[s.point], s, s.due(k.start))
}

// end notes that an execution has ended at an instant.
func (s *systemClock) end(t sim.Time) {
	if s.cache != nil {
		s.meter.read(s.cache, min(t, s.meter.next(s.meter.from))) // no access was later
		s.meter.read(s.cache, t)
	}
}

// SystemClock implements interconnect.SystemClocking.
func (s *systemClock) SystemClock(at sim.Time) (interconnect.SystemClock, sim.Time) {
	at += s.k.start
	s.meter.read(s.cache, at)
	s.set(at, s.k.voted(at))
	return s.clocks[s.point], s.due(at)
}

// set applies the point that all engines together request at an instant.
func (s *systemClock) set(t sim.Time, v vote) {
	if p := v.system; p != s.point {
		s.point = p
		s.changed(t, s.hz())
	}
}

// due is when the clock is asked for after an instant, in the memory's time.
func (s *systemClock) due(t sim.Time) sim.Time {
	next := min(s.k.nextVote(t), s.meter.next(t))
	if next == sim.Never {
		return next
	}
	return next - s.k.start
}

// SystemCacheUse is an engine's use of the system-level cache over a span.
type SystemCacheUse struct {
	From, To      sim.Time
	Engine        soc.Engine
	Bytes         int64 // read and written
	Lookups, Hits int64 // lines
}

// systemMeter reads the counters of a system-level cache while it is observed.
type systemMeter struct {
	observe []*func(*SystemCacheUse)
	from    sim.Time // of the present span
	base    [soc.NumEngines]SystemCacheUse
}

// meterSpan is how often the counters are read.
const meterSpan = 50 * sim.Microsecond

func (m *systemMeter) begin(t sim.Time) {
	m.from = t
	m.base = [soc.NumEngines]SystemCacheUse{}
}

// next is when the counters are read after an instant.
func (m *systemMeter) next(t sim.Time) sim.Time {
	if len(m.observe) == 0 {
		return sim.Never
	}
	return m.from + ((t-m.from)/meterSpan+1)*meterSpan
}

// read reports the engines' use since the last time.
func (m *systemMeter) read(c *interconnect.SystemCache, t sim.Time) {
	if len(m.observe) == 0 || t <= m.from {
		return
	}
	for e := range soc.NumEngines {
		hits := c.Count(int(e), interconnect.SystemReadHit) + c.Count(int(e), interconnect.SystemWriteHit)
		misses := c.Count(int(e), interconnect.SystemReadMiss) + c.Count(int(e), interconnect.SystemWriteMiss)
		now := SystemCacheUse{m.from, t, e, c.Passed(int(e)), hits + misses, hits}
		x, b := now, &m.base[e]
		x.Bytes, x.Lookups, x.Hits = x.Bytes-b.Bytes, x.Lookups-b.Lookups, x.Hits-b.Hits
		*b = now
		if x.Bytes > 0 {
			for _, f := range m.observe {
				(*f)(&x)
			}
		}
	}
	m.from = t
}
