package hexagon

import (
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
)

// pairable returns a random packet of instructions that LLVM's assembler likes to join.
func (g *gen) pairable() Packet {
	var p Packet
	n := 2 + g.r.Intn(3)
	reg := func() uint8 { return []uint8{0, 1, 2, 3, 7, 16, 23, 29, 30, 8}[g.r.Intn(10)] }
	for int(p.N) < n {
		var in Inst
		switch g.r.Intn(8) {
		case 0, 1, 2, 3: // one that has a sub-instruction, with its operands mostly within reach
			rows := subForms[g.r.Intn(len(subForms))]
			s := &rows[g.r.Intn(len(rows))]
			ok := s.decode(&in, s.match|uint16(g.r.Intn(1<<13))&^s.mask, 0, false)
			if !ok || g.r.Intn(4) == 0 {
				in = g.inst(s.op)
			}
			if s.ext && g.r.Intn(4) == 0 {
				in.Ext, in.Imm[0] = true, g.r.Int31()>>g.r.Intn(31)
			}
		case 4:
			in = g.inst([]Op{C2_cmpeq, C2_cmpgt, C2_cmpgtu, C2_cmpeqi, C2_cmpgti, C2_cmpgtui, S2_tstbit_i, A2_tfr, A2_tfrsi}[g.r.Intn(9)])
			in.R[0] &= 0x11
			if in.R[0] > 3 && in.Op != A2_tfr && in.Op != A2_tfrsi {
				in.R[0] = 1
			}
			in.R[1] &= 0x17
			if in.Imm[0] > 31 || in.Imm[0] < 0 {
				in.Imm[0] = []int32{-1, 0, 0, 1, 31, 32, 63}[g.r.Intn(7)]
			}
			in.Ext = false
			if in.Op == S2_tstbit_i || in.Op == C2_cmpgtui {
				in.Imm[0] &= 1
			}
		case 5:
			in = g.inst([]Op{J2_jump, J2_jumptnew, J2_jumpfnew, J2_jumptnewpt, J2_jumpfnewpt, J2_jumptnew, J2_jump}[g.r.Intn(7)])
			in.R[0] &= 1
			in.Ext = false
			in.Imm[0] = int32(g.r.Intn(100)-50) * 4
		case 6:
			in = g.inst(Op(1 + g.r.Intn(int(numOps)-1)))
			if joins(in.Op.Form()) || in.Op.Form().Has(FlagSolo|FlagV68|FlagSupervisor) {
				continue
			}
		default:
			in = Inst{Op: []Op{A2_add, A2_addi, L2_loadri_io, S2_storeri_io, A2_combinew}[g.r.Intn(5)], R: [4]uint8{reg() &^ 1, reg(), reg()}}
			in.Imm[0] = int32(g.r.Intn(40)) * 4
		}
		if f := in.Op.Form(); in.Op == L2_deallocframe || f.Has(FlagIndirect) && f.Has(FlagLoad) { // llvm-mc forgets other registers
			in.R[f.NumReg-1], in.R[f.NumReg-2] = 30, 30
		}
		if in.Ext && (in.Imm[0] == 1 || in.Imm[0] == -1) {
			continue // llvm-mc forgets the extender
		}
		if f := in.Op.Form(); f.Class == JUMP && f.NumImm > 0 && (in.Imm[0] > 1000 || in.Imm[0] < -1000) {
			continue // llvm-mc cuts the displacement of a compound
		}
		if in.Op == S2_allocframe {
			in.R[0] = 29
		}
		p.Insts[p.N] = in
		p.N++
	}
	if g.r.Intn(10) == 0 {
		p.EndLoop0 = true
	}
	if g.r.Intn(20) == 0 {
		p.EndLoop1 = true
	}
	return p
}

// joiningArgs are llvm-mc's arguments without those that keep it from joining instructions.
func joiningArgs() []string {
	return slices.DeleteFunc(slices.Clone(mcArgs), func(s string) bool { return strings.HasPrefix(s, "--mno-") })
}

