package dsp

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// assemble assembles LLVM syntax to a program at base.
func assemble(t testing.TB, base uint32, text string) *Program {
	t.Helper()
	pk := require.V(asm.Assemble(text, base))(t)
	words := require.V(hexagon.EncodeAll(nil, pk))(t)
	return &Program{Base: base, Code: hexagon.Bytes(words)}
}

// gemmText multiplies a tile of 128 positions (four vectors of 32) by four
// channels; K/4 steps of 16 vrmpy each. r0 activations of the tile (K/4
// vectors, then the next 32 positions), r1..r4 weights of four channels, r5
// K/4, r6 output, r7 vectors between two groups of positions in bytes.
const gemmText = `
gemm:
	{ r10 = r0 ; r11 = add(r0,r7) ; v16 = vxor(v16,v16) ; v17 = vxor(v17,v17) }
	{ r12 = add(r11,r7) ; v18 = vxor(v18,v18) ; v19 = vxor(v19,v19) ; v20 = vxor(v20,v20) }
	{ r13 = add(r12,r7) ; v21 = vxor(v21,v21) ; v22 = vxor(v22,v22) ; v23 = vxor(v23,v23) }
	{ v24 = vxor(v24,v24) ; v25 = vxor(v25,v25) ; v26 = vxor(v26,v26) ; v27 = vxor(v27,v27) }
	{ v28 = vxor(v28,v28) ; v29 = vxor(v29,v29) ; v30 = vxor(v30,v30) ; v31 = vxor(v31,v31) }
	{ r14 = memw(r1++#4) ; v0 = vmem(r10++#1) }
	{ r15 = memw(r2++#4) ; v1 = vmem(r11++#1) }
	{ r16 = memw(r3++#4) ; v2 = vmem(r12++#1) }
	{ loop0(loop,r5) }
loop:
	{ v16.w += vrmpy(v0.ub,r14.b) ; v20.w += vrmpy(v0.ub,r15.b) ; r17 = memw(r4++#4) ; v3 = vmem(r13++#1) }
	{ v17.w += vrmpy(v1.ub,r14.b) ; v21.w += vrmpy(v1.ub,r15.b) }
	{ v24.w += vrmpy(v0.ub,r16.b) ; v28.w += vrmpy(v0.ub,r17.b) ; v0 = vmem(r10++#1) }
	{ v25.w += vrmpy(v1.ub,r16.b) ; v29.w += vrmpy(v1.ub,r17.b) ; v1 = vmem(r11++#1) }
	{ v18.w += vrmpy(v2.ub,r14.b) ; v22.w += vrmpy(v2.ub,r15.b) }
	{ v19.w += vrmpy(v3.ub,r14.b) ; v23.w += vrmpy(v3.ub,r15.b) ; r14 = memw(r1++#4) }
	{ v26.w += vrmpy(v2.ub,r16.b) ; v30.w += vrmpy(v2.ub,r17.b) ; v2 = vmem(r12++#1) ; r15 = memw(r2++#4) }
	{ v27.w += vrmpy(v3.ub,r16.b) ; v31.w += vrmpy(v3.ub,r17.b) ; r16 = memw(r3++#4) } :endloop0
	{ vmem(r6++#1) = v16 }
	{ vmem(r6++#1) = v17 }
	{ vmem(r6++#1) = v18 }
	{ vmem(r6++#1) = v19 }
	{ vmem(r6++#1) = v20 }
	{ vmem(r6++#1) = v21 }
	{ vmem(r6++#1) = v22 }
	{ vmem(r6++#1) = v23 }
	{ vmem(r6++#1) = v24 }
	{ vmem(r6++#1) = v25 }
	{ vmem(r6++#1) = v26 }
	{ vmem(r6++#1) = v27 }
	{ vmem(r6++#1) = v28 }
	{ vmem(r6++#1) = v29 }
	{ vmem(r6++#1) = v30 }
	{ vmem(r6++#1) = v31 }
	{ jumpr r31 }
`

// gemm is a K-deep product of 128 positions by n groups of four channels.
type gemm struct {
	prog  *Program
	space *mem.Space
	jobs  []Job
	macs  int64
	act   []byte
	wgt   []byte
	out   []byte
	k     int
}

const (
	actBase = 0x1000000
	wgtBase = 0x2000000
	outBase = 0x4000000
)

