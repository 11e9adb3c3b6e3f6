package devices_test

import (
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// An execution that misses its deadline costs the machine the time and energy until then and of the way
// back, on every engine; its trace ends there, and the next one finds the engine free.
func TestMissedDeadlineCostsItsTime(t *testing.T) {
	for _, device := range []string{"cpu", "gpu", "dsp", "npu"} {
		kind := nn.TensorQuant8Asymm
		if device == "gpu" {
			kind = nn.TensorFloat32
		}
		m := phone(t)
		c := newClient(t, m, device, convolution(kind), hal.PriorityMedium)
		if err := m.Warm(c.execute); err != nil {
			t.Fatal(err)
		}
		spent := func() (sum float64) {
			for _, pj := range m.SoC().Spent() {
				sum += pj
			}
			return sum
		}
		from, energy := m.SoC().Now(), spent()
		res, err := hal.Execute(c.prepared, &c.buffers)
		if err != nil {
			t.Fatal(err)
		}
		whole, wholePJ := m.SoC().Now()-from, spent()-energy
		engine := sim.Time(engineFs(&res.Stats))
		before := sim.Time(0) // the engine starts
		for _, p := range res.Stats.Parts {
			if p.Name == soc.PartExecution {
				break
			}
			before += sim.Time(p.TimeFs)
		}
		back := whole - before - engine
		// Half of the engine's time is allowed, in whole nanoseconds.
		allowed := before + engine/2
		deadline := m.Devices()[0].Now().Add(time.Duration(allowed / sim.Nanosecond))
		b := c.buffers
		var trace spans
		b.Deadline, b.Trace = &deadline, &trace
		from, energy = m.SoC().Now(), spent()
		if _, err := hal.Execute(c.prepared, &b); hal.StatusOf(err) != hal.MissedDeadlineTransient {
			t.Fatalf("%s: %v", device, err)
		}
		took, tookPJ := m.SoC().Now()-from, spent()-energy
		if want := allowed + back; took < want-want/50 || took > want+want/50 {
			t.Errorf("%s: a missed deadline took %v us of the machine, want %v: %v allowed, %v the way back; the whole takes %v", device,
				took.Microseconds(), want.Microseconds(), allowed.Microseconds(), back.Microseconds(), whole.Microseconds())
		}
		if tookPJ >= wholePJ {
			t.Errorf("%s: %v pJ until the deadline, %v in all", device, tookPJ, wholePJ)
		}
		if now := m.Devices()[0].Now(); now != deadline {
			t.Errorf("%s: the devices' clock is at %d, the deadline was %d", device, now, deadline)
		}
		for _, s := range trace {
			if s.EndFs > int64(took) {
				t.Errorf("%s: a span %s until %d fs of %d", device, s.Name, s.EndFs, int64(took))
			}
		}
		if len(trace) == 0 {
			t.Errorf("%s: no trace of it", device)
		}
		from = m.SoC().Now()
		if err := c.execute(); err != nil {
			t.Fatal(err)
		}
		if next := m.SoC().Now() - from; next > whole+whole/20 {
			t.Errorf("%s: the next execution takes %v us, %v before", device, next.Microseconds(), whole.Microseconds())
		}
	}
}

// spans implements hal.Tracer.
type spans []hal.Span

// Span implements hal.Tracer.
func (s *spans) Span(x hal.Span) { *s = append(*s, x) }
