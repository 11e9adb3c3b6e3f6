package asm

import "strings"

// conditions evaluate whether the statements after a directive are read; they read the rest of its line.
var conditions = map[string]func(a *assembler) bool{
	".if":       compared(func(n int64) bool { return n != 0 }),
	".ifne":     compared(func(n int64) bool { return n != 0 }),
	".ifeq":     compared(func(n int64) bool { return n == 0 }),
	".ifgt":     compared(func(n int64) bool { return n > 0 }),
	".ifge":     compared(func(n int64) bool { return n >= 0 }),
	".iflt":     compared(func(n int64) bool { return n < 0 }),
	".ifle":     compared(func(n int64) bool { return n <= 0 }),
	".ifdef":    defined(true),
	".ifndef":   defined(false),
	".ifnotdef": defined(false),
	".ifb":      func(a *assembler) bool { return a.rest() == "" },
	".ifnb":     func(a *assembler) bool { return a.rest() != "" },
	".ifc":      same(true),
	".ifnc":     same(false),
	".ifeqs":    sameStrings(true),
	".ifnes":    sameStrings(false),
}

func compared(holds func(int64) bool) func(a *assembler) bool {
	return func(a *assembler) bool {
		return holds(a.absolute())
	}
}

func defined(want bool) func(a *assembler) bool {
	return func(a *assembler) bool {
		s := a.symbols[a.name().text]
		return (s != nil && s.defined) == want
	}
}

// same compares two texts.
func same(want bool) func(a *assembler) bool {
	return func(a *assembler) bool {
		x, y, found := strings.Cut(a.rest(), ",")
		if !found {
			fail(a.peek(), ", expected")
		}
		return (strings.TrimSpace(x) == strings.TrimSpace(y)) == want
	}
}

func sameStrings(want bool) func(a *assembler) bool {
	return func(a *assembler) bool {
		x := a.next()
		comma := a.comma()
		y := a.peek()
		if x.kind != tokString || y.kind != tokString || !comma {
			fail(x, "two quoted texts expected")
		}
		a.pos++
		return (x.text == y.text) == want
	}
}

func ifs(a *assembler, t token) {
	holds := a.evaluate(t, conditions[t.text])
	a.conds = append(a.conds, condition{taken: holds, at: t})
	if !holds {
		a.skipBranch()
	}
}

func (a *assembler) evaluate(t token, f func(a *assembler) bool) bool {
	holds := f(a)
	a.endLine(t)
	return holds
}

// otherwise is .else and .elseif.
func otherwise(a *assembler, t token) {
	if len(a.conds) == a.base || a.conds[len(a.conds)-1].last {
		fail(t, "%s without .if", t.text)
	}
	c := &a.conds[len(a.conds)-1]
	c.last = t.text == ".else"
	if c.taken {
		a.skipBranch()
		return
	}
	if c.taken = true; !c.last {
		c.taken = a.evaluate(t, conditions[".if"])
	} else {
		a.endLine(t)
	}
	if !c.taken {
		a.skipBranch()
	}
}

func endIf(a *assembler, t token) {
	if len(a.conds) == a.base {
		fail(t, "%s without .if", t.text)
	}
	a.conds = a.conds[:len(a.conds)-1]
	a.endLine(t)
}

// skipBranch skips to the directive that ends the branch.
func (a *assembler) skipBranch() {
	for depth := 0; ; {
		for !a.peek().ends() {
			a.pos++
		}
		if a.peek().kind == tokEOF {
			a.unclosed()
		}
		a.pos++
		t := a.peek()
		if t.kind != tokWord {
			continue
		}
		switch name := strings.ToLower(t.text); {
		case conditions[name] != nil:
			depth++
		case depth > 0 && name == ".endif":
			depth--
		case depth == 0 && (name == ".endif" || name == ".else" || name == ".elseif"):
			return
		}
	}
}
