package dram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// nsDRAM has one channel of four banks and a clock of 1 GHz: a nanosecond is a clock. No two spans are alike.
func nsDRAM(t *testing.T, change func(*Config)) *DRAM {
	t.Helper()
	const ns = sim.Nanosecond
	c := Config{
		Name: "ns", Channels: 1, Banks: 4, RowBytes: 2048, BusBits: 16, BurstLength: 16, TransfersPerSec: 2e9, InterleaveBytes: 256,
		ReadLatency: 31 * ns, WriteLatency: 13 * ns, TRCD: 17 * ns, TRPpb: 19 * ns, TRPab: 23 * ns, TRAS: 41 * ns, TRC: 67 * ns, TRRD: 11 * ns, TFAW: 47 * ns,
		TWR: 29 * ns, TWTR: 9 * ns, TRTP: 7 * ns, TRTW: 5 * ns, TRFCab: 280 * ns, TRFCpb: 140 * ns, TREFI: 4000 * ns, TXSR: 300 * ns,
	}
	if change != nil {
		change(&c)
	}
	d := require.V(New(c))(t)
	return d
}

// TestTimingInClocks: spans are whole clocks, rounded up but for a thousandth of one; derived ones are JEDEC's: a write
// command follows a read by RL + BL/2 + tRTW - WL, a read a write by WL + BL/2 + tWTR.
func TestTimingInClocks(t *testing.T) {
	plain := timing{
		rl: 31, wl: 13, burst: 8, rcd: 17, rpPB: 19, rpAB: 23, ras: 41, rc: 67, rrd: 11, faw: 47, wr: 29, rtp: 7,
		readWrite: 31 + 8 + 5 - 13, writeRead: 13 + 8 + 9, rfcAB: 280, rfcPB: 140, refi: 4000, xsr: 300,
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   func(*timing)
	}{
		{"as given", nil, func(*timing) {}},
		{"part of a clock", func(c *Config) { c.TRCD += 2e3 }, func(t *timing) { t.rcd++ }},
		{"rounding of a file", func(c *Config) { c.TRCD += 900 }, func(*timing) {}},
		{"long write latency", func(c *Config) { c.WriteLatency = 37 * sim.Nanosecond }, func(t *timing) { t.wl, t.readWrite, t.writeRead = 37, 8, 37+8+9 }},
		{"four transfers a clock", func(c *Config) { c.TransfersPerSec, c.TransfersPerClock = 4e9, 4 }, func(t *timing) { t.burst, t.readWrite, t.writeRead = 4, 27, 26 }},
		{"self-refresh", func(c *Config) { c.SelfRefreshAfter = sim.Microsecond }, func(t *timing) { t.selfAfter = 1000 }},
	} {
		want := plain
		c.want(&want)
		if got := nsDRAM(t, c.change).t; got != want {
			t.Errorf("%s:\n%+v, want\n%+v", c.name, got, want)
		}
	}
}

// TestReadsWait: of n bursts of a row that is opened, at tRCD, the i-th one's column command is issued i bursts later;
// of those that arrive together with others, counted from their arrival.
func TestReadsWait(t *testing.T) {
	const ns = sim.Nanosecond
	for n := range int64(9) {
		d := nsDRAM(t, nil)
		want := 17*n + 8*n*(n-1)/2
		if n > 0 {
			d.Read(1000*ns, 0, int(32*n))
		}
		if got := d.Use(0); got.Wait != sim.Time(want)*ns || got.ReadBursts != n {
			t.Errorf("%d bursts: %+v, want to wait %d ns", n, got, want)
		}
		if n > 1 {
			d.Read(1000*ns, 256, 64) // after them
			want += 2*(17+8*n) + 8
			if got := d.Use(0); got.Wait != sim.Time(want)*ns || got.ReadBursts != n+2 || got.RowHits != n+1 || got.Activates != 1 {
				t.Errorf("two more than %d bursts: %+v, want to wait %d ns", n, got, want)
			}
		}
		half := d.cfg
		half.TransfersPerSec /= 2
		d.change(2000*ns, &half) // waits so far stay
		if got := d.Use(0).Wait; got != sim.Time(want)*ns {
			t.Errorf("%d bursts, then another clock: waited %v, want %d ns", n, got, want)
		}
	}
}

