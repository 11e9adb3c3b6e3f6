package cost

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// ranges adds 1 to the words of ranges: arguments are a table of (address, words), and entries.
// Ranges of no words are left out.
type ranges struct{ unknown bool }

func (ranges) Name() string { return "ranges" }

func (k ranges) Emit(b *hvx.Builder) {
	in := b.Args("table", "entries")
	b.Repeat(in[1], func() {
		at, n := b.Word(in[0], 0, "at"), b.Word(in[0], 1, "words")
		b.Bump(in[0], 8)
		if k.unknown { // read from what other kernels make
			b.Op(hexagon.L2_loadri_pi, n, at, 4).Loads(hvx.AliasIn)
		}
		b.SkipIfZero(n, func() {
			b.Loop0(n, func() {
				x := b.R("x")
				b.Op(hexagon.L2_loadri_io, x, at, 0).Loads(hvx.AliasIn)
				b.Bump(x, 1)
				b.Op(hexagon.S2_storeri_pi, at, 4, x).Stores(hvx.AliasIn)
			})
		})
	})
	b.Ret()
}

// TestThreadOf: loop counts are those of the table, entry by entry.
func TestThreadOf(t *testing.T) {
	code, err := hvx.Compile(ranges{}, hvx.Machine{IssueInterval: 2})
	require.NoError(t, err)
	table := map[uint32]uint32{0x1004: 5, 0x100c: 0, 0x1014: 1000}
	word := func(addr uint32) (uint32, bool) { w, ok := table[addr]; return w, ok }
	slots := func(entries uint32) int {
		th := ThreadOf(&Machine{Jump: 3}, code.Loops, []uint32{0x1000, entries}, word)
		if th.Uncertain {
			t.Errorf("%d entries: a count is not known", entries)
		}
		return th.Slots
	}
	one, two, three := slots(1), slots(2), slots(3)
	body := code.Loops[len(code.Loops)-1].Slots
	if empty := two - one; empty <= 3 || three-two <= empty+1000*body || three-two > empty+1000*body+3 {
		t.Errorf("%d, %d and %d slots for 1 to 3 entries, a loop of %d", one, two, three, body)
	}
	if code, err = hvx.Compile(ranges{unknown: true}, hvx.Machine{IssueInterval: 2}); err != nil {
		t.Fatal(err)
	}
	if th := ThreadOf(&Machine{}, code.Loops, []uint32{0x1000, 1}, word); !th.Uncertain || th.Slots < unknownCount*body {
		t.Errorf("a count from memory that kernels write: %+v", th)
	}
}

