package dram

import "github.com/nnsoc/nnsoc/sim"

// Moved is the traffic of each master in one span of a sequence of equal spans, by the time at which the data bus
// carries it.
type Moved [MaxMasters]int64

// meter counts bytes by the span in which the data bus carries them.
type meter struct {
	span  sim.Time // 0: not measuring
	first int64    // number of the first span that is kept
	moved []Moved
}

// maxMeterSpans bounds how far ahead of the first kept span bytes are counted: later ones count for the last.
const maxMeterSpans = 1 << 16

// Measure counts the traffic of each master in every span of a length, whose borders are its multiples, from that of an
// instant on; a length of 0 stops it. Reset begins again at time 0.
func (d *DRAM) Measure(span, from sim.Time) {
	d.meter = meter{span: span}
	if span > 0 {
		d.meter.first = int64(from / span)
	}
}

// Measured passes on the spans that end until an instant, in order, and forgets them. Bytes of a span are complete once
// no further access is before its end.
func (d *DRAM) Measured(until sim.Time, f func(from, to sim.Time, bytes *Moved)) {
	m := &d.meter
	for m.span > 0 && sim.Time(m.first+1)*m.span <= until && len(m.moved) > 0 {
		f(sim.Time(m.first)*m.span, sim.Time(m.first+1)*m.span, &m.moved[0])
		m.first++
		m.moved = m.moved[1:]
	}
	if m.span > 0 && len(m.moved) == 0 && until != sim.Never {
		m.first = max(m.first, int64(until/m.span))
	}
}

func (m *meter) reset() { m.first, m.moved = 0, nil }

// add counts bytes that are moved evenly over a time.
func (m *meter) add(master int, from, to sim.Time, bytes int64) {
	for n := int64(from / m.span); bytes > 0; n++ {
		part := bytes
		if end := sim.Time(n+1) * m.span; end < to {
			part = int64(float64(bytes) * float64(end-from) / float64(to-from))
			from = end
		}
		if n >= m.first { // not measured before
			m.at(n)[master&(MaxMasters-1)] += part
		}
		bytes -= part
	}
}

// at is the count of a span.
func (m *meter) at(n int64) *Moved {
	i := min(n-m.first, maxMeterSpans-1)
	for int64(len(m.moved)) <= i {
		m.moved = append(m.moved, Moved{})
	}
	return &m.moved[i]
}
