package exec

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// elementwise executes OP_ELEMENTWISE.
func (e *Engine) elementwise(o *state.Op) error {
	n := o.OFM.W * o.OFM.C
	e.scratch.row, e.scratch.outRow = grow(e.scratch.row, n), grow(e.scratch.outRow, n)
	b := n
	if o.HasIFM2 {
		b = o.IFM2.W * o.IFM2.C
	}
	e.scratch.row2 = grow(e.scratch.row2, b)
	fn := elementFunction(o)
	last := -1
	for y := range o.OFM.H {
		o.IFM.ReadRow(e.scratch.row, y)
		if o.HasIFM2 {
			if y2 := min(y, o.IFM2.H-1); y2 != last {
				o.IFM2.ReadRow(e.scratch.row2, y2)
				last = y2
			}
		}
		e.elementRow(o, fn)
		o.OFM.WriteRow(e.scratch.outRow, y)
	}
	return nil
}

// elementRow computes one output row from the input rows read.
func (e *Engine) elementRow(o *state.Op, fn func(a, b int64) int32) {
	depth := o.OFM.C
	for x := range o.OFM.W {
		a, out := e.scratch.row[x*depth:][:depth], e.scratch.outRow[x*depth:][:depth]
		if !o.HasIFM2 {
			for i, v := range a {
				out[i] = apply(o, fn, int64(v), o.Scalar)
			}
			continue
		}
		b := e.scratch.row2[min(x, o.IFM2.W-1)*o.IFM2.C:][:o.IFM2.C]
		if len(b) == 1 {
			for i, v := range a {
				out[i] = apply(o, fn, int64(v), int64(b[0]))
			}
			continue
		}
		for i, v := range a {
			out[i] = apply(o, fn, int64(v), int64(b[i]))
		}
	}
}

// apply puts the operands in arithmetic order.
func apply(o *state.Op, fn func(a, b int64) int32, a, b int64) int32 {
	if o.Swap {
		a, b = b, a
	}
	return fn(a, b)
}

// elementFunction is the arithmetic of the operation on operands without zero points,
// first and second in arithmetic order.
func elementFunction(o *state.Op) func(a, b int64) int32 {
	s := &o.Output
	switch o.Mode {
	case ethosu.EltMul:
		if o.IFM.ElemSize == 4 {
			// The multiplier of 32-bit products is ignored, only the shift counts.
			return func(a, b int64) int32 {
				return finish(s, clamp64(rescaleProduct(a*b, s.Shift, s.Round), -1<<31, 1<<31-1))
			}
		}
		return func(a, b int64) int32 { return scaled(s, a*b) }
	case ethosu.EltAdd, ethosu.EltSub:
		first, second := operandScale(o)
		if o.Mode == ethosu.EltAdd {
			return func(a, b int64) int32 { return scaled(s, first(a)+second(b)) }
		}
		return func(a, b int64) int32 { return scaled(s, first(a)-second(b)) }
	case ethosu.EltMin:
		return func(a, b int64) int32 { return finish(s, min(a, b)) }
	case ethosu.EltMax:
		return func(a, b int64) int32 { return finish(s, max(a, b)) }
	case ethosu.EltLRelu:
		return func(a, _ int64) int32 {
			if a < 0 {
				return scaled(s, a)
			}
			return finish(s, a)
		}
	case ethosu.EltAbs:
		return func(a, _ int64) int32 {
			if a < 0 {
				a = -a
			}
			return scaled(s, a)
		}
	case ethosu.EltClz:
		return func(a, _ int64) int32 { return finish(s, int64(bits.LeadingZeros32(uint32(a)))) }
	case ethosu.EltShr:
		return func(a, b int64) int32 { return finish(s, shiftRight(a, b, s.Round)) }
	}
	return func(a, b int64) int32 {
		if b < 0 || b > 31 {
			return finish(s, 0)
		}
		return finish(s, int64(int32(a<<b)))
	}
}

// operandScale is the scaling of the first and second operand of ADD and SUB.
func operandScale(o *state.Op) (first, second func(int64) int64) {
	if o.IFM.ElemSize == 4 || o.ScaleMode == ethosu.ScaleBoth16 {
		a, b := int64(o.OPAScale), int64(o.OPBScale)
		if o.IFM.ElemSize == 4 {
			a, b = 1, 1
		}
		return func(v int64) int64 { return v * a }, func(v int64) int64 { return v * b }
	}
	// One operand is scaled by 32 bits in two steps, the other only shifted.
	up := uint8(19)
	if o.IFM.ElemSize == 2 {
		up = 14
	}
	scaled := func(v int64) int64 {
		k := 31 - (up + 1)
		if o.OPAShift <= k {
			return rescale(v, o.OPAScale, o.OPAShift, ethosu.RoundDouble)
		}
		return divPOT(natural(v, o.OPAScale, k), o.OPAShift-k)
	}
	shifted := func(v int64) int64 { return v << up }
	if o.ScaleMode == ethosu.ScaleOPA32 {
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
	switch {
	case round == ethosu.RoundDouble:
		n := min(shift, 31)
		return divPOT(half(p, n), shift-n)
	case round == ethosu.RoundTruncate && p < 0:
		return -(-p >> shift) // toward zero; a product of 32 bits has a magnitude
	case round == ethosu.RoundTruncate:
		return p >> shift
	}
	return half(p, shift)
}

// shiftRight is a >> b, for b outside 0..62 as if b were the nearer bound.
func shiftRight(a, b int64, round int) int64 {
	n := uint8(clamp64(b, 0, 62))
	switch round {
	case ethosu.RoundNatural:
		return (a + int64(1)<<(n-1)) >> n
	case ethosu.RoundTruncate:
		return a >> n
	}
	return divPOT(a, n)
}
