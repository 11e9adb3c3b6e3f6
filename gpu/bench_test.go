package gpu

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/require"
)

// gemmKernel multiplies C[M,N] = A[M,K] * B[K,N] in float32, 4x4 results per
// lane, A and B tiles of 64x8 and 8x64 staged through LDS; work-groups of 256.
func gemmKernel(t testing.TB) *Kernel {
	var b strings.Builder
	p := func(f string, a ...any) { fmt.Fprintf(&b, f+"\n", a...) }
	// s4:5 A, s6:7 B, s8:9 C, s10 = N (=K=M); s2, s3 work-group ids x, y
	p("s_load_dwordx4 s[4:7], s[0:1], 0x0")
	p("s_load_dwordx4 s[8:11], s[0:1], 0x10")
	p("v_and_b32 v1, 15, v0")    // tx
	p("v_lshrrev_b32 v2, 4, v0") // ty
	p("v_lshlrev_b32 v3, 4, v1") // byte of 4 columns in the B tile
	p("v_lshlrev_b32 v4, 4, v2") // byte of 4 rows in the transposed A tile
	p("s_waitcnt lgkmcnt(0)")
	p("s_lshl_b32 s12, s10, 2") // row pitch
	// A load: lane t takes A[m0 + t/4][k + 2*(t%%4) .. +1]
	p("v_lshrrev_b32 v5, 2, v0")
	p("v_and_b32 v6, 3, v0")
	p("s_lshl_b32 s13, s3, 6") // m0
	p("v_add_nc_u32 v7, s13, v5")
	p("v_mul_lo_u32 v7, v7, s12")
	p("v_lshl_add_u32 v7, v6, 3, v7")
	// B load: lane t takes B[k + t/32][n0 + 2*(t%%32) .. +1]
	p("v_lshrrev_b32 v8, 5, v0")
	p("v_and_b32 v9, 31, v0")
	p("v_mul_lo_u32 v8, v8, s12")
	p("v_lshl_add_u32 v8, v9, 3, v8")
	p("s_lshl_b32 s14, s2, 8") // n0 in bytes
	p("v_add_nc_u32 v8, s14, v8")
	// LDS places: A transposed at 0: [k][64+4], B at 8*272: [k][64]
	p("v_mul_u32_u24 v10, 0x220, v6") // 2 rows of 272 bytes
	p("v_lshl_add_u32 v10, v5, 2, v10")
	p("v_lshlrev_b32 v11, 3, v0")
	p("s_lshl_b32 s16, s12, 3") // 8 rows of B
	for i := 0; i < 16; i++ {
		p("v_mov_b32 v%d, 0", 32+i)
	}
	p("s_mov_b32 s15, 0")
	p("loop:")
	p("global_load_dwordx2 v[12:13], v7, s[4:5]")
	p("global_load_dwordx2 v[14:15], v8, s[6:7]")
	p("v_add_nc_u32 v7, 32, v7")
	p("v_add_nc_u32 v8, s16, v8")
	p("s_waitcnt vmcnt(1)")
	p("ds_write_b32 v10, v12")
	p("ds_write_b32 v10, v13 offset:272")
	p("s_waitcnt vmcnt(0)")
	p("ds_write_b64 v11, v[14:15] offset:2176")
	p("s_waitcnt lgkmcnt(0)")
	p("s_barrier")
	for k := 0; k < 8; k++ {
		p("ds_read_b128 v[%d:%d], v4 offset:%d", 16, 19, k*272)
		p("ds_read_b128 v[%d:%d], v3 offset:%d", 20, 23, 2176+k*256)
		p("s_waitcnt lgkmcnt(0)")
		for i := 0; i < 4; i++ {
			for j := 0; j < 4; j++ {
				p("v_fmac_f32 v%d, v%d, v%d", 32+4*i+j, 16+i, 20+j)
			}
		}
	}
	p("s_barrier")
	p("s_add_i32 s15, s15, 8")
	p("s_cmp_lt_i32 s15, s10")
	p("s_cbranch_scc1 loop")
	// C[m0 + 4*ty + i][n0 + 4*tx]
	p("v_lshl_add_u32 v2, v2, 2, s13")
	p("v_mul_lo_u32 v2, v2, s12")
	p("v_lshl_add_u32 v2, v1, 4, v2")
	p("v_add_nc_u32 v2, s14, v2")
	for i := 0; i < 4; i++ {
		p("global_store_dwordx4 v2, v[%d:%d], s[8:9]", 32+4*i, 35+4*i)
		p("v_add_nc_u32 v2, s12, v2")
	}
	p("s_endpgm")
	return &Kernel{Name: "gemm", Code: assemble(t, false, b.String()), WaveSize: 32, VGPRs: 48, LDSBytes: 2176 + 2048}
}

func gemmDispatch(k *Kernel, n int) Dispatch {
	return Dispatch{Kernel: k, Grid: [3]int{n / 64 * 256, n / 64}, Workgroup: [3]int{256},
		Kernarg: args(dataBase, dataBase+uint64(4*n*n), dataBase+uint64(8*n*n), uint64(n))}
}

func TestGemm(t *testing.T) {
	const n = 128
	c := newCore(t, nil)
	k := gemmKernel(t)
	s, b := space(t, 12*n*n)
	for i := range 2 * n * n {
		setFloat(b, i, float32(i*7919%31-15)/8)
	}
	r := require.V(c.Run(s, []Dispatch{gemmDispatch(k, n)}, Options{}))(t)
	for i := range n {
		for j := range n {
			acc := uint32(0)
			for l := range n {
				acc = bitsOf(fma32(floatOf(word(b, i*n+l)), floatOf(word(b, n*n+l*n+j)), floatOf(acc)))
			}
			if got := word(b, 2*n*n+i*n+j); got != acc {
				t.Fatalf("C[%d][%d] = %g, want %g", i, j, floatOf(got), floatOf(acc))
			}
		}
	}
	checkReport(t, r)
	t.Logf("%d cycles, %d instructions, %v", r.Cycles, r.Instructions, r.Stalls)
}

func BenchmarkGemm(b *testing.B) {
	const n = 256
	for _, functional := range []bool{false, true} {
		b.Run(fmt.Sprintf("functional=%v", functional), func(b *testing.B) {
			c := newCore(b, nil)
			k := gemmKernel(b)
			s, data := space(b, 12*n*n)
			for i := range 2 * n * n {
				setFloat(data, i, float32(i*7919%31-15)/8)
			}
			var lanes, cycles int64
			start := cputime.User()
			for b.Loop() {
				r := require.V(c.Run(s, []Dispatch{gemmDispatch(k, n)}, Options{Functional: functional}))(b)
				lanes += r.Instructions * 32
				cycles += r.Cycles
			}
			used := cputime.User() - start
			b.ReportMetric(float64(lanes)/used.Seconds()/1e6, "Mlane-instr/s(user)")
			b.ReportMetric(used.Seconds()*1e9/float64(lanes/32), "ns/instr(user)")
			b.ReportMetric(float64(cycles)/float64(b.N), "cycles")
		})
	}
}
