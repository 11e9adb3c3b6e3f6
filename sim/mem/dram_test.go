package mem_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Addresses of one channel: a row of a bank is 2 KiB of the channel, so 8 KiB
// of address space; the next bank follows, then the next row.
const (
	rowSpan  = 4 * 2048
	bankSpan = 8 * rowSpan
)

func one(c *mem.DRAMConfig) { c.RequestLatency, c.ResponseLatency = 0, 0 }

func read(d mem.Level, t sim.Time, addr uint64, n int) sim.Time {
	done, _ := d.Access(t, addr, n, mem.Read)
	return done
}

func write(d mem.Level, t sim.Time, addr uint64, n int) sim.Time {
	done, _ := d.Access(t, addr, n, mem.Write)
	return done
}

// TestDRAMLatency holds the isolated latencies against the closed forms.
func TestDRAMLatency(t *testing.T) {
	c := lpddr4x()
	bl := c.BurstTime()
	if want := 3750 * sim.Picosecond; bl < want || bl > want+sim.Picosecond {
		t.Fatalf("burst takes %d fs, want 16/2 clocks of 0.46875 ns", bl)
	}
	const late = sim.Millisecond
	ctl := c.RequestLatency + c.ResponseLatency
	for _, k := range []struct {
		name  string
		setup func(d *mem.DRAM)
		addr  uint64
		want  sim.Time
	}{
		{"closed row", func(*mem.DRAM) {}, 0, ctl + c.TRCD + c.ReadLatency + bl},
		{"row hit", func(d *mem.DRAM) { read(d, 0, 0, 32) }, 64, ctl + c.ReadLatency + bl},
		{"row conflict", func(d *mem.DRAM) { read(d, 0, 0, 32) }, bankSpan, ctl + c.TRPpb + c.TRCD + c.ReadLatency + bl},
		{"other bank", func(d *mem.DRAM) { read(d, 0, 0, 32) }, rowSpan, ctl + c.TRCD + c.ReadLatency + bl},
	} {
		d := newDRAM(t, nil)
		k.setup(d)
		if got := read(d, late, k.addr, 32) - late; got != k.want {
			t.Errorf("%s: %d fs, want %d", k.name, got, k.want)
		}
	}
	// 39 ns plus controller is what the datasheet sum gives for LPDDR4-4266.
	if ns := float64(c.TRCD+c.ReadLatency+bl) / 1e6; math.Abs(ns-38.6) > 0.1 {
		t.Errorf("row miss %.2f ns, want 38.6", ns)
	}
}

// TestDRAMConstraints: one pattern per timing parameter, each with its closed
// form for the spacing it enforces.
func TestDRAMConstraints(t *testing.T) {
	c := lpddr4x()
	bl := c.BurstTime()
	last := func(d *mem.DRAM, n int, addr func(i int) uint64, k mem.Kind) sim.Time {
		var done sim.Time
		for i := range n {
			done, _ = d.Access(0, addr(i), 32, k)
		}
		return done
	}
	const n = 1000
	for _, k := range []struct {
		name string
		addr func(i int) uint64
		kind mem.Kind
		want sim.Time // per access
	}{
		{"data bus", func(i int) uint64 { return uint64(i/8*1024 + i%8*32) }, mem.Read, bl},
		{"tRC: one bank, a new row each time", func(i int) uint64 { return uint64(i) * bankSpan }, mem.Read, c.TRC},
		{"tFAW: a new row of the next bank", func(i int) uint64 { return uint64(i) * rowSpan }, mem.Read, max(c.TFAW/4, c.TRRD)},
		{"write recovery: one bank, new rows", func(i int) uint64 { return uint64(i) * bankSpan }, mem.Write,
			max(c.TRCD+c.WriteLatency+bl+c.TWR+c.TRPpb, c.TRC)},
	} {
		got := (last(newDRAM(t, one), 2*n, k.addr, k.kind) - last(newDRAM(t, one), n, k.addr, k.kind)) / n
		if math.Abs(float64(got-k.want)) > 0.005*float64(k.want) {
			t.Errorf("%s: %.3f ns per access, want %.3f", k.name, float64(got)/1e6, float64(k.want)/1e6)
		}
	}
	// tRRD alone, with a wider window.
	d := newDRAM(t, func(c *mem.DRAMConfig) { one(c); c.TFAW = 0 })
	if got := last(d, n, func(i int) uint64 { return uint64(i) * rowSpan }, mem.Read) / n; math.Abs(float64(got-c.TRRD)) > 0.02*float64(c.TRRD) {
		t.Errorf("tRRD: %d fs per access, want %d", got, c.TRRD)
	}
}

