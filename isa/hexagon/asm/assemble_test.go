package asm

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/randpacket"
)

// TestRoundTrip encodes, decodes, prints and assembles every form with random operands.
func TestRoundTrip(t *testing.T) {
	g := randpacket.New(rand.New(rand.NewSource(2)))
	for round := 0; round < 8; round++ {
		for op := hexagon.Op(1); int(op) < hexagon.NumOps; op++ {
			p := g.Carrier(op, g.R.Uint32()&^3)
			words := require.V(p.Encode(nil))(t, p.Asm())
			if len(words) != int(p.Words) {
				t.Errorf("%s: %d words, want %d", p.Asm(), len(words), p.Words)
			}
			q, n, err := hexagon.DecodePacket(words, p.Addr)
			if err != nil {
				t.Fatalf("%s %08x: %v", p.Asm(), words, err)
			}
			if n != len(words) || q != p {
				t.Errorf("%08x decodes to %s, want %s", words, q.Asm(), p.Asm())
			}
			if op.Form().Has(hexagon.FlagSupervisor) {
				continue // never assembled
			}
			for _, text := range []string{p.Asm(), p.String()} {
				o, err := AssembleObject(text, Options{Base: p.Addr, Separate: !randpacket.Joins(op.Form()), Addresses: true})
				if err != nil {
					t.Errorf("%q: %v", text, err)
				} else if r := o.Packets[0]; r != p {
					t.Errorf("%q parses as %s", text, r.Asm())
				}
			}
		}
	}
}

func TestAssembleLabels(t *testing.T) {
	pk, err := Assemble(`
start:	{ r0 = #0 ; loop0(.Lbody, #10) }   // ten rounds
.Lbody:	{ r0 = add(r0,#3) }:endloop0
	{ p0 = cmp.eq(r0,#30) ; if (p0.new) jump:t done }
	jump start
done:	{ v0 = vmem(r1++#1) /* two
	comment lines */ ; v2 = v1
	  vmem(r2+#0) = v0 }
	{ r9 = ##100000 ; call ##start }
	jumpr lr
`, 0x1000)
	require.NoError(t, err)
	var got []string
	for i := range pk {
		got = append(got, pk[i].Asm())
	}
	want := []string{
		"{ loop0(#0x8,#0xa) ; r0 = #0x0 }",
		"{ r0 = add(r0,#0x3) ; nop }:endloop0",
		"{ p0 = cmp.eq(r0,#0x1e) ; if (p0.new) jump:t #0xc }",
		"{ jump #-0x18 }",
		"{ v2 = v1 ; v0 = vmem(r1++#0x1) ; vmem(r2+#0x0) = v0 }",
		"{ call ##-0x28 ; r9 = ##0x186a0 }",
		"{ jumpr r31 }",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if last := pk[len(pk)-1].Addr; last != 0x1000+4*14 {
		t.Errorf("last packet at %#x", last)
	}
}

func TestAssembleErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{ r0 = frob(r1) }", "1:"},
		{"\n#define X 1", "2:1: source for the C preprocessor"},
		{".rept 2\n nop", "without .endr"},
		{".word 1,", "number expected"},
		{".byte 300", "does not fit"},
		{".space 0x7fffffff", "more than"},
		{".align 3", "power of two"},
		{".frob", "unknown directive .frob"},
		{".section .strange", "is not one of"},
		{".data\n nop", "packet in .data"},
		{".bss\n .word 1", "data in .bss"},
		{".set a, b\n.set b, a\n.data\n.word a", "defined by itself"},
		{".word (1", ") expected"},
		{".word 1/0", "division by zero"},
		{"r0 = ##a*b\na: b: nop", "not combined by *"},
		{".string \"abc", "bad string"},
		{"jump 1b", "no label 1: before"},
		{"jump 1f", "is not defined"},
		{"r0 = ##a@GOT", "relocation @GOT"},
		{".byte 1\n nop", "not aligned to 4"},
		{".rept 100000000\n.endr", "statements"},
		{"{ r0 = add(r1,r2)", "1:1: packet is not closed"},
		{"{ jump nowhere }", "label nowhere is not defined"},
		{"a:\na:\n nop", "2:1: label a is defined twice"},
		{"{ r0 = r1 ; r0 = r2 }", "register written twice"},
		{"{ v0 = valign(v1,v2,r9) }", "only registers 0 to 7"},
		{"{ r1:0 = combine(r3,r2) ; r4 = add(r5,#1) ; r6 = r7 ; r8 = r9 ; r10 = r11 }", "one to four"},
		{"{ memw(r1+#0) = r2.new }", ".new operand has no producer"},
		{"{ v1:0.h = vmpy(v2.ub,r3.b) ; v5:4.h = vmpy(v2.ub,r3.b) }", "vector pipes"},
		{"{ r2:1 = add(r3:2,r5:4) }", "not odd:even"},
		{"{ r0 = #5", "not closed"},
		{"/* ", "comment does not end"},
		{"{ r0 = \x80 }", "unexpected character"},
		{"{ r0 = #99999999999 }", "does not fit 32 bits"},
		{"{ p0 = sp1loop0(#-4,r1) }", "p3"},
	} {
		require.ErrorContains(t, require.Err(Assemble(c.text, 0)), c.want, c.text)
	}
}

