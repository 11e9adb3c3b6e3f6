package hexagon

import (
	"strings"
	"testing"
)

// TestUndecodedRows: a word that is no instruction spoils only itself; the others of its packet are listed as LLVM 19 prints them.
func TestUndecodedRows(t *testing.T) {
	const more, end = parseMore << parseShift, parseEnd << parseShift
	for _, c := range []struct {
		words []uint32
		want  string // lines without their white space, joined
	}{
		{[]uint32{0xf3010002 | more, 0x64001fe0 | more, 0x529f0000 | end}, "{ r2 = add(r1,r0) | <unknown> | jumpr r31 }"},
		// memw(r3+#0) = r2.new counts the instruction that is unknown.
		{[]uint32{0xf3010002 | more, 0x64001fe0 | more, 0xa1a31400 | end}, "{ r2 = add(r1,r0) | <unknown> | memw(r3+#0x0) = r2.new }"},
		{[]uint32{0x00000001 | more, 0x64001fe0 | end}, "{ immext(#0x40) | <unknown> }"},
		{[]uint32{0x64001fe0 | parseLoopEnd<<parseShift, 0xf3010002 | end}, "{ <unknown> | r2 = add(r1,r0) } :endloop0"},
		{[]uint32{0x64001fe0 | more, 0x20001f80}, "{ <unknown> | <unknown> }"},
		{[]uint32{0xf3010002 | more, 0xf3010002 | more, 0xf3010002 | more, 0xf3010002 | more, 0xf3010002 | end}, "<unknown>"},
		{[]uint32{0xf3010002 | more}, "<unknown>"},
	} {
		rows := UndecodedRows(c.words, 0, AbsoluteTarget)
		for i := range rows {
			rows[i] = strings.Join(strings.Fields(rows[i]), " ")
		}
		if got := strings.Join(rows, " | "); got != c.want {
			t.Errorf("%08x:\n%s, want\n%s", c.words, got, c.want)
		}
		if _, _, err := DecodePacket(c.words, 0); err == nil {
			t.Errorf("%08x is decoded", c.words)
		}
	}
}
