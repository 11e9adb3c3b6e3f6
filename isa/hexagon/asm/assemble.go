package asm

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

// SyntaxError is an assembler error with its position.
type SyntaxError struct {
	Line, Col int // 1-based
	Msg       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("hexagon: line %d:%d: %s", e.Line, e.Col, e.Msg)
}

// ParsePacket assembles one packet at the given address, as printed by Asm or String.
func ParsePacket(text string, addr uint32) (hexagon.Packet, error) {
	pk, err := Assemble(text, addr)
	if err != nil {
		return hexagon.Packet{}, err
	}
	if len(pk) != 1 {
		return hexagon.Packet{}, &SyntaxError{1, 1, fmt.Sprintf("%d packets, want one", len(pk))}
	}
	return pk[0], nil
}

// Assemble reads packets in LLVM syntax and lays them out from the address base: one word per instruction, so the
// packets are as written, and bare numbers in branches are addresses. Else the syntax is that of AssembleObject; errors
// are *SyntaxError.
func Assemble(text string, base uint32) ([]hexagon.Packet, error) {
	o, err := AssembleObject(text, Options{Base: base, Separate: true, Addresses: true})
	if err != nil {
		return nil, err
	}
	return o.Packets, nil
}

// Options steer AssembleObject.
type Options struct {
	// Base is the address of the code.
	Base uint32
	// Separate keeps a word for every instruction. Without it packets get compounds and duplexes where LLVM's assembler
	// makes them.
	Separate bool
	// Flat puts data right after the code. Without it every section begins on a separate page, as an executable needs.
	Flat bool
	// Addresses makes a bare number in a branch an absolute address, as listings print it, not a displacement as in sources.
	Addresses bool
}

// Object is an assembled program: an image, and the packets of its code in order of address.
type Object struct {
	object.Image
	Packets []hexagon.Packet
	Lines   []int // of the source, from 1: of each packet
}

// AssembleObject assembles a source file.
//
// A packet is an instruction on a separate line or a brace group { a ; b } with an optional :endloop0, :endloop1 or
// :endloop01; instructions are separated by semicolons or newlines, comments are // and /* */. "name:" defines a label
// that branches, loop setups, immediates (##name+4) and data can name; "1:" one that 1b and 1f find. Directives are
// listed in directive.go, macros and repetitions in macro.go, conditions in cond.go.
//
// Errors are *SyntaxError with the position; the legality rules of Check are applied to every packet.
func AssembleObject(text string, o Options) (_ *Object, err error) {
	defer try.Catch(&err)
	a := &assembler{opt: o, symbols: map[string]*symbol{}, pairing: !o.Separate}
	try.E(a.inside(a.read(text)))
	a.layout()
	return a.object(), nil
}

// read reads the statements of a source.
func (a *assembler) read(text string) (err error) {
	defer try.Catch(&err)
	a.toks = try.V(a.lex(strings.TrimPrefix(text, "\ufeff"), 1))
	a.statements()
	return nil
}

// Limits of one source, so that a few bytes of text cannot request all memory.
const (
	maxAsmBytes      = 64 << 20 // of all sections
	maxAsmStatements = 1 << 21  // repetitions counted
	maxPacketText    = 8        // instructions in the text of a packet, before some are joined
)

type assembler struct {
	toks []token
	pos  int
	opt  Options

	sections  [numSections]section
	cur       int // section
	previous  int
	pushed    [][2]int // cur and previous
	packets   []asmPacket
	symbols   map[string]*symbol
	order     []string // symbols in order of appearance
	dots      int
	pairing   bool
	bytes     int64
	statement int
	forceExt  bool // preceded by an immext line
	stopped   bool // .end

	outer    []source // sources around toks
	more     int64    // times to read toks again
	conds    []condition
	base     int // conditions open where toks began
	macros   map[string]*macro
	uses     int // of macros
	expanded int // bytes that macros and repetitions became
}

