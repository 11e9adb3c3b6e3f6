package mem_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

func TestScratchpadBeats(t *testing.T) {
	s := memtest.NewScratchpad(t) // 32 banks x 4 bytes, 4 cycles
	for _, k := range []struct {
		addr uint64
		n    int
		kind mem.Kind
		want sim.Time
	}{
		{0, 128, mem.Read, 4}, {0, 1, mem.Read, 4}, {64, 128, mem.Read, 5}, {0, 512, mem.Read, 7},
		{0, 128, mem.Write, 1}, {4, 128, mem.Write, 2}, {0, 0, mem.Read, 0},
	} {
		s.Reset()
		done, from := s.Access(sim.Microsecond, k.addr, k.n, k.kind)
		if got := done - sim.Microsecond; got != k.want*memtest.Cycle || from != sim.StallScratchpad {
			t.Errorf("%d bytes at %d: %d fs (%s), want %d cycles", k.n, k.addr, got, from, k.want)
		}
	}
}

// TestScratchpadBandwidth: contiguous beats transfer one per cycle, whoever the requester.
func TestScratchpadBandwidth(t *testing.T) {
	s := memtest.NewScratchpad(t)
	const n = 10_000
	var last sim.Time
	for i := range uint64(n) {
		done, _ := s.Access(0, i*128%(1<<18), 128, mem.Kind(i%2))
		last = max(last, done)
	}
	if last < n*memtest.Cycle || last > (n+4)*memtest.Cycle {
		t.Errorf("%d beats in %d fs", n, last)
	}
	if r, w := memtest.Counter(t, s, "read_beat"), memtest.Counter(t, s, "write_beat"); r != n/2 || w != n/2 {
		t.Errorf("%d beats read and %d written, want %d", r, w, n/2)
	}
}

// TestScratchpadConflicts compares with a count of distinct words per bank.
func TestScratchpadConflicts(t *testing.T) {
	s := memtest.NewScratchpad(t)
	rapid.Check(t, func(t *rapid.T) {
		var addr [64]uint32
		span := rapid.SampledFrom([]int{64, 512, 4096, 1 << 16}).Draw(t, "span")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for i := range addr {
			addr[i] = uint32(r.IntN(span))
		}
		mask := rapid.Uint64().Draw(t, "mask")
		words := map[uint32]bool{}
		var perBank [32]int
		want := 0
		for i, a := range addr {
			if mask>>i&1 == 1 && !words[a/4] {
				words[a/4] = true
				perBank[a/4%32]++
				want = max(want, perBank[a/4%32])
			}
		}
		if got := s.ConflictDegree(&addr, mask); got != want {
			t.Fatalf("degree %d, want %d", got, want)
		}
	})
	var same, stride [64]uint32
	for i := range stride {
		stride[i] = uint32(i) * 128
	}
	s.Reset()
	if done, _ := s.Lanes(0, &same, ^uint64(0), mem.Read); done != 4*memtest.Cycle {
		t.Errorf("broadcast takes %d fs, want 4 cycles", done)
	}
	if done, _ := s.Lanes(sim.Microsecond, &stride, 1<<32-1, mem.Read); done-sim.Microsecond != (4+31)*memtest.Cycle {
		t.Errorf("32 lanes on one bank take %d fs, want 35 cycles", done-sim.Microsecond)
	}
	require.Same(t, 31, memtest.Counter(t, s, "conflict_beat"), "conflict beats")
	if done, _ := s.Lanes(2*sim.Microsecond, &same, 0, mem.Read); done != 2*sim.Microsecond {
		t.Error("no lanes, but time passes")
	}
}

func newDMA(t testing.TB, outstanding int) *mem.DMA {
	t.Helper()
	e, err := mem.NewDMA(mem.DMAConfig{
		Name: "dma", Hz: 1_000_000_000, BurstBytes: 128, Outstanding: outstanding,
		StartCycles: 20, IssueCycles: 1, Queue: 4,
	})
	require.NoError(t, err)
	return e
}

