package hexagon

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Code is a piece of code to disassemble, with the symbols that lie in it in order of address.
type Code struct {
	Name    string
	Addr    uint32
	Data    []byte
	Symbols []Symbol
}

// line is a packet, or a word that is none.
type line struct {
	Packet
	err error
}

// lines decodes the code from its beginning; after a word that is no packet it goes on with the next word.
func (c *Code) lines(words []uint32) (out []line) {
	for i := 0; i < len(words); {
		addr := c.Addr + uint32(4*i)
		p, n, err := DecodePacket(words[i:], addr)
		if err != nil {
			p, n = Packet{Addr: addr, Words: 1}, 1
		}
		out = append(out, line{p, err})
		i += n
	}
	return out
}

// symbolAt is the symbol that addr belongs to and the distance to it.
func (c *Code) symbolAt(addr uint32) (string, uint32, bool) {
	i := sort.Search(len(c.Symbols), func(i int) bool { return c.Symbols[i].Addr > addr })
	if i == 0 {
		return "", 0, false
	}
	s := &c.Symbols[i-1]
	for i > 1 && c.Symbols[i-2].Addr == s.Addr { // of several names the first
		i--
		s = &c.Symbols[i-1]
	}
	return s.Name, addr - s.Addr, true
}

// annotated writes a target as an address and the symbol it belongs to.
func (c *Code) annotated(b []byte, o *OperandSpec, addr uint32, v int32, ext bool) []byte {
	b = absoluteTarget(b, o, addr, v, ext)
	to := addr + uint32(v)
	if to-c.Addr >= uint32(len(c.Data)) {
		return b
	}
	if name, off, ok := c.symbolAt(to); ok {
		b = append(b, " <"...)
		b = append(b, name...)
		if off != 0 {
			b = append(b, "+0x"...)
			b = strconv.AppendUint(b, uint64(off), 16)
		}
		b = append(b, '>')
	}
	return b
}

// List writes the code as llvm-objdump does: symbols, and for each word its address, its bytes, its value and its text.
// Branch targets carry the symbol they belong to.
func (c *Code) List(w io.Writer) error {
	out := bufio.NewWriter(w)
	words := Words(c.Data)
	next := 0
	for _, l := range c.lines(words) {
		for ; next < len(c.Symbols) && c.Symbols[next].Addr <= l.Addr; next++ {
			fmt.Fprintf(out, "\n%08x <%s>:\n", c.Symbols[next].Addr, c.Symbols[next].Name)
		}
		text := []string{"<unknown>"}
		if l.err == nil {
			text = l.Packet.rows(c.annotated)
		}
		for i := range int(l.Words) {
			v := words[(l.Addr-c.Addr)/4+uint32(i)]
			fmt.Fprintf(out, "%8x:\t%02x %02x %02x %02x\t%08x %s\n", l.Addr+uint32(4*i), byte(v), byte(v>>8), byte(v>>16), byte(v>>24), v, text[i])
		}
	}
	if rest := c.Data[len(c.Data)&^3:]; len(rest) > 0 {
		fmt.Fprintf(out, "%8x:\t% x\t<unknown>\n", c.Addr+uint32(len(c.Data)&^3), rest)
	}
	return out.Flush()
}