// asmPacket is a packet with its open immediates.
type asmPacket struct {
	hexagon.Packet
	fixups []fixup
	at     token
}

// fixup is an immediate that is known when addresses are.
type fixup struct {
	inst, imm int
	value     value
	at        token
}

func errorf(t token, format string, args ...any) error {
	return &SyntaxError{t.line, t.col, fmt.Sprintf(format, args...)}
}

// fail ends the assembly with an error.
func fail(t token, format string, args ...any) { try.E(errorf(t, format, args...)) }

func (a *assembler) peek() token { return a.toks[a.pos] }

func (a *assembler) next() token {
	t := a.toks[a.pos]
	if t.kind != tokEOF {
		a.pos++
	}
	return t
}

func (t token) is(p string) bool { return t.kind == tokPunct && t.text == p }

func (t token) ends() bool { return t.kind == tokEOF || t.kind == tokNewline || t.is(";") }

// statementAt is the token that the next statement begins with; a statement that
// controls the assembly itself is carried out.
func (a *assembler) statementAt() (t token, controls bool) {
	t = a.peek()
	if a.statement++; a.statement > maxAsmStatements {
		fail(t, "more than %d statements", maxAsmStatements)
	}
	return t, a.control(t)
}

func (a *assembler) statements() {
	for !a.stopped {
		t, controls := a.statementAt()
		if controls {
			continue
		}
		after := a.toks[min(a.pos+1, len(a.toks)-1)]
		switch {
		case t.kind == tokEOF:
			if len(a.conds) > 0 {
				a.unclosed()
			}
			return
		case t.kind == tokNewline || t.is(";"):
			a.pos++
		case after.is(":") && t.kind == tokNum && allDigits(t.text):
			a.pos += 2
			a.numbered(t)
		case a.atLabel():
			name := a.name()
			a.pos++
			a.define(name)
		case t.kind == tokWord && t.text[0] == '.':
			a.pos++
			a.directive(t)
		case t.kind == tokWord && after.is("=") && a.assigns(t):
			a.pos += 2
			a.set(t)
		case t.is("{"):
			a.pos++
			a.group(t)
		case t.is("}"):
			fail(t, "} outside a packet")
		default:
			d := draftPacket{at: t}
			a.instruction(&d)
			if len(d.Insts) == 0 {
				fail(t, "immext outside a packet")
			}
			a.emit(&d)
		}
	}
}

// assigns reports whether "name =" assigns to a symbol and is not the start of an instruction.
func (a *assembler) assigns(t token) bool {
	word := strings.ToLower(t.text)
	_, _, register := registerOf(word)
	return !register && !index().words[word]
}

// names reports whether the name of a symbol begins here.
func (t token) names() bool {
	return t.kind == tokWord || t.kind == tokString && t.text != "" && strings.IndexByte(t.text, 0) < 0
}

// name reads the name of a symbol: a word, with the parts that dots join to it, or quoted text.
func (a *assembler) name() token {
	t := a.next()
	if !t.names() {
		fail(t, "name expected")
	}
	for k := a.peek(); t.kind == tokWord && k.kind == tokWord && k.glued && k.text[0] == '.'; k = a.peek() {
		t.text += a.next().text
	}
	return t
}

// atLabel reports whether a label is defined here.
func (a *assembler) atLabel() bool {
	defer func(pos int) { a.pos = pos }(a.pos)
	if !a.peek().names() {
		return false
	}
	name := a.name()
	if !a.peek().is(":") {
		return false
	}
	after := a.toks[a.pos+1]
	return !after.glued || after.ends() || after.is("{") ||
		after.kind == tokWord && namedRegisters[strings.ToLower(name.text+":"+after.text)].letter == 0 // not lr:fp
}

// draftPacket is the text of a packet.
type draftPacket struct {
	hexagon.Draft
	fixups             []fixup
	at                 token
	endLoop0, endLoop1 bool
	noShuf             bool
}

