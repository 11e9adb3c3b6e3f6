package dsp

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A block of the scalar harness loads a state, runs one packet and records the results: registers, control registers
// and the scratch memory. After it there are two landing places for branches; r23 and r22 record which were passed.
const (
	scalarStates = 32
	stateWords   = 40 // r0..r31, then p3:0, usr, m0, m1, cs0, cs1, gp, ugp
	recordC      = 4 * 32
	recordMem    = recordC + 4*12
	recordBytes  = recordMem + scratchSize
	blocksPerRun = 2500
)

// recorded are the control registers of a record, in order.
var recorded = [12]string{"p3:0", "usr", "m0", "m1", "cs0", "cs1", "gp", "ugp", "sa0", "lc0", "sa1", "lc1"}

// scalarBlock is one packet with the code before it.
type scalarBlock struct {
	packet  hexagon.Packet
	words   []uint32 // of the packet, if given
	prelude []string // assembly; LA is the first landing place
	state   int
}

func scalarProgram(t *testing.T, blocks []scalarBlock, state, scratch string) string {
	var b strings.Builder
	ln := func(format string, a ...any) { fmt.Fprintf(&b, "\t"+format+"\n", a...) }
	b.WriteString("\t.text\n\t.globl _start\n\t.p2align 4\nrestore:\n")
	ln("{ r0 = ##scratch_in ; r1 = ##scratch }\n\t{ loop0(.Lin,#%d) }", scratchSize/16)
	b.WriteString(".Lin:\n")
	ln("{ r3:2 = memd(r0++#8) }\n\t{ r5:4 = memd(r0++#8) ; memd(r1++#8) = r3:2 }\n\t{ memd(r1++#8) = r5:4 }:endloop0")
	for i, c := range recorded[:8] {
		ln("{ r0 = memw(r28+#%d) }\n\t{ %s = r0 }", 128+4*i, c)
	}
	for r := 0; r < 24; r += 2 {
		ln("{ r%d:%d = memd(r28+#%d) }", r+1, r, 4*r)
	}
	ln("{ sa1 = r31 }\n\t{ lc1 = r31 }\n\t{ r26 = ##scratch+512 ; r27 = #8 }\n\t{ r25 = r26 ; r21 = r26 ; r29 = r26 }\n\t{ r30 = r26 ; jumpr r31 }")
	b.WriteString("record:\n")
	ln("{ r28 = ##where }\n\t{ r28 = memw(r28+#0) }")
	for r := 0; r < 28; r += 2 {
		ln("{ memd(r28+#%d) = r%d:%d }", 4*r, r+1, r)
	}
	ln("{ memw(r28+#116) = r29 }\n\t{ memw(r28+#120) = r30 }")
	for i, c := range recorded {
		ln("{ r0 = %s }\n\t{ memw(r28+#%d) = r0 }", c, recordC+4*i)
	}
	ln("{ r0 = ##scratch ; r1 = add(r28,#%d) }\n\t{ loop0(.Lout,#%d) }", recordMem, scratchSize/16)
	b.WriteString(".Lout:\n")
	ln("{ r3:2 = memd(r0++#8) }\n\t{ r5:4 = memd(r0++#8) ; memd(r1++#8) = r3:2 }\n\t{ memd(r1++#8) = r5:4 }:endloop0")
	ln("{ r0 = ##where }\n\t{ memw(r0+#0) = r1 ; jumpr r31 }")
	b.WriteString("_start:\n")
	for i := range blocks {
		x := &blocks[i]
		ln("{ call restore ; r28 = ##state_in+%d }", 4*stateWords*x.state)
		for _, l := range x.prelude {
			ln("%s", strings.ReplaceAll(l, "LA", fmt.Sprintf(".LA%d", i)))
		}
		words, err := x.words, error(nil)
		if words == nil {
			words, err = x.packet.Encode(nil)
		}
		require.NoError(t, err, x.packet.Asm())
		for _, w := range words {
			ln(".word 0x%08x", w)
		}
		ln("{ r23 = add(r23,#1) }")
		fmt.Fprintf(&b, ".LA%d:\n", i)
		ln("{ r22 = add(r22,#1) }\n\t{ r27 = r31 ; call record }")
	}
	ln("{ r1 = ##records ; r2 = ##%d }\n\t{ r6 = #64 ; r0 = #1 }\n\t{ trap0(#1) }\n\t{ r6 = #94 ; r0 = #0 }\n\t{ trap0(#1) }", recordBytes*len(blocks))
	fmt.Fprintf(&b, "\t.data\n\t.p2align 3\nwhere: .word records\n\t.p2align 3\nstate_in: .incbin %q\nscratch_in: .incbin %q\n", state, scratch)
	fmt.Fprintf(&b, "\t.bss\n\t.p2align 3\nrecords: .space %d\n\t.section .scratch,\"aw\",@progbits\n\t.p2align 12\nscratch: .space %d\n\t.space 4096\n", recordBytes*len(blocks), scratchSize)
	return b.String()
}

