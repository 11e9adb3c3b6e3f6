package gpu

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// TestUntil: a run ends at the instant set in its options, after no more instructions than its waves can issue until
// then, of one wave and of many, and the core then runs the next program. One that ends before is not changed.
func TestUntil(t *testing.T) {
	c := newCore(t, nil)
	const until = 20 * sim.Microsecond
	cycles := sim.Clock{Hz: c.Spec().Hz}.Cycle(until)
	for _, text := range []string{"again:\ns_nop 0\ns_branch again\ns_endpgm", "again:\nv_add_f32 v1, v1, v1\nv_add_f32 v2, v2, v2\ns_branch again\ns_endpgm"} {
		endless := &Kernel{Name: "endless", Code: assemble(t, false, text), WaveSize: 32, VGPRs: 8}
		for _, waves := range []int{1, 64} {
			s, _ := space(t, 2048)
			d := Dispatch{Kernel: endless, Grid: [3]int{32 * waves}, Workgroup: [3]int{32}}
			_, err := c.Run(s, []Dispatch{d}, Options{Until: until, MaxInstructions: 4*cycles*int64(waves) + 1000})
			if late := (*sim.Late)(nil); !errors.As(err, &late) || late.At != until {
				t.Errorf("%d waves: %v", waves, err)
			}
		}
	}
	good := &Kernel{Name: "good", Code: assemble(t, false, "v_mov_b32 v1, v0\ns_endpgm"), WaveSize: 32, VGPRs: 8}
	var took [2]int64
	for i, end := range []sim.Time{0, sim.Second} {
		s, _ := space(t, 2048)
		rep, err := c.Run(s, []Dispatch{{Kernel: good, Grid: [3]int{4096}, Workgroup: [3]int{32}}}, Options{Until: end})
		require.NoError(t, err)
		took[i] = rep.Cycles
	}
	if took[0] != took[1] || took[0] == 0 {
		t.Errorf("%d cycles", took)
	}
}

// turns yields the engine at each chance for which it has a point, which holds from then on, and notes when.
type turns struct {
	over   bool
	points []sim.Change
	at     []sim.Time
}

func (x *turns) Pending(sim.Time) bool { return x.over }
func (x *turns) Yield(at sim.Time) []sim.Change {
	x.at = append(x.at, at)
	return x.points
}

// TestTurn: between dispatches another program may run, once dirty lines of L2 are written back; the next dispatch
// starts with empty caches, as the first did, at its given clock. An uninterrupted run is as one without turns.
func TestTurn(t *testing.T) {
	text := base + "v_lshl_add_u32 v1, s2, 6, v0\nv_lshlrev_b32 v1, 2, v1\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v2, s[4:5]"
	half := []sim.Change{{OPP: sim.OPP{Hz: DefaultSpec().Hz / 2, Volts: 0.6}}}
	run := func(o Options, n int) *sim.Report {
		k := kernelOf(t, 32, text)
		var ds []Dispatch
		for i := range n {
			ds = append(ds, Dispatch{Kernel: k, Grid: [3]int{64 * 20}, Workgroup: [3]int{64}, Kernarg: args(dataBase), Region: i})
		}
		c := newCore(t, nil)
		s, _ := space(t, 1<<16)
		r, err := c.Run(s, ds, o)
		require.NoError(t, err)
		return r
	}
	one, slow, plain := run(Options{}, 1), run(Options{Points: half}, 1), run(Options{}, 3)
	never, always, slower := &turns{}, &turns{over: true}, &turns{over: true, points: half}
	if r := run(Options{Preemption: never}, 3); fmt.Sprintf("%+v", *r) != fmt.Sprintf("%+v", *plain) || len(never.at) != 0 {
		t.Error("a run that keeps its turn is another")
	}
	clock := sim.Clock{Hz: DefaultSpec().Hz}
	r := run(Options{Preemption: always}, 3)
	if len(always.at) != 2 || always.at[0] != clock.At(one.Cycles) || always.at[1] != clock.At(2*one.Cycles) || r.Cycles != 3*one.Cycles || plain.Cycles >= r.Cycles {
		t.Errorf("turns at %v; one dispatch takes %d cycles, three %d, without turns %d", always.at, one.Cycles, r.Cycles, plain.Cycles)
	}
	for i := range r.Regions {
		if x := &r.Regions[i]; x.Cycles != one.Cycles || x.Stalls != one.Stalls || i < 2 && max(x.Time-one.Time, one.Time-x.Time) > 1 { // the time of the last is without that which ends the run
			t.Errorf("dispatch %d of %d cycles, %d fs %v; alone %d, %d %v", i, x.Cycles, x.Time, x.Stalls, one.Cycles, one.Time, one.Stalls)
		}
	}
	if r := run(Options{Preemption: slower}, 3); r.Regions[0].Cycles != one.Cycles || r.Regions[1].Cycles != slow.Cycles || r.Regions[2].Cycles != slow.Cycles {
		t.Errorf("dispatches of %d, %d and %d cycles, alone %d and at the slow clock %d", r.Regions[0].Cycles, r.Regions[1].Cycles, r.Regions[2].Cycles, one.Cycles, slow.Cycles)
	}
	functional := &turns{over: true}
	if run(Options{Preemption: functional, Functional: true}, 3); len(functional.at) != 0 {
		t.Error("a functional run gives way")
	}
}
