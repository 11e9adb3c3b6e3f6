package asm

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// value is a constant, or plus - minus + add for symbols.
type value struct {
	plus, minus string
	variant     string // after the @ of plus
	add         int64
}

func (v *value) plain() bool { return v.plus == "" && v.minus == "" }

const maxExprDepth = 64

type exprParser struct {
	a     *assembler
	s     string
	depth int
}

// parse reads an expression.
func (a *assembler) parse(s string) value {
	p := exprParser{a: a, s: s}
	v := p.binary(0)
	if p.skip() != "" {
		fail("%q is no expression", s)
	}
	return v
}

func (p *exprParser) skip() string {
	p.s = strings.TrimLeft(p.s, " \t")
	return p.s
}

// operators by strength, weakest first; longer ones before their beginnings.
var operators = [][]string{{"||"}, {"&&"}, {"==", "!=", "<>", "<=", ">=", "<", ">"}, {"|", "^", "&"}, {"+", "-"}, {"<<", ">>"}, {"*", "/", "%"}}

func (p *exprParser) operator(level int) string {
	s := p.skip()
	for _, op := range operators[level] {
		if !strings.HasPrefix(s, op) {
			continue
		}
		// "<" is not the beginning of "<<", nor "|" of "||".
		if len(op) == 1 && len(s) > 1 && strings.IndexByte("<>|&=", s[1]) >= 0 && strings.IndexByte("<>|&", op[0]) >= 0 {
			continue
		}
		return op
	}
	return ""
}

func (p *exprParser) binary(level int) value {
	if level == len(operators) {
		return p.unary()
	}
	x := p.binary(level + 1)
	for {
		op := p.operator(level)
		if op == "" {
			return x
		}
		p.s = p.s[len(op):]
		x = p.a.combine(op, x, p.binary(level+1))
	}
}