// corner is a word that is often a corner case of an instruction.
func corner(r *rand.Rand) uint32 {
	half := func() uint32 { return []uint32{0, 1, 0xffff, 0x7fff, 0x8000, 0x8001, 0x80, 0xff00}[r.Intn(8)] }
	switch r.Intn(8) {
	case 0:
		return []uint32{0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x80000001, 0x7ffffffe, 0x40000000}[r.Intn(8)]
	case 1, 2:
		return half()<<16 | half()
	case 3:
		return uint32(r.Intn(128) - 64)
	case 4:
		var w uint32
		for range 4 {
			w = w<<8 | []uint32{0, 1, 0x7f, 0x80, 0xff, 0x81}[r.Intn(6)]
		}
		return w
	}
	return r.Uint32()
}

func scalarState(r *rand.Rand, state int) []byte {
	w := make([]uint32, stateWords)
	for i := range 32 {
		w[i] = corner(r)
	}
	for p := range 4 {
		w[32] |= uint32([]uint8{0, 0xff, 0xff, 0, 1, uint8(r.Intn(256))}[r.Intn(6)]) << (8 * p)
	}
	w[33] = r.Uint32() & 0x00c0033f // sticky flags, loop configuration, rounding
	if state%2 == 0 {
		w[33] = 0
	}
	for i := 34; i < 36; i++ { // modifiers: also lengths of circular buffers
		w[i] = []uint32{8, ^uint32(15), 64 | 1<<17, 256 | 3<<24, 128 | 0x7e<<17 | 0xf<<28 | 2<<24, r.Uint32()}[r.Intn(6)]
	}
	w[36], w[37] = scratchBase+512, scratchBase+480
	w[38], w[39] = scratchBase, r.Uint32()
	out := make([]byte, 4*stateWords)
	for i, x := range w {
		binary.LittleEndian.PutUint32(out[4*i:], x)
	}
	return out
}

// notInQEMU are the forms that qemu-hexagon 7.2 in user mode cannot run, and those its programs cannot compare.
func notInQEMU(f *hexagon.Form) string {
	switch {
	case f.Has(hexagon.FlagSupervisor):
		return "supervisor instruction"
	case f.Has(hexagon.FlagV68):
		return "newer than cpu v67"
	case strings.HasPrefix(f.Name, "dep_"):
		return "deprecated encoding, not decoded"
	case f.Class == hexagon.CVI_VS_VX:
		return "dot product by a register pair: TestRtt"
	case f.Has(hexagon.FlagV66):
		return "the Z window: TestZWindow"
	case f.Op == hexagon.J2_trap0:
		return "system call: how the records are written"
	}
	return ""
}

// TestOracleRandom runs random legal packets of scalar instructions in QEMU and in the core. Every form is the subject of
// the same number of packets, with .new producers where it needs them, company, constant extenders and loop ends.
func TestOracleRandom(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	const want = 20_000
	r := rand.New(rand.NewSource(oracleSeed(7)))
	g := &packetGen{r: r}
	left := map[string]int{}
	for i := range hexagon.Forms() {
		f := &hexagon.Forms()[i]
		if why := notInQEMU(f); f.IsHVX() {
		} else if why != "" {
			left[why]++
		} else {
			g.forms = append(g.forms, f)
		}
	}
	var blocks []scalarBlock
	count := map[hexagon.Op]int{}
	for len(blocks) < want {
		for _, f := range g.forms {
			x, ok := g.block(f)
			if !ok {
				t.Fatalf("%s: no legal packet found", f.Name)
			}
			x.state = r.Intn(scalarStates)
			for _, in := range x.packet.Insts[:x.packet.N] {
				count[in.Op]++
			}
			blocks = append(blocks, x)
		}
	}
	for range want / 10 {
		x := g.duplex()
		x.state = r.Intn(scalarStates)
		blocks = append(blocks, x)
	}
	bad := 0
	for from := 0; from < len(blocks); from += blocksPerRun {
		bad += compareScalar(t, r, blocks[from:min(from+blocksPerRun, len(blocks))])
	}
	fewest := len(blocks)
	for _, f := range g.forms {
		fewest = min(fewest, count[f.Op])
	}
	t.Logf("%d packets, %d and more with a duplex, %d forms, each in %d or more, %d differ", len(blocks), want/10, len(g.forms), fewest, bad)
	var why []string
	for w, n := range left {
		why = append(why, fmt.Sprintf("%d %s", n, w))
	}
	sort.Strings(why)
	t.Logf("not compared: %s", strings.Join(why, ", "))
	if fewest < 3 {
		t.Errorf("a form is in %d packets only", fewest)
	}
}