// TestDMALatency: one burst costs set-up, read and write.
func TestDMALatency(t *testing.T) {
	e := newDMA(t, 4)
	from, to := &memtest.Flat{Latency: 80 * memtest.Cycle}, &memtest.Flat{Latency: 5 * memtest.Cycle}
	start, done := e.Run(sim.Microsecond, mem.Descriptor{From: from, To: to, Bytes: 128})
	if start != sim.Microsecond+20*memtest.Cycle || done != sim.Microsecond+105*memtest.Cycle {
		t.Errorf("started %d, done %d", start-sim.Microsecond, done-sim.Microsecond)
	}
	if from.Reads != 1 || to.Writes != 1 || from.Bytes != 128 || to.Bytes != 128 {
		t.Errorf("read %+v, wrote %+v", *from, *to)
	}
}

// TestDMAAdvance: an engine that has advanced to an instant has made all accesses that were due by then.
func TestDMAAdvance(t *testing.T) {
	for _, outstanding := range []int{1, 3} {
		e := newDMA(t, outstanding)
		from, to := &memtest.Flat{Latency: 80 * memtest.Cycle}, &memtest.Flat{Latency: 5 * memtest.Cycle}
		id, _ := e.Submit(0, mem.Descriptor{From: from, To: to, Bytes: 1000})
		steps := 0
		for !e.Finished(id) {
			next := e.Next()
			if e.Advance(next); e.Next() <= next {
				t.Fatalf("%d outstanding: at %d something is still due", outstanding, next)
			}
			steps++
		}
		if from.Bytes != 1000 || to.Bytes != 1000 || steps < 9 {
			t.Errorf("%d outstanding: read %+v, wrote %+v in %d steps", outstanding, *from, *to, steps)
		}
	}
}

// TestDMABandwidth: outstanding bursts per round trip, until one per issue
// cycle.
func TestDMABandwidth(t *testing.T) {
	for _, k := range []int{1, 8, 64, 256} {
		e := newDMA(t, k)
		from, to := &memtest.Flat{Latency: 80 * memtest.Cycle}, &memtest.Flat{Latency: 20 * memtest.Cycle}
		const bursts = 4096
		_, done := e.Run(0, mem.Descriptor{From: from, To: to, Bytes: bursts * 128})
		want := float64(bursts) * math.Max(100/float64(k), 1) * float64(memtest.Cycle)
		if !(math.Abs(float64(done)-want) <= 0.02*want+float64(130*memtest.Cycle)) {
			t.Errorf("%d outstanding: %d fs, want %.0f", k, done, want)
		}
	}
}

// TestDMAShape: a descriptor touches each byte once, in bursts that do not
// cross the burst size on the source side.
func TestDMAShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, dst := &touched{seen: map[uint64]int{}}, &touched{seen: map[uint64]int{}}
		e := require.V(mem.NewDMA(mem.DMAConfig{Name: "d", Hz: 1e9, BurstBytes: 64, Outstanding: 3, Queue: 2}))(t)
		d := mem.Descriptor{
			From: src, To: dst, Src: 1<<20 + rapid.Uint64Range(0, 200).Draw(t, "src"), Dst: 1<<30 + rapid.Uint64Range(0, 200).Draw(t, "dst"),
			Bytes: rapid.IntRange(1, 300).Draw(t, "bytes"), Rows: rapid.IntRange(0, 5).Draw(t, "rows"),
		}
		d.SrcStride = int64(d.Bytes + rapid.IntRange(0, 100).Draw(t, "gap"))
		d.DstStride = -int64(d.Bytes + rapid.IntRange(0, 100).Draw(t, "dgap"))
		_, done := e.Run(0, d)
		if done <= 0 {
			t.Fatal("takes no time")
		}
		for r := range max(d.Rows, 1) {
			for i := range d.Bytes {
				for _, a := range []struct {
					m  *touched
					at uint64
				}{{src, d.Src + uint64(int64(r)*d.SrcStride) + uint64(i)}, {dst, d.Dst + uint64(int64(r)*d.DstStride) + uint64(i)}} {
					if a.m.seen[a.at] != 1 {
						t.Fatalf("byte %#x touched %d times", a.at, a.m.seen[a.at])
					}
					delete(a.m.seen, a.at)
				}
			}
		}
		if len(src.seen) > 0 || len(dst.seen) > 0 {
			t.Fatalf("%d and %d other bytes touched", len(src.seen), len(dst.seen))
		}
		for _, n := range src.sizes {
			if n[0]/64 != (n[0]+n[1]-1)/64 {
				t.Fatalf("burst of %d at %#x crosses 64 bytes", n[1], n[0])
			}
		}
	})
}

