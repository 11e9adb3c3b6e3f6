package dsp

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Hashes of the results of register forms over many operands, where the rows of recordedRow hold few. A row of
// testdata/values/hashes.txt is
//
//	form | instruction | hash
//
// A scalar instruction finds hashSets or hashFloats sets of r1:0, r3:2, r5:4, p3:0 and usr. Behind it r0, r1, p3:0 and usr are added to
// 31 times a word, one after another. A vector instruction finds hashVectors sets of v0 to v5 and of predicates, and r1:0
// to r5:4 as the first ones above. Behind it v0, v1, q0 and r0 are added to 31 times a vector of words. The hash of the
// table is FNV-1a of the 128 bytes that hold either.
const (
	hashFile    = "testdata/values/hashes.txt"
	hashSets    = 192
	hashFloats  = hashSets + 8*8*8 // sets of forms with floating point: all triples of eight numbers more
	hashVectors = 24
	hashLanes   = 32 * hashFloats               // where the vectors begin
	hashTable   = hashLanes + 7*128*hashVectors // where the results begin
)

// hashInst is the form with its results in the registers 1:0, or 0 and 1, and p0 or q0, and its sources in 2 to 5 and the
// predicates 1 to 3; an operand that is both is a result. Immediates are 5 in the n-th row 2 and else random.
func hashInst(r *rand.Rand, f *hexagon.Form, n int) (text string, ok bool) {
	const not = hexagon.FlagBranch | hexagon.FlagLoop | hexagon.FlagSolo | hexagon.FlagPredNew | hexagon.FlagLoad | hexagon.FlagStore
	if f.Has(not) || f.MemBytes > 0 || notInQEMU(f) != "" || elementForm(f) || strings.HasPrefix(f.Syntax, "dc") || strings.HasPrefix(f.Syntax, "l2fetch") {
		return "", false
	}
	in := hexagon.Inst{Op: f.Op}
	free := map[hexagon.Kind][]uint8{}
	for _, k := range []hexagon.Kind{hexagon.KindR, hexagon.KindV} {
		free[k] = []uint8{2, 4, 3, 5}
	}
	for _, k := range []hexagon.Kind{hexagon.KindRR, hexagon.KindVV} {
		free[k] = []uint8{2, 4}
	}
	for _, k := range []hexagon.Kind{hexagon.KindP, hexagon.KindQ} {
		free[k] = []uint8{1, 2, 3}
	}
	results := map[hexagon.Kind]uint8{}
	for i := range f.Operands {
		o := &f.Operands[i]
		switch list := free[o.Kind]; {
		case o.PCRel:
			return "", false
		case o.Kind == hexagon.KindImm:
			if in.Imm[o.Index] = randomImm(r, o); n == 2 {
				in.Imm[o.Index] = 5 & (1<<(o.Width-uint8(b2i(o.Signed))) - 1) << o.Scale
			}
		case list == nil:
			return "", false
		case o.Role&hexagon.Def != 0:
			in.R[o.Index] = results[o.Kind]
			results[o.Kind]++
		default:
			in.R[o.Index], free[o.Kind] = list[0], list[1:]
		}
	}
	p := hexagon.Packet{N: 1}
	p.Insts[0] = in
	return in.Text(0), p.Check() == nil
}

const hashScalarLoop = `{ loop0(1f,#%d) ; r16 = #0 ; r22 = r20 }
1: { r1:0 = memd(r22++#8) }
{ r3:2 = memd(r22++#8) }
{ r5:4 = memd(r22++#8) }
{ r7:6 = memd(r22++#8) }
{ p3:0 = r6 }
{ usr = r7 }
{ %s }
{ r8 = p3:0 }
{ r9 = usr ; r16 = add(r0,mpyi(r16,#31)) }
{ r16 = add(r1,mpyi(r16,#31)) }
{ r16 = add(r8,mpyi(r16,#31)) }
{ r16 = add(r9,mpyi(r16,#31)) } :endloop0
{ memw(r21+#0) = r16 ; r21 = add(r21,#128) }
`

