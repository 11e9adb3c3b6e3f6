package gpu

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// overlapped runs dispatches with their code in the instruction cache, and when each has ended, in cycles.
func overlapped(t *testing.T, edit func(*Spec), ds []Dispatch) (*sim.Report, []int64) {
	t.Helper()
	c := newCore(t, func(s *Spec) {
		distinct(s)
		s.LaunchCycles = 300
		edit(s)
	})
	s, _ := space(t, 1<<16)
	ends := make([]int64, len(ds))
	clock := sim.Clock{Hz: c.Spec().Hz}
	for i := range ds {
		ds[i].Region = i
	}
	var r *sim.Report
	for range 2 {
		var err error
		r, err = c.Core.Run(s, ds, Options{State: c.state, Span: func(x sim.Span) { ends[x.Region] = clock.Cycle(x.End) }})
		require.NoError(t, err)
		checkReport(t, r)
	}
	return r, ends
}

// TestTracks: dispatches beside each other have a track each, by their order.
func TestTracks(t *testing.T) {
	k := kernelOf(t, 32, repeat(100, "v_fma_f32 v2, v2, v2, v2"))
	s, _ := space(t, 1<<16)
	var tracks []string
	ds := []Dispatch{{Kernel: k}, {Kernel: k, Concurrent: true}, {Kernel: k, Concurrent: true}}
	require.V(newCore(t, nil).Run(s, ds, Options{Span: func(x sim.Span) { tracks = append(tracks, x.Track) }}))(t)
	if want := []string{"dispatch", "dispatch 2", "dispatch 3"}; !slices.Equal(tracks, want) {
		t.Errorf("tracks %q, want %q", tracks, want)
	}
}

// TestQueues: the cycles of concurrent dispatches are a formula of those of one alone: launch of 300 cycles, then c.
func TestQueues(t *testing.T) {
	const launch = 300
	kernel := func(chain, lds int) *Kernel {
		k := kernelOf(t, 32, repeat(chain, "v_fma_f32 v2, v2, v2, v2"))
		k.LDSBytes = lds
		return k
	}
	none := func(*Spec) {}
	clusters := func(s *Spec) { s.Clusters = 2 }
	simds := func(s *Spec) { s.SIMDsPerCU = 4 }
	alone := func(k *Kernel, edit func(*Spec)) int64 {
		r, _ := overlapped(t, edit, []Dispatch{{Kernel: k}})
		return r.Cycles - launch
	}
	long, short := kernel(200, 0), kernel(100, 0)
	full, unit := kernel(200, 32<<10), kernelOf(t, 32, repeat(200, "v_fma_f32 v%d, v0, v0, v0"))
	unit.LDSBytes = 0
	c, b, f := alone(long, none), alone(short, none), alone(full, none)
	if c != b+100*8 || f != c {
		t.Fatalf("one dispatch takes %d, %d and %d cycles", c, b, f)
	}
	again := c - int64(DefaultSpec().ICache.LatencyCycles) // the first wave of a dispatch alone waits for its code
	const code = 2                                         // its line of code follows two of another one, which prefetches it as well
	groups := func(n int, k *Kernel) Dispatch {
		return Dispatch{Kernel: k, Grid: [3]int{32 * n}, Workgroup: [3]int{32}}
	}
	beside := func(d Dispatch) Dispatch { d.Concurrent = true; return d }
	in := func(queue int, d Dispatch) Dispatch { d.Queue = queue; return d }
	for _, x := range []struct {
		name string
		edit func(*Spec)
		ds   []Dispatch
		ends []int64
	}{
		{"barriers", none, []Dispatch{groups(1, long), groups(1, long), groups(1, short)}, []int64{launch + c, 2*launch + 2*c, 3*launch + 2*c + b}},
		{"no barrier: the next packet is read meanwhile", simds, []Dispatch{groups(1, long), beside(groups(1, long)), beside(groups(1, long))}, []int64{launch + c, 2*launch + c, 3*launch + c}},
		{"a barrier behind both", simds, []Dispatch{groups(1, long), beside(groups(1, short)), groups(1, short)}, []int64{launch + c, 2*launch + b, 2*launch + c + b}},
		{"two queues on two clusters", clusters, []Dispatch{groups(1, full), in(1, groups(1, full))}, []int64{launch + c, launch + c}},
		{"chains of two queues on one SIMD fill each other's gaps", none, []Dispatch{groups(1, long), in(1, groups(1, short))}, []int64{launch + c, launch + b + code}},
		{"each queue has its barriers", clusters, []Dispatch{groups(1, long), in(1, groups(1, short)), groups(1, long), in(1, groups(1, short))},
			[]int64{launch + c, launch + b, 2*launch + 2*c, 2*launch + 2*b}},
		{"local memory for one work-group: queues take turns", none, []Dispatch{groups(2, full), in(1, groups(2, full))}, []int64{launch + 2*c + again, launch + 2*c + 2*again}},
		{"the same in one queue: in order", none, []Dispatch{groups(2, full), beside(groups(2, full))}, []int64{launch + c + again, launch + 2*c + 2*again}},
		{"work-groups of the next start behind the last of the one before", simds, []Dispatch{groups(2, full), beside(groups(1, long))}, []int64{launch + c + again, launch + 2*c}},
		{"another queue need not wait for them", simds, []Dispatch{groups(2, full), in(1, groups(1, short))}, []int64{launch + c + again, launch + b + code}},
		{"a barrier limit of one: waves without a barrier are exempt", func(s *Spec) { simds(s); s.WorkgroupsMax = 1 },
			[]Dispatch{{Kernel: long, Grid: [3]int{64}, Workgroup: [3]int{64}}, in(1, groups(2, short))}, []int64{launch + c, launch + b + code}},
	} {
		r, ends := overlapped(t, x.edit, x.ds)
		if !slices.Equal(ends, x.ends) || r.Cycles != slices.Max(x.ends) {
			t.Errorf("%s: ends at %d, in all %d, want %d", x.name, ends, r.Cycles, x.ends)
		}
	}
	// Two queues that occupy the vector unit all the time cost the sum.
	u := alone(unit, none)
	r, _ := overlapped(t, none, []Dispatch{groups(1, unit), in(1, groups(1, unit))})
	if got := r.Cycles - launch; got != u+200 {
		t.Errorf("two queues of %d instructions each on one SIMD take %d cycles, one takes %d", 200, got, u)
	}
}