// TestRoom: four bursts wait for the scheduler, which has four. Of eight reads of a row that arrive at 1000 the first
// column command is issued at 1004 + 17; each lets one more move up, the fifth behind it, and then a ninth fits.
func TestRoom(t *testing.T) {
	const ns = sim.Nanosecond
	d := nsDRAM(t, func(c *Config) { c.QueueDepth, c.RequestLatency = 4, 3*ns })
	for i := range uint64(8) {
		d.Read(1000*ns, 32*i, 32)
	}
	for at, want := range map[sim.Time]sim.Time{1000: 1022 - 3, 1018: 1019, 1019: 1019, 1020: 1020} {
		if got := d.AcceptTime(at*ns, 0, mem.Read); got != want*ns {
			t.Errorf("room at %d ns for what comes at %d, want %d", got/ns, at, want)
		}
	}
}

// TestMeasuredData: data is on the bus RL after a read command, which follows tRCD and a clock, WL after a write.
func TestMeasuredData(t *testing.T) {
	const ns = sim.Nanosecond
	for k, want := range []sim.Time{mem.Read: 1000 + 1 + 17 + 31, mem.Write: 1000 + 17 + 13} {
		d := nsDRAM(t, nil)
		d.Measure(ns, 0)
		d.Access(1000*ns, 0, 32, mem.Kind(k))
		d.Flush(1000 * ns)
		var at []sim.Time
		d.Measured(sim.Never, func(from, _ sim.Time, bytes *Moved) {
			if bytes[0] > 0 {
				at = append(at, from/ns)
			}
		})
		if len(at) != 8 || at[0] != want || at[7] != want+7 {
			t.Errorf("kind %d: data at %v, want from %d on", k, at, want)
		}
	}
}

// TestRefreshIsPlanned: a row is open from clock 3000 on, with a read at 3500, and a refresh is due at 4000, of one bank of
// four at 1000 times its number. Each refresh that is late is counted, the last may still run.
func TestRefreshIsPlanned(t *testing.T) {
	type result struct{ close, until, ready, due, other, refreshes int64 }
	perBank := func(c *Config) { c.Refresh = RefreshPerBank }
	allBanks := func(c *Config) { c.Refresh = RefreshAllBanks }
	for _, c := range []struct {
		name   string
		change func(*Config)
		read   int64 // the last column command
		now    int64
		want   result
	}{
		{"all banks", allBanks, 3500, 4000, result{4000, 4000, 4000 + 23 + 280, 8000, 8000, 1}},
		{"all banks, late", allBanks, 3500, 7999, result{4000, 4000, 4000 + 23 + 280, 8000, 8000, 1}},
		{"all banks, three", allBanks, 3500, 12000, result{4000, 4000, 12000 + 280, 16000, 16000, 3}},
		{"all banks, late by a whole one", allBanks, 3500, 8000, result{4000, 4000, 8000 + 280, 12000, 12000, 2}},
		{"row closes late", allBanks, 3999, 4000, result{3999 + 7, 4000, 4006 + 23 + 280, 8000, 8000, 1}},
		{"one bank", perBank, 3500, 4000, result{4000, 4000, 4000 + 19 + 140, 8000, 1000, 1}},
	} {
		d := nsDRAM(t, c.change)
		p := &d.ch[0].plan
		b := &p.banks[3]
		b.open(1, 3000)
		p.commit(c.read, 1, b.newest(), &Request{Enter: 3000, Bank: 3, Row: 1})
		p.refresh(b, c.now)
		a := b.newest()
		if got := (result{a.close, a.until, b.ready, b.due, p.banks[0].due, d.count[RefreshCommand]}); got != c.want || a.Waits != 4000 {
			t.Errorf("%s: %+v, want %+v; waits %d", c.name, got, c.want, a.Waits)
		}
	}
}

