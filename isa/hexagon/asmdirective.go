package hexagon

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
)

// directives by name. Some say nothing that an image needs; .falign is a wish that LLVM does not grant either.
var directives map[string]func(a *assembler, t token) error

func init() {
	directives = map[string]func(a *assembler, t token) error{
		".text": toSection, ".data": toSection, ".bss": toSection, ".rodata": toSection, ".section": toSection,
		".byte": data(1), ".half": data(2), ".hword": data(2), ".short": data(2), ".2byte": data(2),
		".word": data(4), ".long": data(4), ".int": data(4), ".4byte": data(4), ".quad": data(8), ".8byte": data(8),
		".ascii": text(""), ".asciz": text("\x00"), ".string": text("\x00"),
		".space": space, ".skip": space, ".zero": space, ".fill": fill,
		".align": align(false), ".balign": align(false), ".p2align": align(true),
		".set": assign, ".equ": assign, ".equiv": assign,
		".globl": mark, ".global": mark, ".type": mark,
		".comm": common, ".lcomm": common,
		".rept": repeat, ".rep": repeat,
		".end": func(a *assembler, _ token) error { a.stopped = true; return nil },
	}
	for _, name := range strings.Fields(".falign .file .loc .size .ident .weak .hidden .local .protected .internal .addrsig .addrsig_sym .attribute " +
		".cfi_startproc .cfi_endproc .cfi_def_cfa .cfi_def_cfa_offset .cfi_def_cfa_register .cfi_offset .cfi_sections .cfi_restore .cfi_personality .cfi_lsda .cfi_adjust_cfa_offset") {
		directives[name] = func(a *assembler, _ token) error { a.skipLine(); return nil }
	}
}

func (a *assembler) directive(t token) error {
	f := directives[t.text]
	if f == nil {
		return a.errorf(t, "unknown directive %s", t.text)
	}
	if err := f(a, t); err != nil {
		return err
	}
	if n := a.peek(); !n.ends() && !a.stopped {
		return a.errorf(n, "%q after %s", n.text, t.text)
	}
	return nil
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

// sectionKinds are the sections that a program can have. Names beyond these go to the one they begin with.
var sectionKinds = [...]struct {
	name              string
	exec, write, zero bool
	prefixes          []string
}{
	secText:   {".text", true, false, false, []string{".text", ".init", ".fini"}},
	secRodata: {".rodata", false, false, false, []string{".rodata", ".srodata"}},
	secData:   {".data", false, true, false, []string{".data", ".sdata", ".lita"}},
	secBSS:    {".bss", false, true, true, []string{".bss", ".sbss"}},
	secNone:   {".note", false, false, false, []string{".note", ".comment", ".debug", ".hexagon.attributes", ".llvm"}},
}

const (
	secText = iota
	secRodata
	secData
	secBSS
	secNone // dropped from the image
	numSections
)

func toSection(a *assembler, t token) error {
	name := t.text
	if name == ".section" {
		n, err := a.name()
		if err != nil {
			return err
		}
		name = n.text
		a.skipLine() // flags: the name tells what it is
	}
	for k := range sectionKinds {
		for _, p := range sectionKinds[k].prefixes {
			if name == p || strings.HasPrefix(name, p) && strings.IndexByte("._", name[len(p)]) >= 0 {
				a.cur = k
				return nil
			}
		}
	}
	return a.errorf(t, "section %s is not one of .text, .rodata, .data and .bss", name)
}

func data(size int) func(a *assembler, t token) error {
	return func(a *assembler, t token) error {
		if a.peek().ends() {
			return nil
		}
		it := item{kind: itemData, at: t}
		for {
			at := a.peek()
			v, n, err := a.expr(a.toks, a.pos)
			if err != nil {
				return err
			}
			a.pos = n
			if v.open() {
				it.fixups = append(it.fixups, dataFix{len(it.data), size, v, at})
			} else if err := fitsData(v.add, size); err != nil {
				return a.errorf(at, "%s", err)
			}
			it.data = append(it.data, binary.LittleEndian.AppendUint64(nil, uint64(v.add))[:size]...)
			if !a.comma() {
				return a.add(it)
			}
		}
	}
}

func fitsData(v int64, size int) error {
	if n := 8 * size; n < 64 && (v >= 1<<n || v < -1<<(n-1)) {
		return fmt.Errorf("%d does not fit %d bytes", v, size)
	}
	return nil
}

func text(end string) func(a *assembler, t token) error {
	return func(a *assembler, t token) error {
		it := item{kind: itemData, at: t}
		for {
			s := a.next()
			if s.kind != tokString {
				return a.errorf(s, "%s takes quoted text", t.text)
			}
			it.data = append(it.data, s.text+end...)
			if !a.comma() {
				return a.add(it)
			}
		}
	}
}

func space(a *assembler, t token) error {
	n, err := a.absolute()
	if err != nil {
		return err
	}
	it := item{kind: itemSpace, n: n, at: t}
	if a.comma() {
		v, err := a.absolute()
		if err != nil {
			return err
		}
		it.fill = byte(v)
	}
	return a.add(it)
}

// fill is .fill COUNT, SIZE, VALUE.
func fill(a *assembler, t token) error {
	n, err := a.absolute()
	size, v := int64(1), int64(0)
	if err == nil && a.comma() {
		if size, err = a.absolute(); err == nil && a.comma() {
			v, err = a.absolute()
		}
	}
	if err != nil {
		return err
	}
	if n < 0 || size < 0 || size > 8 || n > maxAsmBytes {
		return a.errorf(t, ".fill of %d times %d bytes", n, size)
	}
	it := item{kind: itemData, at: t}
	if a.bytes+n*size > maxAsmBytes {
		return a.errorf(t, "more than %d bytes", maxAsmBytes)
	}
	for range n {
		it.data = append(it.data, binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]...)
	}
	return a.add(it)
}

