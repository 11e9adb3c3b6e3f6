package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/float"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Operands of one run of a floating-point instruction: Rss, Rtt, Rxx, Pu and usr; and its results: Rdd or Rxx, the
// predicate and usr.
const (
	floatIn   = 32
	floatOut  = 16
	floatRuns = 8000
)

// floatOperands fills one record per run: corner cases of the format against each other, then random values whose
// exponents meet, under all four rounding modes.
func floatOperands(r *rand.Rand, double bool) []byte {
	corners := cornerFloats(double)
	random := func() uint64 {
		if r.Intn(8) == 0 {
			return corners[r.Intn(len(corners))]
		}
		if double {
			e := []uint64{1023 + uint64(r.Intn(60)) - 30, uint64(r.Intn(2048)), uint64(r.Intn(54)), 2046 - uint64(r.Intn(3))}[r.Intn(4)]
			m := r.Uint64() & (1<<52 - 1) >> r.Intn(52)
			if r.Intn(2) == 0 {
				m = r.Uint64() << r.Intn(52) & (1<<52 - 1)
			}
			return r.Uint64()&(1<<63) | e<<52 | m
		}
		e := []uint32{127 + uint32(r.Intn(80)) - 40, uint32(r.Intn(256)), uint32(r.Intn(26)), 254 - uint32(r.Intn(3))}[r.Intn(4)]
		m := r.Uint32() & (1<<23 - 1) >> r.Intn(23)
		if r.Intn(2) == 0 {
			m = r.Uint32() << r.Intn(23) & (1<<23 - 1)
		}
		return uint64(r.Uint32())<<32 | uint64(r.Uint32()&(1<<31)|e<<23|m)
	}
	out := make([]byte, 0, floatRuns*floatIn)
	le := binary.LittleEndian
	special := append(append([]uint64{}, corners[:4]...), corners[len(corners)-10:]...) // zeros, ones, the largest, infinite, no number
	for i := range floatRuns {
		a, b, c := random(), random(), random()
		if n := len(special); i < n*n*n {
			a, b, c = special[i/(n*n)], special[i/n%n], special[i%n]
		} else if i, n := i-n*n*n, len(corners); i < n*n {
			a, b = corners[i/n], corners[i%n]
		}
		out = le.AppendUint64(out, a)
		out = le.AppendUint64(out, b)
		out = le.AppendUint64(out, c)
		out = le.AppendUint32(out, r.Uint32()&0xff)
		out = le.AppendUint32(out, uint32(r.Intn(4))<<float.RoundShift|uint32(r.Intn(32)&r.Intn(32))<<1)
	}
	return out
}

func cornerFloats(double bool) (out []uint64) {
	if double {
		for _, f := range []float64{0, 1, 1.5, 2, math.Pi, 0.5, 1e-3, 1e300, 1e-300, math.MaxFloat64, 0x1p-1022, 0x1p-1023, 5e-324,
			math.MaxInt32, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 63, 1 << 64, 2147483647.5, 2.5, 0x1.8p-1022, 0x1.8p-1023, math.Inf(1)} {
			out = append(out, math.Float64bits(f), math.Float64bits(-f))
		}
		return append(out, 0x7ff8000000000000, 0xfff0000000000001, 0xffffffffffffffff, 0x7ff0000000000001)
	}
	for _, f := range []float32{0, 1, 1.5, 2, math.Pi, 0.5, 1e-3, 1e38, 1e-38, math.MaxFloat32, 0x1p-126, 0x1p-127, 0x1p-149, 0x1.fffffep-127,
		1 << 31, 1 << 32, 1 << 63, 1 << 64, 2147483520, 2.5, 0x1.8p-128, 0x1.fffffep127, float32(math.Inf(1))} {
		out = append(out, uint64(math.Float32bits(f)), uint64(math.Float32bits(-f)))
	}
	return append(out, 0x7fc00000, 0xff800001, 0xffffffff, 0x7f800001)
}

// floatInst is the form with Rs in r1:0, Rt in r3:2, Rd or Rx in r5:4 and predicates in p0.
func floatInst(r *rand.Rand, f *hexagon.Form) hexagon.Inst {
	in := hexagon.Inst{Op: f.Op}
	sources := uint8(0)
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.Kind == hexagon.KindImm:
			in.Imm[o.Index] = randomImm(r, o)
		case o.Kind == hexagon.KindP:
			in.R[o.Index] = 0
		case o.Role&hexagon.Def != 0:
			in.R[o.Index] = 4
		default:
			in.R[o.Index] = sources
			sources += 2
		}
	}
	return in
}

