package gpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// cyclesOf runs text and returns the report. The kernel may use s[4:5], which
// hold dataBase, v0 the work-item, v1 = 4 * v0.
func cyclesOf(t testing.TB, c *testCore, k *Kernel, groups, size int) *sim.Report {
	t.Helper()
	s, _ := space(t, 4<<20)
	d := Dispatch{Kernel: k, Grid: [3]int{groups * size}, Workgroup: [3]int{size}, Kernarg: args(dataBase, 1<<12)}
	r := require.V(c.Run(s, []Dispatch{d}, Options{}))(t)
	checkReport(t, r)
	return r
}

func kernelOf(t testing.TB, wave int, text string) *Kernel {
	return &Kernel{Name: "bench", Code: assemble(t, wave == 64, text+"\ns_endpgm"), WaveSize: wave, VGPRs: 64, LDSBytes: 16 << 10}
}

// quiet is a machine without costs around the kernel: only the pipeline remains.
func quiet(s *Spec) {
	s.LaunchCycles, s.WaveLaunch = 0, 0
	s.Prefetch = 63 // the whole program is fetched with its first line
	s.ICache.MSHRs = 64
}

// warm is the time of the second of two equal dispatches, which finds its code
// in the instruction cache.
func warm(t testing.TB, c *testCore, k *Kernel, groups, size int) int64 {
	t.Helper()
	s, _ := space(t, 4<<20)
	d := Dispatch{Kernel: k, Grid: [3]int{groups * size}, Workgroup: [3]int{size}, Kernarg: args(dataBase, 1<<12)}
	again := d
	again.Region = 1
	r := require.V(c.Run(s, []Dispatch{d, again}, Options{}))(t)
	checkReport(t, r)
	return r.Regions[1].Cycles
}

// growth is the difference in cycles between a program with twice and once the
// body, so that everything outside the body cancels.
func growth(t testing.TB, c *testCore, wave, groups, size int, before, body string) int64 {
	t.Helper()
	k1, k2 := kernelOf(t, wave, before+body), kernelOf(t, wave, before+body+body)
	if size > 128 {
		k1.VGPRs, k2.VGPRs = 24, 24
	}
	return warm(t, c, k2, groups, size) - warm(t, c, k1, groups, size)
}

func lines(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
		b.WriteByte('\n')
	}
	return b.String()
}

// TestSharedSIMD: chains of several waves on one SIMD.
func TestSharedSIMD(t *testing.T) {
	const n = 40
	chain := lines(n, func(int) string { return "v_fma_f32 v2, v2, v2, v2" })
	for _, c := range []struct {
		waves int
		want  int64
	}{
		{1, 5 * n},
		// They share its vector unit: the chain of one fills the gaps of the other.
		{2, 5 * n},
		{5, 5 * n},
		// Oldest first: five chains fill the unit, the other three follow.
		{8, 10 * n},
	} {
		core := newCore(t, func(s *Spec) {
			quiet(s)
			s.Clusters, s.CUsPerCluster, s.SIMDsPerCU = 1, 1, 1
		})
		if got := growth(t, core, 32, 1, 32*c.waves, "", chain); got != c.want {
			t.Errorf("%d chains of %d instructions take %d cycles, want %d", c.waves, n, got, c.want)
		}
	}
}

// TestUnitsInParallel: in one cycle a SIMD issues to several units from
// different waves, but one wave issues one instruction.
func TestUnitsInParallel(t *testing.T) {
	const n = 40
	core := newCore(t, func(s *Spec) {
		quiet(s)
		s.Clusters, s.CUsPerCluster, s.SIMDsPerCU = 1, 1, 1
	})
	both := lines(n, func(i int) string {
		return fmt.Sprintf("v_fma_f32 v%d, v0, v0, v0\ns_mov_b32 s%d, s0", 2+i%20, 6+i%20)
	})
	if got := growth(t, core, 32, 1, 32, "", both); got != 2*n {
		t.Errorf("one wave: %d cycles, want %d", got, 2*n)
	}
	if got := growth(t, core, 32, 1, 64, "", both); got < 2*n || got > 2*n+2 {
		t.Errorf("two waves: %d cycles, want %d: the units overlap", got, 2*n)
	}
}

