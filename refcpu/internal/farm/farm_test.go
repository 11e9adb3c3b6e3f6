package farm

import "testing"

// TestLengths runs every branch: the empty fingerprint is k2 by definition, and
// no two of the prefixes collide.
func TestLengths(t *testing.T) {
	if got := Fingerprint64(nil); got != k2 {
		t.Errorf("fingerprint of nothing is %#x, want %#x", got, uint64(k2))
	}
	s := make([]byte, 300)
	for i := range s {
		s[i] = byte(i * 7)
	}
	seen := map[uint64]int{}
	for n := range s {
		f := Fingerprint64(s[:n])
		if m, ok := seen[f]; ok {
			t.Errorf("prefixes of %d and %d bytes collide", m, n)
		}
		seen[f] = n
	}
}
