package hexagon_test

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/randpacket"
)

// FuzzDecode: any words decode or are an error; legal ones encode to the same words when in order.
func FuzzDecode(f *testing.F) {
	g := randpacket.New(rand.New(rand.NewSource(5)))
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op += 5 {
		p := g.Carrier(op, 0)
		words, _ := p.Encode(nil)
		f.Add(hexagon.Bytes(words), uint32(0x1000))
	}
	f.Fuzz(func(t *testing.T, code []byte, addr uint32) {
		words := hexagon.Words(code)
		p, n, err := hexagon.DecodePacket(words, addr)
		if err != nil {
			return
		}
		if n < 1 || n > hexagon.MaxWords || int(p.Words) != n {
			t.Fatalf("%d words taken of %08x", n, words)
		}
		_, _ = p.String(), p.Asm()
		if p.Check() != nil || p.Duplex {
			return // duplexes are decoded, not encoded
		}
		again := require.V(p.Encode(nil))(t, p.Asm())
		q, _ := require.V2(hexagon.DecodePacket(again, addr))(t, p.Asm())
		third, err := q.Encode(nil)
		if err != nil || !bytes.Equal(hexagon.Bytes(third), hexagon.Bytes(again)) {
			t.Fatalf("%s encodes as %08x, then as %08x (%v)", p.Asm(), again, third, err)
		}
	})
}

func TestSlotsOKDoesNotAllocate(t *testing.T) {
	g := randpacket.New(rand.New(rand.NewSource(7)))
	var p hexagon.Packet
	for p.N != 4 {
		p = g.Packet()
	}
	require.Same(t, 0, testing.AllocsPerRun(100, func() { hexagon.SlotsOK(p.Insts[:4]) }), "allocations")
	words := require.V((&hexagon.Packet{N: 1, Insts: [4]hexagon.Inst{{Op: hexagon.A2_nop}}}).Encode(nil))(t)
	require.Same(t, 0, testing.AllocsPerRun(100, func() { _, _, _ = hexagon.DecodePacket(words, 0) }), "allocations to decode")
}

func BenchmarkDecode(b *testing.B) {
	pk, words := randpacket.Legal(1000)
	b.ReportAllocs()
	for b.Loop() {
		for w := words; len(w) > 0; {
			_, n := require.V2(hexagon.DecodePacket(w, 0))(b)
			w = w[n:]
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pk)), "ns/packet")
}

func BenchmarkEncode(b *testing.B) {
	pk, words := randpacket.Legal(1000)
	b.ReportAllocs()
	for b.Loop() {
		words = words[:0]
		for i := range pk {
			words, _ = pk[i].Encode(words)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pk)), "ns/packet")
}

func BenchmarkSlotsOK(b *testing.B) {
	pk, _ := randpacket.Legal(1000)
	b.ReportAllocs()
	for b.Loop() {
		for i := range pk {
			if !hexagon.SlotsOK(pk[i].Insts[:pk[i].N]) {
				b.Fatal(pk[i].Asm())
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pk)), "ns/packet")
}