func newGEMM(t testing.TB, positions, channels, k, threads int) *gemm {
	t.Helper()
	g := &gemm{prog: assemble(t, 0x10000, gemmText), space: new(mem.Space), k: k}
	g.act = make([]byte, positions*k+256)
	g.wgt = make([]byte, channels*k+64)
	g.out = make([]byte, positions*channels*4)
	x := uint32(12345)
	for _, b := range [][]byte{g.act, g.wgt} {
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
	}
	for _, s := range []mem.Segment{{Name: "act", Base: actBase, Data: g.act}, {Name: "wgt", Base: wgtBase, Data: g.wgt}, {Name: "out", Base: outBase, Data: g.out}} {
		require.NoError(t, g.space.Map(s))
	}
	group := uint32(32 * k) // bytes of 32 positions
	var args [][]uint32
	flush := func() {
		if len(args) > 0 {
			g.jobs = append(g.jobs, Job{Region: 0, Name: "gemm", Entry: 0x10000, Threads: len(args), Args: args})
			args = nil
		}
	}
	for n := 0; n < channels; n += 4 {
		for p := 0; p < positions; p += 128 {
			w := uint32(wgtBase + n*k)
			o := uint32(outBase + (n*positions+p*4)*4)
			args = append(args, []uint32{actBase + uint32(p/32)*group, w, w + uint32(k), w + uint32(2*k), w + uint32(3*k), uint32(k / 4), o, group})
			if len(args) == threads {
				flush()
			}
		}
	}
	flush()
	g.macs = int64(positions) * int64(channels) * int64(k)
	return g
}

// want is the product of channel n at position p.
func (g *gemm) want(p, n int) int32 {
	var s int32
	for i := range g.k {
		a := g.act[p/32*32*g.k+i/4*128+p%32*4+i%4]
		s += int32(a) * int32(int8(g.wgt[n*g.k+i]))
	}
	return s
}

func BenchmarkGEMM(b *testing.B) {
	for _, functional := range []bool{true, false} {
		for _, threads := range []int{1, 4} {
			name := fmt.Sprintf("timed/threads=%d", threads)
			if functional {
				name = fmt.Sprintf("functional/threads=%d", threads)
			}
			b.Run(name, func(b *testing.B) {
				s := testSpec(b)
				s.JobStartCycles, s.BarrierCycles = 0, 0
				c := require.V(newCold(s))(b)
				g := newGEMM(b, 512, 512, 512, threads)
				begin := cputime.User()
				for b.Loop() {
					require.V(c.Run(g.prog, g.space, g.jobs, Options{Functional: functional}))(b)
				}
				user := (cputime.User() - begin).Seconds() / float64(b.N)
				b.ReportMetric(float64(g.macs)/user/1e9, "GMAC/user-s")
				b.ReportMetric(user*1e9*128/float64(g.macs), "user-ns/vrmpy")
			})
		}
	}
}

// BenchmarkFloat is a dependent chain of scalar products and sums, and divisions as
// libraries make them; ns per instruction.
func BenchmarkFloat(b *testing.B) {
	for _, c := range []struct {
		name, body string
		insts      int
	}{
		{"sum", "{ r4 = sfmpy(r2,r3) }\n{ r5 = sfadd(r5,r4) }", 2},
		{"division", "{ r4,p0 = sfrecipa(r2,r3) }\n{ r6 = sffixupd(r2,r3) }\n{ r7 = r8 }\n{ r7 -= sfmpy(r6,r4):lib }\n{ r4 += sfmpy(r7,r4):lib }\n{ r5 += sfmpy(r2,r4,p0):scale }", 5},
	} {
		b.Run(c.name, func(b *testing.B) {
			core := testCore(b)
			const n = 100_000
			p := assemble(b, codeBase, fmt.Sprintf("{ r2 = ##0x3f9e0652 ; r3 = ##0x3fa4d3c1 }\n{ r8 = ##0x3f800000 ; r5 = #0 }\n{ r1 = #%d }\n{ loop0(again,r1) }\nagain:\n%s:endloop0\n{ jumpr r31 }\n", n, c.body))
			for range b.N {
				require.V(core.Run(p, new(mem.Space), []Job{{Entry: codeBase, Threads: 1}}, Options{Functional: true}))(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*c.insts), "ns/inst")
		})
	}
}

// BenchmarkDecode decodes the packets of a program to micro-ops.
func BenchmarkDecode(b *testing.B) {
	core := testCore(b)
	p := assemble(b, codeBase, gemmText)
	packets := 0
	b.ReportAllocs()
	for b.Loop() {
		p.decoded.Store(nil)
		d := require.V(core.decode(p, 0))(b)
		packets = 0
		for pc := p.Base; pc < p.Base+uint32(len(p.Code)); {
			var k decode.Block
			require.NoError(b, d.dec.Block(pc, &k))
			pc = k.End
			packets += len(k.Packets)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(packets), "ns/packet")
}
