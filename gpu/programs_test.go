package gpu

import (
	goflag "flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

var update = goflag.Bool("update", false, "write testdata/times.txt and runs.txt")

// randomProgram is a kernel of random instructions: arithmetic of each class, loads and stores with strides over data
// at s[4:5], LDS, atomics, barriers, loops and divergent branches. Addresses stay within 64 KiB.
func randomProgram(r *rand.Rand) string {
	var b strings.Builder
	p := func(f string, a ...any) { fmt.Fprintf(&b, f+"\n", a...) }
	v := func() int { return 4 + r.IntN(12) }
	even := func() int { return 4 + 2*r.IntN(6) }
	s := func() int { return 12 + r.IntN(6) }
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	labels := 0
	p("s_load_dwordx2 s[4:5], s[0:1], 0x0")
	p("v_lshl_add_u32 v1, s2, 6, v0") // the work-item
	for i := range 6 {
		p("s_movk_i32 s%d, %d", 12+i, 3+r.IntN(1000))
	}
	p("s_waitcnt lgkmcnt(0)")
	for i := 4; i < 16; i++ {
		p("v_mul_u32_u24 v%d, %d, v0", i, 1+r.IntN(60))
	}
	address := func(limit int) {
		p("v_mul_u32_u24 v2, %d, v1", 1+r.IntN(64))
		p("v_lshlrev_b32 v2, %d, v2", r.IntN(7))
		p("v_and_b32 v2, 0x%x, v2", limit-16)
	}
	// Loads go to v16 to v31, four at a time; loaded values are added to others.
	var pending []int
	wait := func(n int) {
		p("s_waitcnt vmcnt(%d)", n)
		for ; len(pending) > n; pending = pending[1:] {
			p("v_add_nc_u32 v%d, v%d, v%d", v(), pending[0], v())
		}
	}
	next := 0
	load := func() int {
		if len(pending) == 4 {
			wait(r.IntN(4))
		}
		d := 16 + 4*next
		next = (next + 1) % 4
		pending = append(pending, d)
		return d
	}
	steps := []func(){
		func() {
			p("%s v%d, v%d, v%d", pick("v_add_f32", "v_mul_f32", "v_max_f32", "v_add_nc_u32", "v_and_b32", "v_mul_lo_u32", "v_mul_hi_u32", "v_pk_add_f16", "v_fmac_f32", "v_lshlrev_b32", "v_min_i32"), v(), v(), v())
		},
		func() {
			p("%s v%d, v%d, v%d, v%d", pick("v_fma_f32", "v_mad_u32_u24", "v_dot4_i32_i8", "v_bfe_u32", "v_perm_b32", "v_add3_u32", "v_sad_u8"), v(), v(), v(), v())
		},
		func() {
			p("%s v%d, v%d", pick("v_exp_f32", "v_rcp_f32", "v_cvt_f32_i32", "v_mov_b32", "v_not_b32", "v_sqrt_f32", "v_bfrev_b32"), v(), v())
		},
		func() {
			d := even()
			p("%s v[%d:%d], v[%d:%d], v[8:9]", pick("v_add_f64", "v_mul_f64"), d, d+1, 4, 5)
		},
		func() { p("v_lshlrev_b64 v[%d:%d], 3, v[6:7]", 8, 9) },
		func() {
			p("%s s%d, s%d, s%d", pick("s_add_u32", "s_mul_i32", "s_and_b32", "s_lshl_b32", "s_max_i32"), s(), s(), s())
		},
		func() { p("v_add_nc_u32 v%d, s%d, v%d", v(), s(), v()) },
		func() { p("v_readfirstlane_b32 s%d, v%d", s(), v()) },
		func() {
			p("v_cmp_%s_u32 vcc_lo, v%d, v%d", pick("lt", "gt", "eq", "ne"), v(), v())
			p("v_cndmask_b32 v%d, v%d, v%d, vcc_lo", v(), v(), v())
		},
		func() { p("v_mov_b32_dpp v%d, v%d row_shr:%d row_mask:0xf bank_mask:0xf", v(), v(), 1+r.IntN(15)) },
		func() {
			address(1 << 16)
			switch d := load(); r.IntN(3) {
			case 0:
				p("%s v%d, v2, s[4:5]", pick("global_load_dword", "global_load_ubyte", "global_load_sshort"), d)
			case 1:
				p("global_load_dwordx2 v[%d:%d], v2, s[4:5]", d, d+1)
			default:
				p("global_load_dwordx4 v[%d:%d], v2, s[4:5]", d, d+3)
			}
			if r.IntN(2) == 0 {
				wait(r.IntN(3))
			}
		},
		func() {
			address(1 << 16)
			p("%s", pick(fmt.Sprintf("global_store_dword v2, v%d, s[4:5]", v()), fmt.Sprintf("global_store_byte v2, v%d, s[4:5]", v()), "global_store_dwordx4 v2, v[4:7], s[4:5]"))
			if r.IntN(4) == 0 {
				p("s_waitcnt_vscnt null, 0x%x", r.IntN(2))
			}
		},
		func() {
			address(1 << 11)
			p("%s", pick(fmt.Sprintf("ds_write_b32 v2, v%d", v()), "ds_write_b64 v2, v[4:5]", fmt.Sprintf("ds_read_b32 v%d, v2", v()),
				"ds_read_b128 v[8:11], v2", fmt.Sprintf("ds_add_u32 v2, v%d", v()), fmt.Sprintf("ds_read_u8 v%d, v2", v())))
			p("s_waitcnt lgkmcnt(0)")
		},
		func() {
			address(1 << 10)
			if r.IntN(2) == 0 {
				p("global_atomic_add v2, v%d, s[4:5]", v())
			} else {
				p("global_atomic_umax v%d, v2, v%d, s[4:5] glc", load(), v())
			}
		},
		func() {
			p("s_load_dwordx%d s[%d:%d], s[4:5], 0x%x", 4, 20, 23, 16*r.IntN(300))
			p("s_waitcnt lgkmcnt(0)")
		},
		func() { p("s_barrier") },
	}
	some := func(n int, list []func()) {
		for range n {
			list[r.IntN(len(list))]()
		}
	}
	for range 3 {
		some(8, steps)
		wait(0)
		labels++
		switch r.IntN(3) {
		case 0:
			p("s_movk_i32 s18, %d", 2+r.IntN(4))
			p("loop%d:", labels)
			some(6, steps)
			wait(0)
			p("s_sub_u32 s18, s18, 1")
			p("s_cmp_lg_u32 s18, 0")
			p("s_cbranch_scc1 loop%d", labels)
		case 1:
			p("v_cmp_gt_u32 vcc_lo, %d, v0", r.IntN(64))
			p("s_and_saveexec_b32 s19, vcc_lo")
			p("s_cbranch_execz skip%d", labels)
			some(6, steps[:len(steps)-1]) // no barrier
			wait(0)
			p("skip%d:", labels)
			p("s_mov_b32 exec_lo, s19")
		}
	}
	p("s_waitcnt vmcnt(0) lgkmcnt(0)")
	p("s_endpgm")
	return b.String()
}

// wave64 makes a random program one of 64 lanes.
var wave64 = strings.NewReplacer("s_and_saveexec_b32 s19, vcc_lo", "s_and_saveexec_b64 s[24:25], vcc", "s_mov_b32 exec_lo, s19", "s_mov_b64 exec, s[24:25]", "vcc_lo", "vcc")

// TestProgramTimes: random programs on machines of other shapes cost the cycles, by reason, the energy and the bytes of
// testdata/times.txt. The rules have closed forms in microprogram_test.go; this pins their interplay.
func TestProgramTimes(t *testing.T) {
	var b strings.Builder
	machines := []func(*Spec){
		func(*Spec) {},
		func(s *Spec) { s.ICache.Bytes, s.Lanes, s.WavesPerSIMD = 512, 32, 4 },
		func(s *Spec) {
			s.Clusters, s.CUsPerCluster, s.SIMDsPerCU, s.Lanes, s.LDSPerCluster = 3, 2, 2, 32, false
			s.L0 = CacheSpec{Bytes: 1 << 10, Line: 128, Ways: 2, LatencyCycles: 30, BytesPerCycle: 64, MSHRs: 2}
			s.GL1 = CacheSpec{Bytes: 4 << 10, Line: 128, Ways: 4, LatencyCycles: 60, BytesPerCycle: 32, MSHRs: 3}
			s.L2 = CacheSpec{Bytes: 16 << 10, Line: 128, Ways: 4, LatencyCycles: 120, BytesPerCycle: 16, MSHRs: 4}
		},
		func(s *Spec) {
			c, err := soc.Load("xclipse920")
			require.NoError(t, err)
			if *s, err = FromSoC(c, sim.FastSingleAnswer); err != nil {
				t.Fatal(err)
			}
		},
	}
	for n := range 24 {
		r := rand.New(rand.NewPCG(uint64(n), 25))
		size := []int{64, 32, 128, 100}[n%4]
		k := &Kernel{Name: fmt.Sprint("program ", n), Code: assemble(t, false, randomProgram(r)), WaveSize: 32, VGPRs: 32 + 8*r.IntN(6), LDSBytes: 2048 << r.IntN(3)}
		groups := 1 + r.IntN(12)
		for i, edit := range machines {
			c := newCore(t, edit)
			s, data := space(t, 1<<16)
			for i := range 1 << 14 {
				setWord(data, i, uint32(i*2654435761))
			}
			report, err := c.Run(s, []Dispatch{{Kernel: k, Grid: [3]int{groups * size}, Workgroup: [3]int{size}, Kernarg: args(dataBase)}}, Options{})
			require.NoError(t, err, k.Name)
			checkReport(t, report)
			fmt.Fprintf(&b, "%s, machine %d: %d groups of %d, bytes %08x, %d cycles, %.6g pJ", k.Name, i, groups, size, crc32.ChecksumIEEE(data), report.Cycles, report.EnergyPJ)
			for reason, n := range report.Stalls {
				if n > 0 {
					fmt.Fprintf(&b, " %v %d", sim.Reason(reason), n)
				}
			}
			for _, c := range report.Counters {
				if c.Value > 0 {
					fmt.Fprintf(&b, " %s %d", c.Name, c.Value)
				}
			}
			b.WriteByte('\n')
		}
	}
	file := filepath.Join("testdata", "times.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want := require.File(t, file)
	if err := firstDifference(string(want), b.String()); err != nil {
		t.Error(err)
	}
}

// firstDifference is an error that names the first line in which two texts differ.
func firstDifference(want, got string) error {
	w := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(w) || line != w[i] {
			return fmt.Errorf("line %d:\n%s\nwant\n%s", i+1, line, strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
		}
	}
	return nil
}

// TestRunTimes: dispatches of random programs, sequential and concurrent in up to three queues, at clocks that change,
// recorded and sampled runs among them, cost what testdata/runs.txt has, in total and by region.
func TestRunTimes(t *testing.T) {
	var b strings.Builder
	write := func(what string, report *sim.Report, data []byte) {
		fmt.Fprintf(&b, "%s: bytes %08x, %d cycles, %d fs, %.6g pJ", what, crc32.ChecksumIEEE(data), report.Cycles, report.Time, report.EnergyPJ)
		for i := range report.Regions {
			x := &report.Regions[i]
			fmt.Fprintf(&b, "; region %d %d cycles %d fs %.6g pJ %d DRAM %v", x.ID, x.Cycles, x.Time, x.EnergyPJ, x.DRAMBytes, x.Stalls)
			for _, c := range x.Counters {
				if c.Value > 0 {
					fmt.Fprintf(&b, " %s %d", c.Name, c.Value)
				}
			}
		}
		b.WriteByte('\n')
	}
	for n := range 16 {
		r := rand.New(rand.NewPCG(uint64(n), 625))
		c := newCore(t, func(s *Spec) {
			if n%4 == 1 {
				s.ICache.Bytes, s.WavesPerSIMD, s.LaunchCycles = 1024, 3, 40
			}
		})
		hz := c.Spec().Hz
		var list []Dispatch
		for i := range 2 + r.IntN(4) {
			wave, text := 32<<r.IntN(2), randomProgram(r)
			if wave == 64 {
				text = wave64.Replace(text)
			}
			k := &Kernel{Name: fmt.Sprint("program ", i), Code: assemble(t, wave == 64, text), WaveSize: wave, VGPRs: 32 + 8*r.IntN(6), LDSBytes: 2048 << r.IntN(3)}
			size := 32 << r.IntN(3)
			list = append(list, Dispatch{
				Kernel: k, Grid: [3]int{size * (1 + r.IntN(9)), 1 + r.IntN(2)}, Workgroup: [3]int{size}, Region: i % 3, Kernarg: args(dataBase),
				Queue: r.IntN(1 + n%4), Concurrent: r.IntN(2) == 0,
			})
		}
		var points []sim.Change
		if n%3 > 0 {
			points = []sim.Change{
				{OPP: sim.OPP{Hz: hz / 2, Volts: 0.6}}, {At: 3 * sim.Microsecond, OPP: sim.OPP{Hz: hz, Volts: 0.8}}, {At: 9 * sim.Microsecond, OPP: sim.OPP{Hz: hz / 3, Volts: 0.5}},
			}
		}
		s, data := space(t, 1<<16)
		for i := range 1 << 14 {
			setWord(data, i, uint32(i*2654435761))
		}
		var p *sim.Profile
		if n == 2 {
			p = &sim.Profile{}
		}
		report := require.V(c.Run(s, list, Options{Points: points, Profile: p}))(t)
		checkReport(t, report)
		write(fmt.Sprintf("run %d of %d dispatches", n, len(list)), report, data)
		for i := 0; p != nil && i < len(p.Samples); i++ {
			x := &p.Samples[i]
			fmt.Fprintf(&b, "\t%d %s %d %s: %d times, %.5g pJ %v\n", x.Region, x.Program, x.At, x.Text, x.Count, x.EnergyPJ, x.Stalls)
		}
	}
	for n, turns := range [][]uint64{{5, 12, 12, 5, 12}, {3, 40}} {
		c := newCore(t, nil)
		s, data := sampledSpace(t)
		sampler := &Sampler{Sampled: &sim.Sampled{}}
		report, err := c.Run(s, gatherSums(t, turns...), Options{Sampler: sampler, Points: []sim.Change{{OPP: sim.OPP{Hz: c.Spec().Hz / (1 + int64(n)), Volts: 0.7}}, {At: 50 * sim.Microsecond, OPP: sim.OPP{Hz: c.Spec().Hz, Volts: 0.9}}}})
		require.NoError(t, err)
		write(fmt.Sprintf("%d turns, sampled: %+v", turns, *sampler.Sampled), report, data)
	}
	scatteredRuns(t, write)
	file := filepath.Join("testdata", "runs.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want := require.V(os.ReadFile(file))(t)
	if err := firstDifference(string(want), b.String()); err != nil {
		t.Error(err)
	}
}

// scatteredRuns are sampled runs whose lanes are at addresses in no order: many more lines are written than read, read than
// written, and written twice.
func scatteredRuns(t *testing.T, write func(string, *sim.Report, []byte)) {
	for n, body := range []string{
		"global_store_dword v1, v2, s[4:5]\nglobal_store_dword v1, v2, s[4:5] offset:2044",
		"global_load_dwordx2 v[4:5], v1, s[4:5]\nglobal_load_ubyte v6, v1, s[4:5] offset:1023\ns_waitcnt vmcnt(0)\nv_add_f32 v2, v4, v6",
		"global_load_dword v4, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v4, s[4:5]\nglobal_store_dword v1, v2, s[4:5]",
	} {
		k := kernelOf(t, 64, base+"v_lshl_add_u32 v1, s2, 6, v0\nv_xor_b32 v1, 0x2b, v1\nv_lshlrev_b32 v1, 5, v1\n"+repeat(20, "v_fma_f32 v2, v2, v2, v2")+body)
		k.LDSBytes = 0
		c := newCore(t, func(s *Spec) { s.WavesPerSIMD = 6 })
		s, data := sampledSpace(t)
		sampler := &Sampler{Sampled: &sim.Sampled{}}
		var list []Dispatch
		for i, groups := range []int{400, 1000, 700, 1000, 701, 900} {
			list = append(list, Dispatch{Kernel: k, Grid: [3]int{64 * groups}, Workgroup: [3]int{64}, Region: i % 2, Kernarg: args(dataBase)})
		}
		report := require.V(c.Run(s, list, Options{Sampler: sampler}))(t)
		write(fmt.Sprintf("kernel %d, sampled: %+v", n, *sampler.Sampled), report, data)
	}
}