// TestDRAMWindows separates the parameters that hide behind each other in the
// datasheet's numbers: tFAW = 4 tRRD, tRC = tRAS + tRP, tRTP < tRAS.
func TestDRAMWindows(t *testing.T) {
	const n = 1000
	d := newDRAM(t, func(c *mem.DRAMConfig) { one(c); c.TFAW = 100 * sim.Nanosecond })
	var done sim.Time
	for i := range n {
		done = read(d, 0, uint64(i)*rowSpan, 32)
	}
	if got, want := done/n, 25*sim.Nanosecond; got < want*99/100 || got > want*101/100 {
		t.Errorf("tFAW 100 ns: a row every %d fs, want %d", got, want)
	}
	d = newDRAM(t, func(c *mem.DRAMConfig) { one(c); c.TRC = 90 * sim.Nanosecond })
	for i := range n {
		done = read(d, 0, uint64(i)*bankSpan, 32)
	}
	if got, want := done/n, 90*sim.Nanosecond; got < want*99/100 || got > want*101/100 {
		t.Errorf("tRC 90 ns: a row every %d fs, want %d", got, want)
	}
	// The row has been open for long; a last read holds its precharge back.
	d = newDRAM(t, one)
	c := d.Config()
	read(d, 0, 0, 32)
	read(d, sim.Microsecond, 64, 32)
	want := c.TRTP + c.TRPpb + c.TRCD + c.ReadLatency + c.BurstTime()
	if got := read(d, sim.Microsecond, bankSpan, 32) - sim.Microsecond; got != want {
		t.Errorf("precharge after a read: %d fs, want %d", got, want)
	}
}

// TestDRAMTurnaround: alternating reads and writes of one row pay the bus
// turnaround both ways.
func TestDRAMTurnaround(t *testing.T) {
	c := lpddr4x()
	bl := c.BurstTime()
	d := newDRAM(t, one)
	read(d, 0, 0, 32)
	const n = 500
	start := read(d, sim.Microsecond, 0, 32)
	var end sim.Time
	for range n {
		write(d, 0, 32, 32)
		end = read(d, 0, 64, 32)
	}
	// Write data follows read data by tRTW; the read command follows the end of
	// write data by tWTR, its data by RL.
	want := c.TRTW + bl + c.TWTR + c.ReadLatency + bl
	if got := (end - start) / n; got != want {
		t.Errorf("a write and a read take %d fs, want %d", got, want)
	}
	// A queue of 16 posted writes turns the bus around once per 16.
	d = newDRAM(t, func(c *mem.DRAMConfig) { one(c); c.WriteQueue = 16 })
	for range 16 * n {
		write(d, 0, 32, 32)
		end = read(d, 0, 64, 32)
	}
	perBatch := 16*2*bl + c.TRTW + c.TWTR + c.ReadLatency
	if got := end / n; math.Abs(float64(got-perBatch)) > 0.01*float64(perBatch) {
		t.Errorf("a batch of 16 takes %d fs, want %d", got, perBatch)
	}
}

