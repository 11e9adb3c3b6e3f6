// Command asmgen writes the assembly twins of the DSP's semantic functions.
//
// A handler executes one micro-op and jumps to the handler of the next (the first word of a micro-op is its handler's
// address), so that a block of packets runs without returning to Go. DI holds the thread, SI the micro-op. A handler
// may use every other register. Micro-ops without a handler, and every access outside the segment a micro-op expects,
// return through the exit handler to Go.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Layout of state.Thread, Segment and Uop; checked against the Go types at compile
// time in dsp/internal/asm/zasmtable_amd64.go.
const (
	offNext, offTaken, offStop = 6440, 6444, 6456
	offSlots, offRounds        = 6464, 6472
	offSA0                     = 6304
	offUSR                     = 6304 + 4*8
	offR31                     = 6144 + 4*31

	usrOVF = 1

	segBase, segRead128, segWrite128, segRead8, segWrite8, segHost = 0, 12, 16, 20, 24, 32

	uopSize                                                                        = 64
	uopO, uopEA, uopSeg, uopImm, uopImm2, uopPC, uopNP, uopPred, uopGuard, uopAsm2 = 16, 28, 30, 32, 36, 40, 44, 50, 52, 56
)

var (
	thread = RDI
	uop    = RSI
	slots  = R15 // thread + Thread.Slots: where address slots are written
)

// handler is one generated symbol.
type handler struct{ op, sym string }

var handlers []handler

// op begins the handler of a Hexagon form.
func op(name string, body func()) { ops([]string{name}, body) }

// ops begins one handler that several forms share.
func ops(names []string, body func()) {
	sym := "h" + names[0]
	for _, n := range names {
		handlers = append(handlers, handler{n, sym})
	}
	TEXT(sym, NOSPLIT|NOFRAME, "func()")
	body()
	next()
}

// next jumps to the handler of the next micro-op.
func next() {
	ADDQ(Imm(uopSize), uop)
	jump(Mem{Base: uop})
}

// jump is an indirect jump, which avo treats as a branch without a label.
func jump(to Op) {
	Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{to}, IsTerminal: true})
}

// exit passes the micro-op to Go.
func exit() {
	MOVQ(uop, Mem{Base: thread, Disp: offStop})
	VZEROUPPER()
	RET()
}

// ptr loads the byte offset of operand k.
func ptr(k int, r GPPhysical) GPPhysical {
	MOVWQZX(Mem{Base: uop, Disp: uopO + 2*k}, r.As64())
	return r.As64().(GPPhysical)
}

// ptrs loads the offsets of the first n operands into RAX, RCX, RDX and RBX.
func ptrs(n int) {
	for k, r := range []GPPhysical{RAX, RCX, RDX, RBX}[:n] {
		ptr(k, r)
	}
}

// in addresses bytes of the thread behind an offset.
func in(r GPPhysical, disp int) Mem { return Mem{Base: thread, Index: r.As64(), Scale: 1, Disp: disp} }

// slot is an address slot by its byte offset in the thread.
func slot(r GPPhysical) Mem { return Mem{Base: slots, Index: r.As64(), Scale: 1} }

func field(disp int) Mem { return Mem{Base: uop, Disp: disp} }

func main() {
	ConstraintExpr("amd64,!purego")
	common()
	scalar()
	memory()
	vector()
	dotsTwice()
	table()
	path := flag.String("table", "", "Go file that declares the handlers")
	Generate()
	if err := writeTable(*path); err != nil {
		fmt.Fprintln(os.Stderr, "asmgen:", err)
		os.Exit(1)
	}
}

// common is the entry, the exit, the guard and the end of a block that runs
// several times.
func common() {
	TEXT("runOps", NOSPLIT|NOFRAME, "func(t, u uintptr)")
	Doc("runOps runs micro-ops from u until one has no handler, which t.Stop then names.")
	MOVQ(Mem{Symbol: Symbol{Name: "t"}, Base: FramePointer, Disp: 0}, thread)
	MOVQ(Mem{Symbol: Symbol{Name: "u"}, Base: FramePointer, Disp: 8}, uop)
	MOVQ(Mem{Base: thread, Disp: offSlots}, slots)
	ADDQ(thread, slots)
	jump(Mem{Base: uop})

	TEXT("hAgain", NOSPLIT|NOFRAME, "func()")
	DECL(Mem{Base: thread, Disp: offRounds})
	JEQ(LabelRef("last"))
	MOVLQSX(field(uopImm), RAX)
	ADDQ(RAX, Mem{Base: thread, Disp: offSlots})
	ADDQ(RAX, slots)
	MOVLQSX(field(uopImm2), RAX)
	ADDQ(RAX, uop)
	jump(Mem{Base: uop})
	Label("last")
	exit()

	TEXT("hExit", NOSPLIT|NOFRAME, "func()")
	exit()

	TEXT("hGuard", NOSPLIT|NOFRAME, "func()")
	MOVWQZX(field(uopPred), RAX)
	MOVBLZX(in(RAX, 0), EAX)
	XORB(field(uopGuard), AL)
	TESTB(Imm(1), AL)
	JNE(LabelRef("skip"))
	jump(field(uopAsm2))
	Label("skip")
	MOVWQZX(field(uopEA), RAX)
	TESTL(EAX, EAX)
	JE(LabelRef("none"))
	MOVL(I32(-1), slot(RAX))
	Label("none")
	next()
}