// TestLoops: slots and lines of a nest are sums over the iterations of each loop, and a count that is not known is ten
// once.
func TestLoops(t *testing.T) {
	arg := func(n int32) *hvx.Value { return &hvx.Value{Op: hvx.ValueArg, N: n} }
	word := func(at uint32) (uint32, bool) { return at / 4, at < 40 }
	for _, c := range []struct {
		name         string
		loops        []hvx.Loop
		slots, lines int
		guess        bool
	}{
		{"none", nil, 0, 0, true},
		{"straight", []hvx.Loop{{Slots: 7, Lines: 2}}, 7, 2, false},
		{"two after each other", []hvx.Loop{{Inner: []int{1, 2}, Slots: 1, Lines: 1}, {Count: arg(0), Slots: 10, Lines: 2}, {Count: arg(1), Slots: 3, Lines: 5, Jumps: true}},
			1 + 3*10 + 4*3 + 6, 1 + 3*2 + 4*5, false},
		{"a loop in a loop", []hvx.Loop{{Inner: []int{1}}, {Count: arg(0), Inner: []int{2}, Slots: 1, Lines: 2}, {Count: arg(1), Slots: 10, Lines: 3}}, 3 * (1 + 40), 3 * (2 + 12), false},
		{"no iteration", []hvx.Loop{{Inner: []int{1}, Slots: 4}, {Count: arg(2), Slots: 10, Lines: 3}}, 4, 0, false},
		{"counts 2, 4 and 6", []hvx.Loop{{Inner: []int{1}}, {Count: arg(0), Steps: true, Inner: []int{2}, Slots: 1, Lines: 2},
			{Count: &hvx.Value{Op: hvx.ValueConst, N: 2, Walks: []hvx.Walk{{Loop: 1, Step: 2}}}, Slots: 10, Lines: 3}}, 3 + 120, 6 + 36, false},
		{"unknown in unknown", []hvx.Loop{{Inner: []int{1, 3}}, {Inner: []int{2}, Slots: 1}, {Slots: 10, Lines: 1}, {Slots: 2}}, 10*(1+10) + 10*2, 10, true},
		{"an argument too far", []hvx.Loop{{Inner: []int{1}}, {Count: arg(4), Slots: 1}}, 10, 0, true},
		{"a word that nobody knows", []hvx.Loop{{Inner: []int{1}}, {Count: &hvx.Value{Op: hvx.ValueWord, N: 20, Of: [2]*hvx.Value{arg(3)}}, Slots: 1}}, 10, 0, true},
	} {
		th := ThreadOf(&Machine{Jump: 6}, c.loops, []uint32{3, 4, 1 << 31, 24}, word)
		if th != (Thread{c.slots, c.lines, c.guess}) {
			t.Errorf("%s: %+v, want %d slots, %d lines, guess %v", c.name, th, c.slots, c.lines, c.guess)
		}
	}
	for _, c := range []struct {
		v    hvx.Value
		want uint32
	}{
		{hvx.Value{Op: hvx.ValueConst, N: -5}, 0xfffffffb}, {hvx.Value{Op: hvx.ValueWord, N: 8, Of: [2]*hvx.Value{arg(3)}}, 8},
		{hvx.Value{Op: hvx.ValuePlus, N: -5, Of: [2]*hvx.Value{arg(3)}}, 19}, {hvx.Value{Op: hvx.ValueSum, Of: [2]*hvx.Value{arg(3), arg(1)}}, 28},
		{hvx.Value{Op: hvx.ValueDifference, Of: [2]*hvx.Value{arg(3), arg(1)}}, 20}, {hvx.Value{Op: hvx.ValueLeast, Of: [2]*hvx.Value{arg(3), arg(1)}}, 4},
		{hvx.Value{Op: hvx.ValueLeast, Of: [2]*hvx.Value{arg(2), arg(1)}}, 1 << 31}, {hvx.Value{Op: hvx.ValueShiftRight, N: 3, Of: [2]*hvx.Value{arg(3)}}, 3},
		{hvx.Value{Op: hvx.ValueShiftLeft, N: 3, Of: [2]*hvx.Value{arg(3)}}, 192}, {hvx.Value{Op: hvx.ValueMask, N: 17, Of: [2]*hvx.Value{arg(3)}}, 16},
		{hvx.Value{Op: hvx.ValueNonzero, Of: [2]*hvx.Value{arg(3)}}, 1}, {hvx.Value{Op: hvx.ValueNonzero, Of: [2]*hvx.Value{{Op: hvx.ValueConst}}}, 0},
	} {
		w := walker{args: []uint32{3, 4, 1 << 31, 24}, word: word}
		if x, ok := w.value(&c.v); !ok || x != c.want {
			t.Errorf("%+v: %d, %v, want %d", c.v, x, ok, c.want)
		}
	}
	var j Job
	for _, th := range []Thread{{Slots: 5, Lines: 2}, {Slots: 9, Lines: 3, Uncertain: true}, {Slots: 7, Lines: 4}} {
		j.AddThread(th)
	}
	if j != (Job{Threads: 3, Slots: 9, Lines: 9, Uncertain: true}) {
		t.Errorf("%+v of three threads", j)
	}
}

// TestEstimate: a job ends when its code does and its bytes have come.
func TestEstimate(t *testing.T) {
	m := &Machine{IssueInterval: 2, Launch: 200, LineBytes: 128, MemoryCycles: 300, MemoryRate: 10}
	for _, c := range []struct {
		name string
		jobs []*Job
		want int // of the last one
	}{
		{"code", []*Job{{Slots: 100, Threads: 4}}, 400},
		{"lines", []*Job{{Slots: 100, Lines: 50}}, 425},
		{"its own bytes", []*Job{{Slots: 100, Streamed: 10000}}, 1200},
		{"bytes of a later job", []*Job{{Slots: 100, Ahead: 10000}}, 400},
		{"bytes asked for", []*Job{{Slots: 100, Ahead: 10000}, {Slots: 10, Due: 10000}}, 1100},
		{"bytes that have come", []*Job{{Slots: 5000, Ahead: 10000}, {Slots: 10, Due: 10000}}, 220},
		{"bytes of others before", []*Job{{Slots: 10, Ahead: 100000}, {Slots: 10, Due: 1000}}, 600},
		{"lines nobody asked for", []*Job{{Slots: 10, Threads: 2, Missed: 1}}, 520},
		{"code from DRAM", []*Job{{Slots: 10, Threads: 2, Code: 256}}, 820},
		{"its own bytes behind those of a later job", []*Job{{Slots: 10, Ahead: 5000}, {Slots: 10, Streamed: 3000}}, 780},
		{"its first line", []*Job{{Slots: 200, Streamed: 100}}, 900},
		{"bytes of a job that DRAM has had time for", []*Job{{Slots: 1000}, {Slots: 10, Streamed: 4000}}, 600},
	} {
		Estimate(m, c.jobs)
		require.Same(t, c.want, c.jobs[len(c.jobs)-1].Cycles, c.name, "cycles")
	}
}
