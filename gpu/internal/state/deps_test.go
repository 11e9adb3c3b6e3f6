package state

import "testing"

// TestSpans: each span of a set of 256 registers sets its bits, finds the first of them and clears them, as one register
// after the other does.
func TestSpans(t *testing.T) {
	for reg := range 256 {
		for n := range min(128, 256-reg) + 1 {
			a := Span{Reg: uint8(reg), N: uint8(n)}
			var set, want [4]uint64
			for r := reg; r < reg+n; r++ {
				want[r/64] |= 1 << (r % 64)
			}
			a.Set(set[:])
			first := -1
			if n > 0 {
				first = reg
			}
			if got := a.First(set[:]); set != want || got != first {
				t.Fatalf("%+v sets %x and finds %d, want %x and %d", a, set, got, want, first)
			}
			rest := [4]uint64{^want[0], ^want[1], ^want[2], ^want[3]}
			if got := a.First(rest[:]); got != -1 {
				t.Fatalf("%+v finds %d in the others", a, got)
			}
			full := [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
			a.Clear(full[:])
			if full != rest {
				t.Fatalf("%+v leaves %x, want %x", a, full, rest)
			}
		}
	}
}
