package hvx

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// value is the result of an accumulator in the short form.
func (h *byteFactorForm) value(acc int64) int64 {
	x := min(max(acc-int64(h.centre), math.MinInt16), math.MaxInt16)
	v := h.fraction(x) + int64(h.add)
	return min(max((x*int64(h.high)+v+1<<(h.shift-1))>>h.shift, -int64(h.from)), 255-int64(h.from)) + int64(h.from)
}

// The short form gives the definition's byte for every accumulator in and around
// its window, and for those at the ends of int32.
func TestShortRequant(t *testing.T) {
	found, zeros, all := 0, 0, 0
	for seed := range uint64(240) {
		r := rand.New(rand.NewPCG(seed, 6))
		m := fixedpoint.QuantizeMultiplier(math.Exp2(-8 * r.Float64()))
		zero, lo, hi := randomBounds(r)
		all++
		h, ok := findByteFactor(m, zero, lo, hi)
		if !ok {
			continue
		}
		found++
		if h.from == 0 {
			zeros++
		}
		try := func(acc int64) { tryRequant(t, m, zero, lo, hi, h.centre, acc, h.value) }
		for off := range int64(1<<16 + 512) {
			try(int64(h.centre) - 1<<15 - 256 + off)
		}
		for off := range int64(256) {
			try(math.MinInt32 + off)
			try(math.MaxInt32 - off)
			try(int64(r.Int32()) - 1<<30)
		}
	}
	t.Logf("%d of %d requantizations have the form, %d from zero", found, all, zeros)
	if found < 80 || zeros < 40 {
		t.Errorf("only %d of %d requantizations have the form, %d from zero", found, all, zeros)
	}
}

func BenchmarkFindShort(b *testing.B) {
	m := fixedpoint.QuantizeMultiplier(0.0123)
	for b.Loop() {
		findByteFactor(m, 0, 0, 255)
	}
}