type touched struct {
	seen  map[uint64]int
	sizes [][2]uint64
}

func (m *touched) Access(t sim.Time, a uint64, n int, _ mem.Kind) (sim.Time, sim.Reason) {
	for i := range uint64(n) {
		m.seen[a+i]++
	}
	m.sizes = append(m.sizes, [2]uint64{a, uint64(n)})
	return t + memtest.Cycle, sim.StallDRAM
}

func (m *touched) Reset() {}

// TestDMAQueue: descriptors run in order; a full queue makes the submitter wait; forgotten tickets return zero.
func TestDMAQueue(t *testing.T) {
	e := newDMA(t, 2)
	f := &memtest.Flat{Latency: 10 * memtest.Cycle}
	if start, done := e.Wait(-1); start != 0 || done != 0 {
		t.Errorf("no descriptor begun at %d, done at %d", start, done)
	}
	var ids []mem.Ticket
	for i := range 6 {
		id, at := e.Submit(0, mem.Descriptor{From: f, To: f, Bytes: 1024})
		ids = append(ids, id)
		if waited := at > 0; waited != (i >= 4) {
			t.Errorf("descriptor %d taken at %d", i, at)
		}
	}
	var before sim.Time
	for _, id := range ids[2:] {
		_, done := e.Wait(id)
		if done <= before {
			t.Errorf("descriptor %d done at %d, the one before at %d", id, done, before)
		}
		before = done
	}
	for _, id := range []mem.Ticket{-1, ids[0], ids[1], ids[5] + 1} { // never one, forgotten, not yet one
		if start, done := e.Wait(id); start != 0 || done != 0 {
			t.Errorf("descriptor %d begun at %d, done at %d", id, start, done)
		}
	}
	if e.Busy() || e.Next() != sim.Never {
		t.Error("busy after the last descriptor")
	}
	require.Same(t, 6*1024, memtest.Counter(t, e, "bytes"), "bytes")
	if _, done := e.Run(sim.Millisecond, mem.Descriptor{From: f, To: f}); done != sim.Millisecond+20*memtest.Cycle {
		t.Errorf("empty descriptor done at %d", done)
	}
}

// TestDMAReset: an engine that stops in the middle of its descriptors is then as a new one.
func TestDMAReset(t *testing.T) {
	flat := &memtest.Flat{Latency: 10 * memtest.Cycle}
	course := func(e *mem.DMA) (course [8]sim.Time) {
		for i := range 3 {
			id, _ := e.Submit(0, mem.Descriptor{From: flat, To: flat, Bytes: 512})
			if id != mem.Ticket(i) {
				t.Errorf("descriptor %d is number %d", i, id)
			}
		}
		e.Advance(45 * memtest.Cycle)
		course[0], course[1] = e.Next(), sim.Time(memtest.Counter(t, e, "burst"))
		for i := range 3 {
			course[2+2*i], course[3+2*i] = e.Wait(mem.Ticket(i))
		}
		return course
	}
	const c = memtest.Cycle
	// Of 4 bursts, 10 cycles to read and 10 to write, one or three are on their way at once.
	for outstanding, last := range map[int]sim.Time{1: 20 + 4*20, 3: 20 + 2*20} {
		e := newDMA(t, outstanding)
		want := course(e)
		if want[2] != 20*c || want[3] != last*c {
			t.Errorf("%d outstanding: the first lasts from %d to %d cycles, want 20 to %d", outstanding, want[2]/c, want[3]/c, last)
		}
		for stop := sim.Time(0); stop < 120; stop += 3 {
			for range 4 {
				e.Submit(0, mem.Descriptor{From: flat, To: flat, Bytes: 700})
			}
			e.Advance(stop * c)
			e.Reset()
			if e.Busy() || e.Next() != sim.Never || memtest.Counter(t, e, "descriptor")+memtest.Counter(t, e, "bytes")+memtest.Counter(t, e, "burst") != 0 {
				t.Errorf("stopped after %d cycles: not idle", stop)
			}
			require.Same(t, want, course(e), "stopped after", stop, "cycles")
			e.Reset()
		}
	}
}

