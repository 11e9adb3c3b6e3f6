package soc

import (
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
)

// TestSystemCacheOfPresets: an engine that reads twice what fits its part of the system cache finds it the second time,
// as fast as the fabric; presets without one read DRAM again.
func TestSystemCacheOfPresets(t *testing.T) {
	c := require.V(Load("pixel4"))(t)
	m := require.V(c.NewSharedMemory())(t)
	const total = 2 << 20
	p := probe{level: m.Ports[EngineGPU], line: 64, window: make([]sim.Time, 256)}
	pass := func() float64 {
		start := p.last
		p.now = start
		for at := uint64(0); at < total; at += 64 {
			p.read(at)
		}
		return total / (p.last - start).Seconds() / 1e9
	}
	cold, warm := pass(), pass()
	if cold > 32 || warm < 33.5 || warm > 34.2 {
		t.Errorf("%.1f GB/s cold, %.1f from the system cache", cold, warm)
	}
	if bytes, rate := c.Share(EngineGPU); bytes != 2560<<10 || rate != 64e9 { // 10 of 12 ways, 4 banks of 16 bytes at 1 GHz
		t.Errorf("the GPU's share is %d bytes at %v byte/s", bytes, rate)
	}
	if bytes, rate := c.Share(EngineCPU); bytes != 0 || rate != 0 {
		t.Errorf("the CPU's share is %d bytes at %v byte/s", bytes, rate)
	}
	if n := m.Cache.Count(int(EngineGPU), interconnect.SystemReadHit); n != total/64 {
		t.Errorf("%d lines hit, want all %d", n, total/64)
	}
	for _, name := range Names() {
		c := require.V(Load(name))(t)
		m := require.V(c.NewSharedMemory())(t)
		if has := name == "pixel4" || name == "sd888"; (m.Cache != nil) != has {
			t.Errorf("%s: system cache %v", name, m.Cache != nil)
		}
	}
}

// TestSystemCacheErrors: keys that do not fit are reported at their place.
func TestSystemCacheErrors(t *testing.T) {
	data := require.V(os.ReadFile("pixel4.toml"))(t)
	for _, x := range []struct{ old, with, want string }{
		{"kib = 3072", "kib = 3000", "sets, want a power of two"},
		{"ways = 10 ", "ways = 13 ", "gpu.system_cache.ways: 13 of 12 ways"},
		{"\nbyte = 1.75", "\nbite = 1.75", "system_cache.energy.pj"},
		{"[system_cache]\n", "[system_cache]\nmshrs = 3\n", "unknown key"},
		{"reads = true         # assumed D-561\nwrites = true ", "reads = false\nwrites = false ", "keeps neither reads nor writes"},
	} {
		text := strings.Replace(string(data), x.old, x.with, 1)
		if text == string(data) {
			t.Fatalf("%q is not in the file", x.old)
		}
		require.ErrorContains(t, require.Err(Parse("x.toml", []byte(text))), x.want, x.with)
	}
	text := string(data)
	from, to := strings.Index(text, "[system_cache]"), strings.Index(text, "[host]")
	if _, err := Parse("x.toml", []byte(text[:from]+text[to:])); err == nil || !strings.Contains(err.Error(), "gpu.system_cache: takes no effect") {
		t.Errorf("allocations without a cache: %v", err)
	}
}