func (a *assembler) group(open token) {
	d := draftPacket{at: open}
	for {
		t, controls := a.statementAt()
		if controls {
			continue
		}
		switch {
		case t.kind == tokEOF:
			fail(open, "packet is not closed")
		case t.kind == tokNewline || t.is(";"):
			a.pos++
		case t.is("}"):
			a.pos++
			a.loopEnds(&d)
			if len(d.Insts) == 0 {
				if !d.endLoop0 && !d.endLoop1 {
					return // no code, as in llvm-mc
				}
				d.Insts, d.IDs = append(d.Insts, hexagon.Inst{Op: hexagon.A2_nop}), append(d.IDs, 0)
			}
			a.emit(&d)
			return
		default:
			a.instruction(&d)
		}
	}
}

func (a *assembler) loopEnds(d *draftPacket) {
	for a.peek().is(":") {
		a.pos++
		switch t := a.next(); t.text {
		case "endloop0":
			d.endLoop0 = true
		case "endloop1":
			d.endLoop1 = true
		case "endloop01":
			d.endLoop0, d.endLoop1 = true, true
		case "mem_noshuf":
			d.noShuf = true
		case "mem_shuf":
		default:
			fail(t, "unknown packet suffix :%s", t.text)
		}
	}
}

// instruction parses tokens up to the end of the instruction and adds it to the packet.
func (a *assembler) instruction(d *draftPacket) {
	from := a.pos
	for {
		t := a.peek()
		if t.ends() || t.is("}") {
			break
		}
		if t.is("{") {
			fail(t, "{ inside a packet")
		}
		a.pos++
	}
	toks := guarded(a.toks[from:a.pos])
	if len(toks) == 0 {
		fail(a.peek(), "instruction expected")
	}
	joinSuffixes(toks)
	if strings.EqualFold(toks[0].text, "immext") {
		a.forceExt = true // the value is repeated in the instruction that follows
		return
	}
	if len(d.Insts) == maxPacketText {
		fail(toks[0], "%s", hexagon.TooManyInsts)
	}
	in, fix := a.match(toks)
	if a.forceExt && (in.Ext || hasTarget(&in)) { // a listing writes ## too, except for targets
		in.Ext, a.forceExt = true, false
	}
	id := len(d.Insts)
	for i := range fix {
		fix[i].inst = id
		d.fixups = append(d.fixups, fix[i])
	}
	d.Insts, d.IDs = append(d.Insts, in), append(d.IDs, id)
}

// hasTarget reports a branch whose displacement can be extended.
func hasTarget(in *hexagon.Inst) bool {
	f := in.Op.Form()
	for i := range f.Operands {
		if o := &f.Operands[i]; o.PCRel && o.Extendable {
			return true
		}
	}
	return false
}

// emit joins the instructions that LLVM would join and adds the packet to the current section.
func (a *assembler) emit(d *draftPacket) {
	p := asmPacket{at: d.at}
	p.EndLoop0, p.EndLoop1 = d.endLoop0, d.endLoop1
	p.NoShuf = d.noShuf
	if a.pairing {
		p.Duplex = d.Join(p.NoShuf)
	}
	if a.forceExt {
		fail(d.at, "immext extends nothing in its packet")
	}
	if len(d.Insts) > len(p.Insts) {
		fail(d.at, "%s", hexagon.TooManyInsts)
	}
	p.N = uint8(copy(p.Insts[:], d.Insts))
	for _, f := range d.fixups {
		for k, id := range d.IDs {
			if id == f.inst {
				f.inst = k
				if in := &p.Insts[k]; in.Op.Form().Class == hexagon.CJ {
					f.imm = int(in.Op.Form().NumImm) - 1
				}
				p.fixups = append(p.fixups, f)
				break
			}
		}
	}
	if !sectionKinds[a.cur].exec {
		fail(d.at, "packet in %s", sectionKinds[a.cur].name)
	}
	a.packets = append(a.packets, p)
	a.add(item{kind: itemPacket, n: int64(len(a.packets) - 1), at: d.at})
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
