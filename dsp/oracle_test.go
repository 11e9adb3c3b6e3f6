package dsp

import (
	"bytes"
	"context"
	"debug/elf"
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
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// buildELF assembles and links src and returns the path of the program.
func buildELF(t *testing.T, dir, src string) string {
	t.Helper()
	s, o, x := filepath.Join(dir, "p.S"), filepath.Join(dir, "p.o"), filepath.Join(dir, "p.elf")
	require.NoError(t, os.WriteFile(s, []byte(src), 0o644))
	for _, c := range []*exec.Cmd{
		exec.Command("clang-19", "-target", "hexagon-unknown-linux-musl", "-mv66", "-mhvx=v66", "-mhvx-length=128B", "-nostdlib", "-c", s, "-o", o),
		exec.Command("ld.lld-19", "-m", "hexagonelf", "-static", fmt.Sprintf("--section-start=.scratch=%#x", scratchBase), "-o", x, o),
	} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out[:min(len(out), 2000)])
		}
	}
	return x
}

// loadELF maps the segments of a linked program.
func loadELF(t *testing.T, path string) (*Program, *mem.Space, uint32, map[string]uint32) {
	t.Helper()
	f := require.V(elf.Open(path))(t)
	defer f.Close()
	var p *Program
	space := new(mem.Space)
	for _, ph := range f.Progs {
		if ph.Type != elf.PT_LOAD || ph.Memsz == 0 {
			continue
		}
		data := make([]byte, ph.Memsz)
		require.V(ph.ReadAt(data[:ph.Filesz], 0))(t)
		if ph.Flags&elf.PF_X != 0 {
			p = &Program{Base: uint32(ph.Vaddr), Code: data[:len(data)&^3]}
			continue
		}
		require.NoError(t, space.Map(mem.Segment{Name: fmt.Sprintf("%#x", ph.Vaddr), Base: ph.Vaddr, Data: data}))
	}
	syms := map[string]uint32{}
	list := require.V(f.Symbols())(t)
	for _, s := range list {
		syms[s.Name] = uint32(s.Value)
	}
	return p, space, uint32(f.Entry), syms
}

// Layout of one dump: v0..v31, q0..q3 as bytes, r0..r27 and r29.., controls, scratch memory.
const (
	dumpQ       = 4096
	dumpR       = dumpQ + 512
	dumpC       = dumpR + 128
	scratchSize = 1024
	dumpSize    = dumpC + 128
)

// harness runs each packet on the state in state_in and dumps the results.
type harness struct {
	b strings.Builder
	n int
}

func (h *harness) ln(format string, a ...any) { fmt.Fprintf(&h.b, "\t"+format+"\n", a...) }

