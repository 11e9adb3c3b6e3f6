package object

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"sort"
	"strconv"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Code is a piece of code to disassemble, with its symbols in order of address.
type Code struct {
	Name    string
	Addr    uint32
	Data    []byte
	Symbols []Symbol
}

// line is a packet, or the words of one that cannot be decoded.
type line struct {
	hexagon.Packet
	err error
}

// lines decodes the code from its beginning; after a packet that cannot be decoded it continues after it, or where no
// packet ends with the next word.
func (c *Code) lines(words []uint32) (out []line) {
	for i := 0; i < len(words); {
		addr := c.Addr + uint32(4*i)
		p, n, err := hexagon.DecodePacket(words[i:], addr)
		if err != nil {
			n = len(hexagon.UndecodedRows(words[i:], addr, hexagon.AbsoluteTarget))
			p = hexagon.Packet{Addr: addr, Words: uint8(n)}
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
func (c *Code) annotated(b []byte, o *hexagon.OperandSpec, addr uint32, v int32, ext bool) []byte {
	b = hexagon.AbsoluteTarget(b, o, addr, v, ext)
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
	words := hexagon.Words(c.Data)
	next := 0
	for _, l := range c.lines(words) {
		for ; next < len(c.Symbols) && c.Symbols[next].Addr <= l.Addr; next++ {
			fmt.Fprintf(out, "\n%08x <%s>:\n", c.Symbols[next].Addr, c.Symbols[next].Name)
		}
		var text []string
		if l.err == nil {
			text = l.Packet.Rows(c.annotated)
		} else {
			text = hexagon.UndecodedRows(words[(l.Addr-c.Addr)/4:], l.Addr, c.annotated)
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

// Packets iterates over the packets of the code; one that cannot be decoded is an error and its words alone.
func (c *Code) Packets() iter.Seq2[*hexagon.Packet, error] {
	return func(yield func(*hexagon.Packet, error) bool) {
		for _, l := range c.lines(hexagon.Words(c.Data)) {
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
		c.dropOutside()
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

// SymbolAt is the name of an address: a symbol, or one and the distance to it; empty where none precedes.
func (c *Code) SymbolAt(addr uint32) string {
	name, off, ok := c.symbolAt(addr)
	if !ok || off == 0 {
		return name
	}
	return fmt.Sprintf("%s+0x%x", name, off)
}
