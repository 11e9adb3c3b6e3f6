package dsp

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Hashes of what scalar forms on registers make of many operands, where the rows of recordedRow hold few. A row of
// testdata/values/hashes.txt is
//
//	form | instruction | hash
//
// over hashSets sets of operands: r1:0, r3:2, r5:4, p3:0 and usr before the instruction. Behind it r0, r1, p3:0 and usr
// are added to 31 times the hash, one after another.
const (
	hashFile  = "testdata/values/hashes.txt"
	hashSets  = 192
	hashTable = 32 * hashSets // bytes
)

// hashInst is the form with sources in r2 to r5 and p1 to p3, results in r1:0 and p0; an operand that is both is a result.
func hashInst(r *rand.Rand, f *hexagon.Form) (text string, ok bool) {
	const not = hexagon.FlagBranch | hexagon.FlagLoop | hexagon.FlagSolo | hexagon.FlagPredNew | hexagon.FlagLoad | hexagon.FlagStore
	if f.IsHVX() || f.Has(not) || f.MemBytes > 0 || notInQEMU(f) != "" || strings.Contains(f.Syntax, "fetch") {
		return "", false
	}
	in := hexagon.Inst{Op: f.Op}
	registers, pairs, predicates := []uint8{2, 4, 3, 5}, []uint8{2, 4}, []uint8{1, 2, 3}
	take := func(list *[]uint8) uint8 {
		x := (*list)[0]
		*list = (*list)[1:]
		return x
	}
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.PCRel:
			return "", false
		case o.Kind == hexagon.KindImm:
			in.Imm[o.Index] = randomImm(r, o)
		case o.Kind != hexagon.KindR && o.Kind != hexagon.KindRR && o.Kind != hexagon.KindP:
			return "", false
		case o.Role&hexagon.Def != 0:
		case o.Kind == hexagon.KindR:
			in.R[o.Index] = take(&registers)
		case o.Kind == hexagon.KindRR:
			in.R[o.Index] = take(&pairs)
		default:
			in.R[o.Index] = take(&predicates)
		}
	}
	p := hexagon.Packet{N: 1}
	p.Insts[0] = in
	return in.Text(0), p.Check() == nil
}

// hashProgram is the code that fills the words behind the sets of operands, one for each instruction.
func hashProgram(list [][2]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{ r20 = ##%#x }\n{ r21 = ##%#x }\n{ r10 = #%d }\n", scratchBase, scratchBase+hashTable, hashSets)
	for _, x := range list {
		fmt.Fprintf(&b, `{ loop0(1f,r10) ; r16 = #0 ; r22 = r20 }
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
{ memw(r21++#4) = r16 }
`, x[1])
	}
	return b.String()
}

// hashOperands are the sets: words at the edges, small ones, singles and doubles; the inexact flag is often up, behind
// which the core takes the host's arithmetic.
func hashOperands() (b []byte) {
	r := rand.New(rand.NewSource(recordSeed))
	single, double := cornerFloats(false), cornerFloats(true)
	for i := range hashSets {
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
		if i == 2 || i == 10 { // the product is 2^-126 only after rounding
			w[0], w[2], w[4] = 0, 0x3f7fffff, 0x00800000
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
	return b
}

// TestHashes runs the instructions of the table by the host's handlers and by the portable functions. Every form that can
// be drawn has a row.
func TestHashes(t *testing.T) {
	list, want := readHashes(t)
	rows := map[string]int{}
	for _, x := range list {
		rows[x[0]]++
	}
	for _, f := range hexagon.Forms() {
		if _, ok := hashInst(rand.New(rand.NewSource(1)), &f); ok && rows[f.Name] == 0 {
			t.Errorf("%s has no row", f.Name)
		}
	}
	p := assemble(t, codeBase, hashProgram(list))
	for _, portable := range []bool{false, true} {
		core := testCore(t)
		if portable {
			core.asm = nil
		}
		memory := append(hashOperands(), make([]byte, 4*len(list))...)
		space := new(mem.Space)
		if err := space.Map(mem.Segment{Name: "scratch", Base: scratchBase, Data: memory}); err != nil {
			t.Fatal(err)
		}
		st := Registers{PC: codeBase}
		if _, err := core.RunThread(p, space, &st, codeBase+uint32(len(p.Code)), Options{Functional: true}); err != nil {
			t.Fatal(err)
		}
		for i, x := range list {
			if got := le32(memory[hashTable+4*i:]); got != want[i] {
				t.Errorf("%s, portable %v: %s hashes to %08x, want %08x", x[0], portable, x[1], got, want[i])
			}
		}
	}
}

func readHashes(t *testing.T) (list [][2]string, hash []uint32) {
	t.Helper()
	b, err := os.ReadFile(hashFile)
	if err != nil {
		t.Fatal(err)
	}
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
		list, hash = append(list, [2]string{f[0], f[1]}), append(hash, h)
	}
	return list, hash
}

// TestOracleHashes runs the instructions in QEMU, which must leave the hashes of the table. With -update it draws them anew,
// those with immediates three times.
func TestOracleHashes(t *testing.T) {
	oracle.Need(t, "qemu-hexagon")
	var list [][2]string
	var want []uint32
	if !*update {
		list, want = readHashes(t)
	} else {
		r := rand.New(rand.NewSource(recordSeed))
		for _, f := range hexagon.Forms() {
			for range min(1+2*int(f.NumImm), 3) {
				if text, ok := hashInst(r, &f); ok {
					list = append(list, [2]string{f.Name, text})
				}
			}
		}
	}
	code := assemble(t, codeBase, hashProgram(list)+fmt.Sprintf("{ r1 = ##%#x }\n{ r2 = ##%d }\n{ r0 = #1 ; r6 = #64 }\n{ trap0(#1) }\n{ r0 = #0 ; r6 = #93 }\n{ trap0(#1) }\n",
		scratchBase+hashTable, 4*len(list))).Code
	im := object.Image{Entry: codeBase, Segments: []object.Segment{
		{Addr: codeBase, Data: code, Exec: true},
		{Addr: scratchBase, Data: hashOperands(), Size: uint32(hashTable + 4*len(list)), Write: true},
	}}
	b, err := im.ELF()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "p.elf")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "qemu-hexagon", path).Output()
	if err != nil || len(out) != 4*len(list) {
		t.Fatalf("qemu: %v, %d bytes", err, len(out))
	}
	var table strings.Builder
	fmt.Fprintf(&table, "# Hashes of what qemu-hexagon makes of many operands: see hashInst. Written by TestOracleHashes with -update.\n")
	for i, x := range list {
		got := le32(out[4*i:])
		if fmt.Fprintf(&table, "%s | %s | %08x\n", x[0], x[1], got); !*update && got != want[i] {
			t.Errorf("%s: QEMU hashes %s to %08x, the table has %08x", x[0], x[1], got, want[i])
		}
	}
	if *update {
		if err := os.WriteFile(hashFile, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