func (h *harness) begin() {
	h.b.WriteString("\t.text\n\t.globl _start\n\t.p2align 4\n")
	// restore: state_in and scratch_in to registers and memory.
	h.b.WriteString("restore:\n")
	h.ln("{ r28 = ##scratch_in ; r29 = ##scratch }")
	h.ln("{ r30 = #0 ; loop0(.Lcp,#%d) }", scratchSize/128)
	h.b.WriteString(".Lcp:\n")
	h.ln("{ v0 = vmem(r28++#1) }")
	h.ln("{ vmem(r29++#1) = v0 } :endloop0")
	h.ln("{ r28 = ##state_in ; r0 = #-1 }")
	for q := range 4 {
		h.ln("{ v0 = vmem(r28++#1) }")
		h.ln("{ q%d = vand(v0,r0) }", q)
	}
	for v := range 32 {
		h.ln("{ v%d = vmem(r28++#1) }", v)
	}
	h.ln("{ r0 = memw(r28+#104) }")
	h.ln("{ p3:0 = r0 ; r0 = #0 }")
	h.ln("{ usr = r0 ; r0 = #256 }")
	h.ln("{ m0 = r0 ; r0 = #-128 }")
	h.ln("{ m1 = r0 }")
	for r := 0; r < 26; r += 2 {
		h.ln("{ r%d:%d = memd(r28+#%d) }", r+1, r, 4*r)
	}
	h.ln("{ r26 = ##scratch+512 ; r27 = #8 }")
	h.ln("{ r28 = r26 ; r29 = r26 }")
	h.ln("{ r30 = r26 ; jumpr r31 }")
	// dump: everything to the place *where points at.
	h.b.WriteString("dump_all:\n")
	h.ln("{ r28 = ##save }")
	h.ln("{ memd(r28+#0) = r1:0 }")
	h.ln("{ memw(r28+#8) = r29 }")
	h.ln("{ r28 = memw(r28+#16) ; r0 = usr }")
	h.ln("{ r1 = add(r28,##%d) }", dumpR)
	for r := 2; r < 28; r += 2 {
		h.ln("{ memd(r1+#%d) = r%d:%d }", 4*r, r+1, r)
	}
	h.ln("{ memw(r1+#120) = r30 }")
	h.ln("{ memw(r1+#132) = r0 ; r0 = p3:0 }")
	h.ln("{ memw(r1+#128) = r0 ; r0 = m0 }")
	h.ln("{ memw(r1+#136) = r0 ; r0 = m1 }")
	h.ln("{ memw(r1+#140) = r0 }")
	h.ln("{ r5 = ##save }")
	h.ln("{ r3:2 = memd(r5+#0) }")
	h.ln("{ memd(r1+#0) = r3:2 ; r3 = memw(r5+#8) }")
	h.ln("{ memw(r1+#116) = r3 }")
	for v := range 32 {
		h.ln("{ vmem(r28++#1) = v%d }", v)
	}
	h.ln("{ r0 = ##0x01010101 }")
	for q := range 4 {
		h.ln("{ v0 = vand(q%d,r0) }", q)
		h.ln("{ vmem(r28++#1) = v0 }")
	}
	h.ln("{ r28 = add(r28,#256) ; r29 = ##scratch }")
	h.ln("{ loop0(.Ldp,#%d) }", scratchSize/128)
	h.b.WriteString(".Ldp:\n")
	h.ln("{ v0 = vmem(r29++#1) }")
	h.ln("{ vmem(r28++#1) = v0 } :endloop0")
	h.ln("{ r29 = ##where }")
	h.ln("{ memw(r29+#0) = r28 }")
	h.ln("{ jumpr r31 }")
	h.b.WriteString("_start:\n")
}

func (h *harness) block(words []uint32) {
	h.n++
	h.ln("{ call restore }")
	for _, w := range words {
		h.ln(".word 0x%08x", w)
	}
	h.ln("{ call dump_all }")
}

const perBlock = dumpSize + scratchSize

func (h *harness) finish(state, scratch string) string {
	h.ln("{ r6 = #64 ; r0 = #1 }")
	h.ln("{ r1 = ##dump ; r2 = ##%d }", h.n*perBlock)
	h.ln("{ trap0(#1) }")
	h.ln("{ r6 = #94 ; r0 = #0 }")
	h.ln("{ trap0(#1) }")
	h.b.WriteString("\t.data\n\t.p2align 3\nsave: .space 16\nwhere: .word dump\n\t.p2align 7\nstate_in: .incbin \"" + state + "\"\n\t.p2align 12\nscratch_in: .incbin \"" + scratch + "\"\n")
	fmt.Fprintf(&h.b, "\t.p2align 12\ndump: .space %d\n\t.section .scratch,\"aw\",@progbits\n\t.p2align 12\nscratch: .space %d\n\t.space 4096\n", h.n*perBlock, scratchSize)
	return h.b.String()
}

