package philox

import "testing"

// TestWords are the known answers that the authors of the generator publish.
func TestWords(t *testing.T) {
	const f = 0xffffffff
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{f, f, f, f}, [2]uint32{f, f}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := words(c.counter, c.key); got != c.want {
			t.Errorf("%x under %x: %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// TestFloat64: numbers are in [0, 1) and differ from draw to draw and from key to key.
func TestFloat64(t *testing.T) {
	seen := map[float64]bool{}
	sum := 0.
	const n = 4000
	for i := range uint32(n) {
		x := Float64(i/2, [2]uint32{7, i % 2})
		if !(x >= 0 && x < 1) || seen[x] {
			t.Fatalf("draw %d is %v", i, x)
		}
		seen[x] = true
		sum += x
	}
	if mean := sum / n; !(mean > 0.48 && mean < 0.52) {
		t.Errorf("mean %v", mean)
	}
}
