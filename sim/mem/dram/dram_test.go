package dram_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// golden is the DRAM of the golden rows of docs/Memory.md, in clocks of 0.46875 ns.
func golden(c *dram.Config) {
	ck := func(n float64) sim.Time { return sim.Time(n * 468_750) }
	memtest.Bare(c)
	c.TransfersPerSec = 4_266_666_667
	c.ReadLatency, c.WriteLatency, c.TRCD, c.TRPpb, c.TRPab = ck(36), ck(18), ck(39), ck(39), ck(39)
	c.TRAS, c.TRC, c.TRRD, c.TFAW, c.TWR, c.TWTR, c.TRTP, c.TRTW = ck(90), ck(129), ck(22), ck(86), ck(39), ck(22), ck(16), ck(4)
	c.TRFCab, c.TREFI, c.WriteIdle = ck(598), ck(8320), 8
}

// TestDRAMLatency: the latency of an isolated read of 64 bytes is the closed form, to the clock: one from the queue to
// the command, then RL and two bursts, tRCD when the bank is closed, tRP when another row is open.
func TestDRAMLatency(t *testing.T) {
	for _, k := range []struct {
		name  string
		setup func(d *dram.DRAM)
		addr  uint64
		want  int64 // clocks
	}{
		{"row hit", func(d *dram.DRAM) { memtest.Read(d, 0, 0, 32) }, 64, 1 + 36 + 16},
		{"closed row", func(*dram.DRAM) {}, 0, 1 + 39 + 36 + 16},
		{"other bank", func(d *dram.DRAM) { memtest.Read(d, 0, 0, 32) }, memtest.RowSpan, 1 + 39 + 36 + 16},
		{"row conflict", func(d *dram.DRAM) { memtest.Read(d, 0, 0, 32) }, memtest.BankSpan, 1 + 39 + 39 + 36 + 16},
	} {
		d := memtest.NewDRAM(t, golden)
		cfg := d.Config()
		clock := sim.Clock{Hz: cfg.ClockHz()}
		k.setup(d)
		const late = 2000
		require.Same(t, k.want, clock.Cycle(memtest.Read(d, clock.At(late), k.addr, 64))-late, k.name, "clocks")
	}
}

// TestDRAMConstraints: one pattern per timing parameter, each with its closed
// form for the spacing it enforces. Parameters that hide behind each other in a
// datasheet's numbers, as tFAW = 4 tRRD and tRC = tRAS + tRP, are set apart.
func TestDRAMConstraints(t *testing.T) {
	ck := func(n int64) sim.Time { return sim.Time(n) * 468_750 }
	for _, k := range []struct {
		name   string
		change func(*dram.Config)
		addr   func(i int) uint64
		want   int64 // clocks per access
	}{
		{"data bus", nil, func(i int) uint64 { return uint64(i/8*1024 + i%8*32) }, 8},
		{"tRC: one bank, a new row each time", nil, func(i int) uint64 { return uint64(i) * memtest.BankSpan }, 129},
		{"tRC longer than tRAS and tRP", func(c *dram.Config) { c.TRC = ck(200) }, func(i int) uint64 { return uint64(i) * memtest.BankSpan }, 200},
		{"tRAS", func(c *dram.Config) { c.TRAS, c.TRC = ck(150), 0 }, func(i int) uint64 { return uint64(i) * memtest.BankSpan }, 150 + 39},
		{"tRTP", func(c *dram.Config) { c.TRAS, c.TRC, c.TRTP = 0, 0, ck(60) }, func(i int) uint64 { return uint64(i) * memtest.BankSpan }, 39 + 60 + 39},
		{"tRRD", nil, func(i int) uint64 { return uint64(i) * memtest.RowSpan }, 22},
		{"tFAW", func(c *dram.Config) { c.TFAW = ck(200) }, func(i int) uint64 { return uint64(i) * memtest.RowSpan }, 50},
	} {
		last := func(n int) (done sim.Time) {
			d := memtest.NewDRAM(t, func(c *dram.Config) {
				golden(c)
				if k.change != nil {
					k.change(c)
				}
			})
			for i := range n {
				done = max(done, memtest.Read(d, 0, k.addr(i), 32))
			}
			return done
		}
		const n = 1000
		got := float64(last(2*n)-last(n)) / n / 468_750
		if !(math.Abs(got-float64(k.want)) <= 0.005*float64(k.want)) {
			t.Errorf("%s: %.2f clocks per access, want %d", k.name, got, k.want)
		}
	}
}

