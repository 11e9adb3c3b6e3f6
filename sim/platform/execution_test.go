package platform

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func pixel4(t *testing.T) *soc.Config {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	return c
}

// TestSpan: a curve holds its first time up to its first size, is linear between points and beyond the last two, and not
// below 0.
func TestSpan(t *testing.T) {
	curve := [][2]float64{{4, 10}, {8, 20}, {16, 28}}
	for _, c := range []struct {
		curve [][2]float64
		kib   float64
		want  float64 // us
	}{
		{curve, 0, 0}, {curve, 1, 10}, {curve, 4, 10}, {curve, 6, 15}, {curve, 8, 20}, {curve, 10, 22}, {curve, 16, 28}, {curve, 24, 36},
		{curve[:1], 2, 10}, {curve[:1], 64, 10}, {nil, 64, 0}, {[][2]float64{{4, 10}, {8, 6}}, 10, 4}, {[][2]float64{{4, 10}, {8, 6}}, 20, 0},
	} {
		if got := span(c.curve, int64(c.kib*1024)); got != sim.Microseconds(c.want) {
			t.Errorf("%v KiB on %v: %v us, want %v", c.kib, c.curve, got.Microseconds(), c.want)
		}
	}
}

// TestPreemption: a program yields its engine only to one of higher priority that has arrived, and counts its own time
// from the start of its run, without that of others. The other begins when the state is saved. The parts are in order,
// and later points of the clock count on the program's own time.
func TestPreemption(t *testing.T) {
	for e, points := range map[soc.Engine]bool{soc.EngineNPU: false, soc.EngineGPU: true} {
		c := pixel4(t)
		c.NPU.Path.Preempt = &soc.Preempt{SaveUs: 100, RestoreUs: 300}
		c.GPU.Path.Preempt = c.NPU.Path.Preempt
		m := require.V(NewMachine(c))(t)
		const ms, save, restore = sim.Millisecond, 100 * sim.Microsecond, 300 * sim.Microsecond
		const first, high = 2 * ms, 3 * ms // when the second run begins; the time of the others
		var began [4]sim.Time
		var own Execution
		client := func(i, priority int, after sim.Time, run func(k Conditions) sim.Time) func() error {
			return func() error {
				m.Sleep(after)
				x, err := m.Execute(Request{Engine: e, Preference: sim.FastSingleAnswer, Buffers: 1, Priority: priority}, func(k Conditions) (Outcome, error) {
					began[i] = m.Now() + k.Start
					return Outcome{Time: run(k)}, nil
				})
				if i == 0 {
					own = x
				}
				return err
			}
		}
		short := func(Conditions) sim.Time { return high }
		_, err := m.RunConcurrent(
			client(0, 1, 0, func(k Conditions) sim.Time {
				k.Begin(first)
				for _, x := range []struct {
					at    sim.Time // of the second run
					yield bool
				}{{0, false}, {7 * ms, false}, {12 * ms, true}, {14 * ms, false}, {18 * ms, true}, {40 * ms, false}} {
					require.Same(t, x.yield, k.Preemption.Pending(x.at), e, "over at", x.at)
					if !x.yield {
						continue
					}
					plan := k.Preemption.Yield(x.at)
					if more := points && x.at == 12*ms; more != (len(plan) > 1) || plan[0].At != 0 {
						t.Errorf("%s: points %v", e, plan)
					}
					for _, p := range plan[1:] {
						if p.At <= x.at || p.At > x.at+10*ms {
							t.Errorf("%s: a point at %v, the engine is back at %v", e, p.At, x.at)
						}
					}
				}
				return 50 * ms
			}),
			client(1, 1, ms, short), // waits for the end
			client(2, 2, 12*ms, short),
			client(3, 3, 22*ms, short), // 12 + 3 ms + the absence of the engine is 18.5
		)
		require.NoError(t, err)
		var parts []Part
		for _, p := range own.Parts {
			switch n := len(parts); {
			case n > 0 && parts[n-1].Name == p.Name:
				parts[n-1].Time += p.Time
			case p.Name == PartExecution || n > 0 && p.Time > 0:
				parts = append(parts, Part{Name: p.Name, Time: p.Time})
			}
		}
		for i, want := range []Part{
			{Name: PartExecution, Time: 14 * ms}, {Name: PartSwitch, Time: save}, {Name: PartPreempted, Time: high}, {Name: PartSwitch, Time: restore},
			{Name: PartExecution, Time: 6 * ms}, {Name: PartSwitch, Time: save}, {Name: PartPreempted, Time: high}, {Name: PartSwitch, Time: restore},
			{Name: PartExecution, Time: 30 * ms},
		} {
			if i >= len(parts) || parts[i].Name != want.Name || parts[i].Time != want.Time {
				t.Errorf("%s: parts %v, number %d is to be %v", e, parts, i, want)
				break
			}
		}
		const away = save + high + restore
		for i, want := range []sim.Time{0, 50*ms + 2*away, 14*ms + save, 20*ms + away + save} {
			if got := began[i] - began[0]; got != want {
				t.Errorf("%s: client %d begins at %v, want %v", e, i, got, want)
			}
		}
	}
}

// TestMemoryPJ: of an execution's energy its memory used 5 pJ a byte of traffic and 20 mW all the time, 20 nJ in a
// microsecond, but no more than all.
func TestMemoryPJ(t *testing.T) {
	a := &account{readPJ: 5, backgroundMW: 20}
	for _, c := range []struct{ all, want float64 }{{1e6, 25_000}, {1000, 1000}} {
		x := &chain{enginePJ: c.all, out: Outcome{DRAMBytes: 1000, Time: sim.Microsecond}}
		if got := a.memoryPJ(x); got != c.want {
			t.Errorf("of %v pJ the memory took %v, want %v", c.all, got, c.want)
		}
	}
}

// TestLeave: the vote that an engine has at the end of its work, one of that very instant too, holds until it sleeps.
func TestLeave(t *testing.T) {
	k := memoryClock{}
	k.votes[soc.EngineGPU] = []vote{{from: 0, point: 1}, {from: 5, point: 2}, {from: 6, point: 3}}
	k.retainVote(soc.EngineGPU, 5, 9)
	require.Equal(t, []vote{{from: 0, point: 1}, {from: 5, point: 2}, {from: 9}}, k.votes[soc.EngineGPU])
}