// Source writes the code as assembly that AssembleObject turns into the same bytes. Where its own choice of compounds and
// duplexes would be another the instructions change places, or the choice is switched off or on; words that no text gives
// become .word.
func (c *Code) Source(w io.Writer) error {
	out := bufio.NewWriter(w)
	words := Words(c.Data)
	lines := c.lines(words)
	starts := make(map[uint32]bool, len(lines))
	for i := range lines {
		starts[lines[i].Addr] = true
	}
	labels := c.labels(lines, starts)
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
		if name := labels[l.Addr]; strings.HasPrefix(name, c.local()) {
			fmt.Fprintf(out, "%s:\n", name)
		}
		at := (l.Addr - c.Addr) / 4
		want := words[at : at+uint32(l.Words)]
		ok := l.err == nil && l.Check() == nil
		if ok && !l.arrange(want, pairing) {
			if ok = l.arrange(want, !pairing); ok {
				pairing = !pairing
				fmt.Fprintf(out, "\t.set %s, %d\n", pairingSymbol, b2u(pairing))
			}
		}
		if ok {
			fmt.Fprintf(out, "\t%s\t// %x\n", l.asm(func(b []byte, o *OperandSpec, addr uint32, v int32, ext bool) []byte {
				name := labels[addr+uint32(v)]
				if name == "" {
					return relativeTarget(b, o, addr, v, ext)
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
				fmt.Fprintf(out, ": %s", l.asm(absoluteTarget))
			}
			fmt.Fprintln(out)
		}
	}
	for i, v := range c.Data[len(c.Data)&^3:] {
		fmt.Fprintf(out, "\t.byte 0x%02x\t// %x\n", v, int(c.Addr)+len(c.Data)&^3+i)
	}
	return out.Flush()
}

// labels names the packets that symbols stand at or branches go to.
func (c *Code) labels(lines []line, starts map[uint32]bool) map[uint32]string {
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
				labels[to] = fmt.Sprintf("%s%x", c.local(), to)
			}
		}
	}
	return labels
}

// local begins the labels that have no symbol.
func (c *Code) local() string {
	name := []byte(".L")
	for _, b := range []byte(c.Name) {
		if c.Name != ".text" && wordByte(b) {
			name = append(name, b)
		}
	}
	return string(append(name, '_'))
}

// Target is the address that an instruction of the packet at addr may branch to, or that a loop setup names.
func (in *Inst) Target(addr uint32) (to uint32, ok bool) {
	f := &forms[in.Op]
	for i := range f.Operands {
		if o := &f.Operands[i]; o.PCRel {
			return addr + uint32(in.Imm[o.Index]), true
		}
	}
	return 0, false
}

// arrange finds an order of the instructions in which the text of the packet assembles to the words: which of them are
// joined depends on it.
func (p *Packet) arrange(words []uint32, pairing bool) bool {
	var try func(q *Packet, k int) bool
	try = func(q *Packet, k int) bool {
		if k == int(q.N) {
			return gives(q, words, pairing)
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

// gives reports whether the text of the packet assembles to the words.
func gives(p *Packet, words []uint32, pairing bool) bool {
	o, err := AssembleObject(p.Asm(), AsmOptions{Base: p.Addr, Separate: !pairing})
	if err != nil {
		return false
	}
	got, err := EncodeAll(nil, o.Packets)
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

// Packets goes through the packets of the code; a word that begins none comes with an error and a packet of one word.
func (c *Code) Packets() iter.Seq2[*Packet, error] {
	return func(yield func(*Packet, error) bool) {
		for _, l := range c.lines(Words(c.Data)) {
			if !yield(&l.Packet, l.err) {
				return
			}
		}
	}
}

// Code returns the code of an image with its symbols.
func (im *Image) Code() (out []Code) {
	for i := range im.Segments {
		s := &im.Segments[i]
		if !s.Exec {
			continue
		}
		c := Code{Name: s.Name, Addr: s.Addr, Data: s.Data}
		for _, y := range im.Symbols {
			if y.Segment == i {
				c.Symbols = append(c.Symbols, y)
			}
		}
		c.keepInside()
		out = append(out, c)
	}
	return out
}

// Flat returns the memory of the image from base up to its last byte of data.
func (im *Image) Flat(base uint32) []byte {
	var out []byte
	for i := range im.Segments {
		s := &im.Segments[i]
		if end := int(s.Addr-base) + len(s.Data); len(s.Data) > 0 && end > len(out) {
			out = append(out, make([]byte, end-len(out))...)
		}
		if len(s.Data) > 0 {
			copy(out[s.Addr-base:], s.Data)
		}
	}
	return out
}

// SymbolAt is the name of an address: a symbol, or one and the distance to it; empty where none comes before.
func (c *Code) SymbolAt(addr uint32) string {
	name, off, ok := c.symbolAt(addr)
	if !ok || off == 0 {
		return name
	}
	return fmt.Sprintf("%s+0x%x", name, off)
}
