package platform_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// stream reads bytes from its own part of memory with some lines in flight and returns the duration.
func stream(m mem.Level, base uint64, bytes, inFlight int) sim.Time {
	const line = 64
	window := make([]sim.Time, inFlight)
	var now, last sim.Time
	for i := range bytes / line {
		now = max(now, window[i%inFlight])
		window[i%inFlight], _ = m.Access(now, base+uint64(i*line), line, mem.Read)
		last = max(last, window[i%inFlight])
	}
	return last
}

// streamer is a client that streams on an engine, and notes the memory's background power that falls to it then.
func streamer(t *testing.T, m *platform.Machine, e soc.Engine, took *sim.Time, mw ...*float64) func() error {
	return func() error {
		_, err := m.Execute(platform.Request{Engine: e, Buffers: 1}, func(k platform.Conditions) (platform.Outcome, error) {
			*took = stream(k.Memory, uint64(e)<<28, 4<<20, 256)
			for _, x := range mw {
				_, *x = mem.EnergyOf(k.Memory)
			}
			return platform.Outcome{Time: *took}, nil
		})
		return err
	}
}

// TestStreamsShareTheMemory: two engines that stream together have the bandwidth of
// one, half each.
func TestStreamsShareTheMemory(t *testing.T) {
	var alone, a, b sim.Time
	var all, mwA, mwB float64
	m := machine(t, "pixel4", func(c *soc.Config) {
		c.NPU.Path, c.GPU.Path = c.DSP.Path, c.DSP.Path // both start at the same instant
		c.NPU.Clock, c.GPU.Clock = c.DSP.Clock, c.DSP.Clock
	})
	require.NoError(t, require.Err(m.RunConcurrent(streamer(t, m, soc.EngineGPU, &alone, &all))))
	m.Reset()
	require.NoError(t, require.Err(m.RunConcurrent(streamer(t, m, soc.EngineGPU, &a, &mwA), streamer(t, m, soc.EngineNPU, &b, &mwB))))
	if first := min(mwA, mwB); all <= 0 || first != all/2 {
		t.Errorf("%g mW of background for the first of two, alone %g", first, all)
	}
	t.Logf("alone %v us, together %v and %v us", alone.Microseconds(), a.Microseconds(), b.Microseconds())
	for _, x := range []sim.Time{a, b} {
		if r := float64(x) / float64(alone); r < 1.8 || r > 2.4 {
			t.Errorf("%.2f times as long as alone, want about 2", r)
		}
	}
}

