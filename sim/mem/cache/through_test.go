package cache

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestWriteThrough gives the same accesses to two pairs of caches, writes of one
// through WriteThrough or as bursts where those answer: times, counters and what
// the caches hold must stay the same.
func TestWriteThrough(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	for _, prefetch := range []PrefetchKind{PrefetchNone, PrefetchNextLine} {
		var l1, l2 [2]*Cache
		for i := range l1 {
			var err error
			far, err := mem.NewScratchpad(mem.ScratchpadConfig{Name: "far", Hz: 1e9, Bytes: 1 << 20, Banks: 1, BankBytes: 64, LatencyCycles: 50})
			require.NoError(t, err)
			if l2[i], err = New(Config{Name: "l2", Hz: 1e9, Bytes: 4096, LineBytes: 128, Ways: 4, HitCycles: 9, BytesPerCycle: 128,
				Banks: 1, MSHRs: 3, Prefetch: prefetch, PrefetchDegree: 1, Reason: sim.StallL2}, far); err != nil {
				t.Fatal(err)
			}
			if l1[i], err = New(Config{Name: "l1", Hz: 1e9, Bytes: 1024, LineBytes: 64, Ways: 2, Write: WriteThrough, HitCycles: 3,
				BytesPerCycle: 8, Banks: 2, MSHRs: 2, Reason: sim.StallL1}, l2[i]); err != nil {
				t.Fatal(err)
			}
		}
		now, taken, bursts, calms, last := sim.Time(0), 0, 0, 0, uint64(0)
		for k := range 200_000 {
			now += sim.Time(r.Intn(8)) * sim.Nanosecond
			if k%8 == 0 {
				now += 40 * sim.Nanosecond // the ports get free
			}
			addr, n := uint64(r.Intn(1<<13)), 1<<r.Intn(5)
			if r.Intn(2) > 0 {
				addr = last&^63 + addr&63
			}
			last = addr
			if r.Intn(3) > 0 {
				addr &= 0x7ff
			}
			kind := (k >> 2) % 7
			if k%3 == 0 {
				kind = r.Intn(7)
			}
			var done [2]sim.Time
			for i := range l1 {
				switch {
				case kind < 3:
					done[i], _ = l1[i].Access(now, addr, n, mem.Read)
				case kind == 3 && k%2 == 0:
					l1[i].Drop(addr, 128)
				case kind == 3 && k%16 == 13:
					done[i] = l2[i].Clean(now)
				case kind == 4:
					done[i], _ = l2[i].Access(now, addr&^127, 128, mem.Write)
				case kind == 5: // several writes to one line
					var b Burst
					calm, burst := false, i == 1 && l1[i].BeginBurst(&b, addr, 8)
					for j := range uint64(1 + k%5) {
						at := now + sim.Time(j)*sim.Nanosecond
						if a := addr&^63 + (addr+8*j)&56; calm { // all that come behind one that found the ports free
							calms++
							b.AddStallFree(at, 1)
							done[i] += at + 12*sim.Nanosecond
						} else if burst {
							d := b.Write(at)
							done[i] += d
							calm = d == at+12*sim.Nanosecond
						} else {
							d, _ := l1[i].Access(at, a, 8, mem.Write)
							done[i] += d
						}
					}
					if burst {
						bursts += int(l1[i].EndBurst(&b))
					}
				default:
					ok := false
					if i == 1 {
						if done[i], ok = l1[i].WriteThrough(now, addr, n); ok {
							taken++
						}
					}
					if !ok {
						done[i], _ = l1[i].Access(now, addr, n, mem.Write)
					}
				}
			}
			if done[0] != done[1] {
				t.Fatalf("access %d: done at %d, with WriteThrough at %d", k, done[0], done[1])
			}
		}
		for _, l := range [][2]*Cache{l1, l2} {
			if a, b := fmt.Sprint(l[0].Counters(), held(l[0]), l[0].bankFree), fmt.Sprint(l[1].Counters(), held(l[1]), l[1].bankFree); a != b {
				t.Errorf("prefetch %d: the caches differ:\n%.300s\n%.300s", prefetch, a, b)
			}
		}
		if taken < 10_000 || bursts < 10_000 || calms < 10_000 {
			t.Errorf("prefetch %d: %d writes only, %d in bursts, %d of them calm", prefetch, taken, bursts, calms)
		}
	}
}

// held is what a cache holds, set by set, from the line used last to that used
// first.
func held(c *Cache) (lines []line) {
	for set, s := range c.sets {
		for range c.ways {
			lines = append(lines, c.lines[uint32(set)*c.ways+uint32(s.order&15)])
			s.order >>= 4
		}
	}
	return lines
}
