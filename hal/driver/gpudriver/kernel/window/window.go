// Package window computes operations of a window that slides over images. Kernel computes those per channel: depthwise
// convolutions, average and maximum pooling. Direct computes those without a table of taps: see there.
//
// Kernel reads the offsets of a position's taps from a table, so padding and stride cost no
// instructions. Lanes are channels, and a wave computes a run of up to 8
// neighbouring output positions, which loads every input position once.
package window

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Mode is what is done with the taps of a window.
type Mode uint8

// The modes. Those behind Maximum are only Direct's.
const (
	Depthwise Mode = iota + 1 // filter [KH][KW][OutC]
	Average
	Maximum
	L2
	Grouped    // filter [OutC][KH][KW][InC/Groups]
	Transposed // as Grouped; the window spreads inputs over outputs
)

// Shape is the size of a computation with its tensors.
type Shape struct {
	Mode       Mode
	Window     opspec.Window
	Batches    int
	InC, OutC  int
	Multiplier int        // of Depthwise: output channels per input channel
	Lo, Hi     float32    // fused activation of floats
	Fixed      rdna.Fixed // arithmetic of integers
	In, Out    *layout.Tensor
}

// rows are the output positions of all images.
func (s *Shape) rows() int { return s.Batches * s.Window.OutH * s.Window.OutW }

// pools reports whether there is no filter.
func (s *Shape) pools() bool { return s.Mode == Average || s.Mode == Maximum || s.Mode == L2 }

// start is the accumulator before the first tap.
func (s *Shape) start() any {
	switch {
	case s.Mode != Maximum:
		return 0
	case s.In.Elem.IsFloat():
		return float32(math.Inf(-1))
	}
	lo, _ := s.In.Elem.Limits()
	return uint32(lo)
}

// finish is an output of an accumulator, the bias and the multiplier of its channel, and how many taps are inside.
func (s *Shape) finish(a *rdna.Builder, x, bias, record, count codegen.Reg) codegen.Reg {
	float := s.In.Elem.IsFloat()
	switch {
	case s.Mode == Maximum:
	case s.Mode == L2:
		x = a.Op1(rdna2.V_SQRT_F32_E32, a.V("root"), a.Divide(x, a.ToFloat(count)))
	case s.Mode == Average && float:
		x = a.Divide(x, a.ToFloat(count))
	case s.Mode == Average:
		x = a.RoundDivide(x, count)
	case float:
		x = a.AddF(bias, x)
	default:
		return a.Requantize(a.Sum(bias, x), &s.Fixed, record)
	}
	if float {
		return a.Clamp(x, s.Lo, s.Hi)
	}
	return a.Saturate(x, 0, s.Fixed.Lo, s.Fixed.Hi)
}

// Kernel is one computation by a table of taps.
type Kernel struct {
	Shape
	Weights []float32 // [taps][OutC], Depthwise only
	Bias    []float32
	Bytes   *Quantized // of 8-bit elements, in place of Weights and Bias

	table, counts, weights, bias, mult uint32 // offsets of constants, mult of multipliers per channel
}

// names are the kernels in listings.
var names = [...]string{Depthwise: "depthwise", Average: "average", Maximum: "maximum"}

// Pack implements kernel.Packer.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Kernel {
	packed, t := &Kernel{Shape: k.Shape}, k.run()
	packed.table, packed.counts = k.runs(m, &t)
	if k.Mode == Depthwise {
		k.packWeights(packed, m)
	}
	return packed
}

// Quantized is the constants of a depthwise convolution of 8-bit elements.
//
//	sum (x - zx) w + bias = sum x w + (bias - zx sum w)
//
// modulo 2^32, as the reference's sums are.
type Quantized struct {
	Weights []int32 // [taps][OutC], less their zero point
	Bias    []int32
	Mult    []fixedpoint.Multiplier // one, or one per channel
}

// packWeights packs weights as [taps][channels], biases and multipliers.
func (k *Kernel) packWeights(packed *Kernel, m *kernel.Memory) {
	n := k.Window.KH * k.Window.KW * k.OutC
	if k.Bytes == nil {
		packed.weights = m.Consts.Floats(k.Weights, n, layout.Guard)
		packed.bias = m.Consts.Floats(k.Bias, k.OutC, 0)
		return
	}
	q := k.Bytes
	weights, bias := make([]uint32, n+layout.Guard/4), make([]uint32, k.OutC)
	for c := range bias {
		bias[c] = uint32(q.Bias[c])
	}
	for i, w := range q.Weights {
		weights[i] = uint32(w)
		bias[i%k.OutC] -= uint32(w * k.Fixed.InZero)
	}
	packed.weights, packed.bias = m.Consts.Words(weights), m.Consts.Words(bias)
	if k.Fixed.PerChannel {
		packed.mult = m.Consts.Words(rdna.Records(q.Mult))
	}
}

// Padding is the word that taps outside the image read: what neither changes a sum nor a
// maximum.
func (k *Kernel) Padding() uint32 {
	switch {
	case k.Mode == Maximum:
		return k.In.Elem.Lowest()
	case k.Mode == Depthwise && !k.In.Elem.IsFloat():
		return k.In.Elem.Fill(uint32(k.Fixed.InZero))
	}
	return 0
}

// apply folds one tap into the accumulator.
func (k *Kernel) apply(a *rdna.Builder, acc, x codegen.Reg, w []codegen.Reg, i int) {
	float := k.In.Elem.IsFloat()
	switch {
	case k.Mode == Depthwise && !float:
		a.Emit(rdna2.V_MAD_I32_I24, acc, x, w[i], acc)
	case k.Mode == Depthwise && k.In.Elem == layout.F16:
		rdna2.Mods{OpSelHi: 1}.With(a.Emit(rdna2.V_FMA_MIX_F32, acc, x, w[i], acc))
	case k.Mode == Depthwise:
		a.Emit(rdna2.V_FMAC_F32_E32, acc, x, w[i])
	case k.Mode == Average && float:
		a.Emit(rdna2.V_ADD_F32_E32, acc, acc, a.Widen(k.In.Elem, x))
	case k.Mode == Average:
		a.Emit(rdna2.V_ADD_NC_U32_E32, acc, acc, x)
	case float:
		a.Emit(rdna2.V_MAX_F32_E32, acc, acc, a.Widen(k.In.Elem, x))
	default:
		a.Emit(rdna2.V_MAX_I32_E32, acc, acc, x)
	}
}

// channel loads the bias and the multiplier of channel ch.
func (k *Kernel) channel(a *rdna.Builder, ch codegen.Reg) (bias, mult codegen.Reg) {
	if k.Mode == Depthwise {
		bias = a.Load(layout.I32, a.Pointer(layout.Consts, k.bias, "bias"), a.ShiftLeft(ch, 2, "bias offset"), 0, "bias")
		mult = a.Record(&k.Fixed, k.mult, ch)
	}
	return bias, mult
}