// TestWakes: self-refresh begins some time after the last data and delays commands due by as long as it lasts.
func TestWakes(t *testing.T) {
	type result struct{ close, ready, due, idle, woken, slept, entries, refreshes int64 }
	after := func(span sim.Time, kind RefreshKind) func(*Config) {
		return func(c *Config) { c.SelfRefreshAfter, c.Refresh = span*sim.Nanosecond, kind }
	}
	const read, data = 500, 500 + 31 + 8 // the last column command and the end of its data
	for _, c := range []struct {
		name   string
		change func(*Config)
		now    int64
		want   result
	}{
		{"awake", after(1000, RefreshAllBanks), data + 1000, result{never, longAgo, 4000, 4000, 0, 0, 0, 0}},
		{"asleep", after(1000, RefreshAllBanks), data + 1000 + 70, result{data + 1000, data + 1370, 4070, 4070, data + 1070, 70, 1, 0}},
		{"closes late", after(1, RefreshAllBanks), data + 1 + 70, result{490 + 67, data + 371, 4070, 4070, data + 71, 70, 1, 0}},
		{"behind a refresh", after(5000, RefreshAllBanks), data + 5000 + 70, result{4000, data + 5370, 8070, 8070, data + 5070, 70, 1, 1}},
		{"at a refresh", after(4000-data, RefreshAllBanks), 4000 + 70, result{4000, 4070 + 300, 8070, 8070, 4070, 70, 1, 1}},
		{"bank by bank", after(1000, RefreshPerBank), data + 1000 + 70, result{data + 1000, data + 1370, 2070, 1000 + 4000 + 70, data + 1070, 70, 1, 1}},
		{"no refresh", after(1000, RefreshNone), data + 1000 + 70, result{data + 1000, data + 1370, never, never, data + 1070, 70, 1, 0}},
		{"never", after(0, RefreshAllBanks), 1e6, result{never, longAgo, 4000, 4000, 0, 0, 0, 0}},
	} {
		d := nsDRAM(t, func(cfg *Config) { cfg.TRAS = 67 * sim.Nanosecond; c.change(cfg) })
		p := &d.ch[0].plan
		b := &p.banks[1]
		a := b.open(1, 400)
		if c.name == "closes late" {
			a.At = 490
		}
		p.commit(read, 1, a, &Request{Enter: 400, Bank: 1, Row: 1})
		p.wake(c.now)
		d.cfg.Energy = Energy{BackgroundMW: 30, SelfRefreshMW: 10} // 20 pJ a ns less
		if pj, mw := d.Energy(); !(math.Abs(pj+20*float64(p.selfClocks)) <= 1e-6) || mw != 30 {
			t.Errorf("%s: %g pJ beside %g mW, %d ns asleep", c.name, pj, mw, p.selfClocks)
		}
		got := result{a.close, b.ready, b.due, p.banks[0].due, p.woken, p.selfClocks, d.count[SelfRefreshEntry], d.count[RefreshCommand]}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestDelayed: an activation that is delayed moves its column commands along, from the clocks that they had.
func TestDelayed(t *testing.T) {
	type result struct{ at, last, read, write, close int64 }
	for _, c := range []struct {
		name         string
		close, taken int64 // taken: a command of another bank is at this clock and gives way
		want         result
	}{
		{"open", never, 0, result{1050, 1175, 1075, 1175, never}},
		{"a while open", 2000, 0, result{1050, 1175, 1075, 1175, 2050}},
		{"closes with its last write", 1125 + 13 + 8 + 29, 0, result{1050, 1175, 1075, 1175, 1175 + 13 + 8 + 29}},
		{"data bus taken", 1125 + 13 + 8 + 29, 1175 + 3, result{1050, 1175, 1075, 1175, 1175 + 13 + 8 + 29}},
	} {
		d := nsDRAM(t, nil)
		p := &d.ch[0].plan
		a := p.banks[2].open(5, 1000)
		p.commit(1025, 1, a, &Request{Enter: 900, Bank: 2, Row: 5})
		p.commit(1125, 1, a, &Request{Enter: 900, Bank: 2, Row: 5, Write: true})
		if c.taken > 0 {
			p.commit(c.taken, 1, p.banks[0].open(1, 1100), &Request{Enter: 1100, Write: true})
		}
		a.close = c.close
		p.markTail(0) // as place does
		p.delay(a, 50)
		if got := (result{a.At, a.Last, a.read, a.write, a.close}); got != c.want || a.Columns != 2 || a.kept != 2 {
			t.Errorf("%s: %+v, want %+v; %d columns, %d kept", c.name, got, c.want, a.Columns, a.kept)
		}
		p.markTail(0)
		for x := int64(1000); x < 1300; x++ {
			read := x >= 1075 && x < 1083
			write := x >= c.want.write && x < c.want.write+8 || c.taken > 0 && x >= c.want.write+8 && x < c.want.write+16
			if got := [2]uint64{p.reads.from(x) & 1, p.writes.from(x) & 1}; got != [2]uint64{bit(read), bit(write)} {
				t.Errorf("%s: clock %d is taken by %v", c.name, x, got)
			}
		}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestExtends: a row whose end is planned stays open for one more command unless a refresh or the results returned for
// the rows behind it forbid that; the latter are delayed as far as tRP and tRC require.
func TestExtends(t *testing.T) {
	type result struct{ close, next int64 }
	for _, c := range []struct {
		name             string
		x                int64
		write            bool
		until, due       int64
		nextAt, nextLast int64
		ok               bool
		want             result
	}{
		{"a read", 1100, false, never, never, 1090, 1200, true, result{1107, 1107 + 19}},
		{"a write", 1100, true, never, never, 1090, 1200, true, result{1150, 1150 + 19}},
		{"room behind it", 1100, false, never, never, 1500, 1600, true, result{1107, 1500}},
		{"tRC", 1055, false, never, never, 1065, 1200, true, result{1062, 1062 + 19}},
		{"its own refresh", 1100, false, 1200, never, 1090, 1200, false, result{1050, 1090}},
		{"a refresh due at the last command", 1100, false, never, 1257, 1090, 1200, false, result{1050, 1090}},
		{"a refresh due behind it", 1100, false, never, 1258, 1090, 1200, true, result{1107, 1107 + 19}},
	} {
		d := nsDRAM(t, nil)
		b := &d.ch[0].banks[0]
		a := b.open(1, 1000)
		a.close, a.until = 1050, c.until
		next := b.open(2, c.nextAt)
		next.Last, b.due = c.nextLast, c.due
		ok := d.ch[0].extend(b, 1, c.x, c.write)
		if got := (result{b.nth(1).close, next.At}); ok != c.ok || got != c.want {
			t.Errorf("%s: %v %+v, want %v %+v", c.name, ok, got, c.ok, c.want)
		}
	}
}

// TestCalendar compares the ring of bits with a list of clocks.
func TestCalendar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		var c calendar
		const clocks = 2048
		var taken [clocks + 129]bool
		for range 1 + r.IntN(60) {
			x, n := int64(r.IntN(clocks)), int64(1+r.IntN(128))
			on := r.IntN(4) > 0
			for i := x; i < x+n; i++ {
				taken[i] = on
			}
			if on {
				c.mark(x, n)
			} else {
				c.unmark(x, n)
			}
		}
		for range 300 {
			x, n := int64(r.IntN(clocks)), int64(1+r.IntN(64))
			free, next := x, x
			for taken[free] {
				free++
			}
			for next < clocks+128 && !taken[next] {
				next++
			}
			if next == clocks+128 {
				next = never
			}
			if got := c.free(x); got != free {
				t.Fatalf("free from %d on: %d, want %d", x, got, free)
			}
			if got := c.next(x); got != next {
				t.Fatalf("occupied from %d on: %d, want %d", x, got, next)
			}
			last, found := int64(0), false
			for i := x; i <= x+n; i++ {
				if taken[i] {
					last, found = i, true
				}
			}
			if got, ok := c.last(x, x+n); ok != found || ok && got != last {
				t.Fatalf("last in %d to %d: %d %v, want %d %v", x, x+n, got, ok, last, found)
			}
			if got := c.from(x)&1 == 1; got != taken[x] {
				t.Fatalf("clock %d: %v", x, got)
			}
		}
	}
}

// TestActivates: an activation is at the first clock that keeps tRRD and tFAW to those before it; those behind it move as
// far as they must. Each is one step here, in a list.
func TestActivates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var tm timing
	earliest := func(before []int64) int64 { // of one more
		at := int64(longAgo)
		if n := len(before); n > 0 {
			at = before[n-1] + tm.rrd
			if n > 3 {
				at = max(at, before[n-4]+tm.faw)
			}
		}
		return at
	}
	for i := range 200 {
		tm.rrd, tm.faw = 11, 47
		if i%2 == 1 {
			tm.rrd, tm.faw = 5, 60
		}
		var a activates
		a.clear()
		var list []int64
		for range 12 {
			x := int64(r.IntN(300))
			want, n := x, 0
			for {
				for n < len(list) && list[n] <= want {
					n++
				}
				if at := earliest(list[:n]); at > want {
					want = at
					continue
				}
				break
			}
			after := len(list) - n
			list = slices.Insert(list, n, want)
			for i := n + 1; i < len(list); i++ {
				list[i] = max(list[i], earliest(list[:i]))
			}
			got, behind := a.first(x, &tm)
			if got != want || int(behind) != after {
				t.Fatalf("an activation from %d on: %d before %d others, want %d before %d of %v", x, got, behind, want, after, list)
			}
			a.insert(got, behind, &tm)
		}
		for i, at := range list {
			if got := a.nth(uint(len(list) - 1 - i)); got != at {
				t.Fatalf("activation %d at %d, want %d", i, got, at)
			}
		}
	}
}

// TestPush: what is ready first has the bus. A write and a read are planned at 100 and 130; a read that is ready at 80 has
// that clock, the write waits until the bus has turned around, and the read behind it as well.
func TestPush(t *testing.T) {
	type planned struct{ read, write, second, last int64 }
	for _, c := range []struct {
		ready int64
		n     int64
		want  planned
	}{
		{40, 1, planned{40, 100, 130, 130}},       // nobody moves
		{80, 1, planned{80, 111, 141, 141}},       // 80 + 31, and 30 behind that
		{80, 2, planned{80, 119, 149, 149}},       // 88 + 31
		{102, 1, planned{130 + 8, 100, 130, 138}}, // the write has begun, and the other read is older
		{120, 1, planned{130 + 8, 100, 130, 138}},
	} {
		p := &nsDRAM(t, nil).ch[0].plan
		a := p.banks[0].open(1, 0)
		b := p.banks[1].open(1, 0)
		p.commit(100, 1, b, &Request{Enter: 1, Bank: 1, Row: 1, Write: true})
		p.commit(130, 1, b, &Request{Enter: 1, Bank: 1, Row: 1})
		p.markTail(1)
		x := p.slot(c.ready, c.n, false)
		p.commit(x, c.n, a, &Request{Enter: 2, Row: 1})
		p.markTail(1)
		if got := (planned{x, b.write, b.read, p.last}); got != c.want {
			t.Errorf("%d reads that are ready at %d: %+v, want %+v", c.n, c.ready, got, c.want)
		}
		if got := p.writes.next(1); got != c.want.write {
			t.Errorf("%d reads that are ready at %d: the write occupies %d on, want %d", c.n, c.ready, got, c.want.write)
		}
	}
}