// TestRandomExecutionsRepeat: random executions of four clients that overlap end at the
// same instants when they are repeated, with every window, and the order in which clients
// are submitted shifts no end by more than the window allows.
func TestRandomExecutionsRepeat(t *testing.T) {
	run := func(seed uint64, window sim.Time) string {
		m := machine(t, "pixel4", nil)
		m.SetWindow(window)
		var clients []func() error
		for c := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, c))
			clients = append(clients, func() error {
				for range 10 {
					e := []soc.Engine{soc.EngineGPU, soc.EngineDSP, soc.EngineNPU}[rng.IntN(3)]
					bytes := rng.IntN(1 << 18)
					m.Sleep(m.Now() + sim.Time(rng.IntN(1000))*sim.Microsecond)
					if _, err := m.Execute(platform.Request{Engine: e, Buffers: 1, Priority: rng.IntN(3)}, func(k platform.Conditions) (platform.Outcome, error) {
						return platform.Outcome{Time: stream(k.Memory, rng.Uint64N(1<<30)&^63, bytes, 1+rng.IntN(64))}, nil
					}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		ends := require.V(m.RunConcurrent(clients...))(t)
		return fmt.Sprint(ends)
	}
	for seed := range uint64(25) { // 1,000 executions
		a := run(seed, platform.DefaultWindow)
		if b := run(seed, platform.DefaultWindow); a != b {
			t.Errorf("seed %d: %s, then %s", seed, a, b)
		}
	}
}

// TestTogetherFails: errors and panics of clients are reported, and an engine on which a program panicked is free for
// the next client.
func TestTogetherFails(t *testing.T) {
	m := machine(t, "pixel4", nil)
	broken := func(platform.Conditions) (platform.Outcome, error) { panic("oops") }
	fine := func(platform.Conditions) (platform.Outcome, error) {
		return platform.Outcome{Time: sim.Millisecond}, nil
	}
	execute := func(run func(platform.Conditions) (platform.Outcome, error)) func() error {
		return func() error { _, err := m.Execute(platform.Request{Engine: soc.EngineDSP}, run); return err }
	}
	ends, err := m.RunConcurrent(execute(broken), execute(fine), func() error { return errors.New("no luck") })
	if err == nil || !strings.Contains(err.Error(), "oops") || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("error %v", err)
	}
	if ends[1] < sim.Millisecond || !m.Exclusive() {
		t.Errorf("ends %v", ends)
	}
	require.Same(t, 0, len(require.V(m.RunConcurrent())(t)), "no clients")
}

// TestGoAndJoin: a client that waits for one of two others continues when that has ended, while the other still works;
// groups nest; Reset ends the remaining clients.
func TestGoAndJoin(t *testing.T) {
	m := machine(t, "pixel4", nil)
	work := func(e soc.Engine, d sim.Time) func() error {
		return func() error {
			_, err := m.Execute(platform.Request{Engine: e}, func(platform.Conditions) (platform.Outcome, error) { return platform.Outcome{Time: d}, nil })
			return err
		}
	}
	start := func(f func() error) *platform.Client {
		t.Helper()
		c := require.V(m.Go(f))(t)
		return c
	}
	long := start(work(soc.EngineGPU, 50*sim.Millisecond))
	short := start(func() error {
		_, err := m.RunConcurrent(work(soc.EngineDSP, sim.Millisecond), work(soc.EngineNPU, 2*sim.Millisecond))
		return err
	})
	require.NoError(t, m.Join(short))
	if now := m.Now(); now != short.Now() || now < 2*sim.Millisecond || now > 20*sim.Millisecond || m.Exclusive() {
		t.Errorf("it is %v us after the short one, which ended at %v us", now.Microseconds(), short.Now().Microseconds())
	}
	more := start(work(soc.EngineDSP, sim.Millisecond)) // beside the long one
	require.NoError(t, errors.Join(m.Join(more), m.Join(long)))
	if more.Now() >= long.Now() || m.Now() != long.Now() || !m.Exclusive() {
		t.Errorf("ends %v and %v, now %v", more.Now(), long.Now(), m.Now())
	}
	start(work(soc.EngineGPU, sim.Millisecond))
	if m.Reset(); !m.Exclusive() || m.Now() != 0 {
		t.Error("a client is left after Reset")
	}
}

// TestDeadlockIsNamed: clients that wait for each other get an error that names them.
func TestDeadlockIsNamed(t *testing.T) {
	m := machine(t, "pixel4", nil)
	var a, b *platform.Client
	var err error
	if a, err = m.Go(func() error { return m.Join(b) }); err != nil {
		t.Fatal(err)
	}
	if b, err = m.Go(func() error { return m.Join(a) }); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(m.Join(a), m.Join(b))
	require.ErrorContains(t, err, "client 1 waits for client 2, client 2 waits for client 1")
}

// holding is a client that requests an engine while it has another.
func holding(m *platform.Machine, has, wants soc.Engine) func() error {
	return func() error {
		_, err := m.Execute(platform.Request{Engine: has}, func(platform.Conditions) (platform.Outcome, error) {
			m.Sleep(m.Now() + 5*sim.Millisecond) // the other has arrived there
			_, err := m.Execute(platform.Request{Engine: wants}, func(platform.Conditions) (platform.Outcome, error) {
				return platform.Outcome{Time: sim.Millisecond}, nil
			})
			return platform.Outcome{Time: sim.Millisecond}, err
		})
		return err
	}
}

// TestDeadlockOfEngines: two clients that each have an engine and request the other's are named with both engines, a
// third concurrent one works on, and the engines are free again.
func TestDeadlockOfEngines(t *testing.T) {
	m := machine(t, "pixel4", nil)
	var took sim.Time
	ends, err := m.RunConcurrent(holding(m, soc.EngineGPU, soc.EngineDSP), holding(m, soc.EngineDSP, soc.EngineGPU), streamer(t, m, soc.EngineNPU, &took))
	const want = "deadlock: client 0 waits for client 1, client 1 waits for the dsp of client 2, client 2 waits for the gpu of client 1"
	require.ErrorContains(t, err, want)
	if took == 0 || ends[2] < took || !m.Exclusive() {
		t.Errorf("the stream beside them took %v and ended at %v", took, ends[2])
	}
	require.Report(t, require.Err(m.RunConcurrent(streamer(t, m, soc.EngineGPU, &took), streamer(t, m, soc.EngineDSP, &took))))
}

// TestNoGoroutineIsLeft: however the clients of a machine end, nothing of them is left.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	m := machine(t, "pixel4", nil)
	var took sim.Time
	panics := func() error {
		_, err := m.Execute(platform.Request{Engine: soc.EngineNPU}, func(k platform.Conditions) (platform.Outcome, error) {
			stream(k.Memory, 0, 1<<16, 8)
			panic("oops")
		})
		return err
	}
	for range 3 {
		if _, err := m.RunConcurrent(streamer(t, m, soc.EngineGPU, &took), panics, holding(m, soc.EngineDSP, soc.EngineDSP)); err == nil {
			t.Error("no error of the clients")
		}
		for _, e := range []soc.Engine{soc.EngineGPU, soc.EngineDSP, soc.EngineNPU} { // abandoned
			require.NoError(t, require.Err(m.Go(streamer(t, m, e, &took))))
		}
		m.Reset()
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