// TestDMABesideCore: a core that advances the engine before its accesses contends only with the bursts issued before,
// not with the whole transfer.
func TestDMABesideCore(t *testing.T) {
	e := newDMA(t, 4)
	d := memtest.NewDRAM(t, nil)
	to := &memtest.Flat{}
	id, _ := e.Submit(0, mem.Descriptor{From: d, To: to, Bytes: 1 << 20})
	alone := memtest.DRAMLatency(memtest.LPDDR4X(), 64)
	now := sim.Time(0)
	for i := range uint64(100) {
		now += 100 * memtest.Cycle
		e.Advance(now)
		done, _ := d.Access(now, 1<<28+i*4096, 64, mem.Read)
		if done-now > alone+200*memtest.Cycle {
			t.Fatalf("read %d waits %d fs behind a transfer of a megabyte", i, done-now)
		}
	}
	if !e.Busy() {
		t.Error("a megabyte moved in 10 us with 4 bursts outstanding")
	}
	if _, done := e.Wait(id); done < now || to.Bytes != 1<<20 {
		t.Errorf("done at %d, %d bytes", done, to.Bytes)
	}
}

func TestDMADoesNotAllocate(t *testing.T) {
	e := newDMA(t, 4)
	f := &memtest.Flat{Latency: memtest.Cycle}
	var from mem.Level = f
	require.Same(t, 0, testing.AllocsPerRun(100, func() {
		e.Run(0, mem.Descriptor{From: from, To: from, Bytes: 4096, Rows: 2, SrcStride: 8192, DstStride: 4096})
	}), "allocations per transfer")
}

func TestEngineConfigErrors(t *testing.T) {
	_, err := mem.NewScratchpad(mem.ScratchpadConfig{Name: "s", Banks: 128, BankBytes: 3})
	for _, want := range []string{"Hz", "Bytes", "Banks", "BankBytes"} {
		require.ErrorContains(t, err, want, "scratchpad")
	}
	require.ErrorContains(t, require.Err(mem.NewDMA(mem.DMAConfig{Name: "d", Hz: 1e9, BurstBytes: 100})), "BurstBytes", "dma")
}

// TestDMALimits: each key's minimum and maximum, and values outside.
func TestDMALimits(t *testing.T) {
	for name, k := range map[string]struct {
		set         func(*mem.DMAConfig, int)
		least, most int
		beyond      [2]int
	}{
		"BurstBytes":  {func(c *mem.DMAConfig, v int) { c.BurstBytes = v }, 16, 1 << 16, [2]int{8, 1 << 17}},
		"Outstanding": {func(c *mem.DMAConfig, v int) { c.Outstanding = v }, 1, 1024, [2]int{0, 1025}},
		"StartCycles": {func(c *mem.DMAConfig, v int) { c.StartCycles = v }, 0, 1e6, [2]int{-1, 1e6 + 1}},
		"IssueCycles": {func(c *mem.DMAConfig, v int) { c.IssueCycles = v }, 0, 1e4, [2]int{-1, 1e4 + 1}},
		"Queue":       {func(c *mem.DMAConfig, v int) { c.Queue = v }, 1, 1, [2]int{0, -1}},
	} {
		try := func(v int) error {
			c := mem.DMAConfig{Name: "d", Hz: 1e9, BurstBytes: 64, Outstanding: 4, Queue: 2}
			k.set(&c, v)
			return c.Validate()
		}
		for _, v := range []int{k.least, k.most} {
			require.Report(t, try(v), v)
		}
		for _, v := range k.beyond {
			if err := try(v); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %d: %v", name, v, err)
			}
		}
	}
}

func BenchmarkDMA(b *testing.B) {
	e := newDMA(b, 16)
	d := memtest.NewDRAM(b, nil)
	s := memtest.NewScratchpad(b)
	b.SetBytes(1 << 16)
	b.ReportAllocs()
	var now sim.Time
	for range b.N {
		_, now = e.Run(now, mem.Descriptor{From: d, To: s, Bytes: 1 << 16})
	}
}

func BenchmarkScratchpad(b *testing.B) {
	var l mem.Level = memtest.NewScratchpad(b)
	now := sim.Time(0)
	for i := range b.N {
		now += memtest.Cycle
		l.Access(now, uint64(i)*128&0xffff, 128, mem.Read)
	}
}
