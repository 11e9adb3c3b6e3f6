package dsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// flat is a memory that answers every read after the same span.
type flat struct{ latency sim.Time }

func (f flat) Access(t sim.Time, _ uint64, _ int, k mem.Kind) (sim.Time, sim.Reason) {
	if k == mem.Write {
		return t, sim.StallDRAM
	}
	return t + f.latency, sim.StallDRAM
}

func (flat) Reset() {}

// microSpec is a 1 GHz machine with a flat memory, so that cycles are
// nanoseconds and every answer has a closed form.
func microSpec(t testing.TB, interval int) Spec {
	s := testSpec(t)
	s.ClockHz, s.IssueInterval, s.JobStartCycles = 1e9, interval, 0
	s.L2.HitCycles, s.VectorLoadCycles, s.VTCMCycles = 12, 12, 4
	s.BranchSlots, s.MispredictSlots = 3, 4
	s.NewDRAM = func() (mem.Level, error) { return flat{100 * sim.Nanosecond}, nil }
	return s
}

// microRun runs one thread per argument list on a mapped data area and VTCM.
func microRun(t testing.TB, s Spec, text string, args ...[]uint32) *sim.Report {
	t.Helper()
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	p := assemble(t, codeBase, text)
	space := new(mem.Space)
	for _, seg := range []mem.Segment{
		{Name: "data", Base: 0x100000, Data: make([]byte, 1<<20)},
		{Name: "vtcm", Base: uint64(s.VTCMBase), Data: make([]byte, s.VTCMBytes)},
	} {
		if err := space.Map(seg); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := c.Run(p, space, []Job{{Name: "micro", Entry: codeBase, Threads: len(args), Args: args}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Stalls.Total() != rep.Cycles {
		t.Errorf("stalls add up to %d, cycles %d", rep.Stalls.Total(), rep.Cycles)
	}
	return rep
}

// loopOf wraps packets in a hardware loop of n passes. The frame is three
// packets: loop setup, two no-ops that let every result arrive, and the return.
func loopOf(n int, body string) string {
	return fmt.Sprintf("\t{ loop0(top,#%d) }\n\tnop\n\tnop\ntop:\n%s :endloop0\n\tnop\n\tnop\n\tjumpr r31\n", n, strings.TrimRight(body, "\n"))
}

// TestInterlocks checks operand stalls per pass of a loop, in slots.
func TestInterlocks(t *testing.T) {
	const n = 100
	for _, c := range []struct {
		name     string
		body     string
		interval int
		packets  int
		stalls   int // slots per pass, once the loop turns
		first    int // slots fewer in the first pass
	}{
		{"independent vrmpy", "{ v0.w += vrmpy(v1.ub,r0.b) ; v2.w += vrmpy(v3.ub,r0.b) }\n{ v4.w += vrmpy(v5.ub,r0.b) }", 2, 2, 0, 0},
		{"accumulator chain", "{ v0.w += vrmpy(v1.ub,r0.b) }\n{ v0.w += vrmpy(v1.ub,r0.b) }", 2, 2, 0, 0},
		{"multiplier input made by the packet before", "{ v0.w = vrmpy(v0.ub,r0.b) }\n{ v0.w = vrmpy(v0.ub,r0.b) }", 2, 2, 2, 1},
		{"vector ALU chain", "{ v0.w = vadd(v0.w,v1.w) }\n{ v0.w = vadd(v0.w,v1.w) }", 2, 2, 0, 0},
		{"shift input made by the packet before", "{ v0.w = vadd(v0.w,v1.w) }\n{ v0.w = vasr(v0.w,r0) }", 2, 2, 1, 0},
		{"permute of a permute", "{ v0.b = vshuff(v0.b) }\n{ v0.b = vshuff(v0.b) }", 2, 2, 2, 1},
		{"same at interval 1", "{ v0.b = vshuff(v0.b) }\n{ v0.b = vshuff(v0.b) }", 1, 2, 2, 1},
		{"vector load to ALU", "{ v0 = vmem(r0+#0) }\n{ v1.w = vadd(v0.w,v1.w) }", 2, 2, 0, 0},
		{"vector load to multiplier", "{ v0 = vmem(r0+#0) }\n{ v1.w += vrmpy(v0.ub,r1.b) }", 2, 2, 1, 0},
		{".cur load to ALU in its packet", "{ v0.cur = vmem(r0+#0) ; v1.w = vadd(v0.w,v1.w) }\n{ nop }", 2, 2, 0, 0},
		{"scalar load to ALU", "{ r2 = memw(r0+#0) }\n{ r3 = add(r2,r3) }", 2, 2, 0, 0},
		{"scalar load to ALU, interval 1", "{ r2 = memw(r0+#0) }\n{ r3 = add(r2,r3) }", 1, 2, 1, 0},
		{"scalar load to multiplier", "{ r2 = memw(r0+#0) }\n{ r3 = mpyi(r2,r3) }", 2, 2, 1, 0},
		{"scalar load to multiplier, interval 1", "{ r2 = memw(r0+#0) }\n{ r3 = mpyi(r2,r4) }", 1, 2, 2, 0},
		{"scalar ALU chain, interval 1", "{ r2 = add(r2,r3) }\n{ r2 = add(r2,r3) }", 1, 2, 0, 0},
	} {
		rep := microRun(t, microSpec(t, c.interval), loopOf(n, c.body), []uint32{0x100000, 0, 0, 0, 0})
		// the loop, loop setup, two nops before and after, return
		if want := int64(n*c.packets+6) * int64(c.interval); rep.Stalls[sim.StallIssue] != want {
			t.Errorf("%s: %d issue cycles, want %d", c.name, rep.Stalls[sim.StallIssue], want)
		}
		if want := int64(n*c.stalls-c.first) * int64(c.interval); rep.Stalls[sim.StallOperand] != want {
			t.Errorf("%s: %d operand cycles, want %d", c.name, rep.Stalls[sim.StallOperand], want)
		}
		if want := int64(3 * c.interval); rep.Stalls[sim.StallBranch] != want { // the return
			t.Errorf("%s: %d branch cycles, want %d", c.name, rep.Stalls[sim.StallBranch], want)
		}
	}
}

// TestBranches checks what taken and mispredicted branches cost.
func TestBranches(t *testing.T) {
	const n = 50
	for _, c := range []struct {
		name  string
		text  string
		slots int64
	}{
		{"hinted taken", "\tr0 = #50\ntop:\n\t{ r0 = add(r0,#-1) ; p0 = cmp.gt(r0,#1) }\n\t{ if (p0) jump:t top }\n\tjumpr r31\n",
			(n-1)*3 + 4 + 3}, // all but the last pass, the miss at the end, the return
		{"hinted not taken", "\tr0 = #50\ntop:\n\t{ r0 = add(r0,#-1) ; p0 = cmp.gt(r0,#1) }\n\t{ if (p0) jump:nt top }\n\tjumpr r31\n",
			(n-1)*7 + 3},
		{"never taken", "\tp0 = cmp.eq(r0,#77)\n\t{ if (p0) jump:nt top }\ntop:\n\tjumpr r31\n", 3},
	} {
		rep := microRun(t, microSpec(t, 2), c.text, []uint32{0})
		if got := rep.Stalls[sim.StallBranch]; got != c.slots*2 {
			t.Errorf("%s: %d cycles, want %d", c.name, got, c.slots*2)
		}
	}
}

// TestThreads checks that threads do not disturb each other while the issue
// ports and memories have room, and share them fairly when they have not.
func TestThreads(t *testing.T) {
	const n = 1000
	s := microSpec(t, 2)
	args := func(k int, base func(i int) uint32) (a [][]uint32) {
		for i := range k {
			a = append(a, []uint32{base(i), 0, 0, base(i)})
		}
		return a
	}
	data := func(i int) uint32 { return 0x100000 + uint32(i)*0x10000 }
	vtcm := func(i int) uint32 { return s.VTCMBase + uint32(i)*0x8000 }
	compute := "{ v0.w += vrmpy(v1.ub,r2.b) ; v2.w += vrmpy(v3.ub,r2.b) }\n{ v4.w += vrmpy(v5.ub,r2.b) }"
	var one int64
	for k := 1; k <= 4; k++ {
		rep := microRun(t, s, loopOf(n, compute), args(k, data)...)
		busy := rep.Cycles - rep.Stalls[sim.StallFetch] - rep.Stalls[sim.StallLaunch]
		if k == 1 {
			one = busy
		} else if busy != one {
			t.Errorf("%d threads computing: %d cycles, one thread %d", k, busy, one)
		}
	}
	stream := "{ v0 = vmem(r0+#0) }\n{ v1 = vmem(r0+#1) }"
	for k := 1; k <= 4; k++ {
		rep := microRun(t, s, loopOf(n, stream), args(k, vtcm)...)
		if w := rep.Stalls[sim.StallScratchpad]; w != 0 {
			t.Errorf("%d threads reading VTCM wait %d cycles, one vector per packet must be free", k, w)
		}
		// L2 has one port of a vector per cycle: two threads at a load every other
		// cycle fill it, four take twice as long. The first touch comes from DRAM.
		rep = microRun(t, s, loopOf(n, stream), args(k, data)...)
		loads := int64(2 * n * k)
		wait := rep.Stalls[sim.StallL2]
		want := max(0, loads-int64(2*n*2))
		if wait < want-n/10 || wait > want+n/10 {
			t.Errorf("%d threads reading L2 wait %d cycles, want about %d", k, wait, want)
		}
	}
}

// TestMemoryLatency checks what one access to each memory costs.
func TestMemoryLatency(t *testing.T) {
	s := microSpec(t, 2)
	// A vector read that misses L2: known after the hit latency, 100 ns of memory;
	// the pipeline hides 12 cycles, and the wait ends in the thread's own slot.
	for _, c := range []struct {
		name string
		text string
		addr uint32
		why  sim.Reason
		want int64
	}{
		{"vector from DRAM", "\tv0 = vmem(r0+#0)\n\tjumpr r31\n", 0x100000, sim.StallDRAM, 100},
		{"vector from L2", "\tv0 = vmem(r0+#0)\n\tv0 = vmem(r0+#0)\n\tjumpr r31\n", 0x100000, sim.StallL2, 0},
		{"vector from VTCM", "\tv0 = vmem(r0+#0)\n\tjumpr r31\n", s.VTCMBase, sim.StallScratchpad, 0},
		{"unaligned vector over two lines", "\tv0 = vmemu(r0+#0)\n\tjumpr r31\n", 0x100040, sim.StallDRAM, 102},
		// L1 miss 3, L2 miss 12, memory 100: all but the 3 of the L1 hit is a wait.
		{"scalar from DRAM", "\tr1 = memw(r0+#0)\n\tjumpr r31\n", 0x100000, sim.StallDRAM, 112},
		{"scalar from L2", "\tv0 = vmem(r0+#0)\n\tr1 = memw(r0+#0)\n\tjumpr r31\n", 0x100000, sim.StallL2, 12},
		{"scalar from L1", "\tr1 = memw(r0+#0)\n\tr1 = memw(r0+#4)\n\tjumpr r31\n", 0x100000, sim.StallL1, 0},
		{"posted store", "\tvmem(r0+#0) = v0\n\tjumpr r31\n", 0x100000, sim.StallQueue, 0},
	} {
		rep := microRun(t, s, c.text, []uint32{c.addr})
		if got := rep.Stalls[c.why]; got != c.want {
			t.Errorf("%s: %d cycles of %v, want %d (%v)", c.name, got, c.why, c.want, rep.Stalls)
		}
	}
}

// TestPrefetch checks that an l2fetch ahead of a stream takes its misses away.
func TestPrefetch(t *testing.T) {
	const lines = 256
	s := microSpec(t, 2)
	body := loopOf(lines, "{ v0 = vmem(r0++#1) }\n{ nop }")
	cold := microRun(t, s, body, []uint32{0x100000})
	if got := cold.Stalls[sim.StallDRAM]; got != lines*100 {
		t.Errorf("without l2fetch %d cycles for %d lines, want %d", got, lines, lines*100)
	}
	// Width 0x1000 bytes, 8 rows, 0x1000 apart; all of it long before use.
	ahead := "\tl2fetch(r0,r3:2)\n\tr4 = #0\n\t{ loop0(wait,#3000) }\nwait:\n\t{ r4 = add(r4,#1) }\n\t{ nop } :endloop0\n"
	ahead = strings.Replace(ahead, "#3000", "r5", 1)
	warm := microRun(t, s, ahead+body, []uint32{0x100000, 0, 0x1000<<16 | 8, 0x1000, 0, 3000})
	if got := warm.Stalls[sim.StallDRAM]; got > 100 {
		t.Errorf("with l2fetch %d cycles of DRAM", got)
	}
}

// TestStoreQueue checks that stores wait when too many are on their way.
func TestStoreQueue(t *testing.T) {
	s := microSpec(t, 2)
	rep := microRun(t, s, loopOf(1000, "{ vmem(r0++#1) = v0 }"), []uint32{0x100000})
	if rep.Stalls[sim.StallQueue] != 0 {
		t.Errorf("a store per packet waits %d cycles", rep.Stalls[sim.StallQueue])
	}
}

// TestDeterminism runs the same jobs twice.
func TestDeterminism(t *testing.T) {
	c := testCore(t)
	var last *sim.Report
	for range 2 {
		g := newGEMM(t, 256, 32, 128, 3)
		for i := range g.jobs {
			g.jobs[i].Region = i % 3
		}
		rep, err := c.Run(g.prog, g.space, g.jobs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var sum sim.StallTable
		var cycles int64
		var pj float64
		for i := range rep.Regions {
			sum.Add(&rep.Regions[i].Stalls)
			cycles += rep.Regions[i].Cycles
			pj += rep.Regions[i].EnergyPJ
			if rep.Regions[i].Stalls.Total() != rep.Regions[i].Cycles {
				t.Errorf("region %d: %d stalls, %d cycles", i, rep.Regions[i].Stalls.Total(), rep.Regions[i].Cycles)
			}
		}
		if len(rep.Regions) != 3 || sum != rep.Stalls || cycles != rep.Cycles || pj != rep.EnergyPJ {
			t.Errorf("regions do not add up: %+v", rep)
		}
		if last != nil && fmt.Sprint(*last) != fmt.Sprint(*rep) {
			t.Errorf("second run differs:\n%+v\n%+v", *last, *rep)
		}
		last = rep
	}
}

// TestProfile checks that the packets of one thread add up to its cycles and
// that a stall is charged to the packet that waits.
func TestProfile(t *testing.T) {
	s := microSpec(t, 2)
	s.JobStartCycles = 500
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	p := assemble(t, codeBase, loopOf(10, "{ v0 = vmem(r0++#1) }\n{ v1.w += vrmpy(v0.ub,r1.b) }"))
	space := new(mem.Space)
	if err := space.Map(mem.Segment{Name: "data", Base: 0x100000, Data: make([]byte, 1<<16)}); err != nil {
		t.Fatal(err)
	}
	var prof Profile
	jobs := []Job{{Region: 7, Entry: codeBase, Threads: 1, Args: [][]uint32{{0x100000}}}, {Region: 3, Entry: codeBase, Threads: 1, Args: [][]uint32{{0x100000}}}}
	rep, err := c.Run(p, space, jobs, Options{Profile: &prof})
	if err != nil {
		t.Fatal(err)
	}
	sum := map[int]sim.StallTable{}
	for _, k := range prof.Packets {
		table := sum[k.Region]
		table.Add(&k.Stalls)
		sum[k.Region] = table
		if k.Addr == codeBase+16 && (k.Count != 10 || k.Stalls[sim.StallOperand] != 20 || k.Stalls[sim.StallDRAM] != 0) {
			t.Errorf("region %d: multiply: %+v", k.Region, k)
		}
		if k.Addr == codeBase+12 && k.Region == 7 && k.Stalls[sim.StallDRAM] != 1000 {
			t.Errorf("load: %+v", k)
		}
	}
	for _, g := range rep.Regions {
		want := g.Stalls
		want[sim.StallLaunch] = 0
		if sum[g.ID] != want {
			t.Errorf("region %d: packets %v, region %v", g.ID, sum[g.ID], want)
		}
	}
}