// TestDRAMWrites: writes are accepted at once and written in batches, whose time is
// the closed form.
func TestDRAMWrites(t *testing.T) {
	ck := func(n int64) sim.Time { return sim.Time(n) * 468_750 }
	// A batch of 32 bursts to one row, then a read: the command of the read follows the
	// last of the writes by WL, the burst and tWTR.
	d := memtest.NewDRAM(t, golden)
	memtest.Read(d, 0, 0, 32)
	start := ck(1000)
	for i := range uint64(32) {
		if done := memtest.Write(d, start, i%8*32, 32); done != start {
			t.Fatalf("write %d is accepted after %d fs", i, done-start)
		}
		start += ck(1)
	}
	// The eight bursts of the chunk are merged: nothing has been written.
	require.Same(t, 24, d.Counters()[dram.Merge].Value, "writes merged")
	if done := memtest.Read(d, start, 32, 32); done != start+ck(1) {
		t.Errorf("a read of a posted write takes %d fs", done-start)
	}
	d = memtest.NewDRAM(t, golden)
	memtest.Read(d, 0, 0, 32)
	start = ck(1000)
	for i := range uint64(32) { // one row of channel 0: eight bursts in 1 KiB
		memtest.Write(d, start, i/8*1024+i%8*32, 32)
	}
	got := memtest.Read(d, start, 4*1024, 32)
	want := start + ck(2+31*8+(18+8+22)+36+8) // the read enters after the writes
	if got < want-ck(1) || got > want+ck(1) {
		t.Errorf("a read behind a batch is done after %.1f clocks, want %.1f", float64(got-start)/468_750, float64(want-start)/468_750)
	}
	// Write recovery: batches of one bank, new rows each.
	d = memtest.NewDRAM(t, golden)
	const n = 32 * 40
	var end sim.Time
	for i := range uint64(n) {
		end = max(end, memtest.Write(d, 0, i*memtest.BankSpan, 32))
	}
	end = d.Flush(end)
	if got := float64(end) / n / 468_750; !(math.Abs(got-(39+18+8+39+39)) <= 2) {
		t.Errorf("a write to a new row takes %.1f clocks, want %d", got, 39+18+8+39+39)
	}
	// An idle channel drains its buffer when more than WriteIdle wait.
	for _, idle := range []int{8, 9} {
		d = memtest.NewDRAM(t, func(c *dram.Config) { golden(c); c.WriteIdle = idle })
		for i := range uint64(9) {
			memtest.Write(d, 0, i/8*1024+i%8*32, 32)
		}
		memtest.Read(d, ck(5000), 1<<20, 32)
		if n := d.Counters()[dram.WriteBurst].Value; (n == 9) != (idle == 8) {
			t.Errorf("WriteIdle = %d: %d bursts written", idle, n)
		}
	}
}

