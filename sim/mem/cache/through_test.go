package cache

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestWriteThrough runs the same accesses on two pairs of caches, lines of one through ReadLine and writes through
// WriteThrough or as bursts where those succeed: times, counters and the contents of the caches must be the same.
func TestWriteThrough(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	for _, x := range []struct {
		prefetch             PrefetchKind // of the cache behind
		width, entries, fill int
	}{
		{PrefetchNone, 8, 2, 0}, {PrefetchNextLine, 8, 2, 0}, {PrefetchNone, 8, 0, 0}, {PrefetchNone, 64, 2, 0},
		{PrefetchNone, 64, 0, 2}, {PrefetchNextLine, 64, 0, 2}, // which read lines in one step
	} {
		var l1, l2 [2]*Cache
		for i := range l1 {
			l1[i], l2[i] = pair(t, x.prefetch, x.width, x.entries, x.fill)
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
			var from [2]sim.Reason
			for i := range l1 {
				switch {
				case kind == 0 && i == 0:
					done[i], from[i] = l1[i].Access(now, addr&^63, 64, mem.Read)
				case kind == 0:
					done[i], from[i] = l1[i].ReadLine(now, addr&^63)
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
						if a := addr&^63 + (addr+8*j)&56; calm { // all behind one that found the ports free
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
			if done[0] != done[1] || from[0] != from[1] {
				t.Fatalf("access %d: done at %d, with WriteThrough at %d", k, done[0], done[1])
			}
		}
		for _, l := range [][2]*Cache{l1, l2} {
			if a, b := fmt.Sprint(l[0].Counters(), held(l[0]), l[0].bankFree), fmt.Sprint(l[1].Counters(), held(l[1]), l[1].bankFree); a != b {
				t.Errorf("%+v: the caches differ:\n%.300s\n%.300s", x, a, b)
			}
		}
		if taken < 10_000 || bursts < 10_000 || calms < 10_000 {
			t.Errorf("%+v: %d writes only, %d in bursts, %d of them calm", x, taken, bursts, calms)
		}
	}
}

// pair is a write-through cache in front of one that writes back.
func pair(t *testing.T, prefetch PrefetchKind, width, entries, fill int) (l1, l2 *Cache) {
	far, err := mem.NewScratchpad(mem.ScratchpadConfig{Name: "far", Hz: 1e9, Bytes: 1 << 20, Banks: 1, BankBytes: 64, LatencyCycles: 50})
	require.NoError(t, err)
	l2, err = New(Config{Name: "l2", Hz: 1e9, Bytes: 4096, LineBytes: 128, Ways: 4, HitCycles: 9, BytesPerCycle: 128,
		Banks: 1, MSHRs: 3, Prefetch: prefetch, PrefetchDegree: 1, Reason: sim.StallL2}, far)
	require.NoError(t, err)
	l1, err = New(Config{Name: "l1", Hz: 1e9, Bytes: 1024, LineBytes: 64, Ways: 2, Write: WriteThrough, HitCycles: 3,
		BytesPerCycle: width, Banks: 2, MSHRs: entries, FillCycles: fill, Reason: sim.StallL1}, l2)
	require.NoError(t, err)
	return l1, l2
}

// TestDropRead: a line that ReadLine has brought is there.
func TestDropRead(t *testing.T) {
	c, _ := pair(t, PrefetchNone, 64, 0, 0)
	if c.ReadLine(0, 0); !c.Drop(0, 64) {
		t.Error("no line was dropped")
	}
}

// held is the contents of a cache, set by set, from the most to the least recently used line.
func held(c *Cache) (lines []line) {
	for set, s := range c.sets {
		for range c.ways {
			lines = append(lines, c.lines[uint32(set)*c.ways+uint32(s.order&15)])
			s.order >>= 4
		}
	}
	return lines
}
