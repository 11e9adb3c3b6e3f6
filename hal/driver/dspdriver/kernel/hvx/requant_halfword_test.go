package hvx

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// randomBounds is a zero point and the bounds of an activation.
func randomBounds(r *rand.Rand) (zero, lo, hi int32) {
	zero, hi = r.Int32N(256), 255
	switch r.IntN(3) {
	case 0: // RELU
		zero = 0
	case 1:
		lo = zero
		hi = lo + r.Int32N(256-lo)
	}
	return zero, lo, hi
}

// tryRequant compares a form's byte for an accumulator from which the form's
// centre can be subtracted with the definition's.
func tryRequant(t *testing.T, m fixedpoint.Multiplier, zero, lo, hi, centre int32, acc int64, form func(acc int64) int64) {
	t.Helper()
	if least, most := acc-int64(max(centre, 0)), acc-int64(min(centre, 0)); least < math.MinInt32 || most > math.MaxInt32 {
		return
	}
	want := min(max(int64(m.Apply(int32(acc)))+int64(zero), int64(lo)), int64(hi))
	if got := min(max(form(acc), int64(lo)), int64(hi)); got != want {
		t.Fatalf("%+v, zero %d, %d..%d: accumulator %d gives %d, want %d", m, zero, lo, hi, acc, got, want)
	}
}

// The form with halfwords gives the definition's byte for every accumulator: those
// around each step, around the ends of the window and of int32, and random ones.
func TestHalfRequant(t *testing.T) {
	found := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		m := fixedpoint.QuantizeMultiplier(math.Exp2(-10*r.Float64()) * (0.5 + r.Float64()))
		zero, lo, hi := randomBounds(r)
		h, ok := findHalfword(m, zero, lo, hi)
		if !ok {
			continue
		}
		found++
		value := func(acc int64) int64 {
			x := min(max(acc-int64(h.centre), math.MinInt16), math.MaxInt16)
			sum := h.product(x) + int64(h.add)
			if sum < math.MinInt32 || sum > math.MaxInt32 {
				t.Fatalf("seed %d: sum %d overflows", seed, sum)
			}
			return (sum + 1<<14) >> 15
		}
		try := func(acc int64) { tryRequant(t, m, zero, lo, hi, h.centre, acc, value) }
		for off := range int64(1 << 9) {
			try(int64(h.centre) - 1<<15 - 256 + off)
			try(int64(h.centre) + 1<<15 - 256 + off)
			try(math.MinInt32 + off)
			try(math.MaxInt32 - off)
			try(int64(r.Int32()) - 1<<30)
			try(int64(h.centre) + int64(r.Int32N(1<<17)) - 1<<16)
		}
	}
	if found < 500 {
		t.Errorf("only %d of 3000 requantizations have the form", found)
	}
}

func BenchmarkFindHalf(b *testing.B) {
	m := fixedpoint.QuantizeMultiplier(0.0123)
	for b.Loop() {
		findHalfword(m, 0, 0, 255)
	}
}
