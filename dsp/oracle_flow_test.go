package dsp

import (
	"fmt"
	"math/bits"
	"math/rand"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
)

var (
	targetRE = regexp.MustCompile(`#r\d+:2\*?`)
	immRE    = regexp.MustCompile(`#u5`)
)

// flowBlock is the assembly of a block around one branch form: it is or is not taken, and registers record the path.
// Where the target is a register, LA is the distance to .La from the packet that computes it.
func flowBlock(r *rand.Rand, f *hexagon.Form) string {
	s := targetRE.ReplaceAllString(f.Syntax, ".La")
	set, same := "", ""
	switch {
	case f.Class == hexagon.NCJ:
		same = fmt.Sprintf("r2 = add(r27,#%d) ; ", r.Intn(5)-2)
		s = strings.Replace(s, "Ns.new", "r2.new", 1)
		s = strings.Replace(s, "Rt", []string{"r27", "r3"}[r.Intn(2)], 1)
		s = immRE.ReplaceAllString(s, fmt.Sprintf("#%d", 7+r.Intn(3)))
	case f.Has(hexagon.FlagPredNew):
		same = fmt.Sprintf("p1 = cmp.eq(r27,#%d) ; ", 8+r.Intn(2))
	case f.Has(hexagon.FlagPred):
		set += fmt.Sprintf("{ p1 = cmp.eq(r27,#%d) }\n", 8+r.Intn(2))
	}
	s = strings.Replace(s, "Pu", "p1", 1)
	if f.Has(hexagon.FlagIndirect) {
		set += "{ r20 = add(pc,#LA) }\n"
		s = strings.Replace(s, "Rs", "r20", 1)
	}
	if strings.HasPrefix(f.Name, "L4_return") {
		set += "{ r31 = add(pc,#LA) }\n{ allocframe(#16) ; r5 = add(r5,#1) }\n"
		s = strings.NewReplacer("Pv", "p1", "Rdd", "r31:30", "Rs", "r30", "r20", "r30").Replace(s)
	}
	return set + "{ " + same + s + " ; r4 = add(r4,#1) }\n{ r5 = add(r5,#1) ; r6 = r4 }\n{ r7 = r5 }\n.La: { r8 = add(r8,#3) ; r9 = r5 }\n"
}

// decodeOnly reports forms that the comparison encodes itself: compounds, whose text is two instructions, and jumps by a register.
func decodeOnly(f *hexagon.Form) bool {
	return f.Class == hexagon.CJ || strings.HasPrefix(f.Syntax, "if (Rs")
}

// compoundBlock adds a block around such a form: it jumps over one packet or not.
func compoundBlock(t *testing.T, h *harness, r *rand.Rand, f *hexagon.Form, names *[]string) {
	in := hexagon.Inst{Op: f.Op}
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.PCRel:
			in.Imm[o.Index] = 8
		case o.Kind == hexagon.KindImm:
			in.Imm[o.Index] = int32(7 + r.Intn(3))
		default:
			in.R[o.Index] = []uint8{0, 1, 2, 3, 6, 7, 16, 17}[r.Intn(8)]
		}
	}
	values := []hexagon.Packet{{N: 1}, {N: 1}, {N: 1}, {N: 1}, {N: 1}}
	values[0].Insts[0] = hexagon.Inst{Op: hexagon.A2_tfrsi, R: [4]uint8{uint8(r.Intn(2))}, Imm: [2]int32{int32(r.Intn(3) + 7)}}
	values[1].Insts[0] = hexagon.Inst{Op: hexagon.A2_tfrsi, R: [4]uint8{uint8(2 + r.Intn(2))}, Imm: [2]int32{int32(r.Intn(3) - 1)}}
	values[2].Insts[0] = in
	values[3].Insts[0] = hexagon.Inst{Op: hexagon.A2_addi, R: [4]uint8{5, 5}, Imm: [2]int32{1}}
	values[4].Insts[0] = hexagon.Inst{Op: hexagon.A2_addi, R: [4]uint8{8, 8}, Imm: [2]int32{3}}
	words := require.V(hexagon.EncodeAll(nil, values))(t, f.Name)
	h.block(words)
	*names = append(*names, values[2].Asm())
}

