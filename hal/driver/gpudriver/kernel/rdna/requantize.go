package rdna

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// Fixed is the arithmetic of sums of products of 8-bit elements: zero points, bounds of the
// result, and its multiplier unless each channel has its own. Pooling only has the bounds.
type Fixed struct {
	InZero, FilterZero, OutZero int32
	Lo, Hi                      int32
	Mult                        fixedpoint.Multiplier // where PerChannel is false
	PerChannel                  bool
}

// NewFixed is the arithmetic of the quantization of a model.
func NewFixed(q *quantized.GEMM) Fixed {
	f := Fixed{InZero: q.InZero, FilterZero: q.FilterZero, OutZero: q.OutZero, Lo: q.Lo, Hi: q.Hi, PerChannel: len(q.Mult) > 1}
	if !f.PerChannel {
		f.Mult = q.Mult[0]
	}
	return f
}

// Records are the multipliers of channels as RescaleLanes reads them.
func Records(channels []fixedpoint.Multiplier) (words []uint32) {
	for _, m := range channels {
		r := rescaleWords(m)
		words = append(words, r[:]...)
	}
	return words
}

// Record loads the multiplier of a channel from Records in the constants, none where all share one.
func (a *Builder) Record(f *Fixed, records uint32, ch codegen.Reg) (m codegen.Reg) {
	if f.PerChannel {
		m = a.Reg(rdna2.V4, "multiplier")
		a.Emit(rdna2.GLOBAL_LOAD_DWORDX4_SADDR, m, a.Pointer(layout.Consts, records, "multipliers"), a.ShiftLeft(ch, 4, "multiplier offset"), 0)
	}
	return m
}

// Requantize is the result of a sum; record is the multiplier of its channel where each has its own.
func (a *Builder) Requantize(sum codegen.Reg, f *Fixed, record codegen.Reg) codegen.Reg {
	if f.PerChannel {
		sum = a.RescaleLanes(sum, record)
	} else {
		sum = a.Rescale(sum, f.Mult)
	}
	return a.Saturate(sum, f.OutZero, f.Lo, f.Hi)
}
