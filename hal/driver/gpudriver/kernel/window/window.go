// Package window computes what slides a window over each channel: depthwise
// convolutions, average and maximum pooling.
//
// Where the taps of a position lie comes from a table, so padding and stride cost no
// instructions. With many channels lanes are channels and a wave does a run of up to 8
// neighbouring output positions, which loads every input position once.
// With few channels lanes are elements of the output and load their own table entries.
package window

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Mode is what is done with the taps of a window.
type Mode uint8

// The modes.
const (
	Depthwise Mode = iota + 1
	Average
	Maximum
)

// Shape is the size of a computation and how it is cut.
type Shape struct {
	Mode       Mode
	Window     opspec.Window
	Batches    int
	Rows       int // output positions of all images
	InC, OutC  int
	Multiplier int        // output channels per input channel
	Lo, Hi     float32    // of floats
	Fixed      rdna.Fixed // arithmetic of 8-bit elements

	Elements bool // lanes are output elements, which take
	Steps    int  // steps
	Group    int  // of so many taps
}

// Kernel is one computation.
type Kernel struct {
	Shape
	Weights []float32 // [taps][OutC], Depthwise only
	Bias    []float32
	Bytes   *Quantized // of 8-bit elements, in place of Weights and Bias
	In, Out *layout.Tensor

	table, counts, weights, bias, mult uint32 // offsets of constants, mult of multipliers per channel
}

// names are the kernels in listings.
var names = [...]string{Depthwise: "depthwise", Average: "average", Maximum: "maximum"}

// Cut chooses the lanes, and the taps of a step of lanes that are elements: those that divide
// the taps with the least waste, where there are more than 12.
func (s *Shape) Cut() {
	n := s.Window.KH * s.Window.KW
	s.Group = n
	if n > 12 {
		best := n * 2
		for g := 12; g >= 5; g-- {
			if c := (n + g - 1) / g * g; c < best {
				best, s.Group = c, g
			}
		}
	}
	s.Steps = (n + s.Group - 1) / s.Group
	s.Elements = s.OutC <= 16
}

// Pack implements kernel.Packer.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Kernel {
	packed := &Kernel{Shape: k.Shape, In: k.In, Out: k.Out}
	t := k.run()
	if k.Elements {
		packed.table, packed.counts = k.columns(m)
	} else {
		packed.table, packed.counts = k.runs(m, &t)
	}
	if k.Mode == Depthwise {
		k.packWeights(packed, m, max(k.Steps*k.Group, t.lines*t.taps))
	}
	return packed
}

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(b *rdna.Builder) kernel.Grid {
	if k.Elements {
		return k.emitElements(b)
	}
	t := k.run()
	return k.emitRuns(b, &t)
}