// TestDRAMStreamBandwidth: the closed form of a stream is the pin rate less the cost of refresh: from the last column
// command before it, tRTP - BL/2 + tRPab + tRFCab + tRCD of every tREFI pass without data.
func TestDRAMStreamBandwidth(t *testing.T) {
	base := memtest.LPDDR4X()
	peak := base.PeakBytesPerSecond()
	if !(math.Abs(peak-34.128e9) <= 1e6) {
		t.Fatalf("peak %v, want 4 x 16 bit x 4266 MT/s", peak)
	}
	dead := float64(memtest.Clocks(base, base.TRTP, base.TRPab, base.TRFCab, base.TRCD) - base.BurstTime())
	allBanks := 1 - dead/float64(base.TREFI)
	for _, k := range []struct {
		name   string
		change func(*dram.Config)
		share  float64
		tol    float64
	}{
		{"no refresh", nil, 1, 0.001},
		{"all banks", func(c *dram.Config) { c.Refresh = dram.RefreshAllBanks }, allBanks, 0.003},
		// One page in 64 follows a page of the same bank.
		{"all banks, banks spread", func(c *dram.Config) { c.Refresh, c.XORBanks = dram.RefreshAllBanks, true }, allBanks, 0.006},
		{"all banks, twice as often", func(c *dram.Config) { c.Refresh, c.TREFI = dram.RefreshAllBanks, c.TREFI/2 },
			1 - 2*dead/float64(base.TREFI), 0.006},
	} {
		d := memtest.NewDRAM(t, k.change)
		const total = 16 << 20
		var last sim.Time
		for a := uint64(0); a < total; a += 1024 {
			last = max(last, memtest.Read(d, 0, a, 1024))
		}
		share := total / (float64(last) / 1e15) / peak
		if !(math.Abs(share-k.share) <= k.tol) {
			t.Errorf("%s: %.4f of the peak, want %.4f", k.name, share, k.share)
		}
		t.Logf("%s: %.2f GB/s, %.4f of the peak", k.name, share*peak/1e9, share)
	}
	// Per-bank refresh hides behind the other banks unless the stream meets the
	// bank that is refreshed; at worst each costs tRFCpb.
	d := memtest.NewDRAM(t, func(c *dram.Config) { c.Refresh = dram.RefreshPerBank })
	const total = 16 << 20
	var last sim.Time
	for a := uint64(0); a < total; a += 1024 {
		last = max(last, memtest.Read(d, 0, a, 1024))
	}
	share := total / (float64(last) / 1e15) / peak
	worst := 1 - float64(base.TRFCpb+base.TRPpb+base.TRCD)*8/float64(base.TREFI)
	if share < worst || share > 1 {
		t.Errorf("per bank: %.4f of the peak, want %.4f..1", share, worst)
	}
	t.Logf("per bank: %.4f of the peak", share)
}

// TestDRAMRefreshAfterIdle: however long the DRAM idles, the refreshes are
// counted and the first access finds closed rows.
func TestDRAMRefreshAfterIdle(t *testing.T) {
	for _, kind := range []dram.RefreshKind{dram.RefreshAllBanks, dram.RefreshPerBank} {
		d := memtest.NewDRAM(t, func(c *dram.Config) { memtest.Bare(c); c.Refresh = kind; c.Channels = 1 })
		c := d.Config()
		memtest.Read(d, 0, 0, 32)
		const intervals = 10_000
		at := intervals*c.TREFI + c.TREFI/10
		want := memtest.Clocks(c, 1, c.TRCD, c.ReadLatency, c.BurstTime())
		if got := memtest.Read(d, at, 0, 32) - at; got < want-2 || got > want+memtest.Clocks(c, 1) {
			t.Errorf("kind %d: %d fs after idling, want %d", kind, got, want)
		}
		per := int64(1)
		if kind == dram.RefreshPerBank {
			per = 8
		}
		for _, n := range d.Counters() {
			// A bank that is not asked for has not counted its own.
			if n.Name == "dram_refresh" && (n.Value < intervals-1 || n.Value > (intervals+1)*per) {
				t.Errorf("kind %d: %d refreshes in %d intervals", kind, n.Value, intervals)
			}
		}
	}
}