// brevBlocks use each bit-reversed access once; the base register holds the reversed address of the scratch memory.
func brevBlocks() (out []string) {
	at := scratchBase&^0xffff | uint32(bits.Reverse16(uint16((scratchBase+512)&0xffff)))
	for _, f := range hexagon.Forms() {
		if !strings.Contains(f.Syntax, ":brev") {
			continue
		}
		s := strings.NewReplacer("Rx", "r2", "Mu", "m0", "Rdd", "r7:6", "Ryy", "r7:6", "Rd", "r6", "Rtt", "r9:8", "Rt", "r8", "Nt.new", "r8.new").Replace(f.Syntax)
		if strings.Contains(s, ".new") {
			s = "r8 = add(r9,r10) ; " + s
		}
		out = append(out, fmt.Sprintf("{ r2 = ##%#x }\n{ %s }", at, s))
	}
	return out
}

// loopBlock is a block around one loop setup.
func loopBlock(r *rand.Rand, f *hexagon.Form) string {
	s := targetRE.ReplaceAllString(f.Syntax, ".Lx")
	s = strings.Replace(s, "#u10", fmt.Sprintf("#%d", 1+r.Intn(9)), 1)
	s = strings.Replace(s, "Rs", "r5", 1)
	end := "0"
	if strings.Contains(s, "loop1(") {
		end = "1"
	}
	return fmt.Sprintf("{ r5 = #%d }\n{ %s ; r2 = #0 }\n.Lx: { r2 = add(r2,#3) ; r3 = add(r3,r2) ; if (p3) r4 = add(r4,#1) }:endloop%s\n{ r6 = lc%s }\n", r.Intn(6), s, end, end)
}

// assembleFlow assembles a block and fills LA in.
func assembleFlow(t *testing.T, text string) []uint32 {
	t.Helper()
	for range 2 {
		la := 0
		pk, err := asm.Assemble(strings.ReplaceAll(text, "#LA", "#4"), 0)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if strings.Contains(text, "#LA") {
			for i := range pk {
				for _, in := range pk[i].Insts[:pk[i].N] {
					if in.Op == hexagon.C4_addipc {
						la = int(pk[len(pk)-1].Addr - pk[i].Addr)
					}
				}
			}
			text = strings.ReplaceAll(text, "#LA", fmt.Sprintf("#%d", la))
			continue
		}
		words := require.V(hexagon.EncodeAll(nil, pk))(t)
		return words
	}
	return nil
}

