package dsp

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestUntil: a run ends at the instant set in its options, after no more packets than its threads can issue until then,
// of one thread, which runs in its own loop, and of several. One that ends before is not changed.
func TestUntil(t *testing.T) {
	c := testCore(t)
	const until = 20 * sim.Microsecond
	cycles := sim.Clock{Hz: c.Spec().ClockHz}.Cycle(until)
	endless := assemble(t, codeBase, "again:\n{ r1 = add(r1,#1) }\n{ p0 = tstbit(r1,#1) }\n{ if (p0) jump:t more }\n{ r2 = add(r2,#1) ; r3 = r2 }\n{ jump again }\nmore:\n{ r4 = r1 }\n{ jump again }\n")
	for _, threads := range []int{1, 2, 4} {
		_, err := c.Run(endless, new(mem.Space), []Job{{Entry: codeBase, Threads: threads}}, Options{Until: until, MaxPackets: 2*cycles + 1000})
		if late := (*sim.Late)(nil); !errors.As(err, &late) || late.At != until {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
	ends := assemble(t, codeBase, "{ r1 = #100 }\nagain:\n{ r1 = add(r1,#-1) }\n{ p0 = cmp.gt(r1,#0) }\n{ if (p0) jump:t again }\n{ jumpr r31 }\n")
	var took [2]int64
	for i, end := range []sim.Time{0, sim.Second} {
		rep := require.V(c.Run(ends, new(mem.Space), []Job{{Entry: codeBase, Threads: 1}}, Options{Until: end}))(t)
		took[i] = rep.Cycles
	}
	if took[0] != took[1] || took[0] == 0 {
		t.Errorf("%d cycles", took)
	}
}

// turns yields the engine at each chance and notes when.
type turns struct {
	over bool
	left int // chances that it leaves first
	at   []sim.Time
}

func (x *turns) Pending(sim.Time) bool {
	x.left--
	return x.over && x.left < 0
}
func (x *turns) Yield(at sim.Time) []sim.Change {
	x.at = append(x.at, at)
	return nil
}

// TestTurn: another program may have the core between jobs, once dirty lines of L2 are written back; the next job
// starts with empty caches, as the first did. An uninterrupted run is as one without turns.
func TestTurn(t *testing.T) {
	s := microSpec(t, "pixel4")
	p := assemble(t, codeBase, loopOf(64, "{ v0 = vmem(r0++#1) }\n{ vmem(r1++#1) = v0 }\n{ r3 = memw(r2++#4) }"))
	run := func(turn sim.Preemption) *sim.Report {
		c := require.V(newCold(s))(t)
		space := new(mem.Space)
		require.NoError(t, space.Map(mem.Segment{Name: "data", Base: dataAt, Data: make([]byte, 1<<16)}))
		var jobs []Job
		for i := range 3 {
			jobs = append(jobs, Job{Region: i, Name: "copy", Entry: codeBase, Threads: 1, Args: [][]uint32{{dataAt, dataAt + 16384, dataAt + 32768}}})
		}
		r := require.V(c.Run(p, space, jobs, Options{Preemption: turn}))(t)
		return r
	}
	plain, never, always := run(nil), &turns{}, &turns{over: true}
	if r := run(never); !reflect.DeepEqual(r, plain) || len(never.at) != 0 {
		t.Error("a run that keeps its turn is another")
	}
	r := run(always)
	first := r.Regions[0].Cycles
	if plain.Regions[1].Cycles >= plain.Regions[0].Cycles || r.Regions[1].Cycles != first || r.Regions[2].Cycles != first {
		t.Errorf("jobs of %d, %d and %d cycles; beside nobody %d and %d", first, r.Regions[1].Cycles, r.Regions[2].Cycles, plain.Regions[0].Cycles, plain.Regions[1].Cycles)
	}
	if got := run(&turns{over: true, left: 1}).Regions; got[1].Cycles >= first || got[2].Cycles != first {
		t.Errorf("jobs of %d cycles before a turn and %d behind it, want %d", got[1].Cycles, got[2].Cycles, first)
	}
	clock := sim.Clock{Hz: s.ClockHz}
	if len(always.at) != 2 || always.at[0] != clock.At(first) || always.at[1] != clock.At(2*first) {
		t.Errorf("turns at %v, jobs of %d cycles", always.at, first)
	}
}

// TestStates: a state and its clone behave alike; flushed lines are written back and gone; a state can be used by a
// core of another clock, not by another machine.
func TestStates(t *testing.T) {
	s := microSpec(t, "pixel4")
	c := require.V(New(s))(t)
	level := flat{flatCycles * sim.Nanosecond}
	p := assemble(t, codeBase, loopOf(64, "{ v0 = vmem(r0++#1) }\n{ vmem(r1++#1) = v0 }\n{ r3 = memw(r2++#4) }"))
	run := func(c *Core, st *State) int64 {
		space := new(mem.Space)
		require.NoError(t, space.Map(mem.Segment{Name: "data", Base: dataAt, Data: make([]byte, 1<<16)}))
		r, err := c.Run(p, space, []Job{{Name: "copy", Entry: codeBase, Threads: 1, Args: [][]uint32{{dataAt, dataAt + 16384, dataAt + 32768}}}}, Options{State: st})
		require.NoError(t, err)
		return r.Cycles
	}
	st := require.V(c.NewState(level))(t)
	empty := st.Fingerprint()
	cold := run(c, st)
	used := st.Fingerprint()
	clone := st.Clone()
	if used == empty || clone.Fingerprint() != used {
		t.Errorf("fingerprints: empty %x, used %x, of the clone %x", empty, used, clone.Fingerprint())
	}
	warm := run(c, st)
	if got := run(c, clone); got != warm || warm >= cold {
		t.Errorf("cold %d cycles, warm %d, of the clone %d", cold, warm, got)
	}
	before := st.Fingerprint()
	if st.Flush(0, dataAt, 0); st.Fingerprint() != before {
		t.Error("nothing was flushed, the caches differ")
	}
	st.Flush(0, dataAt, 64*128)
	part := run(c, st)
	if st.Reset(); part <= warm || part >= cold || st.Fingerprint() != empty {
		t.Errorf("%d cycles after a flush; cold %d, warm %d", part, cold, warm)
	}
	for _, x := range []struct {
		edit func(*Spec)
		same bool
	}{{func(s *Spec) { s.ClockHz /= 2 }, true}, {func(s *Spec) { s.VoltageV *= 2 }, true}, {func(s *Spec) { s.L2.HitCycles++ }, false}} {
		other := s
		x.edit(&other)
		o := require.V(New(other))(t)
		if st.Move(o) != x.same {
			t.Errorf("%+v: moved the other way", other)
		}
		if x.same {
			run(o, st)
			st.Move(c)
		}
	}
	if _, err := c.NewState(nil); err == nil || err.Error() != "dsp: a state needs the memory behind L2" {
		t.Error(err)
	}
}

// TestNestedLoops: a nested loop runs as often as both counts determine, in packets that end one loop or both, and
// leaves the counts at 1; from a count of 0 it runs once.
func TestNestedLoops(t *testing.T) {
	for _, text := range []string{
		"{ r2 = #0 }\n{ loop1(outer,r0) }\nouter:\n{ loop0(inner,r1) }\ninner:\n{ r2 = add(r2,#1) }\n{ nop } :endloop0\n{ r3 = add(r3,#1) }\n{ nop } :endloop1\n{ jumpr r31 }\n",
		"{ r2 = #0 }\n{ loop1(outer,r0) }\nouter:\n{ loop0(inner,r1) ; r3 = add(r3,#1) }\ninner:\n{ r2 = add(r2,#1) }\n{ nop } :endloop0:endloop1\n{ jumpr r31 }\n",
	} {
		p := assemble(t, codeBase, text)
		for _, n := range [][2]uint32{{3, 4}, {1, 1}, {0, 2}, {2, 0}} {
			var st Registers
			st.PC, st.R[0], st.R[1], st.R[31] = codeBase, n[0], n[1], ReturnAddress
			require.V(testCore(t).RunThread(p, new(mem.Space), &st, ReturnAddress, Options{Functional: true}))(t)
			a, b := max(n[0], 1), max(n[1], 1)
			if st.R[2] != a*b || st.R[3] != a || st.LC != [2]uint32{min(n[1], 1), min(n[0], 1)} {
				t.Errorf("%d times %d: %d and %d, counts left %d", n[0], n[1], st.R[2], st.R[3], st.LC)
			}
		}
	}
}

// TestGuestTraps: each trap of a guest is served, also in a loop that has run before, until Trap reports its end.
func TestGuestTraps(t *testing.T) {
	p := assemble(t, codeBase, "again:\n{ r0 = add(r0,#1) }\n{ trap0(#1) }\n{ jump again }\n")
	var got []uint32
	g := &Guest{Registers: &Registers{PC: codeBase}, Space: new(mem.Space), Trap: func(r *[32]uint32) (bool, error) {
		got = append(got, r[0])
		return r[0] == 9, nil
	}}
	c := testCore(t).Core
	require.V(c.RunGuests(p, []*Guest{g}, Options{MaxPackets: 1000, State: require.V(c.NewState(flat{}))(t)}))(t)
	if !slices.Equal(got, []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("traps with %d", got)
	}
}
