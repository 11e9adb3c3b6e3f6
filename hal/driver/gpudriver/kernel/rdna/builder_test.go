package rdna

import "testing"

// TestMagic: division by multiplication is exact.
func TestMagic(t *testing.T) {
	for _, d := range []int{3, 5, 6, 7, 9, 49, 112, 224, 1001, 12544, 65537, 1<<30 - 1} {
		m, s := magic(d)
		for _, n := range []uint32{0, 1, uint32(d) - 1, uint32(d), uint32(d) + 1, 2*uint32(d) - 1, 1<<31 - 1, 1<<31 - 1 - (1<<31-1)%uint32(d), 1<<31 - 2 - (1<<31-1)%uint32(d)} {
			if n >= 1<<31 {
				continue
			}
			if got := uint32(uint64(n)*uint64(m)>>32) >> s; got != n/uint32(d) {
				t.Errorf("%d / %d = %d", n, d, got)
			}
		}
	}
}