// TestAliases checks the short forms against the instructions they stand for.
func TestAliases(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"r1 = memw(r2)", "{ r1 = memw(r2+#0x0) }"},
		{"memw(r2) += #3", "{ memw(r2+#0x0) += #0x3 }"},
		{"if (p1) vmem(r3) = v4", "{ if (p1) vmem(r3+#0x0) = v4 }"},
		{"r1:0 = r3:2", "{ r1:0 = combine(r3,r2) }"},
		{"r0 = not(r1)", "{ r0 = sub(#-0x1,r1) }"},
		{"r0 = neg(r1)", "{ r0 = sub(#0x0,r1) }"},
		{"r0 = zxtb(r1)", "{ r0 = and(r1,#0xff) }"},
		{"if (!p2) r0 = r1", "{ if (!p2) r0 = add(r1,#0x0) }"},
		{"r0 = mpyi(r1,#7)", "{ r0 = +mpyi(r1,#0x7) }"},
		{"r0 = mpyi(r1,#-7)", "{ r0 = -mpyi(r1,#0x7) }"},
		{"p1 = p2", "{ p1 = or(p2,p2) }"},
		{"v3 = #0", "{ v3 = vxor(v3,v3) }"},
		{"allocframe(#8)", "{ allocframe(#0x8) }"},
		{"dealloc_return", "{ dealloc_return }"},
		{"if (p0) jump #8", "{ if (p0) jump:nt #0x8 }"},
		{"r0 = add(r1,#40000)", "{ r0 = add(r1,##0x9c40) }"},
		{"m1 = r3", "{ m1 = r3 }"},
		{"p3:0 = r3", "{ p3:0 = r3 }"},
		{"r3 = pc", "{ r3 = pc }"},
		{"R3 = Add(R4.x,r5)", ""},
		{"R3 = ADD(r4,R5)", "{ r3 = add(r4,r5) }"},
		{"r1:0 = #-5", "{ r1:0 = combine(#-0x1,#-0x5) }"},
		{"r0 = asrrnd(r1,#3)", "{ r0 = asr(r1,#0x2):rnd }"},
		{"r0 = asrrnd(r1,#0)", "{ r0 = r1 }"},
		{"r0 = mpyui(r1,r2)", "{ r0 = mpyi(r1,r2) }"},
		{"v1:0 = #0", "{ v1:0.w = vsub(v31:30.w,v31:30.w) }"},
		{"q1 |= vcmp.eq(v2.uh,v3.uh)", "{ q1 |= vcmp.eq(v2.h,v3.h) }"},
		{"if (p1) jumpr r3", "{ if (p1) jumpr:nt r3 }"},
		{"if (!p1) r1:0 = r3:2", "{ if (!p1) r1:0 = combine(r3,r2) }"},
		{"if (!p0) dealloc_return", "{ if (!p0) dealloc_return }"},
		{"if p0 v1 = v2", "{ if (p0) v1 = v2 }"},
		{"if !p3 vmem(r0++#1) = v2", "{ if (!p3) vmem(r0++#0x1) = v2 }"},
		{"{ p0 = cmp.eq(r1,r2) ; if ! p0 .new r3 = #0 }", "{ p0 = cmp.eq(r1,r2) ; if (!p0.new) r3 = #0x0 }"},
		{"if q0 vmem(r0) = v2", ""},
		{"if (p0 r1 = r2", ""},
		{"v1:0 .uh += vmpy(v2 .ub,r9 .ub)", "{ v1:0.uh += vmpy(v2.ub,r9.ub) }"},
		{"r2 .L = #5", "{ r2.l = #0x5 }"},
		{"r1 = mpy(r2 .h,r3 .l):rnd :sat", "{ r1 = mpy(r2.h,r3.l):rnd:sat }"},
		{"{ }:endloop0", "{ nop ; nop }:endloop0"},
		{"{ }", ""},
		{"if", ""},
		{"jump@", ""},
		{"if p0", ""},
	} {
		p, err := ParsePacket(c.text, 0)
		if err != nil {
			if c.want != "" {
				t.Errorf("%s: %v", c.text, err)
			}
		} else if got := p.Asm(); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestLoopLabels assembles loops whose labels look like halves of registers.
func TestLoopLabels(t *testing.T) {
	for _, name := range []string{".Lo", ".L", "l", "h", "hi"} {
		text := "{ loop0(" + name + ",#4) }\n" + name + ": { r2 = add(r2,#1) }:endloop0\n"
		pk, err := Assemble(text, 0)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if in := pk[0].Insts[0]; in.Op != hexagon.J2_loop0i || in.Imm[0] != 4 {
			t.Errorf("%q: starts at %d", text, in.Imm[0])
		}
	}
}