func align(power bool) func(a *assembler, t token) error {
	return func(a *assembler, t token) error {
		n, err := a.absolute()
		if err != nil {
			return err
		}
		if power && n >= 0 && n < 32 {
			n = 1 << n
		}
		it := item{kind: itemAlign, n: n, limit: n, at: t}
		if a.comma() && !a.peek().is(",") {
			v, err := a.absolute()
			if err != nil {
				return err
			}
			it.fill, it.filled = byte(v), v != 0
		}
		if a.comma() {
			if it.limit, err = a.absolute(); err != nil {
				return err
			}
		}
		if n < 1 || n > elfPage || bits.OnesCount64(uint64(n)) != 1 {
			return a.errorf(t, "alignment of %d is not a power of two up to %d", n, elfPage)
		}
		return a.add(it)
	}
}

func assign(a *assembler, _ token) error {
	name, err := a.name()
	if err != nil {
		return err
	}
	if !a.comma() {
		return a.errorf(a.peek(), ", expected")
	}
	return a.set(name)
}

// pairingSymbol turns compounds and duplexes on and off where it is set.
const pairingSymbol = ".pairing"

// set gives a name the value of the expression that follows.
func (a *assembler) set(name token) error {
	v, n, err := a.expr(a.toks, a.pos)
	if err != nil {
		return err
	}
	a.pos = n
	s := a.symbol(name.text)
	if s.defined && s.place {
		return a.errorf(name, "label %s is defined twice", name.text)
	}
	s.defined, s.value, s.at = true, v, name
	if name.text == pairingSymbol && !a.opt.Separate {
		a.pairing = v.add != 0
	}
	return nil
}

// mark notes which symbols are global and which are functions.
func mark(a *assembler, t token) error {
	for {
		n, err := a.name()
		if err != nil {
			return err
		}
		s := a.symbol(n.text)
		if t.text != ".type" {
			s.global = true
		} else if a.comma() {
			for !a.peek().ends() {
				s.isFunc = s.isFunc || a.next().text == "function"
			}
		}
		if !a.comma() {
			return nil
		}
	}
}

// common is .comm NAME, SIZE, ALIGNMENT: zeroed memory.
func common(a *assembler, t token) error {
	name, err := a.name()
	if err == nil && !a.comma() {
		err = a.errorf(a.peek(), "%s takes a name and a size", t.text)
	}
	size := int64(0)
	if err == nil {
		size, err = a.absolute()
	}
	n := int64(8)
	if err == nil && a.comma() {
		n, err = a.absolute()
		for err == nil && a.comma() { // LLVM's access size
			_, err = a.absolute()
		}
	}
	if err != nil {
		return err
	}
	if n < 1 || n > elfPage || bits.OnesCount64(uint64(n)) != 1 {
		return a.errorf(t, "alignment of %d is not a power of two up to %d", n, elfPage)
	}
	defer func(s int) { a.cur = s }(a.cur)
	a.cur = secBSS
	if err := a.add(item{kind: itemAlign, n: n, limit: n, at: t}); err != nil {
		return err
	}
	if err := a.define(name); err != nil {
		return err
	}
	return a.add(item{kind: itemSpace, n: size, at: t})
}

// repeat is .rept COUNT ... .endr.
func repeat(a *assembler, t token) error {
	n, err := a.absolute()
	if err != nil {
		return err
	}
	from, depth := a.pos, 1
	for first := false; ; a.pos++ {
		k := a.peek()
		if k.kind == tokEOF {
			return a.errorf(t, "%s without .endr", t.text)
		}
		if first && (k.text == ".rept" || k.text == ".rep") {
			depth++
		}
		if first && k.text == ".endr" {
			if depth--; depth == 0 {
				break
			}
		}
		first = k.ends()
	}
	body := append(append([]token(nil), a.toks[from:a.pos]...), token{kind: tokEOF, line: t.line, col: t.col})
	all, after := a.toks, a.pos+1
	for range n {
		a.toks, a.pos = body, 0
		if a.depth++; a.depth > maxExprDepth {
			return a.errorf(t, "%s nests too deep", t.text)
		}
		if err := a.statements(); err != nil {
			return err
		}
		a.depth--
	}
	a.toks, a.pos = all, after
	return nil
}
