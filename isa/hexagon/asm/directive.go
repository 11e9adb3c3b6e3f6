package asm

import "strings"

// directives by name. Some have no effect on an image; .falign is a request that LLVM does not honour either.
var directives map[string]func(a *assembler, t token)

func init() {
	directives = map[string]func(a *assembler, t token){
		".text": toSection, ".data": toSection, ".bss": toSection, ".rodata": toSection, ".section": toSection,
		".pushsection": toSection, ".popsection": popSection, ".previous": previousSection,
		".byte": data(1), ".half": data(2), ".hword": data(2), ".short": data(2), ".2byte": data(2), ".value": data(2),
		".word": data(4), ".long": data(4), ".int": data(4), ".4byte": data(4), ".quad": data(8), ".8byte": data(8),
		".octa": octa, ".float": floats(4), ".single": floats(4), ".double": floats(8), ".uleb128": leb, ".sleb128": leb,
		".ascii": text(""), ".asciz": text("\x00"), ".string": text("\x00"),
		".space": space, ".skip": space, ".zero": space, ".fill": fill,
		".align": align(false), ".balign": align(false), ".p2align": align(true),
		".globl": mark, ".global": mark, ".type": mark,
		".comm": common, ".lcomm": common,
		".error": failure, ".err": failure,
		".end": func(a *assembler, _ token) { a.stopped = true },
	}
	for _, name := range strings.Fields(".falign .file .loc .line .size .ident .weak .hidden .local .protected .internal .addrsig .addrsig_sym .attribute " +
		".cfi_startproc .cfi_endproc .cfi_def_cfa .cfi_def_cfa_offset .cfi_def_cfa_register .cfi_offset .cfi_sections .cfi_restore .cfi_personality .cfi_lsda .cfi_adjust_cfa_offset") {
		directives[name] = func(a *assembler, _ token) { a.skipLine() }
	}
}

// toSections are the directives that are read in sections which are dropped, too.
var toSections = map[string]bool{
	".text": true, ".data": true, ".bss": true, ".rodata": true, ".section": true, ".pushsection": true, ".popsection": true, ".previous": true, ".end": true,
}

func (a *assembler) directive(t token) {
	f := directives[strings.ToLower(t.text)]
	if f == nil {
		fail(t, "unknown directive %s", t.text)
	}
	if a.cur == secNone && !toSections[strings.ToLower(t.text)] { // dropped sections may hold anything, such as the sizes of code
		a.skipLine()
		return
	}
	if f(a, t); !a.stopped {
		a.endLine(t)
	}
}

func (a *assembler) skipLine() {
	for !a.peek().ends() {
		a.pos++
	}
}

// comma skips a comma and reports whether there was one.
func (a *assembler) comma() bool {
	if a.peek().is(",") {
		a.pos++
		return true
	}
	return false
}

func assign(a *assembler, t token) {
	name := a.name()
	if !a.comma() {
		fail(a.peek(), ", expected")
	}
	a.set(name)
	a.endLine(t)
}

// pairingSymbol enables and disables compounds and duplexes where it is set.
const pairingSymbol = ".pairing"

// set sets a name to the value of the expression that follows.
func (a *assembler) set(name token) {
	v, n := a.expr(a.toks, a.pos)
	a.pos = n
	s := a.symbol(name.text)
	if s.defined && s.place {
		fail(name, "label %s is defined twice", name.text)
	}
	s.defined, s.value = true, v
	if name.text == pairingSymbol && !a.opt.Separate {
		a.pairing = v.add != 0
	}
}

// mark notes which symbols are global and which are functions.
func mark(a *assembler, t token) {
	for {
		n := a.name()
		s := a.symbol(n.text)
		if t.text != ".type" {
			s.global = true
		} else if a.comma() {
			for !a.peek().ends() {
				s.isFunc = s.isFunc || a.next().text == "function"
			}
		}
		if !a.comma() {
			return
		}
	}
}

// failure is .error TEXT and .err.
func failure(a *assembler, t token) {
	if s := a.peek(); s.kind == tokString {
		fail(t, "%s", s.text)
	}
	fail(t, "%s", t.text)
}
