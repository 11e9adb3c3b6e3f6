package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// operand is one role:class of a form.
type operand struct{ role, class string }

// form is one instruction form of the table.
type form struct {
	name, text, format string
	opcode             uint64
	operands           []operand
	flags              []string // bare flags, in table order
	neg                string   // digits of the sources that may be negated
	uses, defs, counts []string
}

// mnemonic is a heading of the table with its forms.
type mnemonic struct {
	name, sched, meaning string
	forms                []form
}

// section is a chapter of the manual.
type section struct {
	title     string
	mnemonics []mnemonic
}

// parse reads the table; errors name the line.
func parse(src []byte) ([]section, error) {
	var secs []section
	sc := bufio.NewScanner(bytes.NewReader(src))
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		fail := func(msg string) error { return fmt.Errorf("table line %d: %s: %q", n, msg, line) }
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			secs = append(secs, section{title: line[3:]})
		case len(secs) == 0:
			return nil, fail("row before the first section")
		case strings.HasPrefix(line, "  "):
			s := &secs[len(secs)-1]
			if len(s.mnemonics) == 0 {
				return nil, fail("form before the first mnemonic")
			}
			f, err := parseForm(line)
			if err != nil {
				return nil, fail(err.Error())
			}
			m := &s.mnemonics[len(s.mnemonics)-1]
			m.forms = append(m.forms, f)
		default:
			p := strings.SplitN(line, " | ", 3)
			if len(p) != 3 {
				return nil, fail("want mnemonic | class | meaning")
			}
			s := &secs[len(secs)-1]
			s.mnemonics = append(s.mnemonics, mnemonic{name: p[0], sched: p[1], meaning: p[2]})
		}
	}
	return secs, sc.Err()
}

func parseForm(line string) (form, error) {
	body, flags, _ := strings.Cut(line, ";")
	p := strings.Fields(body)
	if len(p) < 5 {
		return form{}, fmt.Errorf("want NAME text FORMAT opcode operands")
	}
	f := form{name: p[0], text: p[1], format: p[2]}
	var err error
	if f.opcode, err = strconv.ParseUint(p[3], 0, 16); err != nil {
		return f, err
	}
	for _, o := range p[4:] {
		if o == "-" {
			continue
		}
		role, class, ok := strings.Cut(o, ":")
		if !ok {
			return f, fmt.Errorf("operand %s: want role:class", o)
		}
		f.operands = append(f.operands, operand{role, class})
	}
	for _, w := range strings.Fields(flags) {
		switch key, val, _ := strings.Cut(w, "="); key {
		case "r":
			f.uses = strings.Split(val, ",")
		case "w":
			f.defs = strings.Split(val, ",")
		case "cnt":
			f.counts = strings.Split(val, ",")
		default:
			if d, ok := strings.CutPrefix(w, "neg:"); ok {
				f.neg = d
			} else {
				f.flags = append(f.flags, w)
			}
		}
	}
	return f, nil
}
