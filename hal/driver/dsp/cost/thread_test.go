package cost

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
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

// TestThreadOf: loops run as often as the table says, entry by entry.
func TestThreadOf(t *testing.T) {
	code, err := hvx.Compile(ranges{}, hvx.Machine{IssueInterval: 2})
	if err != nil {
		t.Fatal(err)
	}
	table := map[uint32]uint32{0x1004: 5, 0x100c: 0, 0x1014: 1000}
	word := func(addr uint32) (uint32, bool) { w, ok := table[addr]; return w, ok }
	slots := func(entries uint32) int {
		th := ThreadOf(&Machine{Jump: 3}, code.Loops, []uint32{0x1000, entries}, word)
		if th.Guess {
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
	if th := ThreadOf(&Machine{}, code.Loops, []uint32{0x1000, 1}, word); !th.Guess || th.Slots < unknownCount*body {
		t.Errorf("a count from memory that kernels write: %+v", th)
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
		{"bytes asked for", []*Job{{Slots: 100, Ahead: 10000}, {Slots: 10, Due: 10000}}, 800},
		{"bytes that have come", []*Job{{Slots: 5000, Ahead: 10000}, {Slots: 10, Due: 10000}}, 220},
		{"bytes of others before", []*Job{{Slots: 10, Ahead: 100000}, {Slots: 10, Due: 1000}}, 300},
		{"lines nobody asked for", []*Job{{Slots: 10, Threads: 2, Missed: 256}}, 520},
		{"code from DRAM", []*Job{{Slots: 10, Threads: 2, Code: 256}}, 820},
	} {
		Estimate(m, c.jobs)
		if got := c.jobs[len(c.jobs)-1].Cycles; got != c.want {
			t.Errorf("%s: %d cycles, want %d", c.name, got, c.want)
		}
	}
}
