package pool

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// Quotient are the constants with which the window kernel divides sums of n
// bytes: floor((sum + add) / n), add being more where sum > above, else less.
//
// It computes w = 2 (sum + add) + 1, so that w / 2n is never an integer, and
// SRDHM(w << up, m) >> down with m / 2^31 = 2^(k-1) / n, 2^k the power of two
// from n on: the product is w / 2n in units of 2^-down. It is off by less than
// one unit, w / 2n is at least 1 / 2n = 2^(down-k) / 2n * 2^k units away from an
// integer, which is two or more.
type Quotient struct {
	Above, More, Less int32
	Up, Down          int
	Mult              int32
}

// MaxQuotient bounds n so that the error bound above holds.
const MaxQuotient = 1 << 18

func newQuotient(n int, above, more, less int32) (Quotient, error) {
	if n < 1 || n > MaxQuotient {
		return Quotient{}, fmt.Errorf("window of %d elements, at most %d", n, MaxQuotient)
	}
	q := Quotient{Above: above, More: more, Less: less}
	k := bits.Len(uint(n - 1)) // 2^k >= n
	m := (int64(1)<<(30+k) + int64(n)/2) / int64(n)
	q.Mult = int32(min(m, 1<<31-1))
	// w is below 2^9 (n + 1); shifted it stays below 2^30.
	up := 30 - bits.Len(uint(n+1)<<9)
	q.Up, q.Down = up+1, k+up
	return q, nil
}

// Constants of a table entry from winAbove on.
func (q *Quotient) Constants() []uint32 {
	return []uint32{uint32(q.Above), uint32(q.More), uint32(q.Less), uint32(q.Up), 1 << (q.Up - 1), uint32(q.Mult), uint32(q.Down)}
}

// MaxHalfwords is up to how many elements HalfwordConstants divide by.
const MaxHalfwords = 64

// HalfwordConstants are the words for a quotient of n up to MaxHalfwords in 16 bits: with
// x = sum + add below 256 n and m = ceil(2^k / n), k = 15 + b, 2^b the power of two
// from n on, x m / 2^k is above x / n by less than 256 n / 2^k, which is below 1 / n.
// The product is one of 4x, of which the high halves are shifted by the rest.
func (q *Quotient) HalfwordConstants(n int) []uint32 {
	b := bits.Len(uint(n - 1))
	m := hvx.CeilDiv(1<<(15+b), n)
	return []uint32{hvx.SplatHalfword(q.Above), hvx.SplatHalfword(q.More), hvx.SplatHalfword(q.Less), 2, 0, hvx.SplatHalfword(int32(m)), uint32(b + 1)}
}

// AverageQuotient rounds half away from zero: in the signed domain that is up
// for positive sums and down for others, and sums here have 128 n added.
func AverageQuotient(n int, signed bool) (Quotient, error) {
	h := int32(n / 2)
	if !signed {
		return newQuotient(n, -1, h, h)
	}
	return newQuotient(n, 128*int32(n), h, int32(n-1)-h)
}

// MeanQuotient truncates toward zero.
func MeanQuotient(n int, signed bool) (Quotient, error) {
	if !signed {
		return newQuotient(n, -1, 0, 0)
	}
	return newQuotient(n, 128*int32(n)-1, 0, int32(n-1))
}
