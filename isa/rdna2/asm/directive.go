package asm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// ignored are the directives that do not change the loaded image.
var ignored = map[string]bool{
	".file": true, ".loc": true, ".ident": true, ".size": true, ".addrsig": true, ".addrsig_sym": true, ".hidden": true, ".protected": true,
	".internal": true, ".cfi_sections": true, ".cfi_startproc": true, ".cfi_endproc": true, ".cfi_def_cfa": true, ".cfi_escape": true,
	".cfi_undefined": true, ".cfi_register": true, ".cfi_offset": true, ".cfi_def_cfa_offset": true, ".cfi_def_cfa_register": true, ".cfi_restore": true,
	".cfi_remember_state": true, ".cfi_restore_state": true, ".cfi_llvm_def_aspace_cfa": true, ".amdgpu_lds": true, ".extern": true,
}

// sectionKinds are the rights of sections by the beginning of their name.
var sectionKinds = map[string]codeobject.Section{
	".text": {Align: 4, Exec: true}, ".rodata": {Align: 1}, ".data": {Align: 1, Write: true}, ".bss": {Align: 1, Write: true}, ".fini_array": {Align: 8, Write: true},
}

// section switches to a section, which kind describes when it is new.
func (a *assembler) section(name string, kind codeobject.Section) {
	for i := range a.unit.Sections {
		if a.unit.Sections[i].Name == name {
			a.cur = i
			return
		}
	}
	kind.Name = name
	kind.Align = cmp.Or(kind.Align, 1)
	a.cur = len(a.unit.Sections)
	a.unit.Sections = append(a.unit.Sections, kind)
}

func (a *assembler) sectionDirective(rest string) {
	p := splitOperands(rest)
	name := strings.Trim(p[0], `"`)
	if name == "" {
		fail(".section has no name")
	}
	kind := codeobject.Section{Align: 1}
	for prefix, k := range sectionKinds {
		if name == prefix || strings.HasPrefix(name, prefix+".") {
			kind = k
		}
	}
	if len(p) > 1 {
		flags := strings.Trim(p[1], `"`)
		kind.Exec = kind.Exec || strings.Contains(flags, "x")
		kind.Write = kind.Write || strings.Contains(flags, "w")
	}
	a.section(name, kind)
}

// sizes of the data directives.
var dataSizes = map[string]int{
	".byte": 1, ".short": 2, ".2byte": 2, ".hword": 2, ".half": 2, ".value": 2, ".long": 4, ".4byte": 4, ".int": 4, ".word": 4, ".quad": 8, ".8byte": 8,
}

func (a *assembler) directive(word, rest string) {
	if a.kernel != nil {
		a.kernelDirective(word, rest)
		return
	}
	if strings.HasPrefix(word, ".amdhsa_") && word != ".amdhsa_kernel" && word != ".amdhsa_code_object_version" {
		fail("%s outside .amdhsa_kernel", word)
	}
	if size := dataSizes[word]; size != 0 {
		for _, item := range splitOperands(rest) {
			a.data(item, size)
		}
		return
	}
	if ignored[word] {
		return
	}
	switch word {
	case ".text", ".data", ".bss", ".rodata":
		a.section(word, sectionKinds[word])
	case ".section", ".pushsection":
		a.sectionDirective(rest)
	case ".p2align", ".p2alignw", ".p2alignl", ".align", ".balign", ".balignw", ".balignl":
		a.align(word, rest)
	case ".globl", ".global", ".weak", ".local":
		for _, name := range splitOperands(rest) {
			a.unit.Symbols[a.symbol(name)].Global = word != ".local"
		}
	case ".type":
		name, typ, _ := strings.Cut(rest, ",")
		a.types[strings.TrimSpace(name)] = strings.TrimLeft(strings.TrimSpace(typ), "@%#")
	case ".set", ".equ", ".equiv":
		name, expr, ok := strings.Cut(rest, ",")
		if !ok {
			fail("%s takes a name and a value", word)
		}
		a.assign(strings.TrimSpace(name), strings.TrimSpace(expr), word == ".equiv")
	case ".ascii", ".asciz", ".string":
		for _, s := range splitOperands(rest) {
			text, err := strconv.Unquote(s)
			if err != nil {
				fail("%s is no string", s)
			}
			if word != ".ascii" {
				text += "\x00"
			}
			a.emit([]byte(text)...)
		}
	case ".float", ".single", ".double":
		a.floats(splitOperands(rest), word == ".double")
	case ".zero", ".space", ".skip":
		a.fillBytes(rest, 1)
	case ".fill":
		a.fillBytes(rest, 0)
	case ".amdgcn_target":
		checkTarget(rest)
	case ".amdhsa_code_object_version":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 3 || n > 6 {
			fail("code object version %s, want 3 to 6", rest)
		}
		a.unit.Version = n
	case ".amdgpu_metadata":
		a.inYAML, a.yaml = true, nil
	case ".amdhsa_kernel":
		if rest == "" {
			fail(".amdhsa_kernel has no name")
		}
		a.kernel = newKernel(rest)
	default:
		fail("unknown directive %s", word)
	}
}

