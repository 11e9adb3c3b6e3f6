package exec_test

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/exec"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// The value table, testdata/values/*.txt, has the results of every instruction. Its bits follow from the published
// pseudo code, quoted beside them; none are outputs of the functions under test.
//
// A line that is not indented names mnemonics (with * for any text), and "clamp" when the bit is set. The rows below it
// hold for each of them in every encoding that it has: operands in the order of the instruction, then | and the
// results. Numbers are hexadecimal; a result of four digits is a half, and the other half of the register stays.
// Carries, selections and conditions are one bit. After the sources are, where the instruction reads them, the bit of
// VCC or SCC and the old destination.
//
//	v_alignbyte_b32                    # D = {S0, S1} >> 8*S2[1:0]
//	  01020304 05060708 1 | 04050607
//
// Rows of memory instructions name their values: "mem=.. data=.. dst=.. | mem=.. dst=..". Rows of compares have the
// relation of their operands: lt, eq, gt or un.
//
// A line with | that is not indented is an instruction with its own registers, the state before and the state after
// (see textRow). State that a row does not mention must not change.
type group struct {
	file  string
	line  int
	names []string
	clamp bool
	rows  []row
}

// row is one line of a group.
type row struct {
	line    int
	in, out []string
}

// textRow is an instruction with the state before and after.
type textRow struct {
	file    string
	line    int
	text    string
	in, out string
}

// readValues reads the table.
func readValues(t *testing.T) (groups []group, texts []textRow) {
	t.Helper()
	files, err := filepath.Glob("testdata/values/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no value table: %v", err)
	}
	for _, file := range files {
		b := require.File(t, file)
		for i, line := range strings.Split(string(b), "\n") {
			line, _, _ = strings.Cut(line, "#")
			indented := strings.HasPrefix(line, " ")
			parts := strings.Split(line, " | ")
			switch {
			case strings.TrimSpace(line) == "":
			case indented && len(parts) == 2 && len(groups) > 0:
				g := &groups[len(groups)-1]
				g.rows = append(g.rows, row{i + 1, strings.Fields(parts[0]), strings.Fields(parts[1])})
			case !indented && len(parts) == 3:
				texts = append(texts, textRow{filepath.Base(file), i + 1, strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2])})
			case !indented && len(parts) == 1:
				g := group{file: filepath.Base(file), line: i + 1, names: strings.Fields(line)}
				if n := len(g.names) - 1; g.names[n] == "clamp" {
					g.names, g.clamp = g.names[:n], true
				}
				groups = append(groups, g)
			default:
				t.Fatalf("%s:%d: neither names nor a row", file, i+1)
			}
		}
	}
	return groups, texts
}

// forms are the forms of the mnemonics that match a pattern.
func forms(pattern string) []*rdna2.Form {
	var out []*rdna2.Form
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		if ok, _ := path.Match(pattern, op.Form().Mnemonic.String()); ok {
			out = append(out, op.Form())
		}
	}
	return out
}

// number is a hexadecimal value.
func number(s string) (uint64, error) {
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no hexadecimal number of 64 bits", s)
	}
	return v, nil
}

func numbers(s []string) ([]uint64, error) {
	out := make([]uint64, len(s))
	for i := range s {
		var err error
		if out[i], err = number(s[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// TestValues runs the table with each form of the routines that the host has, and demands a row for every form of the
// instruction set.
func TestValues(t *testing.T) { exec.EachForm(t, valueTable) }

func valueTable(t *testing.T) {
	groups, texts := readValues(t)
	covered := map[rdna2.Op]bool{}
	count := 0
	for i := range groups {
		g := &groups[i]
		for _, name := range g.names {
			fs := forms(name)
			if len(fs) == 0 {
				t.Errorf("%s:%d: no instruction %s", g.file, g.line, name)
			}
			for _, f := range fs {
				if g.clamp && !f.Has(rdna2.FlagClamp) {
					continue
				}
				if err := checkGroup(g, f); err != nil {
					t.Errorf("%s:%d: %s: %v", g.file, g.line, f.Name, err)
				}
				covered[f.Op] = true
			}
		}
		count += len(g.rows)
		if len(g.rows) == 0 {
			t.Errorf("%s:%d: no rows", g.file, g.line)
		}
	}
	for i := range texts {
		r := &texts[i]
		if err := r.check(covered); err != nil {
			t.Errorf("%s:%d: %s: %v", r.file, r.line, r.text, err)
		}
	}
	t.Logf("%d rows of %d groups, %d instructions", count, len(groups), len(texts))

	missing := map[rdna2.Mnemonic]bool{}
	for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
		if covered[op] {
			continue
		}
		m := op.Form().Mnemonic
		if !missing[m] {
			t.Errorf("%s (%s) has no row in testdata/values", m, op.Form().Name)
		}
		missing[m] = true
	}
}

// checkGroup runs the rows of a group on one form.
func checkGroup(g *group, f *rdna2.Form) error {
	switch {
	case f.IsVALU():
		return checkVector(g, f)
	case f.Format >= rdna2.SOP2 && f.Format <= rdna2.SOPP:
		for i := range g.rows {
			if err := checkScalar(&g.rows[i], f); err != nil {
				return fmt.Errorf("line %d: %w", g.rows[i].line, err)
			}
		}
		return nil
	}
	for i := range g.rows {
		if err := checkMemory(&g.rows[i], f); err != nil {
			return fmt.Errorf("line %d: %w", g.rows[i].line, err)
		}
	}
	return nil
}
