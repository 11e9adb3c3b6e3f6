package sim_test

import (
	"sort"
	"strconv"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"pgregory.net/rapid"
)

// TestWheelOrder drives the wheel beside a sorted slice: same events in the
// same order, with posts between pops and peeks, at all distances.
func TestWheelOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w sim.Wheel
		if rapid.Bool().Draw(t, "reused") {
			w.Post(123456789, 0, 0, 0)
			w.Post(5, 0, 0, 0)
			w.Pop()
			w.Reset()
		}
		type ref struct {
			at  sim.Time
			seq uint64
			arg uint64
		}
		var pending []ref
		now, seq := sim.Time(0), uint64(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0, 1:
				shift := rapid.IntRange(0, 62).Draw(t, "shift")
				d := rapid.Int64Range(-5, 1<<shift).Draw(t, "delay")
				at := now + sim.Time(d)
				if at < now && d > 0 {
					at = sim.Never
				}
				seq++
				arg := rapid.Uint64().Draw(t, "arg")
				w.Post(at, 7, 9, arg)
				pending = append(pending, ref{max(at, now), seq, arg})
				sort.Slice(pending, func(i, j int) bool {
					a, b := pending[i], pending[j]
					return a.at < b.at || a.at == b.at && a.seq < b.seq
				})
			case 2:
				want := sim.Never
				if len(pending) > 0 {
					want = pending[0].at
				}
				if got := w.Next(); got != want {
					t.Fatalf("Next %d, want %d", got, want)
				}
			case 3:
				e, ok := w.Pop()
				if ok != (len(pending) > 0) {
					t.Fatalf("Pop ok = %v with %d pending", ok, len(pending))
				}
				if !ok {
					continue
				}
				p := pending[0]
				pending = pending[1:]
				if e.At != p.at || e.Arg != p.arg || e.Kind != 7 || e.Target != 9 {
					t.Fatalf("Pop %+v, want %+v", e, p)
				}
				now = p.at
				if w.Now() != now {
					t.Fatalf("Now %d, want %d", w.Now(), now)
				}
			}
			if w.Len() != len(pending) {
				t.Fatalf("Len %d, want %d", w.Len(), len(pending))
			}
		}
	})
}

// TestWheelTurns runs through thousands of turns with few pending events, so
// that every slot is used, emptied and used again.
func TestWheelTurns(t *testing.T) {
	for _, engines := range []int{1, 2, 5, 40} {
		var w sim.Wheel
		due := map[uint64]sim.Time{} // by Arg
		rng := uint64(1)
		post := func(i uint64) {
			rng = rng*6364136223846793005 + 1442695040888963407
			due[i] = w.Now() + sim.Time(rng>>33)%(20*sim.Nanosecond)
			w.Post(due[i], 0, 0, i)
		}
		for i := range uint64(engines) {
			post(i)
		}
		for range 20_000 {
			first := sim.Never
			for _, at := range due {
				first = min(first, at)
			}
			e, ok := w.Pop()
			if !ok || e.At != first || due[e.Arg] != first {
				t.Fatalf("%d engines: got %+v, %v, want the event at %d", engines, e, ok, first)
			}
			post(e.Arg)
		}
	}
}

func TestWheelTies(t *testing.T) {
	var w sim.Wheel
	for i := range uint64(1000) {
		w.Post(sim.Microsecond, 0, 0, i)
	}
	for i := range uint64(1000) {
		if e, ok := w.Pop(); !ok || e.Arg != i {
			t.Fatalf("event %d: got %d, %v", i, e.Arg, ok)
		}
	}
}

func TestWheelSteadyStateAllocs(t *testing.T) {
	var w sim.Wheel
	for i := range 64 {
		w.Post(sim.Time(i)*sim.Nanosecond, 0, 0, 0)
	}
	if n := testing.AllocsPerRun(1000, func() {
		e, _ := w.Pop()
		w.Post(e.At+777*sim.Picosecond, 0, 0, 0)
	}); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
}

// BenchmarkWheel holds some engines that each post their next event when one
// fires, at the clock periods of a phone's engines.
func BenchmarkWheel(b *testing.B) {
	for _, engines := range []int{4, 16, 64} {
		b.Run(strconv.Itoa(engines)+"engines", func(b *testing.B) {
			var w sim.Wheel
			periods := [4]sim.Time{413_394, 840_336, 1_709_401, 2_000_000}
			for i := range engines {
				w.Post(sim.Time(i)*1000, 0, int32(i), 0)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				e, _ := w.Pop()
				w.Post(e.At+periods[e.Target&3], 0, e.Target, 0)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// BenchmarkWheelMixed adds delays from one cycle to a DRAM refresh.
func BenchmarkWheelMixed(b *testing.B) {
	var w sim.Wheel
	delays := [8]sim.Time{413_394, 840_336, 1_709_401, 2_000_000, 40_000_000, 120_000_000, 3_900_000_000, 1_000_000}
	for i := range 64 {
		w.Post(sim.Time(i)*1000, 0, int32(i), 0)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		e, _ := w.Pop()
		w.Post(e.At+delays[(e.Seq*5)&7], 0, e.Target, 0)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
