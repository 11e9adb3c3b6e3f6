package pool

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// divideHalves is what the window kernel does in 16 bits.
func divideHalves(t *testing.T, w []uint32, sum int) int32 {
	t.Helper()
	add := int16(w[winLess-winAbove])
	if int16(sum) > int16(w[0]) {
		add = int16(w[winMore-winAbove])
	}
	x := (sum + int(add)) << w[winUp-winAbove]
	if x < 0 || x >= 1<<16 {
		t.Fatalf("dividend %d overflows", x)
	}
	return int32(uint32(x) * (w[winMult-winAbove] & 0xffff) >> 16 >> w[winDown-winAbove])
}

// Quotients are exact for every count and sum that matters: all sums of small
// windows, the neighbourhood of every quotient's edges for large ones.
func TestQuotient(t *testing.T) {
	divide := func(q *Quotient, sum int32) int32 {
		add := q.Less
		if sum > q.Above {
			add = q.More
		}
		y := int64(sum+add)<<q.Up + 1<<(q.Up-1)
		if y >= 1<<31 {
			t.Fatalf("dividend %d overflows", y)
		}
		return int32((y*int64(q.Mult)+1<<30)>>31) >> q.Down
	}
	truth := func(sum, n int32, signed, mean bool) int32 {
		if signed {
			sum -= 128 * n
		}
		switch {
		case mean:
		case sum > 0:
			sum += n / 2
		default:
			sum -= n / 2
		}
		v := sum / n
		if signed {
			v += 128
		}
		return v
	}
	counts := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 25, 31, 32, 33, 49, 64, 100, 127, 128, 255, 256, 257, 1000, 4095, 4096,
		12544, 65535, 65536, 65537, 200000, MaxQuotient - 1, MaxQuotient}
	for _, n := range counts {
		for _, signed := range []bool{false, true} {
			for _, mean := range []bool{false, true} {
				make := AverageQuotient
				if mean {
					make = MeanQuotient
				}
				q := require.V(make(n, signed))(t)
				try := func(sum int) {
					if sum < 0 || sum > 255*n {
						return
					}
					want := truth(int32(sum), int32(n), signed, mean)
					if got := divide(&q, int32(sum)); got != want {
						t.Fatalf("n %d signed %v mean %v: sum %d gives %d, want %d", n, signed, mean, sum, got, want)
					}
					if n <= MaxHalfwords {
						if got := divideHalves(t, q.HalfwordConstants(n), sum); got != want {
							t.Fatalf("n %d signed %v mean %v: in 16 bits sum %d gives %d, want %d", n, signed, mean, sum, got, want)
						}
					}
				}
				if n <= 64 {
					for sum := 0; sum <= 255*n; sum++ {
						try(sum)
					}
					continue
				}
				for edge := 0; edge <= 255*n; edge += max(n/2, 1) {
					for off := -3; off <= 3; off++ {
						try(edge + off)
					}
				}
			}
		}
	}
	require.Fails(t, require.Err(newQuotient(MaxQuotient+1, 0, 0, 0)), "no error beyond the limit")
}