// TestDRAMRefreshBlocks: an access that arrives when a refresh has begun waits for its end.
func TestDRAMRefreshBlocks(t *testing.T) {
	d := memtest.NewDRAM(t, func(c *dram.Config) { memtest.Bare(c); c.Refresh = dram.RefreshAllBanks })
	c := d.Config()
	at := c.TREFI + sim.Nanosecond
	want := memtest.Clocks(c, c.TREFI, c.TRFCab, c.TRCD, c.ReadLatency, c.BurstTime())
	if got := memtest.Read(d, at, 0, 32); got < want-memtest.Clocks(c, 1) || got > want+memtest.Clocks(c, 2) {
		t.Errorf("done at %d, want %d", got, want)
	}
}

// TestDRAMCounters: the events of a known pattern.
func TestDRAMCounters(t *testing.T) {
	d := memtest.NewDRAM(t, nil)
	memtest.Read(d, 0, 0, 1024)                                     // four channels, eight bursts each
	memtest.Read(d, sim.Microsecond, 16, 32)                        // unaligned: two bursts, row hit
	memtest.Read(d, 2*sim.Microsecond, memtest.RowSpan, 32)         // closed bank
	memtest.Read(d, 3*sim.Microsecond, memtest.BankSpan, 32)        // conflict
	d.Access(4*sim.Microsecond, memtest.BankSpan, 32, mem.Prefetch) // hit
	memtest.Write(d, 5*sim.Microsecond, memtest.BankSpan, 64)
	memtest.Write(d, 5*sim.Microsecond, memtest.BankSpan+32, 32) // merged
	memtest.Read(d, 6*sim.Microsecond, memtest.BankSpan, 32)     // written when the channel idled
	memtest.Write(d, 6*sim.Microsecond, 3*memtest.BankSpan, 32)
	memtest.Read(d, 6*sim.Microsecond, 3*memtest.BankSpan, 32) // from the buffer
	want := map[string]int64{
		"dram_activate": 6, "dram_read_burst": 32 + 2 + 1 + 1 + 1 + 1, "dram_write_burst": 2, "dram_refresh": 0,
		"dram_row_hit": 28 + 2 + 1 + 2 + 1, "dram_row_miss": 5, "dram_row_conflict": 1,
		"dram_drain": 1, "dram_forward": 1, "dram_merge": 1, "dram_self_refresh": 0,
	}
	for _, c := range d.Counters() {
		if c.Value != want[c.Name] {
			t.Errorf("%s = %d, want %d", c.Name, c.Value, want[c.Name])
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("not counted: %v", want)
	}
}

// TestDRAMFlush: posted writes reach their rows.
func TestDRAMFlush(t *testing.T) {
	d := memtest.NewDRAM(t, func(c *dram.Config) { c.WriteQueue = 64 })
	accepted := d.Config().RequestLatency + memtest.Clocks(d.Config(), 1)
	for i := range uint64(10) {
		if done := memtest.Write(d, 0, i*256, 256); done > accepted {
			t.Fatalf("write %d accepted at %d", i, done)
		}
	}
	if got := d.Flush(accepted); got <= accepted {
		t.Errorf("flushed at %d", got)
	}
	require.Same(t, sim.Microsecond, d.Flush(sim.Microsecond), "nothing is flushed at")
	for _, c := range d.Counters() {
		if c.Name == "dram_write_burst" && c.Value != 80 {
			t.Errorf("%d bursts, want 80", c.Value)
		}
	}
}

type oddMapping struct{}

func (oddMapping) ChunkBytes() int                 { return 48 }
func (oddMapping) Locate(uint64) (l dram.Location) { return l }

func TestDRAMConfigErrors(t *testing.T) {
	for name, breakIt := range map[string]func(*dram.Config){
		"Channels":        func(c *dram.Config) { c.Channels = 3 },
		"Banks":           func(c *dram.Config) { c.Banks = 0 },
		"RowBytes":        func(c *dram.Config) { c.RowBytes = 100 },
		"BurstLength":     func(c *dram.Config) { c.BurstLength = 1 },
		"TransfersPerSec": func(c *dram.Config) { c.TransfersPerSec = 0 },
		"InterleaveBytes": func(c *dram.Config) { c.InterleaveBytes = 4096 },
		"a burst of 128":  func(c *dram.Config) { c.BusBits, c.InterleaveBytes = 64, 64 },
		"TRCD":            func(c *dram.Config) { c.TRCD = -1 },
		"TREFI":           func(c *dram.Config) { c.Refresh, c.TREFI = dram.RefreshAllBanks, c.TRFCab },
		"TREFI / Banks":   func(c *dram.Config) { c.Refresh, c.TREFI = dram.RefreshPerBank, c.TRFCpb },
		"TREFI = 0":       func(c *dram.Config) { c.Refresh, c.TREFI, c.TRFCab, c.TRPab = dram.RefreshAllBanks, 0, 0, 0 },
		"TREFI / Banks l": func(c *dram.Config) { c.Refresh, c.TREFI, c.TRFCpb, c.TRPpb = dram.RefreshPerBank, 0, 0, 0 },
		"unknown refresh": func(c *dram.Config) { c.Refresh = 9 },
		"WriteQueue":      func(c *dram.Config) { c.WriteQueue = -1 },
		"WriteIdle":       func(c *dram.Config) { c.WriteIdle = 32 },
		"QueueDepth":      func(c *dram.Config) { c.QueueDepth = 1000 },
		"Order":           func(c *dram.Config) { c.Order = "row-row" },
		"ChunkBytes":      func(c *dram.Config) { c.Mapping = oddMapping{} },
		"clocks":          func(c *dram.Config) { c.TRC = sim.Second },
	} {
		c := memtest.LPDDR4X()
		breakIt(&c)
		require.ErrorContains(t, require.Err(dram.New(c)), name)
	}
}

// decided is FRFCFS without the fast path for requests that need no decision.
type decided struct{ dram.FRFCFS }

// TestShortWay runs the same accesses on two DRAMs, one of which decides about each: times and counters must be the
// same.
func TestShortWay(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		limits := dram.FRFCFS{RowHitCap: r.IntN(3) * 8, AgeLimit: int64(r.IntN(2)) * 4000}
		c := memtest.LPDDR4X()
		c.Refresh, c.XORBanks, c.Channels = dram.RefreshKind(r.IntN(3)), r.IntN(2) > 0, 1<<r.IntN(3)
		c.WriteQueue, c.QueueDepth = 16<<r.IntN(3), 8<<r.IntN(4)
		c.WriteIdle = r.IntN(12)
		if r.IntN(2) > 0 {
			c.SelfRefreshAfter, c.TXSR = sim.Microsecond, 100*sim.Nanosecond
		}
		var two [2]*dram.DRAM
		for i, s := range []dram.Scheduler{limits, decided{limits}} {
			c.Scheduler = s
			var err error
			if two[i], err = dram.New(c); err != nil {
				t.Fatal(err)
			}
		}
		type stream struct {
			at   uint64
			kind mem.Kind
		}
		streams := make([]stream, 1+r.IntN(5))
		for i := range streams {
			streams[i] = stream{r.Uint64N(1<<26) &^ 63, mem.Kind(r.IntN(2))}
		}
		flight := make([]sim.Time, 1+r.IntN(64)) // completions, a ring
		now, gap, size, random := sim.Time(0), 1+r.IntN(60_000_000), 32<<r.IntN(5), r.IntN(3)
		for i := range 4000 {
			now += sim.Time(r.IntN(gap))
			if i%1000 == 999 {
				now += sim.Time(r.IntN(20)) * sim.Microsecond
			}
			if gap%2 == 0 {
				now = max(now, flight[i%len(flight)])
			}
			s := &streams[i%len(streams)]
			if random > 0 {
				s = &streams[r.IntN(len(streams))]
			}
			addr := s.at
			s.at += uint64(size)
			if random == 2 {
				addr = r.Uint64N(1<<24) &^ 31
			}
			var done [2]sim.Time
			for k, d := range two {
				done[k], _ = d.Access(now, addr, size, s.kind)
			}
			if done[0] != done[1] {
				t.Fatalf("seed %d, access %d: done at %d, decided %d", seed, i, done[0], done[1])
			}
			flight[i%len(flight)] = done[0]
		}
		if diff := cmp.Diff(two[1].Counters(), two[0].Counters()); diff != "" || two[0].Use(0) != two[1].Use(0) {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

func BenchmarkDRAMRowHit(b *testing.B) {
	d := memtest.NewDRAM(b, func(c *dram.Config) { c.Refresh = dram.RefreshAllBanks })
	b.ReportAllocs()
	now := sim.Time(0)
	for i := range b.N {
		now, _ = d.Access(now, uint64(i)*128, 128, mem.Read)
	}
}

func BenchmarkDRAMRandom(b *testing.B) {
	d := memtest.NewDRAM(b, func(c *dram.Config) { c.Refresh, c.WriteQueue = dram.RefreshAllBanks, 16 })
	b.ReportAllocs()
	now := sim.Time(0)
	a := uint64(1)
	for range b.N {
		a = a*6364136223846793005 + 1442695040888963407
		d.Access(now, a>>36&^127, 128, mem.Kind(a>>63))
		now += 20 * sim.Nanosecond
	}
}

func BenchmarkDRAMWriteStream(b *testing.B) {
	d := memtest.NewDRAM(b, func(c *dram.Config) { c.Refresh, c.WriteIdle = dram.RefreshAllBanks, 8 })
	b.ReportAllocs()
	now := sim.Time(0)
	for i := range b.N {
		now, _ = d.Access(now, uint64(i)*128, 128, mem.Write)
	}
}

// BenchmarkDRAMCopy reads lines of one stream and writes those of another, as a cache through which a core copies.
func BenchmarkDRAMCopy(b *testing.B) {
	d := memtest.NewDRAM(b, func(c *dram.Config) { c.Refresh, c.XORBanks, c.WriteIdle = dram.RefreshAllBanks, true, 8 })
	b.ReportAllocs()
	var flight [16]sim.Time
	for i := range b.N {
		now := flight[i%len(flight)]
		addr := uint64(i) * 128 & (1<<20 - 1)
		flight[i%len(flight)] = memtest.Read(d, now, addr, 128)
		memtest.Write(d, now, 1<<24+1<<14+addr, 128)
	}
}

// TestReadOnItsWay: a read of a burst whose command is still to come is done with it and fetches nothing; once the command is
// issued the burst is read again. A burst that has left the write buffer is answered from there until it is written.
func TestReadOnItsWay(t *testing.T) {
	ck := func(n int64) sim.Time { return sim.Time(n) * 468_750 }
	bursts := func(d *dram.DRAM) int64 { return d.Counters()[dram.ReadBurst].Value }
	d := memtest.NewDRAM(t, golden)
	done := memtest.Read(d, 0, 0, 64) // of a closed row
	require.Same(t, done, memtest.Read(d, ck(1), 32, 32), "a read of a burst on its way")
	require.Same(t, 2, bursts(d), "bursts read")
	require.Same(t, 1, d.Counters()[dram.Merge].Value, "reads merged")
	again := memtest.Read(d, ck(3), 32, 64) // one burst on its way, one of its own
	require.Check(t, again > done && bursts(d) == 3, "%v after %v, %d bursts", again, done, bursts(d))
	memtest.Read(d, done, 0, 32)
	require.Same(t, 4, bursts(d), "bursts read after the first is there")

	d = memtest.NewDRAM(t, golden)
	start := ck(1000)
	for i := range uint64(32) { // the buffer is full, and written
		memtest.Write(d, start, i/8*1024+i%8*32, 32)
	}
	require.Same(t, start+ck(1), memtest.Read(d, start, 3*1024+7*32, 32), "a read of a burst to be written")
	require.Same(t, 0, bursts(d), "bursts read")
	memtest.Read(d, start+ck(2000), 3*1024+7*32, 32)
	require.Same(t, 1, bursts(d), "bursts read after the write")
}
