package devices_test

import (
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
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
		require.NoError(t, m.Warm(c.execute))
		spent := func() (sum float64) {
			for _, pj := range m.SoC().Spent() {
				sum += pj
			}
			return sum
		}
		from, energy := m.SoC().Now(), spent()
		res := require.V(hal.Execute(c.prepared, &c.buffers))(t)
		whole, wholePJ := m.SoC().Now()-from, spent()-energy
		engine := sim.Time(engineFs(&res.Stats))
		before := sim.Time(0) // the engine starts
		for _, p := range res.Stats.Parts {
			if p.Name == platform.PartExecution {
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
		require.Check(t, tookPJ < wholePJ, "%s: %v pJ until the deadline, %v in all", device, tookPJ, wholePJ)
		if now := m.Devices()[0].Now(); now != deadline {
			t.Errorf("%s: the devices' clock is at %d, the deadline was %d", device, now, deadline)
		}
		for _, s := range trace {
			if s.EndFs > int64(took) {
				t.Errorf("%s: a span %s until %d fs of %d", device, s.Name, s.EndFs, int64(took))
			}
		}
		require.Check(t, len(trace) != 0, "%s: no trace of it", device)
		from = m.SoC().Now()
		require.NoError(t, c.execute())
		if next := m.SoC().Now() - from; next > whole+whole/20 {
			t.Errorf("%s: the next execution takes %v us, %v before", device, next.Microseconds(), whole.Microseconds())
		}
	}
}

// spans implements hal.Tracer.
type spans []hal.Span

// Span implements hal.Tracer.
func (s *spans) Span(x hal.Span) { *s = append(*s, x) }

// A warm-up runs no execution of a deadline longer than a few times that, where none ends sooner, on a machine and beside
// // other clients, and yet has its usual duration; with a sufficient deadline, or without one, executions run to their end.
func TestWarmUpIsStopped(t *testing.T) {
	const whole = 50 * sim.Millisecond
	for _, x := range []struct {
		name    string
		allowed sim.Time // 0: there is no deadline
		stopped bool
	}{{"none", 0, false}, {"far", sim.Second, false}, {"near", 10 * sim.Millisecond, true}} {
		for _, way := range []string{"Warm", "Approximate", "a client"} {
			m := phone(t)
			var most sim.Time // that one of the engine's executions took
			run := func(_ hal.Tracer, at base.Place) (*hal.Result, error) {
				took := whole
				if at.Until > 0 && at.Until < whole {
					took = at.Until
				}
				if most = max(most, took); took < whole {
					return nil, &sim.Late{At: took}
				}
				return &hal.Result{Stats: hal.Stats{LatencyFs: int64(took), Cycles: int64(took / sim.Microsecond), EnergyPJ: 1e9}}, nil
			}
			call := &base.Call{Program: "sleeper", Buffers: &hal.Buffers{}}
			if x.allowed > 0 {
				at := m.Devices()[0].Now().Add(time.Duration(x.allowed / sim.Nanosecond))
				call.Buffers.Deadline = &at
			}
			execute := func() error { _, err := m.Host(soc.EngineDSP).Execute(call, run); return err }
			var err error
			switch way {
			case "Warm":
				err = m.Warm(execute)
			case "Approximate":
				err = m.Approximate(execute)
			default:
				_, err = m.RunConcurrent(func(as *devices.Client) error {
					call.Buffers.Client = as
					return as.Warm(execute)
				})
			}
			if x.stopped {
				warmed := m.SoC().Now() > platform.WarmUp || way == "a client" // which finds the clocks of one, see Client.Warm
				if hal.StatusOf(err) != hal.MissedDeadlineTransient || most > 4*x.allowed || !warmed {
					t.Errorf("%s, deadline %s: %v; the engine ran for %v us of %v allowed, until %v us", way, x.name, err,
						most.Microseconds(), x.allowed.Microseconds(), m.SoC().Now().Microseconds())
				}
			} else if err != nil || most != whole {
				t.Errorf("%s, deadline %s: %v; the engine ran for %v us", way, x.name, err, most.Microseconds())
			}
		}
	}
}