// TestOracleFloat compares every floating-point form with QEMU: result, predicate and sticky flags, over corner cases and
// random operands in the four rounding modes.
func TestOracleFloat(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	r := rand.New(rand.NewSource(6))
	dir := t.TempDir()
	var src, data strings.Builder
	var names []string
	inputs := map[bool][]byte{}
	for _, double := range []bool{false, true} {
		inputs[double] = floatOperands(r, double)
		path := filepath.Join(dir, fmt.Sprintf("%v.bin", double))
		require.NoError(t, os.WriteFile(path, inputs[double], 0o644))
		fmt.Fprintf(&data, "\t.p2align 3\nin_%v: .incbin %q\n", double, path)
	}
	src.WriteString("\t.text\n\t.globl _start\n_start:\n\t{ r17 = ##dump }\n")
	fmt.Fprintf(&src, "\t{ r18 = #%d }\n", floatRuns)
	var used []bool
	for _, f := range hexagon.Forms() {
		if !strings.HasPrefix(f.Name, "F2_") {
			continue
		}
		for range 1 + 3*int(f.NumImm) {
			p := hexagon.Packet{N: 1}
			p.Insts[0] = floatInst(r, &f)
			words := require.V(p.Encode(nil))(t)
			double := strings.Contains(f.Syntax, "Rss")
			fmt.Fprintf(&src, `	{ r16 = ##in_%v ; loop0(.L%d,r18) }
.L%d:	{ r1:0 = memd(r16+#0) ; r3:2 = memd(r16+#8) }
	{ r5:4 = memd(r16+#16) ; r6 = memw(r16+#24) }
	{ r7 = memw(r16+#28) }
	{ usr = r7 }
	{ p0 = r6 }
	.word %#x
	{ r6 = p0 ; r7 = usr }
	{ memd(r17+#0) = r5:4 ; r16 = add(r16,#%d) }
	{ memd(r17+#8) = r7:6 ; r17 = add(r17,#%d) }:endloop0
`, double, len(names), len(names), words[0], floatIn, floatOut)
			names = append(names, p.Asm())
			used = append(used, double)
		}
	}
	size := len(names) * floatRuns * floatOut
	fmt.Fprintf(&src, "\t{ r0 = #1 ; r1 = ##dump }\n\t{ r2 = ##%d ; r6 = #64 }\n\ttrap0(#1)\n\t{ r6 = #94 ; r0 = #0 }\n\ttrap0(#1)\n\t.data\n%s\t.section .scratch,\"aw\",@progbits\n\t.p2align 3\ndump: .space %d\n", size, data.String(), size)
	exe := buildELF(t, dir, src.String())
	want, err := exec.Command("qemu-hexagon", exe).Output()
	if err != nil || len(want) != size {
		t.Fatalf("qemu: %d of %d bytes, %v", len(want), size, err)
	}
	p, space, entry, syms := loadELF(t, exe)
	require.V(testCore(t).RunThread(p, space, &Registers{PC: entry}, 0, Options{Functional: true}))(t)
	got := space.Bytes(uint64(syms["dump"]), size)
	for i, name := range names {
		bad := 0
		for k := range floatRuns {
			at := (i*floatRuns + k) * floatOut
			g, w := got[at:at+floatOut], want[at:at+floatOut]
			if string(g) == string(w) {
				continue
			}
			if bad++; bad <= 5 {
				in := inputs[used[i]][k*floatIn:]
				u := func(b []byte, o int) uint64 { return binary.LittleEndian.Uint64(b[o:]) }
				t.Errorf("%s of %#x %#x %#x, p and usr %#x: core %#x %#x, qemu %#x %#x", name, u(in, 0), u(in, 8), u(in, 16), u(in, 24), u(g, 0), u(g, 8), u(w, 0), u(w, 8))
			}
		}
		if bad > 0 {
			t.Logf("%s: %d of %d differ", name, bad, floatRuns)
		}
	}
	t.Logf("%d instructions, %d runs each", len(names), floatRuns)
}
