package measure

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// phoneTrace draws what a machine measures as counters of one process: the power of each
// rail, clocks, temperatures and the traffic of the memory.
type phoneTrace struct {
	writer      trace.Writer
	process     string
	from, until sim.Time // what is drawn; from is drawn at atFs
	atFs        int64
	seen        sim.Time // the last sample began then
	clocks      []string
	sensors     []string
	rails       []soc.Rail
}

// Observe draws a machine from its present instant on until stop is called; what is
// measured then of the time before is still drawn.
func (t *Tracer) Observe(m *soc.Machine) (stop func()) {
	p := &phoneTrace{
		writer: t.Writer, process: t.Phone, from: m.Now(), until: sim.Never, atFs: t.atFs,
		clocks: m.Clocks(), sensors: m.Sensors(), rails: m.Rails(),
	}
	m.Observe(p.sample)
	return func() { p.until = m.Now() }
}

func (p *phoneTrace) sample(s *soc.Sample) {
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
		p.writer.Counter(p.process, "DRAM bandwidth (GB/s)", begin, s.DRAMBytes/span.Seconds()/1e9)
	}
	for i, name := range p.clocks {
		p.writer.Counter(p.process, name+" clock (MHz)", end, float64(s.Hz[i])/1e6)
	}
	for i, name := range p.sensors {
		p.writer.Counter(p.process, name+" temperature (C)", end, s.Celsius[i])
	}
}

// at is an instant of the machine in the trace.
func (p *phoneTrace) at(t sim.Time) int64 { return int64(t-p.from) + p.atFs }
