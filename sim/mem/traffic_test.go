package mem_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

var update = flag.Bool("update", false, "write testdata/traffic.txt")

// TestTraffic: random reads and writes, near each other and apart, in bursts and after idle spans, cost the times, the
// energy and the events of testdata/traffic.txt through DRAM of every refresh, row policy, scheduler and order of
// addresses, through caches, a bus and a system cache. The rules have closed forms in the tests of the packages; this
// pins their interplay.
func TestTraffic(t *testing.T) {
	ns := func(v float64) sim.Time { return sim.Time(v * 1e6) }
	type row struct {
		name  string
		level func() mem.Level
	}
	var rows []row
	add := func(name string, level func() mem.Level) { rows = append(rows, row{name, level}) }
	for name, change := range map[string]func(*dram.Config){
		"no refresh": nil,
		"all banks":  func(c *dram.Config) { c.Refresh = dram.RefreshAllBanks },
		"per bank":   func(c *dram.Config) { c.Refresh = dram.RefreshPerBank },
		"self refresh": func(c *dram.Config) {
			c.Refresh, c.SelfRefreshAfter, c.TXSR = dram.RefreshAllBanks, ns(3000), ns(290)
		},
		"per bank, self refresh": func(c *dram.Config) {
			c.Refresh, c.SelfRefreshAfter, c.TXSR = dram.RefreshPerBank, ns(2000), ns(290)
		},
		"closed rows":   func(c *dram.Config) { c.RowPolicy = dram.ClosedRows{} },
		"rows time out": func(c *dram.Config) { c.RowPolicy, c.Refresh = dram.TimeoutRows{Clocks: 40}, dram.RefreshPerBank },
		"first come":    func(c *dram.Config) { c.Scheduler = dram.FCFS{} },
		"small queues":  func(c *dram.Config) { c.QueueDepth, c.WriteQueue, c.WriteIdle = 4, 6, 2 },
		"XOR of banks":  func(c *dram.Config) { c.XORBanks = true },
		"LPDDR5": func(c *dram.Config) {
			c.TransfersPerClock, c.TransfersPerSec, c.Banks, c.InterleaveBytes = 8, 6_400_000_000, 16, 512
		},
	} {
		add("dram, "+name, func() mem.Level { return memtest.NewDRAM(t, change) })
	}
	for _, order := range dram.MappingOrders() {
		add("dram, "+order, func() mem.Level { return memtest.NewDRAM(t, func(c *dram.Config) { c.Order = order }) })
	}
	ram := func() *dram.DRAM {
		return memtest.NewDRAM(t, func(c *dram.Config) { c.Refresh = dram.RefreshPerBank })
	}
	for name, change := range map[string]func(*cache.Config){
		"L2": nil, "small": func(c *cache.Config) { c.Bytes, c.Ways, c.MSHRs, c.Banks = 4<<10, 2, 2, 2 },
		"narrow": func(c *cache.Config) { c.LineBytes, c.BytesPerCycle, c.MSHRs = 64, 8, 1 },
	} {
		add("cache, "+name, func() mem.Level { return memtest.NewCache(t, ram(), change) })
	}
	for name, change := range map[string]func(*interconnect.SystemCacheConfig){
		"whole": nil, "small": func(c *interconnect.SystemCacheConfig) { c.Bytes = 12 << 10 },
		"slow": func(c *interconnect.SystemCacheConfig) { c.Banks, c.BytesPerCycle, c.HitCycles = 1, 4, 90 },
	} {
		add("system cache, "+name, func() mem.Level { return memtest.NewSystemCache(t, ram(), change) })
	}
	add("bus", func() mem.Level { return memtest.NewBus(t, ram(), 4).Port("x") })
	var text strings.Builder
	for _, x := range sorted(rows, func(r row) string { return r.name }) {
		for seed := range uint64(2) {
			fmt.Fprintf(&text, "%s %d: %s\n", x.name, seed, traffic(x.level(), seed))
		}
	}
	const file = "testdata/traffic.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	b := require.File(t, file)
	want := strings.Split(string(b), "\n")
	for i, line := range strings.Split(text.String(), "\n") {
		if i >= len(want) || line != want[i] {
			t.Errorf("line %d:\n%s\nwant\n%s", i+1, line, strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
		}
	}
}

func sorted[T any](list []T, key func(T) string) []T {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	return list
}

// traffic runs 600 accesses and reports when they ended, on average and at last, by reason of their wait, with the
// energy and the events.
func traffic(l mem.Level, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 25))
	var now, last, sum sim.Time
	var reasons [sim.NumReasons]int
	at := uint64(0)
	for range 600 {
		switch r.IntN(8) {
		case 0: // elsewhere
			at = uint64(r.IntN(1<<24)) &^ 63
		case 1: // another row of the bank
			at += 1 << 18
		default:
			at += 64
		}
		switch r.IntN(40) {
		case 0:
			now = max(now, last) + sim.Time(r.IntN(9000))*sim.Nanosecond
		case 1, 2, 3:
			now += sim.Time(r.IntN(200)) * sim.Nanosecond
		default:
			now += sim.Time(r.IntN(4)) * sim.Nanosecond
		}
		kind := mem.Read
		if r.IntN(3) == 0 {
			kind = mem.Write
		}
		done, reason := l.Access(now, at, 32<<r.IntN(4), kind)
		reasons[reason]++
		last, sum = max(last, done), sum+done-now
	}
	if f, ok := l.(interface{ Flush(sim.Time) sim.Time }); ok {
		last = f.Flush(last)
	}
	s := fmt.Sprintf("mean %d ps, last %d ps", sum/600/sim.Picosecond, last/sim.Picosecond)
	for i, n := range reasons {
		if n > 0 {
			s += fmt.Sprintf(" %v %d", sim.Reason(i), n)
		}
	}
	if pj, mw := mem.EnergyOf(l); pj != 0 || mw != 0 {
		s += fmt.Sprintf(" %.6g pJ %.6g mW", pj, mw)
	}
	if c, ok := l.(interface{ Counters() []sim.Counter }); ok {
		for _, c := range c.Counters() {
			if c.Value > 0 {
				s += fmt.Sprintf(" %s %d", c.Name, c.Value)
			}
		}
	}
	return s
}