// TestQueuesShare: cycles, energy and counters of concurrent dispatches add up to those of the run, and each computes
// and moves the same as alone.
func TestQueuesShare(t *testing.T) {
	k := kernelOf(t, 32, base+"v_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"+
		repeat(30, "v_fma_f32 v2, v2, v2, v2")+"global_store_dword v1, v2, s[4:5]")
	other := kernelOf(t, 64, repeat(50, "v_add_nc_u32 v2, v2, v2"))
	run := func(profile *sim.Profile, ds ...Dispatch) *sim.Report {
		c := newCore(t, nil)
		s, _ := space(t, 1<<16)
		r := require.V(c.Run(s, ds, Options{Profile: profile}))(t)
		checkReport(t, r)
		return r
	}
	d := Dispatch{Kernel: k, Grid: [3]int{512}, Workgroup: [3]int{128}, Kernarg: args(dataBase)}
	e := Dispatch{Kernel: other, Grid: [3]int{1024}, Workgroup: [3]int{64}, Region: 1, Concurrent: true, Queue: 3}
	var p sim.Profile
	both := run(&p, d, e)
	e.Queue, e.Concurrent = 0, false
	after := run(nil, d, e)
	if both.Cycles >= after.Cycles || both.Instructions != after.Instructions || !slices.Equal(both.Counters[:NumClasses], after.Counters[:NumClasses]) {
		t.Errorf("beside: %d cycles, %d instructions; behind: %d, %d", both.Cycles, both.Instructions, after.Cycles, after.Instructions)
	}
	for i, a := range both.Regions {
		b := after.Regions[i]
		for j, name := range []string{"", "", "lanes", "lane_slots", "flops", "l0_bytes", "scalar_bytes", "lds_bytes"} {
			if name != "" && a.Counters[j] != b.Counters[j] {
				t.Errorf("region %d: %v beside, %v alone", i, a.Counters[j], b.Counters[j])
			}
		}
	}
	var cycles int64
	var pj float64
	for _, x := range p.Samples {
		cycles += x.Stalls.Total()
		pj += x.EnergyPJ
	}
	if cycles != both.Cycles || !(math.Abs(pj-both.EnergyPJ) <= 1e-6*pj) {
		t.Errorf("the profile has %d cycles and %g pJ, the run %d and %g", cycles, pj, both.Cycles, both.EnergyPJ)
	}
}

