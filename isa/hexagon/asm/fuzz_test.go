package asm

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/randpacket"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

// FuzzAssembleObject: any source assembles or is an error with a position; the object disassembles into a source of the
// same bytes.
func FuzzAssembleObject(f *testing.F) {
	f.Add("_start: { r0 = ##msg+4 ; memw(r29+#8) = r1 }\n1: { r3 = add(r3,#1) }:endloop0\n\tloop0(1b,#3)\n\t.p2align 4\n\tcall abs\nabs: jumpr lr\n.data\nmsg: .word 1, _start, msg-2\n.rept 3\n.byte i\n.endr\n.set i,4\n.comm buf,8\n")
	f.Add(".text\n.ascii \"a\\n\\x41\"\n.space 3\n.balign 8\n.set .pairing, 0\n{ r0 = r1 ; r2 = r3 }\n.fill 2,4,~1<<3\n")
	f.Add(".macro m a, b=2, c:vararg\n.if \\a > \\b\n r\\a = #\\b\n.exitm\n.else\n.word \\c\n.endif\n.endm\n m 3\n m 1, c=4\n m a=1 b=1\n")
	f.Add(".irp x,1,2\n.ifc \\x,1\n.byte \\x\n.elseif 1\n.float 1.5\n.endif\n.endr\n.irpc c,ab\n.ascii \"\\c\"\n.endr\n.pushsection .foo,\"aw\"\n.octa 5\n.popsection\n.sleb128 -5\n")
	g := randpacket.New(rand.New(rand.NewSource(16)))
	for range 40 {
		p := g.Pairable()
		f.Add(p.Asm())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || bodiesIn(text) > 1 {
			return // repetitions of repetitions are slow
		}
		o, err := AssembleObject(text, Options{Base: 0x1000})
		if err != nil {
			if !errors.As(err, new(*SyntaxError)) {
				t.Fatalf("error without a position: %v", err)
			}
			return
		}
		_, _ = o.ELF()
		for _, c := range o.Code() {
			if len(c.Data) < 1<<12 {
				again(t, &c)
			}
		}
	})
}

// bodiesIn counts repetitions and macros.
func bodiesIn(text string) int {
	text = strings.ToLower(text)
	return strings.Count(text, ".rep") + strings.Count(text, ".irp") + strings.Count(text, ".macro")
}

// again checks that the source of code becomes the same bytes.
func again(t *testing.T, c *object.Code) {
	t.Helper()
	var src, list bytes.Buffer
	require.NoError(t, errors.Join(Source(c, &src), c.List(&list)))
	o, err := AssembleObject(src.String(), Options{Base: c.Addr})
	if err != nil {
		t.Fatalf("%v in\n%s", err, src.String())
	}
	got := []byte{}
	if code := o.Code(); len(code) > 0 {
		got = code[0].Data
	}
	if !bytes.Equal(got, c.Data) {
		t.Fatalf("source of other bytes\n%s", src.String())
	}
}

// FuzzDisassemble: any bytes have a source of the same bytes.
func FuzzDisassemble(f *testing.F) {
	_, words := randpacket.Legal(20)
	f.Add(hexagon.Bytes(words), "sym", uint32(8))
	f.Add([]byte{1, 2, 3}, "r0", uint32(1))
	f.Fuzz(func(t *testing.T, data []byte, name string, at uint32) {
		if len(data) > 1<<10 {
			return
		}
		im := object.Image{
			Segments: []object.Segment{{Name: ".text", Addr: 0x2000, Data: data, Exec: true}},
			Symbols:  []object.Symbol{{Name: name, Addr: 0x2000 + at%1024, Global: at&1 != 0}},
		}
		again(t, &im.Code()[0])
	})
}

// FuzzReadELF: any file is read or refused.
func FuzzReadELF(f *testing.F) {
	o := require.V(AssembleObject("_start: jump _start\nf: nop\n.data\n.word 1\n", Options{Base: 0x10000}))(f)
	b := require.V(o.ELF())(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		code, err := object.ReadELF(data)
		if err != nil {
			return
		}
		for i := range code {
			if len(code[i].Data) < 1<<10 {
				var out bytes.Buffer
				require.NoError(t, errors.Join(code[i].List(&out), Source(&code[i], &out)))
			}
		}
	})
}

// TestSourceOfPackets: random packets, none of them joined, have a source of the same bytes.
func TestSourceOfPackets(t *testing.T) {
	_, words := randpacket.Legal(300)
	again(t, &object.Code{Name: ".text", Addr: 0x4000, Data: hexagon.Bytes(words)})
}
