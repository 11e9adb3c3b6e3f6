package asm

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

// sourceLine is a packet, or a word that is none.
type sourceLine struct {
	hexagon.Packet
	err error
}

// Source writes the code as assembly that AssembleObject assembles to the same bytes. Where its own choice of compounds
// and duplexes would differ the instructions change places, or the choice is switched off or on; words without a text
// become .word.
func Source(c *object.Code, w io.Writer) error {
	out := bufio.NewWriter(w)
	words := hexagon.Words(c.Data)
	var lines []sourceLine
	for p, err := range c.Packets() {
		lines = append(lines, sourceLine{*p, err})
	}
	starts := make(map[uint32]bool, len(lines))
	for i := range lines {
		starts[lines[i].Addr] = true
	}
	labels := labels(c, lines, starts)
	fmt.Fprintf(out, "\t.section %s\n", c.Name)
	pairing := true
	next := 0
	named := map[string]bool{}
	for i := range lines {
		l := &lines[i]
		for ; next < len(c.Symbols) && c.Symbols[next].Addr <= l.Addr; next++ {
			s := &c.Symbols[next]
			if named[s.Name] { // of another file that was linked in
				continue
			}
			named[s.Name] = true
			if s.Global {
				fmt.Fprintf(out, "\t.globl %s\n", quoteName(s.Name))
			}
			if s.Addr == l.Addr {
				fmt.Fprintf(out, "%s:\n", quoteName(s.Name))
			} else { // inside a packet
				fmt.Fprintf(out, "\t.set %s, .+%d\n", quoteName(s.Name), int64(s.Addr)-int64(l.Addr))
			}
		}
		if name := labels[l.Addr]; strings.HasPrefix(name, local(c)) {
			fmt.Fprintf(out, "%s:\n", name)
		}
		at := (l.Addr - c.Addr) / 4
		want := words[at : at+uint32(l.Words)]
		ok := l.err == nil && l.Check() == nil
		if ok && !arrange(&l.Packet, want, pairing) {
			if ok = arrange(&l.Packet, want, !pairing); ok {
				pairing = !pairing
				value := 0
				if pairing {
					value = 1
				}
				fmt.Fprintf(out, "\t.set %s, %d\n", pairingSymbol, value)
			}
		}
		if ok {
			fmt.Fprintf(out, "\t%s\t// %x\n", l.AsmWith(func(b []byte, o *hexagon.OperandSpec, addr uint32, v int32, ext bool) []byte {
				name := labels[addr+uint32(v)]
				if name == "" {
					return hexagon.RelativeTarget(b, o, addr, v, ext)
				}
				if ext {
					b = append(b, "##"...)
				}
				return append(b, name...)
			}), l.Addr)
			continue
		}
		for k, v := range want {
			fmt.Fprintf(out, "\t.word 0x%08x\t// %x", v, l.Addr+uint32(4*k))
			if l.err == nil && k == 0 {
				fmt.Fprintf(out, ": %s", l.AsmWith(hexagon.AbsoluteTarget))
			}
			fmt.Fprintln(out)
		}
	}
	for i, v := range c.Data[len(c.Data)&^3:] {
		fmt.Fprintf(out, "\t.byte 0x%02x\t// %x\n", v, int(c.Addr)+len(c.Data)&^3+i)
	}
	return out.Flush()
}

// labels names the packets that have symbols or are targets of branches.
func labels(c *object.Code, lines []sourceLine, starts map[uint32]bool) map[uint32]string {
	labels := map[uint32]string{}
	named := map[string]bool{}
	for i := range c.Symbols {
		if s := &c.Symbols[i]; labels[s.Addr] == "" && starts[s.Addr] && !named[s.Name] {
			labels[s.Addr] = quoteName(s.Name)
		}
		named[c.Symbols[i].Name] = true
	}
	for i := range lines {
		l := &lines[i]
		if l.err != nil {
			continue
		}
		for k := range l.Insts[:l.N] {
			if to, ok := l.Insts[k].Target(l.Addr); ok && starts[to] && labels[to] == "" {
				labels[to] = fmt.Sprintf("%s%x", local(c), to)
			}
		}
	}
	return labels
}

// local begins the labels that have no symbol.
func local(c *object.Code) string {
	name := []byte(".L")
	for _, b := range []byte(c.Name) {
		if c.Name != ".text" && wordByte(b) {
			name = append(name, b)
		}
	}
	return string(append(name, '_'))
}

// arrange finds an order of the instructions in which the text of the packet assembles to the words: which of them are
// joined depends on it.
func arrange(p *hexagon.Packet, words []uint32, pairing bool) bool {
	var try func(q *hexagon.Packet, k int) bool
	try = func(q *hexagon.Packet, k int) bool {
		if k == int(q.N) {
			return encodesTo(q, words, pairing)
		}
		for i := k; i < int(q.N); i++ {
			r := *q
			r.Insts[k], r.Insts[i] = q.Insts[i], q.Insts[k]
			if try(&r, k+1) {
				*q = r
				return true
			}
		}
		return false
	}
	q := *p
	if !try(&q, 0) {
		return false
	}
	p.Insts = q.Insts
	return true
}

// encodesTo reports whether the text of the packet assembles to the words.
func encodesTo(p *hexagon.Packet, words []uint32, pairing bool) bool {
	o, err := AssembleObject(p.Asm(), Options{Base: p.Addr, Separate: !pairing})
	if err != nil {
		return false
	}
	got, err := hexagon.EncodeAll(nil, o.Packets)
	return err == nil && slices.Equal(got, words)
}

// quoteName is a symbol as the assembler reads it back: quoted when it is no plain word, or means something else.
func quoteName(s string) string {
	plain := s != "" && !(s[0] >= '0' && s[0] <= '9')
	for _, c := range []byte(s) {
		plain = plain && wordByte(c)
	}
	word := strings.ToLower(s)
	_, _, register := registerOf(word)
	if plain && !register && !index().words[strings.TrimPrefix(word, ".")] && directives[strings.ToLower(s)] == nil && controls[strings.ToLower(s)] == nil && s != "." {
		return s
	}
	b := []byte{'"'}
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c > 0x7e:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