// TestDRAMStreamBandwidth: the closed form of a stream is the pin rate less
// what refresh takes: from the last column command before it, tRTP - BL/2 +
// tRPab + tRFCab + tRCD of every tREFI pass without data.
func TestDRAMStreamBandwidth(t *testing.T) {
	base := lpddr4x()
	peak := base.PeakBytesPerSecond()
	if math.Abs(peak-34.128e9) > 1e6 {
		t.Fatalf("peak %v, want 4 x 16 bit x 4266 MT/s", peak)
	}
	dead := float64(base.TRTP - base.BurstTime() + base.TRPab + base.TRFCab + base.TRCD)
	allBanks := 1 - dead/float64(base.TREFI)
	for _, k := range []struct {
		name   string
		change func(*mem.DRAMConfig)
		share  float64
		tol    float64
	}{
		{"no refresh", nil, 1, 0.001},
		{"all banks", func(c *mem.DRAMConfig) { c.Refresh = mem.RefreshAllBanks }, allBanks, 0.003},
		// One page in 64 follows a page of the same bank.
		{"all banks, banks spread", func(c *mem.DRAMConfig) { c.Refresh, c.XORBanks = mem.RefreshAllBanks, true }, allBanks, 0.006},
		{"all banks, twice as often", func(c *mem.DRAMConfig) { c.Refresh, c.TREFI = mem.RefreshAllBanks, c.TREFI/2 },
			1 - 2*dead/float64(base.TREFI), 0.006},
	} {
		d := newDRAM(t, k.change)
		const total = 16 << 20
		var last sim.Time
		for a := uint64(0); a < total; a += 1024 {
			last = max(last, read(d, 0, a, 1024))
		}
		share := total / (float64(last) / 1e15) / peak
		if math.Abs(share-k.share) > k.tol {
			t.Errorf("%s: %.4f of the peak, want %.4f", k.name, share, k.share)
		}
		t.Logf("%s: %.2f GB/s, %.4f of the peak", k.name, share*peak/1e9, share)
	}
	// Per-bank refresh hides behind the other banks unless the stream meets the
	// bank that is refreshed; at worst each costs tRFCpb.
	d := newDRAM(t, func(c *mem.DRAMConfig) { c.Refresh = mem.RefreshPerBank })
	const total = 16 << 20
	var last sim.Time
	for a := uint64(0); a < total; a += 1024 {
		last = max(last, read(d, 0, a, 1024))
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
	for _, kind := range []mem.RefreshKind{mem.RefreshAllBanks, mem.RefreshPerBank} {
		d := newDRAM(t, func(c *mem.DRAMConfig) { one(c); c.Refresh = kind; c.Channels = 1 })
		c := d.Config()
		read(d, 0, 0, 32)
		const intervals = 10_000
		at := intervals*c.TREFI + c.TREFI/10
		if got, want := read(d, at, 0, 32)-at, c.TRCD+c.ReadLatency+c.BurstTime(); got != want {
			t.Errorf("kind %d: %d fs after idling, want %d", kind, got, want)
		}
		per := int64(1)
		if kind == mem.RefreshPerBank {
			per = 8
		}
		for _, n := range d.Counters() {
			if n.Name == "dram_refresh" && (n.Value < intervals*per || n.Value > (intervals+1)*per) {
				t.Errorf("kind %d: %d refreshes in %d intervals", kind, n.Value, intervals)
			}
		}
	}
}

// TestDRAMRefreshBlocks: an access that comes when a refresh has begun waits
// for its end.
func TestDRAMRefreshBlocks(t *testing.T) {
	d := newDRAM(t, func(c *mem.DRAMConfig) { one(c); c.Refresh = mem.RefreshAllBanks })
	c := d.Config()
	at := c.TREFI + sim.Nanosecond
	want := c.TREFI + c.TRFCab + c.TRCD + c.ReadLatency + c.BurstTime()
	if got := read(d, at, 0, 32); got != want {
		t.Errorf("done at %d, want %d", got, want)
	}
}

// TestDRAMCounters: the events of a known pattern.
func TestDRAMCounters(t *testing.T) {
	d := newDRAM(t, nil)
	read(d, 0, 0, 1024)                                     // four channels, eight bursts each
	read(d, sim.Microsecond, 16, 32)                        // unaligned: two bursts, row hit
	write(d, 2*sim.Microsecond, rowSpan, 32)                // closed bank
	read(d, 3*sim.Microsecond, bankSpan, 32)                // conflict
	d.Access(4*sim.Microsecond, bankSpan, 32, mem.Prefetch) // hit
	want := map[string]int64{
		"dram_activate": 6, "dram_read_burst": 32 + 2 + 1 + 1, "dram_write_burst": 1, "dram_refresh": 0,
		"dram_row_hit": 2, "dram_row_miss": 5, "dram_row_conflict": 1, "dram_turnaround": 2,
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
	d := newDRAM(t, func(c *mem.DRAMConfig) { c.WriteQueue = 64 })
	for i := range uint64(10) {
		if done := write(d, 0, i*256, 256); done != d.Config().RequestLatency {
			t.Fatalf("write %d accepted at %d", i, done)
		}
	}
	if got := d.Flush(sim.Microsecond); got <= sim.Microsecond {
		t.Errorf("flushed at %d", got)
	}
	for _, c := range d.Counters() {
		if c.Name == "dram_write_burst" && c.Value != 80 {
			t.Errorf("%d bursts, want 80", c.Value)
		}
	}
}

func TestDRAMConfigErrors(t *testing.T) {
	for name, breakIt := range map[string]func(*mem.DRAMConfig){
		"Channels":        func(c *mem.DRAMConfig) { c.Channels = 3 },
		"Banks":           func(c *mem.DRAMConfig) { c.Banks = 0 },
		"RowBytes":        func(c *mem.DRAMConfig) { c.RowBytes = 100 },
		"BurstLength":     func(c *mem.DRAMConfig) { c.BurstLength = 1 },
		"TransfersPerSec": func(c *mem.DRAMConfig) { c.TransfersPerSec = 0 },
		"InterleaveBytes": func(c *mem.DRAMConfig) { c.InterleaveBytes = 4096 },
		"a burst of 128":  func(c *mem.DRAMConfig) { c.BusBits, c.InterleaveBytes = 64, 64 },
		"TRCD":            func(c *mem.DRAMConfig) { c.TRCD = -1 },
		"TREFI":           func(c *mem.DRAMConfig) { c.Refresh, c.TREFI = mem.RefreshAllBanks, c.TRFCab },
		"TREFI / Banks":   func(c *mem.DRAMConfig) { c.Refresh, c.TREFI = mem.RefreshPerBank, c.TRFCpb },
		"unknown refresh": func(c *mem.DRAMConfig) { c.Refresh = 9 },
		"WriteQueue":      func(c *mem.DRAMConfig) { c.WriteQueue = -1 },
	} {
		c := lpddr4x()
		breakIt(&c)
		_, err := mem.NewDRAM(c)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func BenchmarkDRAMRowHit(b *testing.B) {
	d := newDRAM(b, func(c *mem.DRAMConfig) { c.Refresh = mem.RefreshAllBanks })
	b.ReportAllocs()
	now := sim.Time(0)
	for i := range b.N {
		now, _ = d.Access(now, uint64(i)*128, 128, mem.Read)
	}
}

func BenchmarkDRAMRandom(b *testing.B) {
	d := newDRAM(b, func(c *mem.DRAMConfig) { c.Refresh, c.WriteQueue = mem.RefreshAllBanks, 16 })
	b.ReportAllocs()
	now := sim.Time(0)
	a := uint64(1)
	for range b.N {
		a = a*6364136223846793005 + 1442695040888963407
		d.Access(now, a>>36&^127, 128, mem.Kind(a>>63))
		now += 20 * sim.Nanosecond
	}
}
