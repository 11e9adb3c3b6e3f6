package asm

import "strings"

// conditions evaluate whether the statements after a directive are read; they read the rest of its line.
var conditions = map[string]func(a *assembler) (bool, error){
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
	".ifb":      func(a *assembler) (bool, error) { return a.rest() == "", nil },
	".ifnb":     func(a *assembler) (bool, error) { return a.rest() != "", nil },
	".ifc":      same(true),
	".ifnc":     same(false),
	".ifeqs":    sameStrings(true),
	".ifnes":    sameStrings(false),
}

func compared(holds func(int64) bool) func(a *assembler) (bool, error) {
	return func(a *assembler) (bool, error) {
		n, err := a.absolute()
		return holds(n), err
	}
}

func defined(want bool) func(a *assembler) (bool, error) {
	return func(a *assembler) (bool, error) {
		n, err := a.name()
		s := a.symbols[n.text]
		return (s != nil && s.defined) == want, err
	}
}

// same compares two texts.
func same(want bool) func(a *assembler) (bool, error) {
	return func(a *assembler) (bool, error) {
		x, y, found := strings.Cut(a.rest(), ",")
		if !found {
			return false, a.errorf(a.peek(), ", expected")
		}
		return (strings.TrimSpace(x) == strings.TrimSpace(y)) == want, nil
	}
}

func sameStrings(want bool) func(a *assembler) (bool, error) {
	return func(a *assembler) (bool, error) {
		x := a.next()
		comma := a.comma()
		y := a.peek()
		if x.kind != tokString || y.kind != tokString || !comma {
			return false, a.errorf(x, "two quoted texts expected")
		}
		a.pos++
		return (x.text == y.text) == want, nil
	}
}

func ifs(a *assembler, t token) error {
	holds, err := a.evaluate(t, conditions[t.text])
	if err != nil {
		return err
	}
	a.conds = append(a.conds, condition{taken: holds, at: t})
	if !holds {
		return a.skipBranch()
	}
	return nil
}

func (a *assembler) evaluate(t token, f func(a *assembler) (bool, error)) (bool, error) {
	holds, err := f(a)
	if err == nil {
		err = a.endLine(t)
	}
	return holds, err
}

// otherwise is .else and .elseif.
func otherwise(a *assembler, t token) error {
	if len(a.conds) == a.base || a.conds[len(a.conds)-1].last {
		return a.errorf(t, "%s without .if", t.text)
	}
	c := &a.conds[len(a.conds)-1]
	c.last = t.text == ".else"
	if c.taken {
		return a.skipBranch()
	}
	var err error
	if c.taken = true; !c.last {
		c.taken, err = a.evaluate(t, conditions[".if"])
	} else {
		err = a.endLine(t)
	}
	if err == nil && !c.taken {
		err = a.skipBranch()
	}
	return err
}

func endIf(a *assembler, t token) error {
	if len(a.conds) == a.base {
		return a.errorf(t, "%s without .if", t.text)
	}
	a.conds = a.conds[:len(a.conds)-1]
	return a.endLine(t)
}

// skipBranch skips to the directive that ends the branch.
func (a *assembler) skipBranch() error {
	for depth := 0; ; {
		for !a.peek().ends() {
			a.pos++
		}
		if a.peek().kind == tokEOF {
			return a.unclosed()
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
			return nil
		}
	}
}
