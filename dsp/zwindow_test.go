package dsp

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/asm"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// zProduct is vrmpyz by its definition: word i of vector n is the sum of the bytes t of word i of v, times the bytes
// rt-100+32n+t of the window.
func zProduct(z *[256]byte, v *[128]byte, rt uint32, signed bool) (d [4][32]uint32) {
	for n := range d {
		for i := range d[n] {
			for t := range 4 {
				w := int32(z[(int(rt)-100+32*n+t)&255])
				if signed {
					w = int32(int8(w))
				}
				d[n][i] += uint32(int32(int8(v[4*i+t])) * w)
			}
		}
	}
	return d
}

// TestZWindow runs each vrmpyz at places all over the window, in assembly and in Go, and compares with its definition.
func TestZWindow(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	core := testCore(t)
	for _, c := range []struct {
		text      string
		signed    bool
		acc, step bool
	}{
		{"v7:4.w = vrmpyz(v5.b,r3.b)", true, false, false}, {"v7:4.w += vrmpyz(v5.b,r3.b)", true, true, false},
		{"v7:4.w = vrmpyz(v5.b,r3.b++)", true, false, true}, {"v7:4.w += vrmpyz(v9.b,r3.b++)", true, true, true},
		{"v7:4.w = vrmpyz(v9.b,r3.ub)", false, false, false}, {"v7:4.w += vrmpyz(v9.b,r3.ub)", false, true, false},
		{"v7:4.w = vrmpyz(v9.b,r3.ub++)", false, false, true}, {"v7:4.w += vrmpyz(v5.b,r3.ub++)", false, true, true},
	} {
		prog := linked(t, c.text)
		v := 5
		if strings.Contains(c.text, "v9") {
			v = 9
		}
		for at := uint32(0); at < 256; at += 3 {
			for _, handlers := range []*asm.Handlers{asm.Host(), nil} {
				st := randomState(r)
				st.R[3] = st.R[3]&^255 | at
				want := zProduct(&st.Z, &st.V[v], st.R[3], c.signed)
				got, _ := runOn(t, core, handlers, prog, st, make([]byte, 128))
				for n := range want {
					for i, x := range want[n] {
						if c.acc {
							x += binary.LittleEndian.Uint32(st.V[4+n][4*i:])
						}
						if y := binary.LittleEndian.Uint32(got.V[4+n][4*i:]); y != x {
							t.Fatalf("%s at %d: word %d of vector %d is %#x, want %#x", c.text, at, i, n, y, x)
						}
					}
				}
				after := st.R[3]
				if c.step {
					after += 4
				}
				if got.R[3] != after || got.Z != st.Z {
					t.Fatalf("%s: r3 is %#x, want %#x; window kept: %v", c.text, got.R[3], after, got.Z == st.Z)
				}
			}
		}
	}
}