// TestOraclePairing compares the compounds and duplexes of our assembler with those of llvm-mc on random packets.
func TestOraclePairing(t *testing.T) {
	oracle.Need(t, mcName, "llvm-objcopy-19")
	g := newGen(rand.New(rand.NewSource(seed(9))))
	const n = 20000
	var packets []Packet
	var src strings.Builder
	for len(packets) < n {
		if p := g.pairable(); p.Check() == nil {
			packets = append(packets, p)
			src.WriteString(p.Asm() + "\n")
		}
	}
	dir := t.TempDir()
	in, obj := filepath.Join(dir, "in.s"), filepath.Join(dir, "out.o")
	if err := os.WriteFile(in, []byte(src.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mcName, append(joiningArgs(), "-o", obj, in)...).CombinedOutput(); err != nil {
		t.Fatalf("llvm-mc: %.3000s", out)
	}
	theirs := textSection(t, obj)
	wrong, duplexes, joined := 0, 0, 0
	for i := range packets {
		text := packets[i].Asm()
		o, err := AssembleObject(text, AsmOptions{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		end := 0
		for theirs[end]>>parseShift&3 != parseEnd && theirs[end]>>parseShift&3 != parseDuplex {
			end++
		}
		got := theirs[:end+1]
		theirs = theirs[end+1:]
		q := &o.Packets[0]
		if q.Duplex {
			duplexes++
		}
		for k := range q.Insts[:q.N] {
			if q.Insts[k].Op.Form().Class == CJ {
				joined++
			}
		}
		ours, err := q.Encode(nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !slices.Equal(got, ours) {
			if wrong++; wrong <= 20 {
				l, _, err := DecodePacket(got, 0)
				t.Errorf("%s\n  ours    %08x %s\n  llvm-mc %08x %s %v", text, ours, q.String(), got, l.String(), err)
			}
		}
	}
	t.Logf("%d packets, %d duplexes, %d compounds, %d differ", n, duplexes, joined, wrong)
}

// TestOraclePairedLegality compares verdicts where instructions may be joined: some packets are legal only then, and a
// branch that becomes half of a duplex stays a branch.
func TestOraclePairedLegality(t *testing.T) {
	oracle.Need(t, mcName)
	g := newGen(rand.New(rand.NewSource(seed(10))))
	const n = 8000
	var lines []string
	for len(lines) < n {
		p := g.pairable()
		lines = append(lines, p.Asm())
	}
	theirs := legality(t, lines, joiningArgs()...)
	differ, legal := 0, 0
	for i, text := range lines {
		_, err := AssembleObject(text, AsmOptions{})
		if err == nil {
			legal++
		}
		if why := theirs[i+1]; (err == nil) != (why == "") {
			if differ++; differ <= 20 {
				t.Errorf("%s: ours %v, llvm-mc %q", text, err, why)
			}
		}
	}
	t.Logf("%d packets, %d legal, %d differ", n, legal, differ)
}

// TestPairedPackets: what joins decides whether a packet is legal.
func TestPairedPackets(t *testing.T) {
	for _, c := range []struct {
		text, rule string // none: legal
	}{
		{"{ memw(r29+#4) = r0 ; dealloc_return }", ""},
		{"{ memd(r29+#8) = r1:0 ; if (p0) dealloc_return }", ""},
		{"{ memw(r9+#4) = r0 ; dealloc_return }", ruleText[ruleSlots]}, // r9 is in no sub-instruction
		{"{ if (p0) jump #16 ; r3 = r16 ; jumpr r31 }", ruleText[ruleBranchAlone]},
		{"{ if (p0) jump #16 ; r3 = memw(r29+#4) ; dealloc_return }", ruleText[ruleBranchAlone]},
		{"{ r3 = r16 ; jumpr r31 }", ""},
	} {
		o, err := AssembleObject(c.text, AsmOptions{})
		switch {
		case c.rule != "" && (err == nil || !strings.Contains(err.Error(), c.rule)):
			t.Errorf("%s: %v, want %s", c.text, err, c.rule)
		case c.rule == "" && (err != nil || !o.Packets[0].Duplex):
			t.Errorf("%s: %v, want a duplex", c.text, err)
		}
	}
	for _, words := range [][]uint32{
		{0x5c004008, 0x50033fc0}, // if (p0) jump ; r3 = r0, jumpr r31
		{0x5c004008, 0x00103f40}, // if (p0) jump ; r0 = memw(r1), dealloc_return
	} {
		p, _, err := DecodePacket(words, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), ruleText[ruleBranchAlone]) {
			t.Errorf("%s: %v, want %s", p.Asm(), err, ruleText[ruleBranchAlone])
		}
	}
}
