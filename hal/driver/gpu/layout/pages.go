package layout

import "encoding/binary"

// Pages are the first bytes of the arena, which padding reads: a page of zeros, and
// one of minus infinity in each precision that needs it. Nothing writes them.
type Pages struct {
	zero   int
	lowest [2]bool // by element
}

// MinZero is the size of the page of zeros that every model has.
const MinZero = 256

// NeedZero makes the page of zeros at least n bytes large.
func (p *Pages) NeedZero(n int) { p.zero = max(p.zero, n+Guard) }

// NeedLowest asks for a page of minus infinity.
func (p *Pages) NeedLowest(e Element) { p.lowest[e] = true }

// size is the size of each page.
func (p *Pages) size() int { return (max(p.zero, MinZero) + Guard + 255) / 256 * 256 }

// Lowest is the offset of the page of minus infinity.
func (p *Pages) Lowest(e Element) uint32 {
	n := 1
	if e == F16 && p.lowest[F32] {
		n++
	}
	return uint32(n * p.size())
}

// Bytes is the content of all pages.
func (p *Pages) Bytes() []byte {
	b := make([]byte, p.size())
	for _, e := range []Element{F32, F16} {
		for i := 0; p.lowest[e] && i < p.size(); i += e.Bytes() {
			if e == F16 {
				b = binary.LittleEndian.AppendUint16(b, 0xfc00)
			} else {
				b = binary.LittleEndian.AppendUint32(b, 0xff800000)
			}
		}
	}
	return b
}
