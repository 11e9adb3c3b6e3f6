package hexagon

import (
	"strings"
	"testing"
)

// TestUndecodedRows: words of the Z registers are listed as LLVM 19 prints them, beside what else their packet holds, and a word
// that is no instruction spoils only itself.
func TestUndecodedRows(t *testing.T) {
	const more, end = parseMore << parseShift, parseEnd << parseShift
	for _, c := range []struct {
		words []uint32
		want  string // lines without their white space, joined
	}{
		{[]uint32{0x2c032500 | end}, "{ z = vmem(r3+#-0x3) }"},
		{[]uint32{0x2d030500 | end}, "{ z = vmem(r3++#-0x3) }"},
		{[]uint32{0x2d032001 | end}, "{ z = vmem(r3++m1) }"},
		{[]uint32{0x2c840a00 | end}, "{ if (p1) z = vmem(r4+#0x2) }"},
		{[]uint32{0x2d851700 | end}, "{ if (p2) z = vmem(r5++#-0x1) }"},
		{[]uint32{0x2d863801 | end}, "{ if (p3) z = vmem(r6++m1) }"},
		{[]uint32{0x19a70129 | end}, "{ v9 = zextract(r7) }"},
		{[]uint32{0x19ed090c | end}, "{ v15:12.w = vrmpyz(v9.b,r5.b) }"},
		{[]uint32{0x19dd292c | end}, "{ v15:12.w += vrmpyz(v9.b,r5.ub++) }"},
		{[]uint32{0x19fd090c | end}, "{ v15:12.w = vr8mpyz(v9.n,r5.b) }"},
		{[]uint32{0x2c030100 | more, 0xf3010002 | more, 0x529f0000 | end}, "{ z = vmem(r3+#0x1) | r2 = add(r1,r0) | jumpr r31 }"},
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