// TestUnloadedLatency: a chain of dependent loads, by the level that serves it. A loop loads from addresses step bytes
// apart; its extra time over step 0, which L0 serves, is the difference of the levels.
func TestUnloadedLatency(t *testing.T) {
	const n = 64
	spec := DefaultSpec()
	chain := func(edit func(*Spec), step int, warmup bool) int64 {
		loop := func(label string) string {
			return fmt.Sprintf(`v_mov_b32 v3, 0
	s_movk_i32 s6, %d
%s:
	global_load_dword v2, v3, s[4:5]
	v_add_nc_u32 v3, 0x%x, v3
	s_waitcnt vmcnt(0)
	v_or_b32 v3, v2, v3
	s_sub_i32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 %[2]s
`, n, label, step)
		}
		setup := "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
		c := newCore(t, func(s *Spec) { quiet(s); edit(s) })
		if warmup {
			two := cyclesOf(t, c, kernelOf(t, 32, setup+loop("a")+loop("b")), 1, 1)
			one := cyclesOf(t, c, kernelOf(t, 32, setup+loop("a")), 1, 1)
			return two.Cycles - one.Cycles
		}
		return cyclesOf(t, c, kernelOf(t, 32, setup+loop("a")), 1, 1).Cycles
	}
	none := func(*Spec) {}
	hit := chain(none, 0, true)
	// The loop around the load: wait, or, subtract, compare, branch.
	around := int64(1 + 5 + spec.BranchCycles)
	if per := hit / n; per < int64(spec.L0.LatencyCycles) || per > int64(spec.L0.LatencyCycles)+around {
		t.Errorf("L0: %d cycles per load, want %d to %d", per, spec.L0.LatencyCycles, int64(spec.L0.LatencyCycles)+around)
	}
	// A cycle of 64 lines of 64 bytes: too many for L0, not for L2.
	if got, want := chain(none, 64, true)-hit, int64(n*(spec.L2.LatencyCycles-spec.L0.LatencyCycles)); got < want-n/8 || got > want+n/8 {
		t.Errorf("L2: %d cycles per load more than L0, want %d", got/n, want/n)
	}
	clock := sim.Clock{Hz: spec.Hz}
	behind := 100*sim.Nanosecond + sim.Time(spec.L2.Line)*33*sim.Picosecond + 60*sim.Nanosecond
	want := float64(spec.L2.LatencyCycles-spec.L0.LatencyCycles) + float64(behind)/float64(clock.At(1))
	cold := chain(none, 4096, false) - chain(none, 0, false)
	if got := float64(cold) / n; got < want-4 || got > want+1 {
		// The first load misses in both, hence up to one latency in n less.
		t.Errorf("DRAM: %.1f cycles per load more than L0, want %.1f", got, want)
	}
}

// TestStreamingBandwidth: many waves that read once through memory reach the bandwidth of the DRAM, and the stall
// reason is memory.
func TestStreamingBandwidth(t *testing.T) {
	core := newCore(t, nil)
	const bytes = 4 << 20
	text := `
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	v_lshlrev_b32 v1, 4, v0
	s_lshl_b32 s6, s2, 14
	v_add_nc_u32 v1, s6, v1
	v_mov_b32 v2, 0
	s_waitcnt lgkmcnt(0)
	` + lines(4, func(i int) string {
		return fmt.Sprintf("global_load_dwordx4 v[%d:%d], v1, s[4:5]\nv_add_nc_u32 v1, 0x1000, v1", 4+4*i, 7+4*i)
	}) + "s_waitcnt vmcnt(0)\n"
	k := kernelOf(t, 32, text)
	k.LDSBytes = 0
	r := cyclesOf(t, core, k, bytes/(16<<10), 256)
	clock := sim.Clock{Hz: core.Spec().Hz}
	floor := clock.Cycle(33 * sim.Picosecond * bytes)
	if r.Cycles < floor || float64(r.Cycles) > 1.15*float64(floor)+float64(core.Spec().LaunchCycles) {
		t.Errorf("%d cycles for %d bytes, the memory allows %d", r.Cycles, bytes, floor)
	}
	if r.Stalls.Largest() != sim.StallDRAM {
		t.Errorf("bound by %v: %v", r.Stalls.Largest(), r.Stalls)
	}
}

