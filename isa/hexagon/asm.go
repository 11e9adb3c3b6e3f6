package hexagon

import (
	"fmt"
	"strconv"
	"strings"
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
func ParsePacket(text string, addr uint32) (Packet, error) {
	pk, err := Assemble(text, addr)
	if err != nil {
		return Packet{}, err
	}
	if len(pk) != 1 {
		return Packet{}, &SyntaxError{1, 1, fmt.Sprintf("%d packets, want one", len(pk))}
	}
	return pk[0], nil
}

// Assemble reads packets in LLVM syntax and lays them out from the address base. A packet is an instruction on a line of
// its own or a brace group { a ; b } with an optional :endloop0, :endloop1 or :endloop01; instructions are separated by
// semicolons or newlines, comments are // and /* */. "name:" defines a label that branches and loop setups can name; a bare
// number there is an absolute address, #n a displacement. Errors are *SyntaxError with the position; the legality rules of
// Check are applied to every packet.
func Assemble(text string, base uint32) ([]Packet, error) {
	a := &assembler{labels: map[string]int{}}
	if err := a.lex(text); err != nil {
		return nil, err
	}
	if err := a.packets(); err != nil {
		return nil, err
	}
	if err := a.layout(base); err != nil {
		return nil, err
	}
	return a.out, nil
}

type tokKind uint8

const (
	tokEOF   tokKind = iota
	tokSpace         // separator between words; dropped unless it separates
	tokNewline
	tokWord  // identifier: mnemonic, register or label
	tokNum   // number
	tokPunct // one character
)

type token struct {
	kind      tokKind
	text      string
	line, col int
	glued     bool // no space before it
}

type fixup struct {
	packet, inst, imm int
	label             string
	absolute          uint32
	isLabel           bool
	at                token
}

type assembler struct {
	toks   []token
	pos    int
	out    []Packet
	start  []token // where each packet starts, for errors
	labels map[string]int
	fixups []fixup

	forceExt bool // an immext line came before
}

func (a *assembler) errorf(t token, format string, args ...any) error {
	return &SyntaxError{t.line, t.col, fmt.Sprintf(format, args...)}
}

func wordByte(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (a *assembler) lex(s string) error {
	line, lineStart := 1, 0
	glued := false
	for i := 0; i < len(s); {
		c := s[i]
		t := token{line: line, col: i - lineStart + 1, glued: glued}
		glued = true
		switch {
		case c == '\n':
			t.kind, t.text = tokNewline, "\n"
			a.toks = append(a.toks, t)
			i++
			line, lineStart = line+1, i
			glued = false
		case c == ' ' || c == '\t' || c == '\r':
			i++
			glued = false
		case strings.HasPrefix(s[i:], "//"):
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case strings.HasPrefix(s[i:], "/*"):
			n := strings.Index(s[i:], "*/")
			if n < 0 {
				return a.errorf(t, "comment does not end")
			}
			for _, c := range []byte(s[i : i+n]) {
				if c == '\n' {
					line++
				}
			}
			i += n + 2
			lineStart = strings.LastIndexByte(s[:i], '\n') + 1
			glued = false
		case c >= '0' && c <= '9':
			j := i
			for j < len(s) && wordByte(s[j]) && s[j] != '.' {
				j++
			}
			t.kind, t.text = tokNum, s[i:j]
			i = j
			a.toks = append(a.toks, t)
		case wordByte(c):
			// A register ends where its digits end, so that r2.h and r8.new split; a label may hold dots.
			j := i + 1
			for j < len(s) && wordByte(s[j]) && (s[j] != '.' || c == '.' && !t.glued) {
				j++
			}
			t.kind, t.text = tokWord, s[i:j]
			i = j
			a.toks = append(a.toks, t)
		case c < 0x21 || c > 0x7e:
			return a.errorf(t, "unexpected character %q", c)
		default:
			t.kind, t.text = tokPunct, s[i:i+1]
			i++
			a.toks = append(a.toks, t)
		}
	}
	a.toks = append(a.toks, token{kind: tokEOF, line: line, col: len(s) - lineStart + 1})
	return nil
}

func (a *assembler) peek() token { return a.toks[a.pos] }

func (a *assembler) next() token {
	t := a.toks[a.pos]
	if t.kind != tokEOF {
		a.pos++
	}
	return t
}

func (t token) is(p string) bool { return t.kind == tokPunct && t.text == p }

func (a *assembler) packets() error {
	for {
		t := a.peek()
		switch {
		case t.kind == tokEOF:
			return nil
		case t.kind == tokNewline || t.is(";"):
			a.pos++
		case t.kind == tokWord && a.toks[a.pos+1].is(":") && endsLabel(a.toks[a.pos+2]):
			if _, dup := a.labels[t.text]; dup {
				return a.errorf(t, "label %s is defined twice", t.text)
			}
			a.labels[t.text] = len(a.out)
			a.pos += 2
		case t.is("{"):
			a.pos++
			if err := a.group(t); err != nil {
				return err
			}
		case t.is("}"):
			return a.errorf(t, "} outside a packet")
		default:
			a.begin(t)
			if err := a.instruction(); err != nil {
				return err
			}
			if p := &a.out[len(a.out)-1]; p.N == 0 {
				return a.errorf(t, "constant extender outside a packet")
			}
		}
	}
}

// endsLabel reports whether what follows a colon shows that the colon ends a label and not a register pair.
func endsLabel(t token) bool {
	return !t.glued || t.kind == tokNewline || t.kind == tokEOF || t.is("{")
}

func (a *assembler) begin(t token) {
	a.out = append(a.out, Packet{})
	a.start = append(a.start, t)
}

func (a *assembler) group(open token) error {
	a.begin(open)
	p := len(a.out) - 1
	for {
		t := a.peek()
		switch {
		case t.kind == tokEOF:
			return a.errorf(open, "packet is not closed")
		case t.kind == tokNewline || t.is(";"):
			a.pos++
		case t.is("}"):
			a.pos++
			if a.out[p].N == 0 {
				return a.errorf(t, "packet is empty")
			}
			return a.loopEnds(p)
		default:
			if err := a.instruction(); err != nil {
				return err
			}
		}
	}
}

func (a *assembler) loopEnds(p int) error {
	for a.peek().is(":") {
		a.pos++
		switch t := a.next(); t.text {
		case "endloop0":
			a.out[p].EndLoop0 = true
		case "endloop1":
			a.out[p].EndLoop1 = true
		case "endloop01":
			a.out[p].EndLoop0, a.out[p].EndLoop1 = true, true
		default:
			return a.errorf(t, "unknown packet suffix :%s", t.text)
		}
	}
	return nil
}

// instruction parses tokens up to the end of the instruction and adds it to the last packet.
func (a *assembler) instruction() error {
	from := a.pos
	for {
		t := a.peek()
		if t.kind == tokEOF || t.kind == tokNewline || t.is(";") || t.is("}") {
			break
		}
		if t.is("{") {
			return a.errorf(t, "{ inside a packet")
		}
		a.pos++
	}
	toks := a.toks[from:a.pos]
	if len(toks) == 0 {
		return a.errorf(a.peek(), "instruction expected")
	}
	if toks[0].text == "immext" {
		a.forceExt = true // the value is repeated in the instruction that follows
		return nil
	}
	p := &a.out[len(a.out)-1]
	if int(p.N) == len(p.Insts) {
		return a.errorf(toks[0], "%s", ruleText[ruleCount])
	}
	in, fix, err := a.match(toks)
	if err != nil {
		return err
	}
	in.Ext = in.Ext || a.forceExt
	a.forceExt = false
	if fix != nil {
		fix.packet, fix.inst = len(a.out)-1, int(p.N)
		a.fixups = append(a.fixups, *fix)
	}
	p.Insts[p.N] = in
	p.N++
	return nil
}

// layout gives packets their addresses and branches their displacements. A branch that does not reach takes an extender,
// which moves what follows, so this repeats; extenders are only added, so it ends.
func (a *assembler) layout(base uint32) error {
	for {
		addr := base
		for i := range a.out {
			p := &a.out[i]
			p.Addr = addr
			q := *p
			if err := q.padLoopEnd(); err != nil {
				return a.errorf(a.start[i], "%s", ruleText[ruleWords])
			}
			addr += uint32(4 * q.countWords())
		}
		again := false
		for _, f := range a.fixups {
			p := &a.out[f.packet]
			target := f.absolute
			if f.isLabel {
				n, ok := a.labels[f.label]
				if !ok {
					return a.errorf(f.at, "label %s is not defined", f.label)
				}
				target = addr
				if n < len(a.out) {
					target = a.out[n].Addr
				}
			}
			in := &p.Insts[f.inst]
			before := in.Extended()
			in.Imm[f.imm] = int32(target - p.Addr)
			if after := in.Extended(); after {
				in.Ext = true
				again = again || !before
			}
		}
		if !again {
			break
		}
	}
	for i := range a.out {
		p := &a.out[i]
		if err := p.Check(); err != nil {
			return a.errorf(a.start[i], "%s", strings.TrimPrefix(err.Error(), "hexagon: "))
		}
		if err := p.Layout(); err != nil {
			return a.errorf(a.start[i], "%s", strings.TrimPrefix(err.Error(), "hexagon: "))
		}
	}
	return nil
}

func parseNumber(t token) (int64, bool) {
	n, err := strconv.ParseUint(t.text, 0, 32)
	return int64(n), err == nil
}
