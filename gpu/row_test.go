package gpu

import (
	"math/rand/v2"
	"testing"
)

// testValues mixes the values where float and integer arithmetic has corners
// with random ones.
func testValues(r *rand.Rand) uint32 {
	corner := []uint32{
		0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
		0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0xFFFFFFFF, 0x7FFFFFFF, 0x3C003C00, 0x7C007BFF, 0x80000001,
		0x00010001, 0x83FF03FF, 0x04000400, 0xFC00FE00, 31, 32, 33, 0x4B000000, 0x3F000000, 0x477FF000, 0x33000001,
	}
	switch r.IntN(4) {
	case 0:
		return corner[r.IntN(len(corner))]
	case 1: // floats of moderate size, so that sums cancel and round
		return b32(float32(r.NormFloat64()))
	case 2: // pairs of halves of moderate size
		return f32to16(b32(float32(r.NormFloat64()))) | f32to16(b32(float32(r.NormFloat64()*8)))<<16
	}
	return r.Uint32()
}

// TestHostRows compares every assembly routine with the portable lane function,
// for full and partial masks, both wave sizes, and destinations that alias a
// source.
func TestHostRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, h := range hostTable() {
		var s *sem
		for i := range vectorTable {
			if vectorTable[i].name == h.name {
				s = &vectorTable[i]
			}
		}
		if s == nil {
			t.Errorf("%s: no lane function", h.name)
			continue
		}
		twin := laneRow(s.f)
		for _, fn := range h.rows {
			for round := range 400 {
				n := 32 << (round & 1)
				var a, b, c, d row
				for l := range a {
					a[l], b[l], c[l], d[l] = testValues(r), testValues(r), testValues(r), testValues(r)
					if round%8 < 4 { // calm rows, which the fast path handles whole
						a[l], b[l], c[l] = a[l]&0xBFFFBFFF, b[l]&0xBFFFBFFF, c[l]&0xBFFFBFFF
					}
				}
				if h.spread {
					splatLanes(&a, a[0], 64)
				}
				m := fullMask(n)
				if round%3 == 0 {
					m &= r.Uint64()
				}
				want := d
				twin(&want, &a, &b, &c, m, n)
				got := d
				if rest := fn(&got, &a, &b, &c, m, n); rest != 0 {
					twin(&got, &a, &b, &c, rest, n)
				}
				if got != want {
					for l := range got {
						if got[l] != want[l] {
							t.Fatalf("%s lane %d of %d mask %#x: f(%#x, %#x, %#x) = %#x, want %#x",
								h.name, l, n, m, a[l], b[l], c[l], got[l], want[l])
						}
					}
				}
				// In place: the destination is the third source.
				want, got = c, c
				twin(&want, &a, &b, &want, m, n)
				if rest := fn(&got, &a, &b, &got, m, n); rest != 0 {
					twin(&got, &a, &b, &got, rest, n)
				}
				if got != want {
					t.Fatalf("%s: in place differs", h.name)
				}
			}
		}
	}
}

func TestHostCompares(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range cmpTable() {
		c := &cmpTable()[i]
		if c.row == nil {
			continue
		}
		for round := range 50 {
			n := 32 << (round & 1)
			var a, b row
			for l := range a {
				a[l], b[l] = testValues(r), testValues(r)
				if r.IntN(3) == 0 {
					b[l] = a[l]
				}
			}
			var want uint64
			for l := range n {
				if c.wide(uint64(a[l]), uint64(b[l])) {
					want |= 1 << l
				}
			}
			if got := c.row(&a, &b, n) & fullMask(n); got != want {
				t.Fatalf("%s: lanes %#x, want %#x", c.name, got, want)
			}
		}
	}
}

func TestSplat(t *testing.T) {
	for _, n := range []int{32, 64} {
		var got, want row
		splat(&got, 0xDEADBEEF, n)
		splatLanes(&want, 0xDEADBEEF, n)
		if got != want {
			t.Errorf("%d lanes differ", n)
		}
	}
}