// TestPeak: independent multiply-adds on all compute units reach the peak of
// the machine.
func TestPeak(t *testing.T) {
	body := "s_movk_i32 s6, 0x40\nagain:\n" + lines(256, func(i int) string {
		return fmt.Sprintf("v_fmac_f32 v%d, v0, v0", 2+i%32)
	}) + "s_sub_i32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 again\n"
	for _, wave := range []int{32, 64} {
		c := newCore(t, nil)
		k := kernelOf(t, wave, body)
		k.LDSBytes = 0
		r := cyclesOf(t, c, k, 24*4, 128)
		s := c.Spec()
		lanes := int64(s.Clusters * s.CUsPerCluster * s.SIMDsPerCU * s.Lanes)
		floor := int64(64*256) * 24 * 4 * 128 / lanes
		if r.Cycles < floor || float64(r.Cycles) > 1.03*float64(floor)+3000 {
			t.Errorf("wave%d: %d cycles, the machine's peak needs %d: %v", wave, r.Cycles, floor, r.Stalls)
		}
		if r.Stalls.Largest() != sim.StallIssue {
			t.Errorf("wave%d: bound by %v", wave, r.Stalls.Largest())
		}
	}
}

// TestCounterLimit: a counter that is full stalls the next load.
func TestCounterLimit(t *testing.T) {
	text := "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n" +
		lines(40, func(i int) string { return fmt.Sprintf("global_load_dword v%d, v1, s[4:5]", 2+i) }) + "s_waitcnt vmcnt(0)\n"
	for _, limit := range []int{63, 4} {
		c := newCore(t, func(s *Spec) { quiet(s); s.MaxOutstanding = limit })
		r := cyclesOf(t, c, kernelOf(t, 32, text), 1, 32)
		if queue := r.Stalls[sim.StallQueue] > 0; queue != (limit == 4) {
			t.Errorf("limit %d: %d cycles of queue stalls", limit, r.Stalls[sim.StallQueue])
		}
	}
}

// TestCounters: each of the three counters is full for its own operations alone: with a limit of four only a fifth of the kind
// of the first four waits.
func TestCounters(t *testing.T) {
	kinds := map[string]string{"vmcnt": "global_load_dword v3, v1, s[4:5]\n", "vscnt": "global_store_dword v1, v0, s[4:5] offset:1024\n", "lgkmcnt": "ds_read_b32 v4, v1\n"}
	for first, four := range kinds {
		for then, one := range kinds {
			c := newCore(t, func(s *Spec) { quiet(s); s.MaxOutstanding = 4 })
			r := cyclesOf(t, c, kernelOf(t, 32, base+"v_lshlrev_b32 v1, 2, v0\n"+strings.Repeat(four, 4)+one), 1, 32)
			if queue := r.Stalls[sim.StallQueue] > 0; queue != (first == then) {
				t.Errorf("%s full, %s: %d cycles of queue stalls", first, then, r.Stalls[sim.StallQueue])
			}
		}
	}
}

// TestBarrierTiming: a wave that arrives early waits for the late one.
func TestBarrierTiming(t *testing.T) {
	const n = 50
	c := newCore(t, quiet)
	text := "v_readfirstlane_b32 s6, v0\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 skip\n" +
		lines(n, func(int) string { return "v_fma_f32 v2, v2, v2, v2" }) + "skip:\ns_barrier\n"
	alone := cyclesOf(t, c, kernelOf(t, 32, text), 1, 32)
	four := cyclesOf(t, c, kernelOf(t, 32, text), 1, 128)
	if d := four.Cycles - alone.Cycles; d < 0 || d > 16 {
		t.Errorf("128 items take %d cycles, 32 take %d", four.Cycles, alone.Cycles)
	}
}

// TestEnergyScales: dynamic energy scales with the square of the voltage, static energy with time.
func TestEnergyScales(t *testing.T) {
	body := lines(100, func(int) string { return "v_fma_f32 v2, v2, v2, v2" })
	run := func(edit func(*Spec)) *sim.Report {
		return cyclesOf(t, newCore(t, edit), kernelOf(t, 32, body), 4, 256)
	}
	base := run(func(s *Spec) { s.Energy.StaticW = 0 })
	double := run(func(s *Spec) { s.Energy.StaticW = 0; s.V *= 2 })
	if ratio := double.EnergyPJ / base.EnergyPJ; ratio < 3.999 || ratio > 4.001 {
		t.Errorf("doubling the voltage multiplies energy by %g", ratio)
	}
	e := DefaultEnergy()
	lanes := float64(4 * 256)
	if want := 100 * lanes * e.LanePJ[ClassFMA32]; base.EnergyPJ < want {
		t.Errorf("%g pJ, the multiply-adds alone need %g", base.EnergyPJ, want)
	}
	static := run(func(s *Spec) { s.Energy.StaticW = 1 })
	want := float64(static.Cycles) / float64(static.Hz) * 1e12
	if got := static.EnergyPJ - base.EnergyPJ; got < 0.999*want || got > 1.001*want {
		t.Errorf("static energy %g pJ, want %g", got, want)
	}
}