// randomInst fills the operands of a form so that memory operands are in the scratch area; ok is false for forms that
// need more than one packet.
func randomInst(r *rand.Rand, f *hexagon.Form) (in hexagon.Inst, ok bool) {
	if notInQEMU(f) != "" && f.Class != hexagon.CVI_VS_VX && (!f.Has(hexagon.FlagV66) || f.Has(hexagon.FlagUndefined)) || f.Has(hexagon.FlagBranch|hexagon.FlagLoop|hexagon.FlagSolo|hexagon.FlagNewStore|hexagon.FlagNewJump|hexagon.FlagCur|hexagon.FlagTmp|hexagon.FlagPredNew) ||
		f.Op == hexagon.L4_return || elementForm(f) || strings.Contains(f.Syntax, ":brev") {
		return in, false
	}
	in.Op = f.Op
	memory := f.MemBytes > 0 || f.Op == hexagon.Y2_dcfetchbo || f.Op == hexagon.Y5_l2fetch || f.Op == hexagon.Y4_l2fetch
	base := false
	for i := range f.Operands {
		o := &f.Operands[i]
		switch o.Kind {
		case hexagon.KindImm:
			in.Imm[o.Index] = randomImm(r, o)
			if memory && o.Extendable && (f.Has(hexagon.FlagExtended) || strings.Contains(f.Syntax, "(gp+")) {
				in.Imm[o.Index], in.Ext = scratchBase+512, true
				continue
			}
			if memory && f.MemBytes < 128 && o.Signed && o.Extendable {
				in.Imm[o.Index] = int32(r.Intn(32)-16) << o.Scale
			}
			if f.MemBytes == 128 {
				in.Imm[o.Index] = int32(r.Intn(3) - 1)
			}
			continue
		case hexagon.KindV:
			in.R[o.Index] = uint8(r.Intn(32))
		case hexagon.KindVV:
			in.R[o.Index] = uint8(r.Intn(16)) * 2
		case hexagon.KindVVVV:
			in.R[o.Index] = uint8(r.Intn(8)) * 4
		case hexagon.KindQ, hexagon.KindP:
			in.R[o.Index] = uint8(r.Intn(4))
		case hexagon.KindM:
			in.R[o.Index] = uint8(r.Intn(2))
		case hexagon.KindC:
			in.R[o.Index] = []uint8{0, 1, 2, 3, 4, 6, 7}[r.Intn(7)]
		case hexagon.KindCC:
			in.R[o.Index] = []uint8{0, 2, 4, 6}[r.Intn(4)]
		case hexagon.KindRR:
			in.R[o.Index] = uint8(r.Intn(13)) * 2
			if f.Op == hexagon.L2_deallocframe || f.Op == hexagon.S2_allocframe {
				in.R[o.Index] = 24
			}
		case hexagon.KindR:
			in.R[o.Index] = uint8(r.Intn(26))
			if o.Low8 {
				in.R[o.Index] = uint8(r.Intn(8))
			}
			if memory && o.Role&hexagon.Use != 0 {
				if strings.Contains(f.Syntax, "(gp+") || strings.HasSuffix(f.Name, "_abs") || strings.HasSuffix(f.Name, "_ap") {
					continue
				}
				if strings.HasSuffix(f.Name, "_ur") && !base {
					in.R[o.Index] = 27
				} else if !base {
					in.R[o.Index] = 26
				} else if strings.Contains(f.Syntax, "<<") {
					in.R[o.Index] = 27
				}
				base = true
			}
		}
	}
	return in, true
}

func randomImm(r *rand.Rand, o *hexagon.OperandSpec) int32 {
	v := int32(r.Uint32())
	if o.Signed {
		return v << (32 - o.Width) >> (32 - o.Width) << o.Scale
	}
	return int32(uint32(v)>>(32-o.Width)) << o.Scale
}

// randomSingle is a packet of one instruction of a form, and its words; false where there is none.
func randomSingle(t *testing.T, r *rand.Rand, f *hexagon.Form) (p hexagon.Packet, words []uint32, ok bool) {
	t.Helper()
	if p.Insts[0], ok = randomInst(r, f); !ok {
		return p, nil, false
	}
	p.N = 1
	if p.Check() != nil {
		return p, nil, false // one register written twice
	}
	words = require.V(p.Encode(nil))(t, f.Name)
	return p, words, true
}

// TestOracleSingle runs every form that works alone in a packet on random
// state in QEMU and in the core.
func TestOracleSingle(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	r := rand.New(rand.NewSource(1))
	var h harness
	h.begin()
	var names []string
	for _, f := range qemuForms() {
		for range 2 {
			p, words, ok := randomSingle(t, r, &f)
			if !ok {
				continue
			}
			h.block(words)
			names = append(names, p.Asm())
		}
	}
	compareQEMU(t, r, &h, names)
}