func compareScalar(t *testing.T, r *rand.Rand, blocks []scalarBlock) (bad int) {
	t.Helper()
	dir := t.TempDir()
	var states []byte
	for i := range scalarStates {
		states = append(states, scalarState(r, i)...)
	}
	scratch := make([]byte, scratchSize)
	for i := 0; i < len(scratch); i += 4 {
		binary.LittleEndian.PutUint32(scratch[i:], corner(r))
	}
	os.WriteFile(filepath.Join(dir, "state.bin"), states, 0o644)
	os.WriteFile(filepath.Join(dir, "scratch.bin"), scratch, 0o644)
	exe := buildELF(t, dir, scalarProgram(t, blocks, filepath.Join(dir, "state.bin"), filepath.Join(dir, "scratch.bin")))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a block that loops for ever must not hold the test
	defer cancel()
	want, err := exec.CommandContext(ctx, "qemu-hexagon", exe).Output()
	if err != nil {
		t.Fatalf("qemu: %v after %d of %d records", err, len(want)/recordBytes, len(blocks))
	}
	p, space, entry, syms := loadELF(t, exe)
	st := &Registers{PC: entry}
	require.V(testCore(t).RunThread(p, space, st, 0, Options{Functional: true}))(t)
	got := space.Bytes(uint64(syms["records"]), len(want))
	for i := range blocks {
		a, b := got[i*recordBytes:(i+1)*recordBytes], want[i*recordBytes:(i+1)*recordBytes]
		if bytes.Equal(a, b) {
			continue
		}
		if bad++; bad <= 20 {
			x := &blocks[i]
			t.Errorf("%s %s: %s\n  before: %s", strings.Join(x.prelude, " "), x.packet.Asm(), scalarDiff(a, b), sources(x, states[4*stateWords*x.state:]))
		}
	}
	return bad
}

// scalarDiff names the differences.
func scalarDiff(core, qemu []byte) string {
	var out []string
	for i := 0; i < recordBytes && len(out) < 4; i += 4 {
		a, b := binary.LittleEndian.Uint32(core[i:]), binary.LittleEndian.Uint32(qemu[i:])
		if a == b {
			continue
		}
		name := fmt.Sprintf("r%d", i/4)
		switch {
		case i >= recordMem:
			name = fmt.Sprintf("memory %d", i-recordMem-512)
		case i >= recordC:
			name = recorded[(i-recordC)/4]
		}
		out = append(out, fmt.Sprintf("%s core %08x qemu %08x", name, a, b))
	}
	return strings.Join(out, ", ")
}

// sources lists the registers that a packet reads.
func sources(x *scalarBlock, state []byte) string {
	var out []string
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(state[4*i:]) }
	for i := range x.packet.Insts[:x.packet.N] {
		in := &x.packet.Insts[i]
		for k := range in.Op.Form().Operands {
			o := &in.Op.Form().Operands[k]
			if r := int(in.R[o.Index]); o.Role&hexagon.Use != 0 && r < 24 {
				switch o.Kind {
				case hexagon.KindR:
					out = append(out, fmt.Sprintf("r%d=%08x", r, word(r)))
				case hexagon.KindRR:
					out = append(out, fmt.Sprintf("r%d:%d=%08x_%08x", r+1, r, word(r+1), word(r)))
				}
			}
		}
	}
	return strings.Join(append(out, fmt.Sprintf("p3:0=%08x usr=%08x", word(32), word(33))), " ")
}