const hashVectorLoop = `{ loop0(1f,#%d) ; v30 = vxor(v30,v30) ; r22 = r20 }
{ r23 = r19 }
1: { r1:0 = memd(r22++#8) }
{ r3:2 = memd(r22++#8) }
{ r5:4 = memd(r22++#16) }
{ v0 = vmem(r23++#1) }
{ v1 = vmem(r23++#1) }
{ v2 = vmem(r23++#1) }
{ v3 = vmem(r23++#1) }
{ v4 = vmem(r23++#1) }
{ v5 = vmem(r23++#1) }
{ v6 = vmem(r23++#1) }
{ q0 = vand(v6,r11) }
{ q1 = vand(v5,r11) }
{ q2 = vand(v4,r11) }
{ q3 = vand(v3,r11) }
{ %s }
{ v30.w = vmpyi(v30.w,r12.b) }
{ v30.w = vadd(v30.w,v0.w) ; v7 = vand(q0,r11) }
{ v30.w = vmpyi(v30.w,r12.b) }
{ v30.w = vadd(v30.w,v1.w) ; v8 = vsplat(r0) }
{ v30.w = vmpyi(v30.w,r12.b) }
{ v30.w = vadd(v30.w,v7.w) }
{ v30.w = vmpyi(v30.w,r12.b) }
{ v30.w = vadd(v30.w,v8.w) } :endloop0
{ vmem(r21++#1) = v30 }
`

// hashRow is a row of the table.
type hashRow struct {
	form, inst string
	hash       uint32
}

// hashProgram is the code that fills 128 bytes behind the sets of operands for each instruction.
func hashProgram(rows []hashRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{ r20 = ##%#x }\n{ r19 = ##%#x }\n{ r21 = ##%#x }\n{ r11 = ##0x01010101 }\n{ r12 = ##0x1f1f1f1f }\n",
		scratchBase, scratchBase+hashLanes, scratchBase+hashTable)
	loops := map[string]string{}
	for _, f := range hexagon.Forms() {
		switch {
		case f.IsHVX():
			loops[f.Name] = fmt.Sprintf(hashVectorLoop, hashVectors, "%s")
		case f.Has(hexagon.FlagFloat):
			loops[f.Name] = fmt.Sprintf(hashScalarLoop, hashFloats, "%s")
		default:
			loops[f.Name] = fmt.Sprintf(hashScalarLoop, hashSets, "%s")
		}
	}
	for _, x := range rows {
		fmt.Fprintf(&b, loops[x.form], x.inst)
	}
	return b.String()
}

// hashes returns a hash of each result.
func hashes(results []byte) (list []uint32) {
	for ; len(results) > 0; results = results[128:] {
		h := fnv.New32a()
		h.Write(results[:128])
		list = append(list, h.Sum32())
	}
	return list
}

