package exec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/float/floattest"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// TestHostRows compares every assembly routine with the portable lane function,
// for full and partial masks, both wave sizes, and destinations that alias a
// source.
func TestHostRows(t *testing.T) {
	if !asm.HasAVX2 {
		t.Skip("skipped: needs AVX2")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i, h := range slices.Concat(asm.Rows, asm.Spreads) {
		spread := i >= len(asm.Rows)
		var s *sem
		for i := range vectorTable {
			if vectorTable[i].name == h.Mnemonic {
				s = &vectorTable[i]
			}
		}
		if s == nil {
			t.Errorf("%s: no lane function", h.Mnemonic)
			continue
		}
		twin := laneRow(s.f)
		fn := h.Func
		for round := range 400 {
			n := 32 << (round & 1)
			var a, b, c, d state.Row
			for l := range a {
				a[l], b[l], c[l], d[l] = floattest.Value(r), floattest.Value(r), floattest.Value(r), floattest.Value(r)
				if round%8 < 4 { // calm rows, which the fast path handles whole
					a[l], b[l], c[l] = a[l]&0xBFFFBFFF, b[l]&0xBFFFBFFF, c[l]&0xBFFFBFFF
				}
			}
			if spread {
				asm.SplatLanes(&a, a[0], 64)
			}
			m := state.FullMask(n)
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
							h.Mnemonic, l, n, m, a[l], b[l], c[l], got[l], want[l])
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
				t.Fatalf("%s: in place differs", h.Mnemonic)
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
			var a, b state.Row
			for l := range a {
				a[l], b[l] = floattest.Value(r), floattest.Value(r)
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
			if got := c.row(&a, &b, n) & state.FullMask(n); got != want {
				t.Fatalf("%s: lanes %#x, want %#x", c.name, got, want)
			}
		}
	}
}

func TestRegular(t *testing.T) {
	for _, n := range []int{32, 64} {
		for _, step := range []uint32{0, 4, 16, 1<<32 - 4} {
			var a [64]uint32
			for l := range n {
				a[l] = 1000 + uint32(l)*step
			}
			if !asm.Regular(&a, step, n) || !asm.RegularLanes(&a, step, n) {
				t.Errorf("%d lanes %d apart are not regular", n, step)
			}
			for l := range n {
				a[l]++
				if asm.Regular(&a, step, n) || asm.RegularLanes(&a, step, n) {
					t.Errorf("%d lanes %d apart are regular with lane %d elsewhere", n, step, l)
				}
				a[l]--
			}
		}
	}
}

func TestDeinterleave(t *testing.T) {
	for _, n := range []int{32, 64} {
		b := make([]byte, 16*n)
		for i := range b {
			b[i] = byte(i * 37 >> 2)
		}
		got, want := make([]uint32, 4*n+8), make([]uint32, 4*n+8)
		asm.Deinterleave(got, b, n)
		asm.DeinterleaveLanes(want, b, n)
		if !slices.Equal(got, want) {
			t.Errorf("%d lanes differ", n)
		}
	}
}

// TestGather: words at scattered offsets, also where a row of the result holds the offsets.
func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, 4096)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	const less = 1 << 31
	for _, n := range []int{32, 64} {
		for words := 1; words <= 4; words++ {
			for over := range words + 1 {
				got, want := make([]uint32, words*n+64), make([]uint32, words*n+64)
				var offsets state.Row
				for l := range n {
					offsets[l] = less + uint32(r.IntN(len(b)-4*words+1))
				}
				offsets[5], offsets[9] = less, less+uint32(len(b)-4*words)
				asm.GatherLanes(want, b, &offsets, less, words, n)
				at := &offsets
				if over < words { // this row of the result
					at = (*state.Row)(got[over*n:])
					copy(at[:n], offsets[:n])
				}
				asm.Gather(got, b, at, less, words, n)
				if !slices.Equal(got[:words*n], want[:words*n]) {
					t.Errorf("%d lanes of %d words differ, offsets in row %d", n, words, over)
				}
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{32, 64} {
		for range 50 {
			var offsets state.Row
			for l := range offsets {
				offsets[l] = r.Uint32() >> r.IntN(20)
			}
			var got, want [64]uint64
			base := r.Uint64()
			low, high := asm.Addresses(&got, &offsets, base, n)
			least, most := asm.AddressLanes(&want, &offsets, base, n)
			if got != want || low != least || high != most {
				t.Fatalf("%d lanes: %#x to %#x, want %#x to %#x", n, low, high, least, most)
			}
		}
	}
}

func TestNeighbours(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{32, 64} {
		for round := range 400 {
			var addr [64]uint64
			a := r.Uint64() >> 3
			for l := range addr {
				if r.IntN(3) > 0 {
					a += uint64(r.IntN(40)) - 20
				}
				addr[l] = a
			}
			size, shift := 1<<(round%5), uint(4+round%4)
			got, same := asm.Neighbours(&addr, size, shift, n)
			want, alike := asm.NeighbourLanes(&addr, size, shift, n)
			m := state.FullMask(n)
			if (got^want)&m != 0 || (same^alike)&m != 0 {
				t.Fatalf("%d lanes of %d bytes, blocks of %d: others %#x same %#x, want %#x %#x", n, size, 1<<shift, got&m, same&m, want, alike)
			}
		}
	}
}

// TestApart: no lane of those compared may be off.
func TestApart(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{32, 64} {
		for off := 1; off <= 64; off++ {
			var addr, apart [65]uint64
			for l := range addr {
				apart[l] = r.Uint64() * uint64(min(l, 1))
				addr[l] = 5<<50 + apart[l]
			}
			addr[off] += 1 << r.IntN(64)
			x, y := (*[64]uint64)(addr[:]), (*[64]uint64)(apart[:])
			if a, b := asm.MatchOffsets(x, y, n), asm.MatchOffsetsLanes(x, y, n); a != (off >= n) || b != a {
				t.Errorf("%d lanes, %d off: %v and %v", n, off, a, b)
			}
		}
	}
}

func TestSplat(t *testing.T) {
	EachForm(t, func(t *testing.T) {
		for _, n := range []int{32, 64} {
			var got, want state.Row
			asm.Splat(&got, 0xDEADBEEF, n)
			asm.SplatLanes(&want, 0xDEADBEEF, n)
			if got != want {
				t.Errorf("%d lanes differ", n)
			}
		}
	})
}

// TestSelect: lanes of the one or the other row, permuted in quads or not, also where one of them is the result's.
func TestSelect(t *testing.T) { EachForm(t, selects) }

func selects(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{32, 64} {
		for k := range 3 * 256 {
			var rows [3]state.Row
			over := k % 3
			for i := range rows {
				for l := range rows[i] {
					rows[i][l] = r.Uint32()
				}
			}
			from, ctrl := r.Uint64(), uint32(k/3)
			for _, f := range []struct{ host, lanes func(d, a, b *[64]uint32) }{
				{func(d, a, b *[64]uint32) { asm.Select(d, a, b, from, n) },
					func(d, a, b *[64]uint32) { asm.SelectLanes(d, a, b, from, n) }},
				{func(d, a, b *[64]uint32) { asm.Quad(d, a, b, from, ctrl, n) },
					func(d, a, b *[64]uint32) { asm.QuadLanes(d, a, b, from, ctrl, n) }},
			} {
				got, want := rows, rows[over]
				f.lanes(&want, &rows[0], &rows[1])
				f.host(&got[over], &got[0], &got[1])
				if got[over] != want {
					t.Errorf("%d lanes differ in the row of source %d", n, over)
				}
			}
		}
	}
}

// TestRowFor: the complete row of a mnemonic computes the lanes of the table, including those that the host's
// instructions leave undone, in 32 and 64 lanes, and no others.
func TestRowFor(t *testing.T) { EachForm(t, rowsFor) }

func rowsFor(t *testing.T) {
	if rowFor("v_no_such_thing") != nil {
		t.Error("a row of a mnemonic that is not there")
	}
	r := rand.New(rand.NewPCG(6, 25))
	for i := range vectorTable {
		s := &vectorTable[i]
		if s.f == nil {
			continue
		}
		row, lanes := rowFor(s.name), laneRow(s.f)
		for round := range 8 {
			n := 32 << (round & 1)
			var a, b, c, d state.Row
			for l := range a {
				a[l], b[l], c[l], d[l] = floattest.Value(r), floattest.Value(r), floattest.Value(r), floattest.Value(r)
			}
			m := state.FullMask(n) & (r.Uint64() | r.Uint64())
			got, want := d, d
			row(&got, &a, &b, &c, m, n)
			lanes(&want, &a, &b, &c, m, n)
			for l := range got {
				if got[l] != want[l] {
					t.Fatalf("%s: lane %d of %d, mask %#x: %#x, want %#x", s.name, l, n, m, got[l], want[l])
				}
			}
		}
	}
}