// fixedBlocks are packets that depend on the packet rules.
var fixedBlocks = []string{
	"{ r2 = r3 ; r3 = r2 }",
	"{ if (p0) r2 = add(r3,#1) ; if (!p0) r2 = add(r4,#2) }",
	"{ p0 = cmp.gt(r2,r3) ; if (p0.new) r4 = add(r3,#1) ; if (!p0.new) r4 = add(r5,#2) }",
	"{ p0 = cmp.gt(r2,r3) ; p0 = cmp.gtu(r2,r4) }",
	"{ p1 = cmp.eq(r27,#8) ; p1 = cmp.gt(r27,#7) ; p1 = cmp.gt(r27,#9) }",
	"{ memw(r26+#0) = r1 ; memw(r26+#0) = r2 }",
	"{ memw(r26+#4) = r1 ; memb(r26+#5) = r2 }",
	"{ memb(r26+#5) = r2 ; memw(r26+#4) = r1 }",
	"{ r1 = memw(r26+#8) ; memw(r26+#8) = r2 }",
	"{ memd(r26+#8) = r3:2 ; r5:4 = memd(r26+#8) }",
	"{ v0 = vmem(r26+#0) ; vmem(r26+#0) = v1 }",
	"{ v1:0 = vcombine(v0,v1) ; v2 = v1 ; v3 = v0 }",
	"{ r2 = add(r2,#1) ; memw(r26+#12) = r2.new ; r3 = r2 }",
	"{ if (p0) r2 = add(r2,#1) ; if (p0) memw(r26+#12) = r2.new }",
	"{ v4.cur = vmem(r26+#0) ; v5.b = vadd(v4.b,v4.b) ; vmem(r26+#1) = v5.new }",
	"{ v4.tmp = vmem(r26+#0) ; v4.b = vadd(v4.b,v6.b) }",
	"{ memw(r26+#0) += r1 ; r1 = memw(r26+#0) }",
	"{ loop1(.Lo,#3) ; r2 = #0 }\n.Lo: { loop0(.Li,#4) ; r2 = add(r2,#10) }\n.Li: { r2 = add(r2,#1) ; r3 = add(r3,r2) }:endloop0:endloop1\n{ r4 = lc0 }\n{ r5 = lc1 }",
	"{ loop0(.Li,#4) }\n.Li: { r2 = add(r2,#1) }\n{ p1 = cmp.eq(r2,#2) ; if (p1.new) jump:t .Lq }\n{ r3 = add(r3,#1) }:endloop0\n.Lq: { r4 = lc0 }",
	"{ loop0(.Li,#9) }\n.Li: { r2 = add(r2,#1) ; r6 = lc0 }\n{ r6 = add(r6,#-1) }\n{ lc0 = r6 }\n{ p2 = cmp.eq(r2,#3) ; if (!p2.new) r3 = #0 ; r7 = r2 }:endloop0",
	"{ p3 = sp3loop0(.Li,#6) ; r2 = #0 }\n.Li: { if (p3) r2 = add(r2,#1) ; r4 = p3 }\n{ r5 = add(r5,r4) }:endloop0\n{ r6 = p3 }",
	"{ if (p0) jump:nt .La ; if (p1) jump:nt .Lb }\n{ r2 = #1 }\n.La: { r3 = add(r3,#1) }\n.Lb: { r4 = add(r4,#1) }",
	"{ p0 = cmp.eq(r27,#8) ; p1 = cmp.eq(r27,#8) ; if (p0.new) jump:nt .La ; if (p1.new) jump:nt .Lb }\n{ r2 = #1 }\n.La: { r3 = add(r3,#1) }\n.Lb: { r4 = add(r4,#1) }",
	"{ p0 = cmp.eq(r27,#9) ; p1 = cmp.eq(r27,#8) ; if (p0.new) jump:nt .La ; if (p1.new) jump:nt .Lb }\n{ r2 = #1 }\n.La: { r3 = add(r3,#1) }\n.Lb: { r4 = add(r4,#1) }",
	"{ p0 = cmp.eq(r27,#9) ; if (p0.new) jump:nt .La ; jump .Lb }\n{ r2 = #1 }\n.La: { r3 = add(r3,#1) }\n.Lb: { r4 = add(r4,#1) }",
	"{ call .Lf ; r2 = #7 }\n{ jump .Le }\n.Lf: { r2 = add(r2,#1) ; jumpr r31 }\n.Le: nop",
	"{ call .Lf ; r2 = #7 }\n{ jump .Le }\n.Lf: { allocframe(#24) }\n{ memw(r29+#4) = r2 ; r3 = #9 }\n{ r4 = memw(r29+#4) }\n{ dealloc_return }\n.Le: nop",
	"{ r2 = ##0x7fffffff ; r3 = #1 }\n{ r4 = add(r2,r3):sat }\n{ r5 = usr }",
	"{ r2 = vextract(v3,r4) }",
	"{ m0 = r27 ; r2 = r26 }\n{ r3 = memw(r2++m0) }\n{ r4 = memub(r2++m0) }",
	"{ cs0 = r4 }\n{ r5 = cs0 }",
	"{ r2 = pc }",
	"{ r3:2 = combine(##0x12345678,#-3) }\n{ r5:4 = combine(#-3,##0x12345678) }",
	"{ r2 = add(r3,##0x12345) ; r4 = mpyi(r5,##1000) }",
	"{ memw(r26+#8) = ##0x12345678 }",
	"{ r2 = mux(p0,##0x12345,#5) }",
	"{ p0 = cmp.gtu(r3,##0x80000000) }",
	"{ r2 = ##0x3f800000 ; r3 = ##0x33000000 }\n{ r7 = ##0x00c00000 }\n{ usr = r7 }\n{ r6 = usr ; r4 = sfadd(r2,r3) }\n{ r5 = usr }",
	"{ r2 = and(r3,##0xff00ff) ; if (p0) r4 = ##0x11112222 }",
}