// table writes the function that returns the addresses to Go.
func table() {
	TEXT("handlers", NOSPLIT|NOFRAME, "func(p uintptr)")
	Doc("Stores the addresses of the handlers, in the order of the table of forms, then of hExit, hGuard, hAgain and the superinstructions.")
	MOVQ(Mem{Symbol: Symbol{Name: "p"}, Base: FramePointer, Disp: 0}, RDI)
	all := append(append([]handler(nil), handlers...), handler{"", "hExit"}, handler{"", "hGuard"}, handler{"", "hAgain"})
	for i, h := range append(all, superinstructions...) {
		LEAQ(NewDataAddr(Symbol{Name: "·" + h.sym}, 0), RAX)
		MOVQ(RAX, Mem{Base: RDI, Disp: 8 * i})
	}
	RET()
}

func writeTable(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	p := func(format string, a ...any) { fmt.Fprintf(f, format, a...) }
	p("// Code generated by asmgen; DO NOT EDIT.\n\n//go:build amd64 && !purego\n\npackage asm\n\n")
	p("import (\n\t\"unsafe\"\n\n\t\"github.com/nnsoc/nnsoc/dsp/internal/state\"\n\t\"github.com/nnsoc/nnsoc/isa/hexagon\"\n)\n\n")
	p("// runOps runs micro-ops from u until one has no handler, which t.Stop then names.\n//\n//go:noescape\nfunc runOps(t *state.Thread, u *state.Uop)\n\n")
	p("// handlers stores the addresses of the handlers of handlerOps, then of hExit, hGuard and hAgain, and the superinstructions of twiceOps.\n//\n//go:noescape\nfunc handlers(p *uintptr)\n\n")
	p("// Handlers are entered by jumps from each other, never called.\n\n")
	p("func hExit()\nfunc hGuard()\nfunc hAgain()\n")
	seen := map[string]bool{}
	for _, h := range append(handlers, superinstructions...) {
		if !seen[h.sym] {
			seen[h.sym] = true
			p("func %s()\n", h.sym)
		}
	}
	p("\n")
	p("// handlerOps are the forms with a handler, in the order of handlers.\nvar handlerOps = [...]hexagon.Op{\n")
	for _, h := range handlers {
		p("\thexagon.%s,\n", h.op)
	}
	p("}\n\n// twiceOps are the forms with a superinstruction.\nvar twiceOps = [...]hexagon.Op{\n")
	for _, h := range superinstructions {
		p("\thexagon.%s,\n", h.op)
	}
	p("}\n\n")
	p("// The layout that the generator assumes: each line fails to compile when it is wrong.\nvar (\n")
	check := func(expr string, v int) { p("\t_ = [1]struct{}{}[%s-%d]\n", expr, v) }
	check("unsafe.Offsetof(state.Thread{}.GR)", offR31-4*31)
	check("unsafe.Offsetof(state.Thread{}.C)", offSA0)
	check("state.OVF", usrOVF)
	check("state.ZBytes", zBytes)
	check("unsafe.Offsetof(state.Thread{}.Next)", offNext)
	check("unsafe.Offsetof(state.Thread{}.Taken)", offTaken)
	check("unsafe.Offsetof(state.Thread{}.Stop)", offStop)
	check("unsafe.Offsetof(state.Thread{}.Slots)", offSlots)
	check("unsafe.Offsetof(state.Thread{}.Rounds)", offRounds)
	check("unsafe.Offsetof(state.Segment{}.Base)", segBase)
	check("unsafe.Offsetof(state.Segment{}.Read128)", segRead128)
	check("unsafe.Offsetof(state.Segment{}.Write128)", segWrite128)
	check("unsafe.Offsetof(state.Segment{}.Read8)", segRead8)
	check("unsafe.Offsetof(state.Segment{}.Write8)", segWrite8)
	check("unsafe.Offsetof(state.Segment{}.Host)", segHost)
	check("unsafe.Sizeof(state.Uop{})", uopSize)
	check("unsafe.Offsetof(state.Uop{}.Arg)", uopO)
	check("unsafe.Offsetof(state.Uop{}.EA)", uopEA)
	check("unsafe.Offsetof(state.Uop{}.Seg)", uopSeg)
	check("unsafe.Offsetof(state.Uop{}.Imm)", uopImm)
	check("unsafe.Offsetof(state.Uop{}.Imm2)", uopImm2)
	check("unsafe.Offsetof(state.Uop{}.PC)", uopPC)
	check("unsafe.Offsetof(state.Uop{}.NextPC)", uopNP)
	check("unsafe.Offsetof(state.Uop{}.Pred)", uopPred)
	check("unsafe.Offsetof(state.Uop{}.Guard)", uopGuard)
	check("unsafe.Offsetof(state.Uop{}.Asm2)", uopAsm2)
	p(")\n")
	return nil
}
