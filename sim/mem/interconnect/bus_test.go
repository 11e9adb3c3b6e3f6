package interconnect_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// TestBusBandwidth: ports share the data channels; reads and writes do not.
func TestBusBandwidth(t *testing.T) {
	b := memtest.NewBus(t, &memtest.Flat{Latency: 50 * memtest.Cycle}, 0)
	p, q := b.Port("p"), b.Port("q")
	const n = 1000
	var last [2]sim.Time
	for i := range uint64(n) {
		for j, port := range []*interconnect.Port{p, q} {
			done, _ := port.Access(0, i*128, 128, mem.Read)
			last[j] = max(last[j], done)
		}
	}
	want := 2*n*4*memtest.Cycle + (30)*memtest.Cycle
	if last[1] != want {
		t.Errorf("two ports read %d lines in %d fs, want %d", 2*n, last[1], want)
	}
	b.Reset()
	var r, w sim.Time
	for i := range uint64(n) {
		d, _ := p.Access(0, i*128, 128, mem.Read)
		r = max(r, d)
		d, _ = q.Access(0, i*128, 128, mem.Write)
		w = max(w, d)
	}
	if want := (n*4 + 30) * memtest.Cycle; r != want {
		t.Errorf("reads beside writes end at %d, want %d", r, want)
	}
	if want := (n*4 + 15 + 50) * memtest.Cycle; w != want {
		t.Errorf("writes beside reads end at %d, want %d", w, want)
	}
	require.Same(t, n*128, memtest.Counter(t, p, "read_bytes"), "bytes counted")
}

// TestPortWithoutLimit: a port in front of a DRAM that has no limit is as fast as one that never reaches its limit.
func TestPortWithoutLimit(t *testing.T) {
	times := func(limit int) (all []sim.Time) {
		cfg := interconnect.BusConfig{Name: "narrow", Hz: 1e9, BytesPerCycle: 2, LatencyCycles: 15, Outstanding: limit}
		p := require.V(interconnect.NewBus(cfg, memtest.NewDRAM(t, nil)))(t).Port("p")
		for i := range uint64(300) {
			done, _ := p.Access(sim.Time(i*i%701)*sim.Nanosecond*40, i*64, 64, mem.Kind(i/7%2))
			all = append(all, done)
		}
		return all
	}
	if a, b := times(0), times(1000); !slices.Equal(a, b) {
		t.Errorf("%v, want %v", a, b)
	}
}

// TestBusOutstanding: a port with a limit gets limit*bytes per latency.
func TestBusOutstanding(t *testing.T) {
	for _, limit := range []int{1, 4, 8} {
		p := memtest.NewBus(t, &memtest.Flat{Latency: 70 * memtest.Cycle}, limit).Port("p")
		const n = 800
		var last sim.Time
		for i := range uint64(n) {
			done, _ := p.Access(0, i*32, 32, mem.Read)
			last = max(last, done)
		}
		want := float64(n/limit) * float64(100*memtest.Cycle)
		if !(math.Abs(float64(last)-want) <= 0.02*want) {
			t.Errorf("limit %d: %d fs, want %.0f", limit, last, want)
		}
	}
}

// TestBusRetime: behind a change of the clock reads of a byte occupy the channel for a cycle of the new one.
func TestBusRetime(t *testing.T) {
	b := memtest.NewBus(t, memtest.NewDRAM(t, nil), 0)
	p := b.Port("p")
	p.Access(0, 0, 1, mem.Read)
	b.Reset()
	const cycle = 100 * memtest.Cycle // more than the DRAM needs
	b.Retime(int64(sim.Second / cycle))
	var done sim.Time
	for i := range uint64(64) {
		done, _ = p.Access(0, i, 1, mem.Read)
	}
	require.Same(t, (2*15+64)*cycle, done, "latency of both ways and 64 reads")
}

func TestBusConfigErrors(t *testing.T) {
	require.ErrorContains(t, require.Err(interconnect.NewBus(interconnect.BusConfig{Name: "b", Hz: 1e9}, &memtest.Flat{})), "BytesPerCycle", "bus")
}

// TestPortServes: a DRAM behind a bus serves powers of two up to the bytes in one channel; other memories serve none.
func TestPortServes(t *testing.T) {
	d := memtest.NewDRAM(t, nil)
	p, none := memtest.NewBus(t, d, 0).Port("p"), memtest.NewBus(t, &memtest.Flat{}, 0).Port("p")
	for n := -1; n <= 2*d.ChunkBytes(); n++ {
		want := n == 1 || n == 2 || n >= 4 && n <= d.ChunkBytes() && n&(n-1) == 0
		require.Same(t, want, p.Serves(n), "a DRAM serves", n, "bytes")
		if none.Serves(n) {
			t.Errorf("another memory serves %d bytes", n)
		}
	}
}