// TestZLoad: bit 7 of the address selects the half of the window, address bits below are ignored, a false predicate loads
// nothing, and products of the packet see the window as it was before.
func TestZLoad(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	core := testCore(t)
	memory := make([]byte, 1024)
	r.Read(memory)
	for _, c := range []struct {
		text       string
		base, from int // offset of r1 in memory, and of the vector that is loaded, -1: none
		step       uint32
	}{
		{"z = vmem(r1+#0)", 256, 256, 0}, {"z = vmem(r1+#1)", 256, 384, 0}, {"z = vmem(r1+#-1)", 256, 128, 0}, {"z = vmem(r1+#0)", 256 + 77, 256, 0},
		{"z = vmem(r1++#2)", 384, 384, 256}, {"z = vmem(r1++m0)", 384, 384, 24}, {"if (p0) z = vmem(r1+#0)", 256, 256, 0}, {"if (p1) z = vmem(r1+#0)", 256, -1, 0},
		{"if (p1) z = vmem(r1++#1)", 256, -1, 0}, {"if (p0) z = vmem(r1++m0)", 256, 256, 24},
		{"{ z = vmem(r1+#1) ; v3:0.w = vrmpyz(v4.b,r3.b++) }", 256, 384, 0},
		{"{ z = vmem(r3+#1) ; v3:0.w = vrmpyz(v4.b,r3.b++) }", 256, 384, 0}, // the address is the register before it is moved on
	} {
		prog := linked(t, c.text)
		for _, handlers := range []*asm.Handlers{asm.Host(), nil} {
			st := randomState(r)
			st.R[1], st.M[0], st.P = scratchBase+uint32(c.base), 24, [4]byte{1, 0}
			st.R[3] = st.R[1]
			want := st.Z
			if c.from >= 0 {
				copy(want[c.from&128:], memory[c.from:][:128])
			}
			got, _ := runOn(t, core, handlers, prog, st, memory)
			if got.Z != want || got.R[1] != st.R[1]+c.step {
				t.Errorf("%s: window %v, r1 moved by %d, want %d", c.text, got.Z == want, got.R[1]-st.R[1], c.step)
			}
			if strings.Contains(c.text, "vrmpyz") {
				old := zProduct(&st.Z, &st.V[4], st.R[3], true)
				if x := binary.LittleEndian.Uint32(got.V[2][64:]); x != old[2][16] || got.R[3] != st.R[3]+4 {
					t.Errorf("%s: word is %#x, want %#x of the window before the packet; r3 moved by %d", c.text, x, old[2][16], got.R[3]-st.R[3])
				}
			}
		}
	}
}

// TestZBeside: beside a load of the Z window VTCM can be read, ordinary memory cannot, in whatever round of a loop.
func TestZBeside(t *testing.T) {
	spec := testSpec(t)
	for _, c := range []struct{ text, want string }{
		{"\t{ z = vmem(r0+#0) ; v1.tmp = vmem(r1+#0) ; v7:4.w = vrmpyz(v1.b,r3.b) }\n", ""},
		{"\t{ z = vmem(r0+#0) ; r4 = memw(r1+#0) }\n", ""},
		{"\t{ z = vmem(r1+#0) ; v1.tmp = vmem(r0+#0) ; v7:4.w = vrmpyz(v1.b,r3.b) }\n", "dsp: packet 0x10000: load of 0x100000 beside a load of the Z window: only VTCM can be read there (job j, thread 0)"},
		{"\t{ z = vmem(r1+#0) ; r4 = memw(r0+#8) }\n", "packet 0x10000: load of 0x100008 beside"},
		{"\tp0 = cmp.eq(r0,r1)\n\t{ if (p0) z = vmem(r1+#0) ; r4 = memw(r0+#8) }\n", ""},
		{"\t{ z = vmem(r1+#0) ; if (!p0) r4 = memw(r0+#8) }\n", "beside"},
		{"\t{ z = vmem(r1+#0) ; if (p0) r4 = memw(r0+#8) }\n", ""},
		{loopOf(50, "{ z = vmem(r0+#0) ; v1 = vmem(r1++#1) }\n{ nop }"), ""},
		{"\tr1 = add(r1,#0x400)\n" + loopOf(50, "{ z = vmem(r0+#0) ; v1 = vmem(r1++#-1) }\n{ nop }"), fmt.Sprintf("load of %#x beside", spec.VTCMBase-128)},
	} {
		for _, functional := range []bool{true, false} {
			for _, handlers := range []*asm.Handlers{asm.Host(), nil} {
				core := *testCore(t)
				inner := *core.Core
				inner.asm = handlers
				core.Core = &inner
				p := assemble(t, codeBase, c.text+"\tjumpr r31\n")
				space := new(mem.Space)
				require.NoError(t, space.Map(mem.Segment{Name: "d", Base: 0x100000, Data: make([]byte, 0x1000)}))
				require.NoError(t, space.Map(mem.Segment{Name: "before", Base: uint64(spec.VTCMBase) - 0x10000, Data: make([]byte, 0x10000)}))
				require.NoError(t, space.Map(mem.Segment{Name: "vtcm", Base: uint64(spec.VTCMBase), Data: make([]byte, spec.VTCMBytes)}))
				_, err := core.Run(p, space, []Job{{Name: "j", Entry: codeBase, Threads: 1, Args: [][]uint32{{0x100000, spec.VTCMBase, 0, 100}}}},
					Options{Functional: functional, MaxPackets: 1000})
				if c.want == "" {
					require.NoError(t, err, c.text)
				} else {
					require.ErrorContains(t, err, c.want, c.text)
				}
			}
		}
	}
}

