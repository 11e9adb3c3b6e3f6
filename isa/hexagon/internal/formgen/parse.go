// Package formgen reads the instruction table forms.txt and writes what the hexagon package derives from it:
// the operation constants, the form table, the decoder's index and the Markdown manual.
package formgen

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Operand is one operand of a form, in the order of first appearance in the syntax.
type Operand struct {
	Kind       string // R RR V VV VVVV P Q C CC M MImm S SS G GG NR NV Imm
	Letter     byte
	Role       string // Use, Def, DefUse
	Low8       bool
	Low16      bool
	New, Neg   bool
	Index      int
	Field      uint32
	Width      int
	Shift      int // low register bits that are not encoded (pairs)
	Signed     bool
	Scale      int
	PCRel      bool
	Extendable bool
	UseCycle   int
	DefCycle   int
}

// Row is one parsed row of the table.
type Row struct {
	Name, Syntax, Bits, Class, Slots, Pipes, Cycles, Doc string
	Section                                              string
	Flags                                                []string
	Mask, Match                                          uint32
	SlotMask                                             int
	Blocks1                                              bool
	Operands                                             []Operand
	Template                                             string // syntax with operand k as the byte 0x80+k
	NumReg, NumImm                                       int
	Line                                                 int
}

var columns = regexp.MustCompile(`\s{2,}`)

// Parse reads a whole table. Errors name the line.
func Parse(text string) ([]Row, error) {
	var rows []Row
	section := ""
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = line[1 : len(line)-1]
			continue
		}
		r, err := parseRow(columns.Split(line, -1))
		if err != nil {
			return nil, fmt.Errorf("forms.txt:%d: %w", i+1, err)
		}
		if seen[r.Name] {
			return nil, fmt.Errorf("forms.txt:%d: %s appears twice", i+1, r.Name)
		}
		seen[r.Name] = true
		r.Section, r.Line = section, i+1
		rows = append(rows, r)
	}
	for i := range rows {
		for j := range rows[:i] {
			a, b := &rows[i], &rows[j]
			if m := a.Mask & b.Mask; a.Match&m == b.Match&m {
				return nil, fmt.Errorf("forms.txt:%d: %s and %s (line %d) can encode the same word", a.Line, a.Name, b.Name, b.Line)
			}
		}
	}
	return rows, nil
}

var operandRE = regexp.MustCompile(`([RVPQCMNOSG])(dddd|yyyy|[a-z]{1,2})(8|16|)('?)|#([sur])(\d+)(?::(\d))?(\*?)`)

func parseRow(f []string) (Row, error) {
	var r Row
	if len(f) != 9 {
		return r, fmt.Errorf("%d columns, want 9", len(f))
	}
	r.Name, r.Syntax, r.Bits, r.Class, r.Slots, r.Pipes, r.Cycles, r.Doc = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[8]
	if f[7] != "-" {
		r.Flags = strings.Split(f[7], ",")
	}
	for _, c := range r.Slots {
		switch {
		case c >= '0' && c <= '3' && !r.Blocks1:
			if strings.Contains(r.Slots, "+") && c != '0' {
				continue
			}
			r.SlotMask |= 1 << (c - '0')
		case c == '+':
			r.Blocks1 = true
		}
	}
	if r.SlotMask == 0 {
		return r, fmt.Errorf("%s: no slots in %q", r.Name, r.Slots)
	}
	if err := r.parseSyntax(); err != nil {
		return r, err
	}
	if err := r.parseBits(); err != nil {
		return r, err
	}
	return r, r.parseCycles()
}

// order remembers in which syntax position an operand is first read: "Rx'" delays the read of Rx.
type usePos struct{ operand, pos int }

func (r *Row) uses() []usePos {
	var u []usePos
	for k, o := range r.Operands {
		if o.Role == "Def" {
			continue
		}
		pos := strings.Index(r.Template, string(rune(0x80+k)))
		if p := strings.Index(r.Template, string(rune(0x80+k))+"'"); p >= 0 {
			pos = p
		}
		u = append(u, usePos{k, pos})
	}
	for i := 1; i < len(u); i++ {
		for j := i; j > 0 && u[j].pos < u[j-1].pos; j-- {
			u[j], u[j-1] = u[j-1], u[j]
		}
	}
	return u
}

