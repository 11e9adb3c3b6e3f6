package cache_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// opaque hides the type of a level.
type opaque struct{ mem.Level }

// TestDirect runs the same accesses on two hierarchies, in one of which no level knows that a bus and a DRAM are behind
// it: times, reasons and counters must be the same.
func TestDirect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		dc := memtest.LPDDR4X()
		dc.InterleaveBytes, dc.WriteQueue, dc.XORBanks = 64<<r.IntN(3), []int{0, 1, 16}[r.IntN(3)], r.IntN(2) > 0
		dc.Refresh = dram.RefreshKind(r.IntN(3))
		dc.TRFCpb = 14 * sim.Nanosecond
		bc := interconnect.BusConfig{Name: "bus", Hz: 1_066_000_000, BytesPerCycle: 32, LatencyCycles: 16, Outstanding: 3 * r.IntN(2)}
		cc := memtest.L2()
		cc.Bytes, cc.Ways, cc.MSHRs = 1<<14, 1<<r.IntN(4), 1+r.IntN(20)
		cc.Replacement, cc.Prefetch, cc.PrefetchDegree = cache.Replacement(r.IntN(4)/3), cache.PrefetchKind(r.IntN(4)/3), 2
		var caches [2]*cache.Cache
		var ports [2]*interconnect.Port
		var drams [2]*dram.DRAM
		for k := range caches {
			d := require.V(dram.New(dc))(t)
			var behind mem.Level = d
			if k == 1 {
				behind = opaque{d}
			}
			b := require.V(interconnect.NewBus(bc, behind))(t)
			p := b.Port("port")
			behind = &mem.Path{Next: p, Delay: 130 * sim.Nanosecond}
			if k == 1 {
				behind = opaque{behind}
			}
			drams[k], ports[k], caches[k] = d, p, memtest.NewCache(t, behind, func(c *cache.Config) { *c = cc })
		}
		now, stream := sim.Time(0), uint64(0)
		for j := range 5000 {
			now += sim.Time(r.IntN(40)) * sim.Nanosecond
			addr, n, kind := r.Uint64N(1<<16), []int{0, 1, 100, 128, 300}[r.IntN(5)], mem.Kind(r.IntN(3))
			if r.IntN(2) > 0 {
				stream += 128
				addr, n = 1<<20+stream, 128
			}
			var done [2]sim.Time
			var from [2]sim.Reason
			for k := range caches {
				if j%7 == 0 {
					done[k], from[k] = ports[k].Access(now, addr, n, kind)
				} else {
					done[k], from[k] = caches[k].Access(now, addr, n, kind)
				}
			}
			if done[0] != done[1] || from[0] != from[1] {
				t.Fatalf("hierarchy %d, access %d: done at %d from %v, want %d from %v", i, j, done[0], from[0], done[1], from[1])
			}
		}
		count := func(k int) string {
			return fmt.Sprint(caches[k].Counters(), ports[k].Counters(), drams[k].Counters())
		}
		if a, b := count(0), count(1); a != b {
			t.Fatalf("hierarchy %d: the counters differ:\n%s\n%s", i, a, b)
		}
	}
}
