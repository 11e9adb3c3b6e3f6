package asm

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestSourceBodies: the expansion of macros, repetitions and conditions equals the source written by hand.
func TestSourceBodies(t *testing.T) {
	for _, c := range []struct{ text, same string }{
		{".macro inc r, by=1\n \\r = add(\\r,#\\by)\n.endm\n inc r1\n inc r2, 7\n inc by=3, r=r4", "r1 = add(r1,#1)\n r2 = add(r2,#7)\n r4 = add(r4,#3)"},
		{".macro open\n{\n.endm\n.macro close\n}:endloop0\n.endm\n open\n r0 = #1\n close", "{ r0 = #1 ; nop }:endloop0"},
		{"{\n.rept 2\n nop\n.endr\n.if 0\n r9 = #9\n.else\n r8 = #8\n.endif\n}", "{ nop ; nop ; r8 = #8 }"},
		{".macro all a:vararg\n .word \\a\n.endm\n all 1, 2,3", ".word 1,2,3"},
		{".rept 2\n.rept 3\n nop\n.endr\n r0 = #0\n.endr", "nop\nnop\nnop\nr0=#0\nnop\nnop\nnop\nr0=#0"},
		{".irp r,3,5\n r\\r\\() = #\\r\n.endr\n.irpc c,12\n .byte \\c,\\c\n.endr", "r3 = #3\nr5 = #5\n.byte 1,1,2,2"},
		{".macro n\nl\\@: .word \\@\n.endm\n n\n n\n .word l1-l0", ".word 0,1,4"},
		{".macro first a b\n .if \\a\n .exitm\n .endif\n .word \\b\n.endm\n first 1 2\n first 0 3", ".word 3"},
		{".macro down n\n .if \\n\n .word \\n\n down (\\n-1)\n.endif\n.endm\n down 3", ".word 3,2,1"},
		{".if 2 > 1 && 1\n.word 1\n.elseif 1\n.word 2\n.else\n.word 3\n.endif\n.ifdef x\n.word 4\n.endif", ".word 1"},
		{".if 0\n.if 1\n.word 1\n.else\n.word 2\n.endif\n.elseif 1\n.word 3\n.endif", ".word 3"},
		{".word 1+2<<3, 1|2+4, 3==3, 5!3, !7", ".word 17, 7, -1, -3, 0"},
		{"a: .word 1,2\nb: .if b-a == 8\n .word 5\n.endif", ".word 1,2,5"},
		{"a:nop\nb:.word b-a\n lr:fp = r1:0\nc:{ nop }", "nop\n.word 4\n r31:30 = combine(r1,r0)\n nop"},
		{" jump 8\n loop0(16,#3)", " jump #8\n loop0(#16,#3)"},
	} {
		var code [2][]byte
		for i, s := range []string{c.text, c.same} {
			o, err := AssembleObject(s, Options{})
			if err != nil {
				t.Errorf("%s: %v", s, err)
				continue
			}
			code[i] = o.Flat(0)
		}
		if !bytes.Equal(code[0], code[1]) {
			t.Errorf("%s\nbecomes %x, want %x", c.text, code[0], code[1])
		}
	}
}

func TestSourceBodyErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{".macro m\n nop", ".macro without .endm"},
		{".macro m a\n r\\a = #1\n.endm\n\n m 40", "2:8: number expected"},
		{".macro m a\n r\\a = #1\n.endm\n\n m 40", "in m of line 5"},
		{".macro m\n m\n.endm\n m", "nests too deep"},
		{".macro m a\n m \\a\\a\n m \\a\\a\n.endm\n m 1", "bytes"},
		{".macro m a\n m \\a\\a\\a\\a\\a\\a\\a\\a\\a\\a\n.endm\n m 12345678", "bytes"},
		{".rept 0x7fffffffffffffff\n.endr", "statements"},
		{".macro m a:req\n.endm\n m", "needs a"},
		{".macro m a\n.endm\n m 1 2", "has 1 parameters"},
		{".macro m a a\n.endm", "two parameters a"},
		{".macro m\n.endm\n.macro m\n.endm", "defined twice"},
		{".macro m\n.if 1\n.endm\n m\n.endif", ".if without .endif"},
		{".if 1\n nop", "1:1: .if without .endif"},
		{".if 0\n nop", "1:1: .if without .endif"},
		{".else", ".else without .if"},
		{".if 1\n.else\n.else\n.endif", ".else without .if"},
		{".endif", ".endif without .if"},
		{".endm", ".endm ends nothing"},
		{".if later\n.endif", "is not known here"},
		{"a: nop\nb: .if b-a\n.endif", "is not known here"},
		{".error \"so not\"", "so not"},
		{".popsection", "without .pushsection"},
		{"brkpt", "instruction of supervisors"},
		{"r0 = memw(r1+#3)", "does not fit #s11:2"},
	} {
		require.ErrorContains(t, require.Err(AssembleObject(c.text, Options{})), c.want, c.text)
	}
}
