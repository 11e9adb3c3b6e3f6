package session

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// phoneTrace draws the measurements of a machine as counters of one process: the power of each rail, clocks,
// temperatures, the traffic of the memory, and each engine's traffic and hits in the system-level cache.
type phoneTrace struct {
	writer      trace.Writer
	process     string
	from, until sim.Time // the drawn span; from is drawn at atFs
	atFs        int64
	seen        sim.Time // the last sample began then
	clocks      []string
	sensors     []string
	rails       []soc.Rail
	cache       [soc.NumEngines]sim.Time // until when the engine's counters of the cache are drawn
	dram        [soc.NumEngines]sim.Time // and that of the DRAM
}

// Observe draws a machine from its present instant on until stop is called; measurements of that time reported later
// are still drawn.
func (t *Tracer) Observe(m *platform.Machine) (stop func()) {
	p := &phoneTrace{
		writer: t.Writer, process: t.Phone, from: m.Now(), until: sim.Never, atFs: t.atFs,
		clocks: m.Clocks(), sensors: m.Sensors(), rails: m.Rails(),
	}
	m.Observe(p.sample)
	endDRAM := m.ObserveDRAM(p.traffic)
	end := m.ObserveSystemCache(p.systemCache)
	return func() {
		p.until = m.Now()
		end()
		endDRAM()
		for e, until := range p.dram {
			if until > p.from {
				p.drawDRAM(soc.Engine(e), until, 0)
			}
		}
		for e, until := range p.cache {
			if until > p.from {
				p.drawCache(soc.Engine(e), until, 0, 0)
			}
		}
	}
}

// systemCache draws the counters of an engine from the beginning of a span on. Spans follow
// one another; in between they are 0. The end of an execution may be shorter than the accesses
// that are under way then: their bytes over its time are no bandwidth.
func (p *phoneTrace) systemCache(u *platform.SystemCacheUse) {
	if u.From < p.from || u.From >= p.until {
		return
	}
	if u.To-u.From < sim.Microsecond && p.cache[u.Engine] == u.From {
		p.cache[u.Engine] = u.To
		return
	}
	if until := p.cache[u.Engine]; until > p.from && until < u.From {
		p.drawCache(u.Engine, until, 0, 0)
	}
	p.cache[u.Engine] = u.To
	p.drawCache(u.Engine, u.From, float64(u.Bytes)/(u.To-u.From).Seconds()/1e9, 100*float64(u.Hits)/float64(max(u.Lookups, 1)))
}

func (p *phoneTrace) drawCache(e soc.Engine, at sim.Time, gbps, percent float64) {
	p.writer.Counter(p.process, e.String()+" system cache (GB/s)", p.at(at), gbps)
	p.writer.Counter(p.process, e.String()+" system cache hits (%)", p.at(at), percent)
}

// traffic draws the DRAM traffic of an engine from the beginning of a span on, as systemCache does.
func (p *phoneTrace) traffic(u *platform.DRAMUse) {
	if u.To <= p.from || u.From >= p.until {
		return
	}
	from := max(u.From, p.from)
	if until := p.dram[u.Engine]; until > p.from && until < from {
		p.drawDRAM(u.Engine, until, 0)
	}
	p.dram[u.Engine] = u.To
	p.drawDRAM(u.Engine, from, float64(u.Bytes)/(u.To-u.From).Seconds()/1e9)
}

func (p *phoneTrace) drawDRAM(e soc.Engine, at sim.Time, gbps float64) {
	p.writer.Counter(p.process, e.String()+" DRAM (GB/s)", p.at(at), gbps)
}

func (p *phoneTrace) sample(s *platform.Sample) {
	if s.From < p.seen || s.From >= p.until { // the machine began anew, or it is over
		p.until = 0
	}
	p.seen = s.From
	if s.To <= p.from || s.From >= p.until {
		return
	}
	begin, end := p.at(max(s.From, p.from)), p.at(min(s.To, p.until))
	for _, r := range p.rails {
		p.writer.Counter(p.process, r.String()+" power (W)", begin, s.Watts[r])
	}
	if span := s.To - s.From; span > 0 {
		p.writer.Counter(p.process, "DRAM (GB/s)", begin, s.DRAMBytes/span.Seconds()/1e9)
	}
	for i, name := range p.clocks {
		p.writer.Counter(p.process, name+" clock (MHz)", begin, float64(s.SpanHz[i])/1e6)
	}
	for i, name := range p.sensors {
		p.writer.Counter(p.process, name+" temperature (C)", end, s.Celsius[i])
	}
}

// at is an instant of the machine in the trace.
func (p *phoneTrace) at(t sim.Time) int64 { return int64(t-p.from) + p.atFs }