// TestOracleFlow runs every branch, call, loop setup and new-value form, taken and not, and the packet rules that single
// instructions cannot show.
func TestOracleFlow(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	r := rand.New(rand.NewSource(3))
	var h harness
	h.begin()
	var names []string
	forms := map[string]bool{}
	add := func(text string) {
		words := assembleFlow(t, text)
		for w := words; len(w) > 0; {
			p, n := require.V2(hexagon.DecodePacket(w, 0))(t)
			for _, in := range p.Insts[:p.N] {
				forms[in.Op.String()] = true
			}
			w = w[n:]
		}
		h.block(words)
		names = append(names, strings.ReplaceAll(strings.TrimSpace(text), "\n", " "))
	}
	for _, f := range hexagon.Forms() {
		for range 6 {
			switch {
			case f.Op == hexagon.J2_trap0, f.Has(hexagon.FlagHint): // the harness itself traps to write; hints do not branch
			case decodeOnly(&f):
				compoundBlock(t, &h, r, &f, &names)
				forms[f.Name] = true
			case f.Has(hexagon.FlagBranch):
				add(flowBlock(r, &f))
			case f.Has(hexagon.FlagLoop):
				add(loopBlock(r, &f))
			}
		}
	}
	for _, text := range append(brevBlocks(), fixedBlocks...) {
		add(text)
	}
	for _, text := range []string{ // addresses in constants; loads after stores
		"{ memw(r26+#0) = r1 ; r2 = memw(r26+#0) }:mem_noshuf", "{ memb(r26+#1) = r1 ; r3:2 = memd(r26+#0) }:mem_noshuf",
		"{ if (p0) memw(r26+#0) = r1 ; if (!p1) r2 = memh(r26+#2) }:mem_noshuf", "{ r1 = memw(r26+#0) ; memw(r26+#0) = r2 }",
		"r2 = memw(r27<<#2+##scratch+64)", "r2 = memub(r27<<#1+##scratch+3)", "memw(r27<<#3+##scratch) = r4",
	} {
		h.ln("{ call restore }")
		if !strings.HasPrefix(text, "{") {
			text = "{ " + text + " }"
		}
		h.ln("%s", text)
		h.ln("{ call dump_all }")
		h.n++
		names = append(names, text)
	}
	for _, op := range []hexagon.Op{hexagon.L4_loadri_ur, hexagon.L4_loadrub_ur, hexagon.S4_storeri_ur} {
		forms[op.String()] = true
	}
	compareQEMU(t, r, &h, names)
	var all []string
	for n := range forms {
		all = append(all, n)
	}
	sort.Strings(all)
	t.Logf("%d blocks, %d forms", len(names), len(all))
}