// hashOperands are the sets: words at the edges, small ones, singles and doubles; the inexact flag is often set, after
// which the core uses the host's arithmetic.
func hashOperands() (b []byte) {
	r := rand.New(rand.NewSource(recordSeed))
	single, double := cornerFloats(false), cornerFloats(true)
	for i := range hashFloats {
		var w [8]uint32
		for k := range 6 {
			switch i % 4 {
			case 1:
				w[k] = r.Uint32()
			case 2:
				w[k] = uint32(single[r.Intn(len(single))])
			default:
				w[k] = corner(r)
			}
		}
		for k := 0; k < 6 && i%4 == 3; k += 2 {
			x := double[r.Intn(len(double))]
			w[k], w[k+1] = uint32(x), uint32(x>>32)
		}
		if i%8 == 0 {
			w[4], w[5] = uint32(r.Intn(128)-64), uint32(r.Intn(128)-64)
		}
		switch i % 16 {
		case 4: // equal
			w[4], w[5] = w[2], w[3]
		case 5, 13: // equal to the immediate of a third row
			for k := range 6 {
				w[k] = []uint32{5, 5, 0x05050505, 0x00050005}[r.Intn(4)]
			}
		case 12: // equal in part
			w[4], w[5] = w[2]^0xff<<(8*r.Intn(4)), w[3]^0xffff<<(16*r.Intn(2))
		}
		if i == 2 || i == 10 { // the product is 2^-126 only after rounding
			w[0], w[2], w[4] = 0, 0x3f7fffff, 0x00800000
		}
		if i >= hashSets {
			kinds := [8]uint32{0, 1 << 31, 0x3fc00000, 0xc0000000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001}
			w[0], w[2], w[4] = kinds[i%8], kinds[i/8%8], kinds[i/64%8]
		}
		for k := range 4 {
			w[6] |= uint32([]uint8{0, 0xff, 1, uint8(r.Intn(256))}[r.Intn(4)]) << (8 * k)
		}
		if w[7] = 1 << 5; i%3 == 0 {
			w[7] = r.Uint32() & 0x00c0003f
		}
		for _, x := range w {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	for i := range 7 * 32 * hashVectors {
		x := corner(r)
		switch i / (7 * 32) % 3 {
		case 0:
			x = r.Uint32()
		case 1:
			if i/32%7 == 4 && i%3 == 0 { // lanes of v4 that equal those of v2
				x = binary.LittleEndian.Uint32(b[len(b)-2*128:])
			}
		}
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// TestHashes runs the instructions of the table by the host's handlers and by the portable functions. Every form that can
// be drawn has a row.
func TestHashes(t *testing.T) {
	rows := readHashes(t)
	seen := map[string]bool{}
	for _, x := range rows {
		seen[x.form] = true
	}
	for _, f := range hexagon.Forms() {
		if _, ok := hashInst(rand.New(rand.NewSource(1)), &f, 0); ok && !seen[f.Name] {
			t.Errorf("%s has no row", f.Name)
		}
	}
	p := assemble(t, codeBase, hashProgram(rows))
	for _, portable := range []bool{false, true} {
		core := testCore(t)
		if portable {
			core.asm = nil
		}
		memory := append(hashOperands(), make([]byte, 128*len(rows))...)
		space := new(mem.Space)
		require.NoError(t, space.Map(mem.Segment{Name: "scratch", Base: scratchBase, Data: memory}))
		st := Registers{PC: codeBase}
		require.V(core.RunThread(p, space, &st, codeBase+uint32(len(p.Code)), Options{Functional: true}))(t)
		for i, got := range hashes(memory[hashTable:]) {
			if x := &rows[i]; got != x.hash {
				t.Errorf("%s, portable %v: %s hashes to %08x, want %08x", x.form, portable, x.inst, got, x.hash)
			}
		}
	}
}

func readHashes(t *testing.T) (rows []hashRow) {
	t.Helper()
	b := require.V(os.ReadFile(hashFile))(t)
	for n, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(line, " | ")
		if line[0] == '#' {
			continue
		}
		var h uint32
		if len(f) != 3 {
			t.Fatalf("%s:%d: %d columns", hashFile, n+1, len(f))
		}
		if _, err := fmt.Sscanf(f[2], "%x", &h); err != nil {
			t.Fatalf("%s:%d: %v", hashFile, n+1, err)
		}
		rows = append(rows, hashRow{f[0], f[1], h})
	}
	return rows
}

// TestOracleHashes runs the instructions in QEMU, which must leave the hashes of the table. With -update it draws them anew,
// those with immediates three times.
func TestOracleHashes(t *testing.T) {
	oracle.Need(t, "qemu-hexagon")
	var rows []hashRow
	if !*update {
		rows = readHashes(t)
	} else {
		r := rand.New(rand.NewSource(recordSeed))
		for _, f := range hexagon.Forms() {
			for n := range min(1+2*int(f.NumImm), 3) {
				if text, ok := hashInst(r, &f, n); ok {
					rows = append(rows, hashRow{f.Name, text, 0})
				}
			}
		}
	}
	code := assemble(t, codeBase, hashProgram(rows)+fmt.Sprintf("{ r1 = ##%#x }\n{ r2 = ##%d }\n{ r0 = #1 ; r6 = #64 }\n{ trap0(#1) }\n{ r0 = #0 ; r6 = #93 }\n{ trap0(#1) }\n",
		scratchBase+hashTable, 128*len(rows))).Code
	im := object.Image{Entry: codeBase, Segments: []object.Segment{
		{Addr: codeBase, Data: code, Exec: true},
		{Addr: scratchBase, Data: hashOperands(), Size: uint32(hashTable + 128*len(rows)), Write: true},
	}}
	b := require.V(im.ELF())(t)
	path := filepath.Join(t.TempDir(), "p.elf")
	require.NoError(t, os.WriteFile(path, b, 0o755))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "qemu-hexagon", path).Output()
	if err != nil || len(out) != 128*len(rows) {
		t.Fatalf("qemu: %v, %d bytes", err, len(out))
	}
	var table strings.Builder
	fmt.Fprintf(&table, "# Hashes of what qemu-hexagon makes of many operands: see hashInst. Written by TestOracleHashes with -update.\n")
	for i, got := range hashes(out) {
		x := &rows[i]
		if fmt.Fprintf(&table, "%s | %s | %08x\n", x.form, x.inst, got); !*update && got != x.hash {
			t.Errorf("%s: QEMU hashes %s to %08x, the table has %08x", x.form, x.inst, got, x.hash)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(hashFile, []byte(table.String()), 0o644))
	}
}
