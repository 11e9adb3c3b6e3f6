package asm

import (
	"fmt"
	"strconv"
	"strings"
)

// value is an expression: a constant, or one that needs the addresses of symbols: plus - minus + add.
type value struct {
	add         int64
	plus, minus string
	half        uint8 // 1: the low half of it, 2: the high half
	pcrel       bool  // less the address of the packet
	late        bool  // a number computed from addresses: immediates use an extender for it, as for a symbol
}

func (v *value) open() bool { return v.plus != "" || v.minus != "" || v.pcrel }

// symbol is a name: a place in a section, or an expression.
type symbol struct {
	defined bool
	place   bool // item of section
	section int
	item    int
	value   value
	global  bool
	isFunc  bool
}

// hiddenName begins the names of numbered labels and of places without a name; no symbol can have it.
const hiddenName = "\x00"

// maxExprDepth bounds the nesting of parentheses and of symbols defined by symbols.
const maxExprDepth = 64

// exprOps are the binary operators by binding strength, weakest first: the order of the GNU assembler, not that of C.
// Its ! is "or not".
var exprOps = [...]string{" || ", " && ", " == != <> < <= > >= ", " + - ", " | ^ & ! ", " * / % << >> "}

// exprOp is the binary operator at toks[i], or "".
func exprOp(toks []token, i int) string {
	t, u := tokAt(toks, i), tokAt(toks, i+1)
	if t.kind != tokPunct {
		return ""
	}
	if op := t.text + u.text; u.kind == tokPunct && u.glued && strings.Contains(" || && == != <> <= >= << >> ", " "+op+" ") {
		return op
	}
	return t.text
}

// expr parses the expression that begins at toks[i] and returns the index after it.
func (a *assembler) expr(toks []token, i int) (value, int) {
	return a.exprLevel(toks, i, 0, 0)
}

func tokAt(toks []token, i int) token {
	if i < len(toks) {
		return toks[i]
	}
	t := token{kind: tokEOF}
	if len(toks) > 0 {
		t.line, t.col = toks[len(toks)-1].line, toks[len(toks)-1].col+len(toks[len(toks)-1].text)
	}
	return t
}

func (a *assembler) exprLevel(toks []token, i, level, depth int) (value, int) {
	if level == len(exprOps) {
		return a.unary(toks, i, depth)
	}
	x, i := a.exprLevel(toks, i, level+1, depth)
	for {
		op := exprOp(toks, i)
		// What follows an immediate can begin with an operator too: "#2+##table".
		if op == "" || !strings.Contains(exprOps[level], " "+op+" ") || tokAt(toks, i+len(op)).is("#") {
			return x, i
		}
		at := tokAt(toks, i)
		var y value
		if y, i = a.exprLevel(toks, i+len(op), level+1, depth); op != "+" && op != "-" {
			x, y = a.fold(x, 0), a.fold(y, 0)
		}
		x = combineAt(at, op, x, y)
	}
}

// combineAt is combine with an operator of the source.
func combineAt(at token, op string, x, y value) value {
	v, err := combine(op, x, y)
	if err != nil {
		fail(at, "%s", err)
	}
	return v
}

// combine applies an operator; symbols may only be added, subtracted and offset.
func combine(op string, x, y value) (value, error) {
	if op == "-" && !y.pcrel && y.half == 0 && x.half == 0 && (y.minus == "" || x.plus == "") && (y.plus == "" || x.minus == "") {
		if y.minus != "" {
			x.plus = y.minus
		}
		if y.plus != "" {
			x.minus = y.plus
		}
		x.add -= y.add
		return x, nil
	}
	if op == "+" && x.half == 0 && y.half == 0 && (x.plus == "" || y.plus == "") && (x.minus == "" || y.minus == "") {
		x.plus, x.minus = x.plus+y.plus, x.minus+y.minus
		x.pcrel = x.pcrel || y.pcrel
		x.add += y.add
		return x, nil
	}
	if x.open() || y.open() {
		return value{}, fmt.Errorf("symbols can be added, subtracted and offset, not combined by %s", op)
	}
	m, n, late := x.add, y.add, x.late || y.late
	switch op {
	case "*":
		m *= n
	case "/", "%":
		if n == 0 {
			return value{}, fmt.Errorf("division by zero")
		}
		if op == "/" {
			m /= n
		} else {
			m %= n
		}
	case "<<", ">>":
		if n < 0 || n > 63 {
			return value{}, fmt.Errorf("shift by %d", n)
		}
		if op == "<<" {
			m <<= n
		} else {
			m >>= n
		}
	case "&":
		m &= n
	case "|":
		m |= n
	case "^":
		m ^= n
	case "!":
		m |= ^n
	case "||":
		m = truth(m != 0 || n != 0) & 1
	case "&&":
		m = truth(m != 0 && n != 0) & 1
	case "==":
		m = truth(m == n)
	case "!=", "<>":
		m = truth(m != n)
	case "<":
		m = truth(m < n)
	case "<=":
		m = truth(m <= n)
	case ">":
		m = truth(m > n)
	case ">=":
		m = truth(m >= n)
	}
	return value{add: m, late: late}, nil
}

// truth is the value of a comparison.
func truth(b bool) int64 {
	if b {
		return -1
	}
	return 0
}