// TestOracleNew runs the forms that need other instructions in their packet: .new values and predicates with their
// producers, .cur and .tmp loads with a consumer; constant extenders wherever an immediate accepts one.
func TestOracleNew(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	r := rand.New(rand.NewSource(4))
	var h harness
	h.begin()
	var names []string
	forms := 0
	for _, f := range hexagon.Forms() {
		if f.Has(hexagon.FlagBranch | hexagon.FlagLoop | hexagon.FlagSolo) {
			continue
		}
		if strings.Contains(f.Syntax, ":brev") || f.Has(hexagon.FlagPred) && f.Has(hexagon.FlagCur|hexagon.FlagTmp) {
			continue // brevBlocks, TestOracleVector
		}
		need := f.Has(hexagon.FlagNewStore | hexagon.FlagPredNew | hexagon.FlagCur | hexagon.FlagTmp)
		ext := false
		for _, o := range f.Operands {
			ext = ext || o.Extendable && f.MemBytes == 0
		}
		if !need && !ext {
			continue
		}
		done := 0
		for tries := 0; done < 4 && tries < 200; tries++ {
			p, ok := companyPacket(r, &f, ext)
			if !ok || p.Layout() != nil || p.Check() != nil {
				continue
			}
			words := require.V(p.Encode(nil))(t, p.Asm())
			h.block(words)
			names = append(names, p.Asm())
			done++
		}
		if done == 0 {
			t.Errorf("%s: no legal packet found", f.Name)
		}
		forms++
	}
	compareQEMU(t, r, &h, names)
	t.Logf("%d packets, %d forms", len(names), forms)
}

func companyPacket(r *rand.Rand, f *hexagon.Form, ext bool) (p hexagon.Packet, ok bool) {
	in, ok := randomPacketInst(r, f)
	if !ok {
		return p, false
	}
	add := func(x hexagon.Inst) {
		p.Insts[p.N] = x
		p.N++
	}
	for i := range f.Operands {
		o := &f.Operands[i]
		reg := in.R[o.Index]
		switch {
		case o.Kind == hexagon.KindNR:
			add(hexagon.Inst{Op: hexagon.A2_xor, R: [4]uint8{reg, uint8(r.Intn(26)), uint8(r.Intn(26))}})
		case o.Kind == hexagon.KindNV:
			add(hexagon.Inst{Op: hexagon.V6_vxor, R: [4]uint8{reg, uint8(r.Intn(32)), uint8(r.Intn(32))}})
		case o.New:
			add(hexagon.Inst{Op: hexagon.C2_cmpgt, R: [4]uint8{reg, uint8(r.Intn(26)), uint8(r.Intn(26))}})
		case o.Kind == hexagon.KindImm && ext && o.Extendable:
			in.Ext = true
			in.Imm[o.Index] = int32(r.Uint32()) >> r.Intn(24)
		}
	}
	add(in)
	if f.Has(hexagon.FlagCur | hexagon.FlagTmp) {
		v := in.R[0]
		if f.Has(hexagon.FlagPred) {
			v = in.R[1]
		}
		add(hexagon.Inst{Op: hexagon.V6_vaddb, R: [4]uint8{uint8(8 + r.Intn(4)), v, uint8(r.Intn(32))}})
	}
	return p, true
}

// TestOracleCovers checks that every form of the table is in one of the comparisons with QEMU; trap0 is how they write.
func TestOracleCovers(t *testing.T) {
	oracle.Need(t)
	r := rand.New(rand.NewSource(5))
	fixed := map[hexagon.Op]bool{hexagon.J2_trap0: true, hexagon.L4_loadri_ur: true, hexagon.L4_loadrub_ur: true, hexagon.S4_storeri_ur: true}
	for _, text := range append(brevBlocks(), fixedBlocks...) {
		pk := require.V(asm.Assemble(text, 0))(t)
		for i := range pk {
			for _, in := range pk[i].Insts[:pk[i].N] {
				fixed[in.Op] = true
			}
		}
	}
	for _, f := range hexagon.Forms() {
		_, single := randomInst(r, &f)
		company := f.Has(hexagon.FlagNewStore|hexagon.FlagPredNew|hexagon.FlagCur|hexagon.FlagTmp) && !f.Has(hexagon.FlagBranch|hexagon.FlagLoop|hexagon.FlagSolo)
		flow := f.Has(hexagon.FlagBranch|hexagon.FlagLoop) || strings.Contains(f.Syntax, ":brev")
		random := !f.IsHVX() && notInQEMU(&f) == "" // TestOracleRandom checks that each form occurs
		if !single && !company && !flow && !fixed[f.Op] && !inVectorOracle(&f) && !random && notInQEMU(&f) == "" {
			t.Errorf("%s is compared nowhere", f.Name)
		}
	}
}