func (p *exprParser) unary() value {
	if p.depth++; p.depth > maxExprDepth {
		fail("expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	s := p.skip()
	if s == "" {
		fail("expression ends early")
	}
	switch s[0] {
	case '-', '~', '!', '+':
		p.s = s[1:]
		v := p.unary()
		if s[0] == '+' {
			return v
		}
		if s[0] == '-' {
			return p.a.combine("-", value{}, v)
		}
		n, ok := p.a.constant(v)
		if !ok {
			fail("%c of an address", s[0])
		}
		if s[0] == '~' {
			return value{add: ^n}
		}
		return truth(n == 0)
	case '(':
		p.s = s[1:]
		v := p.binary(0)
		if !strings.HasPrefix(p.skip(), ")") {
			fail("a parenthesis is not closed")
		}
		p.s = p.s[1:]
		return v
	case '\'':
		if len(s) > 2 && s[2] == '\'' {
			p.s = s[3:]
			return value{add: int64(s[1])}
		}
	}
	n := 0
	for n < len(s) && (isName(s[n]) || s[n] == '@') {
		n++
	}
	if n == 0 {
		fail("%q is no expression", s)
	}
	word := s[:n]
	p.s = s[n:]
	if strings.HasPrefix(p.skip(), "(") {
		return p.call(word)
	}
	switch {
	case isLocalRef(word):
		return p.a.localRef(word)
	case word[0] >= '0' && word[0] <= '9':
		u, err := strconv.ParseUint(word, 0, 64)
		if err != nil {
			fail("%q is no number", word)
		}
		return value{add: int64(u)}
	case word == ".":
		return p.a.hereSymbol()
	}
	name, variant, _ := strings.Cut(word, "@")
	return value{plus: name, variant: variant}
}

// call is a function of LLVM's expressions.
func (p *exprParser) call(name string) value {
	p.s = p.s[1:]
	var args []int64
	for {
		v := p.binary(0)
		n, ok := p.a.constant(v)
		if !ok {
			fail("%s of an address", name)
		}
		args = append(args, n)
		s := p.skip()
		if s == "" || s[0] != ',' && s[0] != ')' {
			fail("a parenthesis is not closed")
		}
		p.s = s[1:]
		if s[0] == ')' {
			break
		}
	}
	out := args[0]
	switch name {
	case "max":
		for _, n := range args {
			out = max(out, n)
		}
	case "or":
		for _, n := range args {
			out |= n
		}
	case "alignto":
		if len(args) != 2 || args[1] <= 0 {
			fail("alignto takes a value and an alignment")
		}
		out = (out + args[1] - 1) / args[1] * args[1]
	default:
		fail("unknown function %s", name)
	}
	return value{add: out}
}

func truth(b bool) value {
	if b {
		return value{add: 1}
	}
	return value{}
}

// localRef is the place that 1b or 1f names.
func (a *assembler) localRef(s string) value {
	number, n := s[:len(s)-1], a.numbered[s[:len(s)-1]]
	if s[len(s)-1] == 'f' {
		n++
	}
	if n == 0 {
		fail("no label %s before this", number)
	}
	return value{plus: numberedName(number, n)}
}

// hereSymbol names the current place.
func (a *assembler) hereSymbol() value {
	name := fmt.Sprintf("\x00here.%d.%d", a.cur, len(a.here().Data))
	s := &a.unit.Symbols[a.symbol(name)]
	s.Section, s.Addr = a.cur, uint64(len(a.here().Data))
	return value{plus: name}
}

// combine applies an operator; symbols may be added, subtracted and offset.
func (a *assembler) combine(op string, x, y value) value {
	switch {
	case op == "+" && (x.plus == "" || y.plus == "") && (x.minus == "" || y.minus == ""):
		return value{plus: x.plus + y.plus, minus: x.minus + y.minus, variant: x.variant + y.variant, add: x.add + y.add}
	case op == "-" && y.variant == "" && (x.minus == "" || y.plus == "") && (x.plus == "" || y.minus == ""):
		return value{plus: x.plus + y.minus, minus: x.minus + y.plus, variant: x.variant, add: x.add - y.add}
	}
	m, ok := a.constant(x)
	n, ok2 := a.constant(y)
	if !ok || !ok2 {
		fail("symbols can be added, subtracted and offset, not combined by %s", op)
	}
	switch op {
	case "+":
		m += n
	case "-":
		m -= n
	case "*":
		if hi, _ := bits.Mul64(uint64(max(m, -m)), uint64(max(n, -n))); hi != 0 {
			fail("product overflows")
		}
		m *= n
	case "/", "%":
		if n == 0 || m == math.MinInt64 && n == -1 {
			fail("%d %s %d", m, op, n)
		}
		if op == "/" {
			m /= n
		} else {
			m %= n
		}
	case "<<", ">>":
		if n < 0 || n > 63 {
			fail("shift by %d", n)
		}
		if op == "<<" {
			m <<= n
		} else {
			m = int64(uint64(m) >> n)
		}
	case "&":
		m &= n
	case "|":
		m |= n
	case "^":
		m ^= n
	case "&&":
		return truth(m != 0 && n != 0)
	case "||":
		return truth(m != 0 || n != 0)
	case "==":
		return truth(m == n)
	case "!=", "<>":
		return truth(m != n)
	case "<":
		return truth(m < n)
	case ">":
		return truth(m > n)
	case "<=":
		return truth(m <= n)
	case ">=":
		return truth(m >= n)
	}
	return value{add: m}
}

// fold replaces symbols that are values.
func (a *assembler) fold(v value) value {
	if i, ok := a.symbols[v.plus]; ok && v.plus != "" && a.unit.Symbols[i].Section == absolute {
		v.plus, v.add = "", v.add+int64(a.unit.Symbols[i].Addr)
	}
	if i, ok := a.symbols[v.minus]; ok && v.minus != "" && a.unit.Symbols[i].Section == absolute {
		v.minus, v.add = "", v.add-int64(a.unit.Symbols[i].Addr)
	}
	if v.plus != "" && v.plus == v.minus {
		v.plus, v.minus = "", ""
	}
	return v
}

// constant is the number of a value, when it is known by now.
func (a *assembler) constant(v value) (int64, bool) {
	v = a.fold(v)
	if v.plain() {
		return v.add, true
	}
	p, m := a.place(v.plus), a.place(v.minus)
	if p != nil && m != nil && p.Section == m.Section {
		return v.add + int64(p.Addr-m.Addr), true
	}
	return 0, false
}