func (r *Row) parseSyntax() error {
	var b strings.Builder
	last, imms := 0, 0
	for _, m := range operandRE.FindAllStringSubmatchIndex(r.Syntax, -1) {
		b.WriteString(r.Syntax[last:m[0]])
		last = m[1]
		g := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return r.Syntax[m[2*i]:m[2*i+1]]
		}
		if g(5) != "" {
			o := Operand{Kind: "Imm", Letter: "iI"[imms], Role: "Use", Index: imms, Signed: g(5) != "u", PCRel: g(5) == "r", Extendable: g(8) != ""}
			o.Width, _ = strconv.Atoi(g(6))
			o.Scale, _ = strconv.Atoi("0" + g(7))
			imms++
			fmt.Fprintf(&b, "%c", rune(0x80+len(r.Operands)))
			r.Operands = append(r.Operands, o)
			if imms > 2 {
				return fmt.Errorf("%s: more than two immediates", r.Name)
			}
			continue
		}
		letter := g(2)[0]
		if k := r.operand(letter); k >= 0 {
			fmt.Fprintf(&b, "%c", rune(0x80+k))
			if g(4) != "" {
				b.WriteByte('\'')
			}
			continue
		}
		o := Operand{Letter: letter, Index: r.NumReg, Low8: g(3) == "8", Low16: g(3) == "16", Role: "Use"}
		switch g(1) {
		case "N":
			o.Kind = "NR"
		case "O":
			o.Kind = "NV"
		case "R", "V", "C", "S", "G":
			o.Kind = strings.Repeat(g(1), len(g(2)))
		default:
			o.Kind = g(1)
		}
		switch letter {
		case 'd', 'e':
			o.Role = "Def"
		case 'x', 'y':
			o.Role = "DefUse"
		}
		before, after := r.Syntax[:m[0]], r.Syntax[m[1]:]
		if o.Kind == "P" || o.Kind == "Q" {
			o.New = strings.HasPrefix(after, ".new")
			o.Neg = strings.HasSuffix(before, "!")
		}
		r.NumReg++
		fmt.Fprintf(&b, "%c", rune(0x80+len(r.Operands)))
		r.Operands = append(r.Operands, o)
	}
	b.WriteString(r.Syntax[last:])
	r.Template = b.String()
	r.NumImm = imms
	r.spillModifier()
	if r.NumReg > 4 {
		return fmt.Errorf("%s: more than four registers", r.Name)
	}
	return nil
}

// spillModifier moves the modifier register of a form with five registers to the immediates.
func (r *Row) spillModifier() {
	if r.NumReg != 5 || r.NumImm != 0 {
		return
	}
	for k := range r.Operands {
		o := &r.Operands[k]
		if o.Kind != "M" {
			continue
		}
		for j := range r.Operands {
			if r.Operands[j].Index > o.Index {
				r.Operands[j].Index--
			}
		}
		o.Kind, o.Index = "MImm", 0
		r.NumReg, r.NumImm = 4, 1
		return
	}
}

func (r *Row) operand(letter byte) int {
	for k := range r.Operands {
		if r.Operands[k].Letter == letter && r.Operands[k].Kind != "Imm" {
			return k
		}
	}
	return -1
}

// registerBits is the width of a register number in the encoding.
var registerBits = map[string]int{
	"R": 5, "RR": 5, "V": 5, "VV": 5, "VVVV": 5, "P": 2, "Q": 2, "C": 5, "CC": 5, "M": 1, "MImm": 1, "S": 7, "SS": 7, "G": 5, "GG": 5, "NR": 3, "NV": 3,
}

func (r *Row) parseBits() error {
	if len(r.Bits) != 32 {
		return fmt.Errorf("%s: %d encoding bits, want 32", r.Name, len(r.Bits))
	}
	for i := 0; i < 32; i++ {
		bit := uint32(1) << (31 - i)
		switch c := r.Bits[i]; c {
		case '1':
			r.Match |= bit
			r.Mask |= bit
		case '0':
			r.Mask |= bit
		case 'P':
			if i != 16 && i != 17 {
				return fmt.Errorf("%s: parse bits in column %d", r.Name, i)
			}
		case '-':
		default:
			found := false
			for k := range r.Operands {
				o := &r.Operands[k]
				if o.Letter == c {
					o.Field |= bit
					found = true
				}
			}
			if !found {
				return fmt.Errorf("%s: no operand for encoding bit %q", r.Name, c)
			}
		}
	}
	for k := range r.Operands {
		o := &r.Operands[k]
		n := 0
		for f := o.Field; f != 0; f &= f - 1 {
			n++
		}
		if o.Kind == "Imm" {
			if n != o.Width {
				return fmt.Errorf("%s: immediate of %d bits has %d encoding bits", r.Name, o.Width, n)
			}
			continue
		}
		want := registerBits[o.Kind]
		if o.Low8 {
			want = 3
		}
		if o.Low16 {
			want = 4
		}
		if scalarPair := len(o.Kind) == 2 && o.Kind[0] == o.Kind[1] && o.Kind != "VV"; scalarPair && n == want-1 {
			o.Shift, want = 1, n
		}
		if n != want {
			return fmt.Errorf("%s: register operand %c has %d encoding bits, want %d", r.Name, o.Letter, n, want)
		}
		o.Width = n
	}
	return nil
}

func (r *Row) parseCycles() error {
	if r.Cycles == "-" {
		return nil
	}
	var cyc []int
	for _, s := range strings.Split(r.Cycles, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("%s: cycles: %w", r.Name, err)
		}
		cyc = append(cyc, n)
	}
	next := func() int {
		if len(cyc) == 0 {
			return 0
		}
		n := cyc[0]
		cyc = cyc[1:]
		return n
	}
	for k := range r.Operands {
		if r.Operands[k].Role != "Use" {
			r.Operands[k].DefCycle = next()
		}
	}
	for _, u := range r.uses() {
		r.Operands[u.operand].UseCycle = next()
	}
	return nil
}