// TestZRefused: a core of V65 has no Z window, and a form whose result no public source tells ends with an error that names it.
func TestZRefused(t *testing.T) {
	old := testSpec(t)
	old.Version = 65
	v65 := require.V(newCold(old))(t)
	v66 := testCore(t)
	forms := 0
	for _, f := range hexagon.Forms() {
		if !f.Has(hexagon.FlagV66) {
			continue
		}
		forms++
		p := &Program{Base: codeBase, Code: hexagon.Bytes([]uint32{f.Match | 3<<14})}
		_, err := v65.Run(p, nil, []Job{{Entry: codeBase, Threads: 1}}, Options{})
		require.ErrorContains(t, err, "needs a core of V66 or later, this one is V65", f.Name)
		_, err = v66.Run(p, nil, []Job{{Entry: codeBase, Threads: 1}}, Options{})
		if undefined := err != nil && strings.Contains(err.Error(), f.Name+"): no public source says what it computes"); undefined != f.Has(hexagon.FlagUndefined) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	require.Same(t, 27, forms, "forms of the Z window")
}

// zForeign is the text of zForeignText as llvm-mc 19 assembles it (-mcpu=hexagonv66 -mattr=+hvxv66,+hvx-length128b,+zreg).
var zForeign = []uint32{
	0xb0004c83, 0x2d00c100, 0x6900412b, 0xb003c084, 0x2c00c000, 0x19eb4400, 0x2901c144, 0x19cca440, 0x2901c144,
	0x2922c100, 0x2922c101, 0x2922c102, 0x2922c103, 0x529fc000,
}

// zForeignText multiplies 4 rows of 32 signed bytes, at r0, by 32 columns, at r1 as words of four bytes of each column.
const zForeignText = `{ z = vmem(r0++#1) ; r3 = add(r0,#100) }
{ loop0(next,#7) ; r4 = add(r3,#4) }
{ z = vmem(r0+#0) }
{ v4.tmp = vmem(r1++#1) ; v3:0.w = vrmpyz(v4.b,r3.b) }
next:
{ v4.tmp = vmem(r1++#1) ; v3:0.w += vrmpyz(v4.b,r4.b++) } :endloop0
{ vmem(r2++#1) = v0 }
{ vmem(r2++#1) = v1 }
{ vmem(r2++#1) = v2 }
{ vmem(r2++#1) = v3 }
{ jumpr r31 }
`

// TestZForeign runs a matrix product of another assembler and compares it with its definition.
func TestZForeign(t *testing.T) {
	code := hexagon.Bytes(zForeign)
	require.Same(t, string(code), string(assemble(t, codeBase, zForeignText).Code), "code of the text")
	const at, columns, out = 0, 256, 2048
	m := make([]byte, 4096)
	rand.New(rand.NewSource(3)).Read(m[:out])
	for _, functional := range []bool{true, false} {
		space := new(mem.Space)
		require.NoError(t, space.Map(mem.Segment{Name: "d", Base: 0x100000, Data: m}))
		clear(m[out:])
		require.V(testCore(t).Run(&Program{Base: codeBase, Code: code}, space, []Job{{Entry: codeBase, Threads: 1,
			Args: [][]uint32{{0x100000 + at, 0x100000 + columns, 0x100000 + out}}}}, Options{Functional: functional}))(t)
		for row := range 4 {
			for col := range 32 {
				want := int32(0)
				for k := range 32 {
					want += int32(int8(m[at+32*row+k])) * int32(int8(m[columns+128*(k/4)+4*col+k%4]))
				}
				if got := int32(binary.LittleEndian.Uint32(m[out+128*row+4*col:])); got != want {
					t.Fatalf("functional %v: row %d, column %d is %d, want %d", functional, row, col, got, want)
				}
			}
		}
	}
}
