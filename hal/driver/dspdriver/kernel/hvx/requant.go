package hvx

import "github.com/nnsoc/nnsoc/nn/fixedpoint"

// Requantization converts 32-bit accumulators to bytes:
//
//	out = clamp(RDPOT(SRDHM(acc << left, m), right) + zero, lo, hi)
//
// SRDHM is two multiplications (even and odd halfwords). RDPOT rounds halves away
// from zero: adding the sign and then rounding halves up is the same, and the
// narrowing shift does the latter.

// Requant is the requantization of one operation in the unsigned domain.
type Requant struct {
	Mult         []fixedpoint.Multiplier // one, or one per channel
	Zero, Lo, Hi int32
	halfword     *halfwordForm   // nil: the definition
	byteFactor   *byteFactorForm // before the others
}

func NewRequant(mult []fixedpoint.Multiplier, zero, lo, hi, bias int32) Requant {
	return Requant{Mult: mult, Zero: zero + bias, Lo: lo + bias, Hi: hi + bias}
}

// RequantKind is what the generated code depends on.
type RequantKind struct {
	PerChannel bool
	Left       bool // some multiplier shifts left
	Unshifted  bool // some multiplier shifts neither way: nothing to round
	LongShift  bool // one multiplier shifts right by more than the 15 of the narrowing shift
	Clamp      bool // bounds narrower than a byte
	Halfword   bool // by products of halfwords; none of the above but clamp holds
	Positive   bool // what rounds a negative value is below the bounds, so halves may go up
	Plain      bool // zero point 0
	ByteFactor bool // with half: a byte and a fraction
	FromZero   bool // with short: no 128 to add
}

func (q *Requant) Kind() RequantKind {
	k := RequantKind{Clamp: q.Lo > 0 || q.Hi < 255, Halfword: q.halfword != nil || q.byteFactor != nil, ByteFactor: q.byteFactor != nil}
	k.FromZero = k.ByteFactor && q.byteFactor.from == 0
	if k.Halfword {
		return k
	}
	k.PerChannel, k.Positive, k.Plain = len(q.Mult) > 1, q.Lo >= q.Zero, q.Zero == 0
	for _, m := range q.Mult {
		k.Left = k.Left || m.Shift > 0
		k.Unshifted = k.Unshifted || m.Shift >= 0
		k.LongShift = k.LongShift || m.Shift < -15
	}
	return k
}

// Tag names the kind in kernel names.
func (k RequantKind) Tag() string {
	s := ""
	for _, f := range []struct {
		on bool
		c  string
	}{{k.PerChannel, "c"}, {k.Left, "l"}, {k.Unshifted, "w"}, {k.LongShift, "f"}, {k.Clamp, "k"}, {k.Halfword, "h"}, {k.Positive, "p"}, {k.Plain, "z"}, {k.ByteFactor, "s"}, {k.FromZero, "0"}} {
		if f.on {
			s += f.c
		}
	}
	return "q" + s
}

// Words of the parameter block.
const (
	parMult = iota
	parZero // twice, as halfwords
	parLo   // four times, as bytes
	parHi
	parLeft
	parFirst // right shift before the narrowing one
	parRight
	ParBox // of the inputs that a step ahead reads: width and height, stride
	ParStride
	parHigh // of the form with halfwords, twice, as halfwords
	parLow
	parAdd
	ParRowStep // of a window, for kernels that do not know it
	ParWords
)

// Params is the parameter block.
func (q *Requant) Params() []uint32 {
	w := make([]uint32, ParWords)
	m := q.Mult[0]
	w[parMult] = uint32(m.M)
	w[parZero] = uint32(q.Zero&0xffff) * 0x10001
	w[parLo] = uint32(q.Lo) * 0x01010101
	w[parHi] = uint32(q.Hi) * 0x01010101
	w[parLeft] = uint32(max(m.Shift, 0))
	right := max(-m.Shift, 0)
	if right > 15 {
		w[parFirst] = uint32(right - 1)
		right = 1
	}
	w[parRight] = uint32(right)
	if q.byteFactor != nil {
		q.byteFactor.params(w)
	} else if h := q.halfword; h != nil {
		w[parHigh], w[parLow], w[parAdd] = uint32(h.high)*0x10001, uint32(h.low)*0x10001, uint32(h.add)
	}
	return w
}

// Vectors per accumulator that a per-channel kernel reads: multiplier, right
// shift minus one, and the left shift where there is one.
func (k RequantKind) Vectors() int {
	switch {
	case !k.PerChannel:
		return 0
	case k.Left:
		return 3
	}
	return 2
}

// ChannelWords are the words of one lane of those vectors.
func (q *Requant) ChannelWords(ch int) [3]uint32 {
	if ch >= len(q.Mult) {
		return [3]uint32{}
	}
	m := q.Mult[ch]
	return [3]uint32{uint32(m.M), uint32(int32(max(-m.Shift, 0) - 1)), uint32(max(m.Shift, 0))}
}
