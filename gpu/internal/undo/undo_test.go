package undo

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestUndo: writes of waves to segments at any addresses are gone after Undo, and the writers of each granule equal
// those of a map of bytes.
func TestUndo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var l Log
	for round := range 200 {
		if round%50 == 0 {
			l.Reset()
		}
		segments := []*mem.Segment{
			{Base: 0x1000, Data: make([]byte, 9000)},
			{Base: 0x1000 + 9000 + uint64(r.IntN(2)*40), Data: make([]byte, 5000)},
			{Base: 7 << 20, Data: make([]byte, 1)},
		}
		l.Reset()
		for range 3 { // dispatches
			l.Begin()
			var before [][]byte
			for _, s := range segments {
				before = append(before, bytes.Clone(s.Data))
			}
			writers := map[uint64]uint8{} // a bit per wave
			ordered := false
			for range r.IntN(200) {
				s := segments[r.IntN(len(segments))]
				off := r.IntN(len(s.Data))
				n := 1 + r.IntN(min(len(s.Data)-off, 300))
				wave := int32(r.IntN(6))
				l.Save(s, uint64(off), n)
				v := byte(r.IntN(2))
				for i := range n {
					a := s.Base + uint64(off+i)
					ordered = ordered || writers[a]&^(1<<wave) != 0 && s.Data[off+i] != v
					writers[a] |= 1 << wave
					s.Data[off+i] = v
				}
				l.Wrote(wave, s.Base+uint64(off), n)
			}
			if ordered && !l.Ordered() {
				t.Fatal("waves that wrote the same byte are not in an order")
			}
			for range 200 {
				a, n, wave := uint64(0x1000+r.IntN(15000)), 1+r.IntN(130), int32(r.IntN(6))
				others, touched := false, false
				for g := a &^ 63; g < (a+uint64(n)+63)&^63; g++ {
					others = others || writers[g]&^(1<<wave) != 0
					touched = touched || writers[g] != 0
				}
				if got := l.ByOthers(wave, a, n); got != others {
					t.Fatalf("%d bytes at %#x by waves other than %d: %v, want %v", n, a, wave, got, others)
				}
				if touched && l.Outside(a&^63, (a+uint64(n)+63)&^63-1) {
					t.Fatalf("%d bytes at %#x are outside", n, a)
				}
			}
			if r.IntN(2) == 0 {
				l.Undo()
				for i, s := range segments {
					if !bytes.Equal(s.Data, before[i]) {
						t.Fatal("bytes have not come back")
					}
				}
			}
		}
	}
}

// TestOrdered: waves may share a granule, and write bytes alike; a wave may write bytes again that it alone has
// written.
func TestOrdered(t *testing.T) {
	s := &mem.Segment{Base: 0x40, Data: make([]byte, 256)}
	var l Log
	l.Reset()
	l.Save(s, 0, 256)
	write := func(wave int32, addr uint64, n int, want bool) {
		t.Helper()
		for i := range n {
			s.Data[addr-s.Base+uint64(i)] = byte(wave & 3)
		}
		if l.Wrote(wave, addr, n); l.Ordered() != want {
			t.Fatalf("wave %d, %d bytes at %#x: ordered %v, want %v", wave, n, addr, l.Ordered(), want)
		}
	}
	write(1, 0x40, 32, false)
	write(1, 0x50, 16, false)
	write(2, 0x60, 32, false)
	write(2, 0x80, 64, false)
	write(2, 0xbf, 1, false)
	write(6, 0xbe, 2, false) // the same bytes
	write(1, 0xbf, 1, true)
}
