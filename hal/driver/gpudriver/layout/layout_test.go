package layout

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestElements: sizes and limits of elements are those of their names, and a word of elements repeats them.
func TestElements(t *testing.T) {
	for _, c := range []struct {
		e             Element
		name          string
		bytes         int
		float, signed bool
		lo, hi        int32 // of integers
		lowest        uint32
		padding       uint32 // of a zero point of 3 behind 128
	}{
		{e: F32, name: "f32", bytes: 4, float: true, signed: true, lowest: math.Float32bits(float32(math.Inf(-1)))},
		{e: F16, name: "f16", bytes: 2, float: true, signed: true, lowest: 0xfc00fc00},
		{e: I32, name: "i32", bytes: 4, signed: true, lo: math.MinInt32, hi: math.MaxInt32, lowest: 0x80000000},
		{e: I16, name: "i16", bytes: 2, signed: true, lo: math.MinInt16, hi: math.MaxInt16, lowest: 0x80008000},
		{e: U16, name: "u16", bytes: 2, hi: math.MaxUint16},
		{e: I8, name: "i8", bytes: 1, signed: true, lo: math.MinInt8, hi: math.MaxInt8, lowest: 0x80808080, padding: 0x03030303},
		{e: U8, name: "u8", bytes: 1, hi: math.MaxUint8, padding: 0x83838383},
	} {
		if e := c.e; e.String() != c.name || e.Bytes() != c.bytes || 1<<e.Shift() != c.bytes || e.IsFloat() != c.float || e.IsSigned() != c.signed ||
			e.PerChunk()*c.bytes != 16 {
			t.Errorf("%s: %d bytes, float %v, signed %v, %d in 16 bytes", e, e.Bytes(), e.IsFloat(), e.IsSigned(), e.PerChunk())
		}
		if lo, hi := c.e.Limits(); !c.float && (lo != c.lo || hi != c.hi) {
			t.Errorf("%s: %d to %d", c.e, lo, hi)
		}
		if w := c.e.Lowest(); w != c.lowest {
			t.Errorf("%s: %#x is the lowest, want %#x", c.e, w, c.lowest)
		}
		if w := c.e.Padding(3); w != c.padding {
			t.Errorf("%s: padding %#x, want %#x", c.e, w, c.padding)
		}
		const v = 0xfedcba98 // only the low bits of which are an element's
		want := binary.LittleEndian.AppendUint32(nil, v)[:c.bytes]
		if got := binary.LittleEndian.AppendUint32(nil, c.e.Fill(v)); !slices.Equal(got, slices.Repeat(want, 4/c.bytes)) {
			t.Errorf("%s: a word of %x is %x", c.e, want, got)
		}
		x := Tensor{Elem: c.e, N: 5}
		if x.Bytes() != 5*c.bytes {
			t.Errorf("%s: %d bytes for 5", c.e, x.Bytes())
		}
	}
}

// TestPages: each requested word has its own page for the most bytes and a guard behind them, the first is
// of zeros, and all begin at multiples of 256.
func TestPages(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var p Pages
		asked := map[uint32]bool{0: true}
		most := minZero
		for range r.IntN(6) {
			w, n := uint32(r.IntN(4))*0x01020304, r.IntN(3000)
			p.Need(w, n)
			asked[w], most = true, max(most, n)
		}
		b := p.Bytes()
		if len(b)%len(asked) != 0 || len(b)/len(asked) > most+2*Guard+255 {
			t.Fatalf("%d bytes for %d words of %d", len(b), len(asked), most)
		}
		used := map[int]bool{}
		for w := range asked {
			at := int(p.At(w))
			if used[at] || at%256 != 0 || (w == 0) != (at == 0) || at+most+Guard > len(b) {
				t.Fatalf("the page of %#x begins at %d of %d", w, at, len(b))
			}
			used[at] = true
			for i := at; i < at+most+Guard; i += 4 {
				if got := binary.LittleEndian.Uint32(append(slices.Clone(b[i:min(i+4, len(b))]), 0, 0, 0)); i+4 <= len(b) && got != w {
					t.Fatalf("word %d of the page of %#x is %#x", (i-at)/4, w, got)
				}
			}
		}
	}
}

// TestConstants: constants begin at multiples of 256, occupy the bytes that they need, and are what was added.
func TestConstants(t *testing.T) {
	var c Constants
	c.Expect(1 << 16)
	room := cap(c.Data)
	if room < 1<<16+1<<12 || room > 1<<17 {
		t.Errorf("room for %d bytes where 65536 are expected", room)
	}
	want := map[uint32][]byte{}
	add := func(at uint32, b []byte, behind int) {
		if at%256 != 0 || len(c.Data) != int(at)+len(b)+behind {
			t.Errorf("%d bytes at %d of %d", len(b), at, len(c.Data))
		}
		want[at] = b
	}
	add(c.Reserve(3), make([]byte, 3), 0)
	add(c.Bytes([]byte{1, 2, 3, 4, 5}), []byte{1, 2, 3, 4, 5}, 0)
	add(c.Words([]uint32{0x01020304, 5}), []byte{4, 3, 2, 1, 5, 0, 0, 0}, 0)
	add(c.Floats([]float32{1, -2}, 3, 7), []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0}, 7)
	for at, b := range want {
		if got := c.Data[at:][:len(b)]; !slices.Equal(got, b) {
			t.Errorf("%v at %d, want %v", got, at, b)
		}
	}
	b := make([]byte, 4)
	if F16.PutFloat(b, -2); !slices.Equal(b, []byte{0, 0xc0, 0, 0}) {
		t.Errorf("a half of -2 is %x", b)
	}
	if F32.PutFloat(b, -2); !slices.Equal(b, []byte{0, 0, 0, 0xc0}) {
		t.Errorf("a float of -2 is %x", b)
	}
}