// TestOraclePackets runs random legal packets of up to four instructions, with
// exchanged registers, new values and temporaries.
func TestOraclePackets(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	r := rand.New(rand.NewSource(2))
	var h harness
	h.begin()
	var names []string
	forms := qemuForms()
	for tries := 0; len(names) < 3000 && tries < 300_000; tries++ {
		p := randomPacket(r, forms)
		if p.Check() != nil || p.Order() != nil || !wellDefined(&p) {
			continue
		}
		words, err := p.Encode(nil)
		if err != nil {
			continue
		}
		h.block(words)
		names = append(names, p.Asm())
	}
	compareQEMU(t, r, &h, names)
}

// randomPacket picks instructions over few registers, so that packets exchange
// values often.
func randomPacket(r *rand.Rand, forms []hexagon.Form) (p hexagon.Packet) {
	n := 2 + r.Intn(3)
	for int(p.N) < n {
		f := &forms[r.Intn(len(forms))]
		if r.Intn(3) == 0 { // memory makes packets interesting
			for f.MemBytes == 0 {
				f = &forms[r.Intn(len(forms))]
			}
		}
		in, ok := randomPacketInst(r, f)
		if !ok {
			continue
		}
		p.Insts[p.N] = in
		p.N++
	}
	return p
}

func randomPacketInst(r *rand.Rand, f *hexagon.Form) (hexagon.Inst, bool) {
	plain := *f
	plain.Flags &^= hexagon.FlagNewStore | hexagon.FlagCur | hexagon.FlagTmp | hexagon.FlagPredNew
	in, ok := randomInst(r, &plain)
	ok = ok && !(f.Has(hexagon.FlagPred) && f.Has(hexagon.FlagCur|hexagon.FlagTmp)) // see vectorGen
	if !ok {
		return in, false
	}
	// Few registers; address registers stay.
	for i := range f.Operands {
		o := &f.Operands[i]
		x := &in.R[o.Index]
		switch o.Kind {
		case hexagon.KindV, hexagon.KindNV, hexagon.KindNR:
			*x = uint8(r.Intn(4))
		case hexagon.KindVV:
			*x = uint8(r.Intn(2)) * 2
		case hexagon.KindR:
			if *x < 26 {
				*x = uint8(r.Intn(4))
			}
		case hexagon.KindRR:
			if *x < 24 {
				*x = uint8(r.Intn(2)) * 2
			}
		}
	}
	return in, true
}

// wellDefined leaves out packets whose result the architecture does not define
// or QEMU does not model: overlapping stores of two instructions, USR read or
// written beside saturation, a load of ordinary memory beside one of the Z window.
func wellDefined(p *hexagon.Packet) bool {
	stores, loads := 0, 0
	var z, tmp, fresh bool // QEMU 7.2 does not forward a .tmp load to a .new store
	var defined [6][33]int
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		f := in.Op.Form()
		if f.Has(hexagon.FlagStore) {
			stores++
		}
		if f.Has(hexagon.FlagLoad) {
			loads++
		}
		z = z || f.Class == hexagon.CVI_ZW
		tmp, fresh = tmp || f.Has(hexagon.FlagTmp), fresh || f.IsHVX() && f.Has(hexagon.FlagNewStore)
		for k := range f.Operands {
			o := &f.Operands[k]
			if o.Role&hexagon.Def == 0 {
				continue
			}
			switch o.Kind {
			case hexagon.KindR:
				defined[0][in.R[o.Index]]++
			case hexagon.KindRR:
				defined[0][in.R[o.Index]]++
				defined[0][in.R[o.Index]+1]++
			case hexagon.KindV:
				defined[1][in.R[o.Index]]++
			case hexagon.KindVV:
				defined[1][in.R[o.Index]]++
				defined[1][in.R[o.Index]+1]++
			case hexagon.KindVVVV:
				for k := range uint8(4) {
					defined[1][in.R[o.Index]+k]++
				}
			}
		}
	}
	for _, kind := range defined {
		for _, n := range kind {
			if n > 1 {
				return false
			}
		}
	}
	return stores < 2 && !(tmp && fresh) && !(z && loads > 1)
}