// floats emits numbers of four bytes, or of eight where they are double.
func (a *assembler) floats(numbers []string, double bool) {
	for _, s := range numbers {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			fail("%q is no number", s)
		}
		b := binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
		if !double {
			b = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
		}
		a.emit(b...)
	}
}

// checkTarget refuses sources for other chips.
func checkTarget(s string) {
	s = strings.Trim(s, `"`)
	_, chip, _ := strings.Cut(s, "--")
	chip, _, _ = strings.Cut(chip, ":")
	if strings.HasPrefix(chip, "gfx103") || chip == "gfx10-3-generic" {
		return
	}
	fail("target %s, this GPU runs gfx1030", s)
}

// known is the value of an expression that must be a constant here.
func (a *assembler) known(s string) int64 {
	v := a.parse(s)
	n, ok := a.constant(v)
	if !ok {
		fail("%s is not known here", s)
	}
	return n
}

func (a *assembler) assign(name, expr string, once bool) {
	v := a.parse(expr)
	s := &a.unit.Symbols[a.symbol(name)]
	if s.Section >= 0 || once && s.Section != codeobject.Undefined {
		fail("symbol %s is defined twice", name)
	}
	if n, ok := a.constant(v); ok {
		s.Section, s.Addr = absolute, uint64(n)
		return
	}
	if p := a.place(v.plus); p != nil && v.minus == "" {
		s.Section, s.Addr = p.Section, p.Addr+uint64(v.add)
		return
	}
	fail("%s = %s is not known here", name, expr)
}

// data emits one item of size bytes.
func (a *assembler) data(item string, size int) {
	v := a.parse(item)
	if n, ok := a.constant(v); ok {
		b := make([]byte, size)
		putInt(b, size, n)
		a.emit(b...)
		return
	}
	a.fixups = append(a.fixups, fixup{section: a.cur, offset: uint64(len(a.here().Data)), size: size, expr: v, line: a.line})
	a.emit(make([]byte, size)...)
}

// align is an alignment directive: boundary[, fill value]. Code is filled with s_nop unless a value is specified; the
// directive's last letter is the width of the value.
func (a *assembler) align(word, rest string) {
	p := splitOperands(rest)
	n := a.known(p[0])
	if strings.HasPrefix(word, ".p2align") {
		if n < 0 || n > 16 {
			fail("%s %d, want 0 to 16", word, n)
		}
		n = 1 << n
	}
	if n < 1 || n > 1<<16 || n&(n-1) != 0 {
		fail("%s %d, want a power of two up to 65536", word, n)
	}
	s := a.here()
	s.Align = max(s.Align, uint64(n))
	pad := []byte{0}
	switch {
	case len(p) > 1 && p[1] != "":
		v := a.known(p[1])
		width := map[byte]int{'w': 2, 'l': 4}[word[len(word)-1]]
		pad = binary.LittleEndian.AppendUint64(nil, uint64(v))[:max(width, 1)]
	case s.Exec:
		pad = []byte{0, 0, 0x80, 0xBF} // s_nop 0
	}
	for len(s.Data)%int(n) != 0 {
		if len(s.Data)%len(pad) != 0 {
			a.emit(0)
			continue
		}
		a.emit(pad...)
	}
}

// fillBytes is .zero n[, value] (size 1) or .fill n[, size[, value]].
func (a *assembler) fillBytes(rest string, size int64) {
	var v [3]int64
	p := splitOperands(rest)
	if len(p) > 3 {
		fail("%d operands", len(p))
	}
	for i := range p {
		n := a.known(p[i])
		v[i] = n
	}
	count, value := v[0], v[1]
	if size == 0 {
		if size, value = v[1], v[2]; len(p) < 2 {
			size = 1
		}
	}
	if count < 0 || size < 0 || size > 8 || count > maxBytes/max(size, 1) {
		fail("%d items of %d bytes, at most %d bytes", count, size, maxBytes)
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(value))[:size]
	for range count {
		a.emit(b...)
	}
}
