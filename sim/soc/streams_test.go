package soc

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// TestEngineStreams: the memory bandwidth of engines of the Snapdragon 855 and the like, as published. An Adreno 640
// reads just under 30 GB/s (Chips and Cheese; ArchProbe 30.1 to 30.5); one Cortex-A76 on the same kind of memory copies
// 10.8 to 12.8 GB/s, bytes counted once (sbc-bench, RK3588), its prefetcher keeping the misses of L2 in flight, and a
// path through three caches.
func TestEngineStreams(t *testing.T) {
	c := require.V(Load("pixel4"))(t)
	rate := func(e Engine, p sim.Preference, reads, writes int) float64 {
		t.Helper()
		got := require.V(c.StreamRate(e, p, reads, writes))(t)
		return got / 1e9
	}
	if got := rate(EngineGPU, sim.FastSingleAnswer, 1, 0); got < 28.5 || got > 31 {
		t.Errorf("GPU: one stream of reads %.1f GB/s, published just under 30", got)
	}
	if got := rate(EngineGPU, sim.FastSingleAnswer, 2, 0); got < 23 {
		t.Errorf("GPU: two streams of reads %.1f GB/s, want at least 23", got)
	}
	if got := rate(EngineCPU, sim.FastSingleAnswer, 1, 1) / 2; got < 10.8*0.9 || got > 12.8*1.1 {
		t.Errorf("A76: copies %.1f GB/s, published 10.8 to 12.8", got)
	}
	if got := rate(EngineCPU, sim.FastSingleAnswer, 0, 1); got < 29*0.9 || got > 30*1.1 {
		t.Errorf("A76: writes %.1f GB/s, published 29 to 30", got)
	}
	// The lower the engine's point, the lower its vote and its bandwidth.
	last := 0.0
	for _, p := range []sim.Preference{sim.LowPower, sim.SustainedSpeed, sim.FastSingleAnswer} {
		got := rate(EngineGPU, p, 1, 0)
		if peak := c.Voted(&c.GPU.Clock, p).DRAM.MTPerS * 8 / 1e3; got < 1.2*last || got > peak || got < 0.85*peak {
			t.Errorf("preference %d: %.1f GB/s of %.1f, %.1f at the point below", p, got, peak, last)
		}
		last = got
	}
	if c.DRAM.MTPerS != 4266 {
		t.Error("a vote changed the SoC")
	}
}

// TestStreamsFitTheirMemory: no engine exceeds at any of its points the bandwidth of the DRAM's pins at the clock that
// it votes for, between refreshes; data in a write-back cache has to leave it.
func TestStreamsFitTheirMemory(t *testing.T) {
	for _, name := range []string{"pixel4", "sd888", "xclipse920"} {
		c := require.V(Load(name))(t)
		for e := range NumEngines {
			x, err := c.requester(e)
			if err != nil {
				continue // the SoC has none
			}
			for p := range sim.NumPreferences {
				d := &c.Voted(x.clock, p).DRAM
				peak := d.MTPerS * 1e6 * float64(d.Channels*d.BusBits/8) * (1 - d.TRFCabNs/d.TREFINs)
				for _, streams := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {2, 1}} {
					got := require.V(c.StreamRate(e, p, streams[0], streams[1]))(t)
					if got > peak || got < peak/8 {
						t.Errorf("%s, %v, preference %d, streams %v: %.2f GB/s, the pins carry %.2f", name, e, p, streams, got/1e9, peak/1e9)
					}
				}
			}
		}
	}
}

// TestRequesters: the requests of a Pixel 4's engines: a core of the CPU's first cluster behind three caches, GPU and
// DSP by lines of their L2, the NPU by two regions.
func TestRequesters(t *testing.T) {
	c := require.V(Load("pixel4"))(t)
	big := &c.CPU.Clusters[0]
	for e, want := range map[Engine]requester{
		EngineCPU: {&big.Clock, sim.Nanoseconds(float64(big.L1D.HitCycles+big.L2.HitCycles+c.CPU.L3.HitCycles) / big.Clock.FastMHz * 1e3), 64, big.L2.MSHRs},
		EngineGPU: {&c.GPU.Clock, sim.Nanoseconds(c.GPU.MemoryNs), 64, c.GPU.L2.MSHRs},
		EngineDSP: {&c.DSP.Clock, sim.Nanoseconds(c.DSP.MemoryNs), 128, c.DSP.L2.MSHRs},
		EngineNPU: {&c.NPU.Clock, sim.Nanoseconds(c.NPU.MemoryNs), 64 << 10, 2},
	} {
		require.Same(t, want, require.V(c.requester(e))(t), e)
	}
	c.NPU = nil
	require.Fails(t, require.Err(c.requester(EngineNPU)), "an engine that is not there asks for memory")
}

// TestMemoryUseSince: the use since a point is the difference, field by field.
func TestMemoryUseSince(t *testing.T) {
	use := func(x int64) MemoryUse {
		u := MemoryUse{ReadHits: 6 * x, ReadMisses: 7 * x, WriteHits: 8 * x, WriteMisses: 9 * x, Fills: 10 * x, WriteBacks: 11 * x, PJ: 12 * float64(x)}
		u.ReadBursts, u.WriteBursts, u.RowHits, u.Activates, u.Wait = x, 2*x, 3*x, 4*x, sim.Time(5*x)
		return u
	}
	if got := use(9).Since(use(4)); got != use(5) {
		t.Errorf("%+v, want %+v", got, use(5))
	}
}
