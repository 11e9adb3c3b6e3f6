package main

import (
	"bytes"
	"fmt"
	"strings"
)

const manualHead = `# RDNA2 (gfx1030) instructions

Generated from isa/rdna2/ops.txt; do not edit. D is the destination, S0 S1 S2 the sources, K a 32-bit constant,
MEM the addressed memory; *mask* is one bit per lane (one scalar register in wave32, two in wave64). Vector
instructions work on the lanes whose EXEC bit is set. Operand classes are explained at the top of ops.txt.

`

// manual is the Markdown manual.
func manual(secs []section) []byte {
	var b bytes.Buffer
	b.WriteString(manualHead)
	nm, nf := 0, 0
	for _, s := range secs {
		nm += len(s.mnemonics)
		for _, m := range s.mnemonics {
			nf += len(m.forms)
		}
	}
	fmt.Fprintf(&b, "%d mnemonics, %d forms.\n", nm, nf)
	for _, s := range secs {
		fmt.Fprintf(&b, "\n## %s\n\n| mnemonic | unit | meaning | forms |\n|---|---|---|---|\n", s.title)
		for _, m := range s.mnemonics {
			var fs []string
			for _, f := range m.forms {
				fs = append(fs, formCell(f))
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, m.sched, strings.ReplaceAll(m.meaning, "|", `\|`), strings.Join(fs, "<br>"))
		}
	}
	return b.Bytes()
}

func formCell(f form) string {
	var ops []string
	for _, o := range f.operands {
		ops = append(ops, o.role+":"+o.class)
	}
	c := fmt.Sprintf("%s %#x `%s %s`", f.format, f.opcode, f.text, strings.Join(ops, " "))
	var notes []string
	if f.neg != "" {
		notes = append(notes, "neg "+f.neg)
	}
	notes = append(notes, f.flags...)
	if f.uses != nil {
		notes = append(notes, "reads "+strings.Join(f.uses, ","))
	}
	if f.defs != nil {
		notes = append(notes, "writes "+strings.Join(f.defs, ","))
	}
	if f.counts != nil {
		notes = append(notes, "counts "+strings.Join(f.counts, ","))
	}
	if notes != nil {
		c += " (" + strings.Join(notes, "; ") + ")"
	}
	return c
}