// vectorState draws predicates, vectors and scalar registers, and a scratch memory.
func vectorState(r *rand.Rand) (state, scratch []byte) {
	state = make([]byte, 512+4096+128)
	r.Read(state)
	for i := range 512 {
		state[i] *= byte(r.Intn(2)) // half of the predicate bits
	}
	for i := range 512 + 4096 { // many small and extreme lanes
		switch r.Intn(8) {
		case 0:
			state[i] = 0
		case 1:
			state[i] = 0x7f
		case 2:
			state[i] = 0x80
		case 3:
			state[i] = 0xff
		}
	}
	for v := range 32 {
		extremeLanes(r, state[512+128*v:][:128])
	}
	scratch = make([]byte, scratchSize)
	r.Read(scratch)
	extremeLanes(r, scratch[512:640])
	return state, scratch
}

func compareQEMU(t *testing.T, r *rand.Rand, h *harness, names []string) {
	t.Helper()
	dir := t.TempDir()
	state, scratch := vectorState(r)
	os.WriteFile(filepath.Join(dir, "state.bin"), state, 0o644)
	os.WriteFile(filepath.Join(dir, "scratch.bin"), scratch, 0o644)
	exe := buildELF(t, dir, h.finish(filepath.Join(dir, "state.bin"), filepath.Join(dir, "scratch.bin")))
	// A block that loops for ever must fail the test, not hold it.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	want := require.V(exec.CommandContext(ctx, "qemu-hexagon", exe).Output())(t, "qemu")
	p, space, entry, syms := loadELF(t, exe)
	core := testCore(t)
	st := &Registers{PC: entry}
	require.V(core.RunThread(p, space, st, 0, Options{Functional: true}))(t)
	got := space.Bytes(uint64(syms["dump"]), len(want))
	bad := 0
	for i := range names {
		g, w := got[i*perBlock:(i+1)*perBlock], want[i*perBlock:(i+1)*perBlock]
		if bytes.Equal(g, w) {
			continue
		}
		if bad++; bad <= 40 {
			t.Errorf("%s: %s", names[i], firstDiff(g, w))
		}
	}
	t.Logf("%d packets, %d differ", len(names), bad)
}

// extremeLanes makes some halfword or word lanes of a vector the ends of their ranges, or nothing.
func extremeLanes(r *rand.Rand, v []byte) {
	w := []int{0, 0, 2, 4}[r.Intn(4)]
	for i := 0; w > 0 && i < len(v); i += w {
		top := uint32(1) << (8*w - 1)
		x := []uint32{0, 1, ^uint32(0), top, top - 1, top + 1, top >> 1, uint32(r.Intn(64))}[r.Intn(8)]
		if r.Intn(3) > 0 {
			for b := range w {
				v[i+b] = byte(x >> (8 * b))
			}
		}
	}
}

func firstDiff(g, w []byte) string {
	for i := range g {
		if g[i] == w[i] {
			continue
		}
		switch {
		case i < dumpQ:
			o := i &^ 3
			return fmt.Sprintf("v%d word %d: core %08x, qemu %08x", i/128, o%128/4, binary.LittleEndian.Uint32(g[o:]), binary.LittleEndian.Uint32(w[o:]))
		case i < dumpR:
			return fmt.Sprintf("q%d lane %d: core %d, qemu %d", (i-dumpQ)/128, i%128, g[i], w[i])
		case i < dumpC:
			o := i &^ 3
			return fmt.Sprintf("r%d: core %08x, qemu %08x", (o-dumpR)/4, binary.LittleEndian.Uint32(g[o:]), binary.LittleEndian.Uint32(w[o:]))
		case i < dumpSize:
			o := i &^ 3
			return fmt.Sprintf("%s: core %08x, qemu %08x", []string{"p3:0", "usr", "m0", "m1"}[(o-dumpC)/4&3], binary.LittleEndian.Uint32(g[o:]), binary.LittleEndian.Uint32(w[o:]))
		}
		return fmt.Sprintf("memory byte %d: core %02x, qemu %02x", i-dumpSize, g[i], w[i])
	}
	return "same"
}