func (a *assembler) unary(toks []token, i, depth int) (value, int) {
	t := tokAt(toks, i)
	if depth > maxExprDepth {
		fail(t, "expression nests too deep")
	}
	switch {
	case t.is("-"), t.is("~"), t.is("+"), t.is("!"):
		x, j := a.unary(toks, i+1, depth+1)
		if t.text != "-" {
			x = a.fold(x, 0)
		}
		switch t.text {
		case "-":
			x = combineAt(t, "-", value{}, x)
		case "~":
			x = combineAt(t, "^", x, value{add: -1})
		case "!":
			x = combineAt(t, "==", x, value{})
			x.add &= 1
		}
		return x, j
	case t.is("("):
		x, j := a.exprLevel(toks, i+1, 0, depth+1)
		if !tokAt(toks, j).is(")") {
			fail(tokAt(toks, j), ") expected")
		}
		return x, j + 1
	case t.kind == tokNum:
		return a.number(t, i)
	case t.kind == tokWord && tokAt(toks, i+1).is("(") && len(t.text) == 2 && strings.Contains("hi lo HI LO", t.text):
		x, j := a.unary(toks, i+1, depth+1)
		x.half = 1
		if t.text[0]|32 == 'h' {
			x.half = 2
		}
		if !x.open() {
			x = value{add: x.add >> (16 * (x.half - 1)) & 0xffff}
		}
		return x, j
	case !t.names():
		fail(t, "number expected")
	}
	return a.symbolic(toks, i)
}

func (a *assembler) number(t token, i int) (value, int) {
	if n := len(t.text) - 1; n > 0 && (t.text[n] == 'b' || t.text[n] == 'f') && allDigits(t.text[:n]) {
		k := a.count(hiddenName + t.text[:n])
		if t.text[n] == 'b' {
			if k--; k < 0 {
				fail(t, "no label %s: before", t.text[:n])
			}
		}
		return value{plus: numberedName(t.text[:n], k)}, i + 1
	}
	n, err := strconv.ParseUint(t.text, 0, 64)
	if err != nil {
		fail(t, "bad number %s", t.text)
	}
	return value{add: int64(n)}, i + 1
}

// symbolic reads a symbol with its suffix. One that is a number by now is replaced by it.
func (a *assembler) symbolic(toks []token, i int) (value, int) {
	t := toks[i]
	name := t.text
	for i++; tokAt(toks, i).kind == tokWord && toks[i].glued && toks[i].text[0] == '.'; i++ {
		name += toks[i].text
	}
	v := value{plus: name}
	if name == "." {
		v.plus = a.here()
	} else if s := a.symbols[name]; s != nil && s.defined && !s.place && !s.value.open() {
		v = s.value
	}
	if tokAt(toks, i).is("@") {
		if k := tokAt(toks, i+1); !strings.EqualFold(k.text, "pcrel") {
			fail(k, "relocation @%s is not supported", k.text)
		}
		v.pcrel = true
		i += 2
	}
	return v, i
}

// absolute parses an expression that must be a number by now.
func (a *assembler) absolute() int64 {
	t := a.peek()
	v, n := a.expr(a.toks, a.pos)
	a.pos = min(n, len(a.toks)-1)
	if v = a.fold(v, 0); v.open() {
		fail(t, "number expected, the value of %s is not known here", v.plus+v.minus)
	}
	return v.add
}

// fold makes a difference of two places a number if nothing between them can still grow.
func (a *assembler) fold(v value, depth int) value {
	for k, name := range [...]string{v.plus, v.minus} {
		if s := a.symbols[name]; s != nil && s.defined && !s.place && depth < maxExprDepth {
			rest, op := v, "+"
			if rest.plus = ""; k == 1 {
				rest, op = v, "-"
				rest.minus = ""
			}
			if w, err := combine(op, rest, s.value); err == nil {
				return a.fold(w, depth+1)
			}
		}
	}
	x, y := a.symbols[v.plus], a.symbols[v.minus]
	if x == nil || y == nil || v.pcrel || v.half != 0 || !x.place || !y.place || x.section != y.section {
		return v
	}
	s := &a.sections[x.section]
	to, from := s.before(x.item), s.before(y.item)
	if to.moving != from.moving {
		return v
	}
	return value{add: v.add + to.fixed - from.fixed, late: true}
}

// resolve is the number of v for a packet or datum at address here.
func (a *assembler) resolve(v value, here uint32, at token, depth int) int64 {
	n := v.add
	for k, name := range [...]string{v.plus, v.minus} {
		if name == "" {
			continue
		}
		s := a.symbols[name]
		if s == nil || !s.defined {
			fail(at, "label %s is not defined", strings.TrimPrefix(name, hiddenName))
		}
		if depth > maxExprDepth {
			fail(at, "symbol %s is defined by itself", name)
		}
		m := int64(0)
		if s.place {
			m = int64(a.address(s))
		} else {
			m = a.resolve(s.value, here, at, depth+1)
		}
		if k == 1 {
			m = -m
		}
		n += m
	}
	if v.pcrel {
		n -= int64(here)
	}
	switch v.half {
	case 1:
		n &= 0xffff
	case 2:
		n = n >> 16 & 0xffff
	}
	return n
}
