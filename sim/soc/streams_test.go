package soc

import (
	"testing"

	"github.com/nnsoc/nnsoc/sim"
)

// streams is the bytes per second of a requester that reads some streams and writes
// some, a line of each in turn, with so many reads and as many posted writes in
// flight. Streams begin in different banks.
func streams(t *testing.T, c *Config, wayNs float64, line, inFlight, reads, writes int) float64 {
	t.Helper()
	level, d, err := c.NewPath("probe", wayNs)
	if err != nil {
		t.Fatal(err)
	}
	r := probe{level: level, line: line, window: make([]sim.Time, inFlight)}
	w := probe{level: level, line: line, window: make([]sim.Time, inFlight)}
	const lines = 1 << 12
	apart := uint64(64<<20 + c.DRAM.RowBytes*c.DRAM.Channels)
	for i := range uint64(lines) {
		for s := range uint64(reads) {
			r.read(s*apart + i*uint64(line))
		}
		w.now = max(w.now, r.now)
		for s := range uint64(writes) {
			w.write((uint64(reads)+s)*apart + i*uint64(line))
		}
		r.now = max(r.now, w.now)
	}
	last := max(r.last, w.last)
	return float64(lines*(reads+writes)*line) / max(last, d.Flush(last)).Seconds()
}

// TestEngineStreams: what engines of the Snapdragon 855 and the like draw from
// memory, as published. An Adreno 640 reads just under 30 GB/s (Chips and Cheese;
// ArchProbe 30.1 to 30.5); one Cortex-A76 on the same kind of memory copies 10.8 to
// 12.8 GB/s, bytes counted once (sbc-bench, RK3588), its prefetcher keeping the misses
// of L2 in flight, and a way through three caches.
func TestEngineStreams(t *testing.T) {
	c, err := Load("pixel4")
	if err != nil {
		t.Fatal(err)
	}
	gpu := c.Voted(&c.GPU.Clock, sim.FastSingleAnswer)
	if got := streams(t, gpu, c.GPU.MemoryNs, c.GPU.L2.LineBytes, c.GPU.L2.MSHRs, 1, 0) / 1e9; got < 28.5 || got > 31 {
		t.Errorf("GPU: one stream of reads %.1f GB/s, published just under 30", got)
	}
	if got := streams(t, gpu, c.GPU.MemoryNs, c.GPU.L2.LineBytes, c.GPU.L2.MSHRs, 2, 0) / 1e9; got < 23 {
		t.Errorf("GPU: two streams of reads %.1f GB/s, want at least 23", got)
	}
	prime := &c.CPU.Clusters[0]
	cpu := c.Voted(&prime.Clock, sim.FastSingleAnswer)
	way := float64(prime.L1D.HitCycles+prime.L2.HitCycles+c.CPU.L3.HitCycles) / prime.Clock.FastMHz * 1e3
	if got := streams(t, cpu, way, c.CPU.L3.LineBytes, prime.L2.MSHRs, 1, 1) / 2e9; got < 10.8*0.9 || got > 12.8*1.1 {
		t.Errorf("A76: copies %.1f GB/s, published 10.8 to 12.8", got)
	} else {
		t.Logf("A76 copies %.1f GB/s", got)
	}
	// The lower the engine's point, the lower its vote and what it gets.
	last := 0.0
	for _, p := range []sim.Preference{sim.LowPower, sim.SustainedSpeed, sim.FastSingleAnswer} {
		v := c.Voted(&c.GPU.Clock, p)
		got := streams(t, v, c.GPU.MemoryNs, c.GPU.L2.LineBytes, c.GPU.L2.MSHRs, 1, 0)
		if peak := v.DRAM.MTPerS * 8e6; got < 1.2*last || got > peak || got < 0.85*peak {
			t.Errorf("preference %d: %.1f GB/s of %.1f, %.1f at the point below", p, got/1e9, peak/1e9, last/1e9)
		}
		last = got
	}
	if c.DRAM.MTPerS != 4266 {
		t.Error("a vote changed the SoC")
	}
}
