package asm

import "strings"

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

// sectionNamed is the section that a name and the rest of its .section line mean.
func sectionNamed(name, flags string) (int, bool) {
	for k := range sectionKinds {
		for _, p := range sectionKinds[k].prefixes {
			if name == p || strings.HasPrefix(name, p) && strings.IndexByte("._", name[len(p)]) >= 0 {
				return k, true
			}
		}
	}
	quoted, kind, _ := strings.Cut(flags, ",")
	quoted = strings.TrimSpace(quoted)
	switch {
	case len(quoted) < 2 || quoted[0] != '"':
		return 0, false
	case !strings.Contains(quoted, "a"):
		return secNone, true
	case strings.Contains(quoted, "x"):
		return secText, true
	case !strings.Contains(quoted, "w"):
		return secRodata, true
	case strings.Contains(kind, "nobits"):
		return secBSS, true
	}
	return secData, true
}

func toSection(a *assembler, t token) {
	name, flags, how := t.text, "", strings.ToLower(t.text)
	if how == ".section" || how == ".pushsection" {
		n := a.name()
		name = n.text
		a.comma()
		flags = a.rest()
	}
	k, ok := sectionNamed(name, flags)
	if !ok {
		fail(t, "section %s is not one of .text, .rodata, .data and .bss and has no flags", name)
	}
	if how == ".pushsection" {
		if len(a.pushed) == maxAsmNesting {
			fail(t, "%s nests too deep", t.text)
		}
		a.pushed = append(a.pushed, [2]int{a.cur, a.previous})
	}
	a.cur, a.previous = k, a.cur
}

func popSection(a *assembler, t token) {
	n := len(a.pushed) - 1
	if n < 0 {
		fail(t, "%s without .pushsection", t.text)
	}
	a.cur, a.previous = a.pushed[n][0], a.pushed[n][1]
	a.pushed = a.pushed[:n]
}

func previousSection(a *assembler, _ token) {
	a.cur, a.previous = a.previous, a.cur
}