// TestQueuesAddresses: concurrent dispatches have their own arguments and scratch, also where waves of both are
// resident, and compute the same as one after the other.
func TestQueuesAddresses(t *testing.T) {
	text := `s_load_dwordx4 s[4:7], s[0:1], 0x0
		v_lshlrev_b32 v1, 2, v0
		s_waitcnt lgkmcnt(0)
		v_add_nc_u32 v2, s6, v0
		scratch_store_dword off, v2, off offset:4
		` + repeat(40, "v_fma_f32 v3, v3, v3, v3") + `scratch_load_dword v4, off, off offset:4
		s_waitcnt vmcnt(0)
		global_store_dword v1, v4, s[4:5]`
	small, large := kernelOf(t, 32, text), kernelOf(t, 64, text)
	small.ScratchBytes, large.ScratchBytes, small.LDSBytes, large.LDSBytes = 16, 3000, 0, 0
	var want []byte
	for _, functional := range []bool{true, false} {
		c := newCore(t, nil)
		s, data := space(t, 1<<16)
		var ds []Dispatch
		for i := range 6 {
			k := small
			if i%2 == 1 {
				k = large
			}
			ds = append(ds, Dispatch{Kernel: k, Grid: [3]int{64}, Workgroup: [3]int{64}, Concurrent: i%3 != 0, Queue: i % 2,
				Kernarg: args(dataBase+uint64(i)*256, uint64(1000*i))})
		}
		if _, err := c.Run(s, ds, Options{Functional: functional}); err != nil {
			t.Fatal(err)
		}
		for i := range 6 * 64 {
			if got := word(data, i); got != uint32(i/64*1000+i%64) {
				t.Fatalf("functional %v: element %d is %d", functional, i, got)
			}
		}
		if functional {
			want = slices.Clone(data)
		} else if !slices.Equal(data, want) {
			t.Error("a timed run computes other bytes")
		}
	}
	huge := kernelOf(t, 64, text)
	huge.ScratchBytes = 64 << 10
	s, _ := space(t, 1<<16)
	_, err := newCore(t, func(s *Spec) { s.Clusters = 64 }).Run(s, []Dispatch{{Kernel: huge}, {Kernel: huge, Concurrent: true}}, Options{Functional: true})
	if want := fmt.Sprint("at most ", uint64(1)<<32); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("scratch beyond the window: %v", err)
	}
}

// TestNeighbourFills: when a work-group leaves the LDS of a cluster, those that it has kept out start on all compute
// units of the cluster, not on its own alone.
func TestNeighbourFills(t *testing.T) {
	const chain = 1000
	kernel := func(lds int) *Kernel {
		k := kernelOf(t, 32, repeat(chain, "v_fma_f32 v2, v2, v2, v2"))
		k.LDSBytes = lds
		return k
	}
	for _, perCluster := range []bool{true, false} {
		edit := func(s *Spec) {
			s.Clusters, s.CUsPerCluster, s.SIMDsPerCU, s.WavesPerSIMD, s.LDSPerCluster, s.LDSBytes = 1, 2, 1, 1, perCluster, 32<<10
		}
		r, _ := overlapped(t, edit, []Dispatch{{Kernel: kernel(32 << 10)}, {Kernel: kernel(16 << 10), Queue: 1, Grid: [3]int{64}, Workgroup: [3]int{32}}})
		if got, want := r.Cycles/(chain*8), int64(2); got != want {
			t.Errorf("LDS per cluster %v: %d cycles, want %d chains of %d and a few", perCluster, r.Cycles, want, chain*8)
		}
	}
}

// TestBarrierWaits: a packet with a barrier is read when nothing before it in its queue is left to place or resident, and
// LaunchCycles after the last of them has ended.
func TestBarrierWaits(t *testing.T) {
	s := DefaultSpec()
	for _, c := range []struct {
		next, running int64
		beside, read  bool
	}{{2, 0, false, true}, {2, 1, false, false}, {2, 2, false, false}, {1, 0, false, false}, {2, 1, true, true}, {1, 1, true, true}} {
		for last := range 2 { // which of the two before it that is
			m := newMachine(&s)
			m.front.due = never
			q := packets{read: 2, placed: 2, free: 100}
			for i := range 3 {
				g := &grid{d: &Dispatch{Concurrent: i == 2 && c.beside}, next: 2, total: 2, end: 50, ready: never}
				if i == last {
					g.next, g.running, g.end = c.next, c.running, 700
				}
				q.grids = append(q.grids, g)
			}
			m.front.process(&q)
			want, ready := 2, int64(never)
			if c.read {
				want, ready = 3, 700+int64(s.LaunchCycles)
			}
			if c.beside {
				ready = 100 + int64(s.LaunchCycles)
			}
			if q.read != want || q.grids[2].ready != ready || m.front.due != ready {
				t.Errorf("%+v: %d packets are read, ready at %d, due at %d, want %d, %d", c, q.read, q.grids[2].ready, m.front.due, want, ready)
			}
		}
	}
}