var _ mem.Level = (*flat)(nil)

// TestReady: an operation waits for the registers that it reads and writes, and for all if M0 selects one; its results
// are noted at their registers.
func TestReady(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	text := "v_mad_u64_u32 v[4:5], vcc, v6, v7, v[8:9]\nbuffer_load_dwordx4 v[20:23], v[8:9], s[8:11], s12 idxen offen\nglobal_atomic_cmpswap_x2 v[4:5], v6, v[8:11], s[4:5] glc\n" +
		"s_load_dwordx16 s[16:31], s[4:5], s32\nv_div_fmas_f32 v4, v5, v6, v7\nv_movrels_b32 v4, v5\nv_add_co_ci_u32 v4, vcc, v5, v6, vcc\ns_and_saveexec_b64 s[6:7], vcc\n" +
		"v_fma_f64 v[4:5], v[6:7], v[8:9], v[10:11]\nflat_store_dwordx4 v[4:5], v[8:11]\nds_write2_b64 v4, v[6:7], v[8:9] offset1:1\nv_readlane_b32 s3, v4, s5\n" +
		"s_and_b64 s[6:7], vcc, s[8:9]\ns_mul_i32 s4, s5, s6\ns_endpgm"
	machine64 := spec()
	p := require.V((&Kernel{Name: "ready", Code: assemble(t, true, text), WaveSize: 64, VGPRs: 32}).program(&machine64))(t)
	for range 200 {
		w := &wave{executor: &executor{grid: &grid{p: p}, timed: p.Timed}}
		for i := range w.vReady[:32] {
			w.vReady[i] = r.Int64N(100)
		}
		for i := range w.sReady[:state.SCC+1] {
			w.sReady[i] = r.Int64N(100)
		}
		w.vMax, w.sMax = slices.Max(w.vReady[:]), slices.Max(w.sReady[:])
		for pc := range p.Ops {
			d, at := &p.Deps[pc], r.Int64N(110)
			want := at
			vector, scalar := w.vReady, w.sReady
			result := 100 + r.Int64N(100)
			visit := func(ready, after *[256]int64, spans []state.Span, writes bool) {
				for _, s := range spans {
					for i := range int(s.N) {
						if want = max(want, ready[int(s.Reg)+i]); writes {
							after[int(s.Reg)+i] = result
						}
					}
				}
			}
			visit(&w.vReady, &vector, d.VSrc[:d.NVSrc], false)
			visit(&w.sReady, &scalar, d.SSrc[:d.NSSrc], false)
			visit(&w.vReady, &vector, []state.Span{d.VDst}, true)
			visit(&w.sReady, &scalar, d.SDst[:d.NSDst], true)
			if d.Relative {
				want = max(at, w.vMax, w.sMax)
				for i := range vector[:32] {
					vector[i] = result
				}
			}
			if got := w.ready(int32(pc), at); got != want {
				t.Fatalf("operation %d may issue at %d, want %d", pc, got, want)
			}
			next := *w
			if next.wroteV(d, result); next.vReady != vector || next.sReady != scalar || d.VDst.N > 0 && next.vMax != result || d.NSDst > 0 && next.sMax != result {
				t.Fatalf("operation %d: its results are ready elsewhere", pc)
			}
			next = *w
			if next.wroteS(int32(pc), result); d.VDst.N == 0 && (next.sReady != scalar || d.NSDst > 0 && next.sMax != result) {
				t.Fatalf("operation %d: its scalar results are ready elsewhere", pc)
			}
		}
	}
}

// TestMaskBeforeVectors: what executes per lane waits for a mask that a scalar instruction writes, memory instructions
// as well.
func TestMaskBeforeVectors(t *testing.T) {
	core := newCore(t, quiet)
	latency := int64(rdna2.SchedSALU.Cost().Latency)
	for _, text := range []string{
		"v_mov_b32 v2, v1\nv_readfirstlane_b32 s7, v2",
		"ds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)",
		"global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)",
	} {
		after := func(register string) int64 {
			return warm(t, core, kernelOf(t, 32, "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 "+register+", -1\n"+text), 1, 32)
		}
		if got := after("exec_lo") - after("s6"); got != latency-1 {
			t.Errorf("%q issues %d cycles later behind a write of its mask than behind another, want %d", text, got, latency-1)
		}
	}
}
