package asm

import (
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/randpacket"
)

// FuzzAssemble: any text assembles or is an error with a position; packets survive printing and parsing.
func FuzzAssemble(f *testing.F) {
	g := randpacket.New(rand.New(rand.NewSource(6)))
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op += 7 {
		p := g.Carrier(op, 0)
		f.Add(p.Asm())
	}
	f.Add("a: { r0 = #1 ; jump a }\n{ r1 = ##a }:endloop0 // x\n/* y */ nop")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		pk, err := Assemble(text, 0x1000)
		if err != nil {
			if _, ok := err.(*SyntaxError); !ok {
				t.Fatalf("error without a position: %v", err)
			}
			return
		}
		for i := range pk {
			q, err := ParsePacket(pk[i].Asm(), pk[i].Addr)
			if err != nil || q != pk[i] {
				t.Fatalf("%s parses as %s (%v)", pk[i].Asm(), q.Asm(), err)
			}
		}
	})
}
