package devices

import (
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// Sampling reports what Machine.Sampled has saved, and how far reused costs differ from those of a
// simulation. Differences are relative, the largest of those measured.
type Sampling struct {
	Executions int `json:"executions"`           // that were not found in a state that has been simulated
	Simulated  int `json:"simulated_executions"` // of them
	Measured   int `json:"measured_executions"`  // of those simulated, compared with the costs that would have been reused

	Latency     float64 `json:"latency_difference"`
	Energy      float64 `json:"energy_difference"`
	Counter     float64 `json:"counter_difference"` // of the counter that differs most
	CounterName string  `json:"counter,omitempty"`

	Parts *PartSampling `json:"parts,omitempty"` // of those simulated, nil: all of each
}

// PartSampling reports how much of executions was simulated in time, and how far the costs of the rest differ from those of a
// simulation: the differences of the sums over all that were compared.
type PartSampling struct {
	Instructions int64 `json:"instructions"`
	Simulated    int64 `json:"simulated_instructions"` // in time
	Measured     int   `json:"measured_programs"`      // programs of an operation or parts of one

	Latency     float64 `json:"latency_difference"`
	Energy      float64 `json:"energy_difference"`
	Counter     float64 `json:"counter_difference"` // of the counter that differs most
	CounterName string  `json:"counter,omitempty"`
}

// partSampling reports an engine's account; nil: everything was simulated.
func partSampling(x *sim.Sampled) *PartSampling {
	if x.Instructions == 0 {
		return nil
	}
	cost := func(e *sim.Extrapolated) *hal.Stats {
		s := &hal.Stats{LatencyFs: e.Cycles, EnergyPJ: e.EnergyPJ}
		for _, c := range e.Counters {
			s.Counters = append(s.Counters, hal.Counter(c))
		}
		return s
	}
	d := difference(cost(&x.Predicted), cost(&x.Actual))
	return &PartSampling{x.Instructions, x.Simulated, x.Compared, d.Latency, d.Energy, d.Counter, d.CounterName}
}

// An execution is reused for others once a second one has come within sampleTolerance of its latency
// and energy; after sampleGap uses one is simulated again, and after sampleGrowth times as many the
// next. Counters of fewer than sampleEvents are not compared. Assumed: D-1301.
const (
	sampleTolerance = 0.02
	sampleGap       = 4
	sampleGrowth    = 4
	sampleEvents    = 1000
)

// representative is an execution that stands for those of its program at the same clocks, whatever they
// find in the system-level cache.
type representative struct {
	*remembered
	trusted bool
	uses    int // since it was last compared
	gap     int // uses until the next comparison
}

// sampleOf finds the sample for a call, nil: none.
func (h *engineHost) sampleOf(c *base.Call, k platform.Conditions) *representative {
	for _, s := range h.m.samples[c.Program] {
		if s.began(k.Points) && h.m.soc.Fits(s.traffic) && s.same(c.Buffers) {
			return s
		}
	}
	return nil
}

// reuse reports whether an execution reuses the sample, and counts that.
func (s *representative) reuse() bool {
	if s == nil || !s.trusted || s.uses >= s.gap {
		return false
	}
	s.uses++
	return true
}

// compared notes an execution that was simulated, x, and was or was not like its sample.
func (m *Machine) compared(c *base.Call, s *representative, x *remembered) {
	if m.samples == nil {
		m.samples = map[any][]*representative{}
	}
	if s == nil {
		list := append([]*representative{{remembered: x, gap: sampleGap}}, m.samples[c.Program]...)
		m.samples[c.Program] = list[:min(len(list), maxRemembered)]
		return
	}
	d := difference(&s.result.Stats, &x.result.Stats)
	near := d.Latency <= sampleTolerance && d.Energy <= sampleTolerance
	if s.trusted || near {
		t := &m.sampling
		t.Measured++
		t.Latency, t.Energy = max(t.Latency, d.Latency), max(t.Energy, d.Energy)
		if d.Counter > t.Counter {
			t.Counter, t.CounterName = d.Counter, d.CounterName
		}
	}
	if s.trusted && near {
		s.gap *= sampleGrowth
	} else {
		s.gap = sampleGap
	}
	s.remembered, s.trusted, s.uses = x, near, 0
}

// difference is how far costs lie from others.
func difference(a, b *hal.Stats) (d Sampling) {
	relative := func(a, b float64) float64 {
		if a == b {
			return 0
		}
		return math.Abs(a-b) / math.Max(math.Abs(a), math.Abs(b))
	}
	d.Latency = relative(float64(a.LatencyFs), float64(b.LatencyFs))
	d.Energy = relative(a.EnergyPJ, b.EnergyPJ)
	values := map[string]int64{}
	for _, x := range a.Counters {
		values[x.Name] += x.Value
	}
	for _, x := range b.Counters {
		if v := values[x.Name]; max(v, x.Value) >= sampleEvents {
			if e := relative(float64(v), float64(x.Value)); e > d.Counter {
				d.Counter, d.CounterName = e, x.Name
			}
		}
	}
	return d
}

// CollectSampling returns what Sampled has saved since the last call, and resets it.
func (m *Machine) CollectSampling() Sampling {
	s := m.sampling
	s.Parts = partSampling(&m.parts)
	m.sampling, m.parts = Sampling{}, sim.Sampled{}
	return s
}
