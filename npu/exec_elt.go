package npu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// elementwise executes OP_ELEMENTWISE.
func (st *State) elementwise(o *op) error {
	n := o.ofm.w * o.ofm.c
	st.scratch.row, st.scratch.outRow = grow(st.scratch.row, n), grow(st.scratch.outRow, n)
	b := n
	if o.hasIFM2 {
		b = o.ifm2.w * o.ifm2.c
	}
	st.scratch.row2 = grow(st.scratch.row2, b)
	fn := o.function()
	last := -1
	for y := range o.ofm.h {
		o.ifm.readRow(st.scratch.row, y)
		if o.hasIFM2 {
			if y2 := min(y, o.ifm2.h-1); y2 != last {
				o.ifm2.readRow(st.scratch.row2, y2)
				last = y2
			}
		}
		st.elementRow(o, fn)
		o.ofm.writeRow(st.scratch.outRow, y)
	}
	return nil
}

// elementRow computes one output row from the input rows read.
func (st *State) elementRow(o *op, fn func(a, b int64) int32) {
	depth := o.ofm.c
	for x := range o.ofm.w {
		a, out := st.scratch.row[x*depth:][:depth], st.scratch.outRow[x*depth:][:depth]
		if !o.hasIFM2 {
			for i, v := range a {
				out[i] = o.apply(fn, int64(v), o.scalar)
			}
			continue
		}
		b := st.scratch.row2[min(x, o.ifm2.w-1)*o.ifm2.c:][:o.ifm2.c]
		if len(b) == 1 {
			for i, v := range a {
				out[i] = o.apply(fn, int64(v), int64(b[0]))
			}
			continue
		}
		for i, v := range a {
			out[i] = o.apply(fn, int64(v), int64(b[i]))
		}
	}
}

// apply puts the operands in arithmetic order.
func (o *op) apply(fn func(a, b int64) int32, a, b int64) int32 {
	if o.swap {
		a, b = b, a
	}
	return fn(a, b)
}

// function is the arithmetic of the operation on operands without zero points,
// first and second in arithmetic order.
func (o *op) function() func(a, b int64) int32 {
	s := &o.out
	switch o.mode {
	case ethosu.EltMul:
		if o.ifm.esz == 4 {
			// The multiplier of 32-bit products is ignored, only the shift counts.
			return func(a, b int64) int32 {
				return s.finish(clamp64(rescaleProduct(a*b, s.shift, s.round), -1<<31, 1<<31-1))
			}
		}
		return func(a, b int64) int32 { return s.scaled(a * b) }
	case ethosu.EltAdd, ethosu.EltSub:
		first, second := o.operandScale()
		if o.mode == ethosu.EltAdd {
			return func(a, b int64) int32 { return s.scaled(first(a) + second(b)) }
		}
		return func(a, b int64) int32 { return s.scaled(first(a) - second(b)) }
	case ethosu.EltMin:
		return func(a, b int64) int32 { return s.finish(min(a, b)) }
	case ethosu.EltMax:
		return func(a, b int64) int32 { return s.finish(max(a, b)) }
	case ethosu.EltLRelu:
		return func(a, _ int64) int32 {
			if a < 0 {
				return s.scaled(a)
			}
			return s.finish(a)
		}
	case ethosu.EltAbs:
		return func(a, _ int64) int32 {
			if a < 0 {
				a = -a
			}
			return s.scaled(a)
		}
	case ethosu.EltClz:
		return func(a, _ int64) int32 { return s.finish(int64(bits.LeadingZeros32(uint32(a)))) }
	case ethosu.EltShr:
		return func(a, b int64) int32 { return s.finish(shiftRight(a, b, s.round)) }
	}
	return func(a, b int64) int32 {
		if b < 0 || b > 31 {
			return s.finish(0)
		}
		return s.finish(int64(int32(a << b)))
	}
}

// operandScale is the scaling of the first and second operand of ADD and SUB.
func (o *op) operandScale() (first, second func(int64) int64) {
	if o.ifm.esz == 4 || o.scaleMode == ethosu.ScaleBoth16 {
		a, b := int64(o.opa), int64(o.opb)
		if o.ifm.esz == 4 {
			a, b = 1, 1
		}
		return func(v int64) int64 { return v * a }, func(v int64) int64 { return v * b }
	}
	// One operand is scaled by 32 bits in two steps, the other only shifted.
	up := uint8(19)
	if o.ifm.esz == 2 {
		up = 14
	}
	scaled := func(v int64) int64 {
		k := 31 - (up + 1)
		if o.opaShift <= k {
			return rescale(v, o.opa, o.opaShift, ethosu.RoundDouble)
		}
		return divPOT(natural(v, o.opa, k), o.opaShift-k)
	}
	shifted := func(v int64) int64 { return v << up }
	if o.scaleMode == ethosu.ScaleOPA32 {
		return scaled, shifted
	}
	return shifted, scaled
}

// rescaleProduct is a 64-bit product >> shift by a rounding mode.
func rescaleProduct(p int64, shift uint8, round int) int64 {
	half := func(v int64, n uint8) int64 {
		if n == 0 {
			return v
		}
		return v>>n + v>>(n-1)&1
	}
	if round == ethosu.RoundDouble {
		n := min(shift, 31)
		return divPOT(half(p, n), shift-n)
	}
	return half(p, shift)
}

// shiftRight is a >> b, for b outside 0..62 as if b were the nearer bound.
func shiftRight(a, b int64, round int) int64 {
	n := uint8(clamp64(b, 0, 62))
	switch {
	case n == 0:
		return a
	case round == ethosu.RoundNatural:
		return (a + int64(1)<<(n-1)) >> n
	case round == ethosu.RoundTruncate:
		return a >> n
	}
	return divPOT(a, n)
}
