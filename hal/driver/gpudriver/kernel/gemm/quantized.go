package gemm

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// Quantized is the constants of a product of 8-bit elements. Products are of signed bytes:
// 128 is subtracted from unsigned ones and from their zero points.
//
//	sum (x - zx)(w - zw) = sum xw - zw sum x - zx sum w + n zx zw
//
// The first sum is that of dot products; the second is another one per row, of ones,
// unless zw is 0; the rest is constant and joins the bias. All of it is modulo 2^32, as
// the reference's sums are.
type Quantized struct {
	Weights []int8 // [units][taps][depth]
	Bias    []int32
	Fixed   rdna.Fixed              // zero points are those of signed bytes
	Mult    []fixedpoint.Multiplier // one, or one per unit
}

// NewQuantized makes constants of bytes as the model has them.
func NewQuantized(q *quantized.GEMM, in, filter layout.Element, weights []byte, bias []int32) *Quantized {
	less := func(e layout.Element) int32 {
		if e.IsSigned() {
			return 0
		}
		return 128
	}
	c := &Quantized{Bias: bias, Mult: q.Mult, Weights: make([]int8, len(weights))}
	for i, b := range weights {
		c.Weights[i] = int8(b ^ byte(less(filter)))
	}
	c.Fixed = rdna.NewFixed(q)
	c.Fixed.InZero -= less(in)
	c.Fixed.FilterZero -= less(filter)
	return c
}

// biases are the biases with what does not depend on the input.
func (c *Quantized) biases(units, row int) []uint32 {
	out := make([]uint32, units)
	f := &c.Fixed
	for u := range units {
		sum := int32(0)
		for _, w := range c.Weights[u*row:][:row] {
			sum += int32(w)
		}
		out[u] = uint32(c.Bias[u] - f.InZero*sum + int32(row)*f.InZero*f.FilterZero)
	}
	return out
}
