package convolution

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// maxWindowBytes bounds the memory of a thread for the inputs of a block.
const maxWindowBytes = 32 << 10

// signedZero is the filter's zero point for weights that are signed bytes.
func signedZero(g *Convolution) int32 { return g.Filter.Zero - 128 }

// windowKernels are the kernels of a convolution with the Z window, for all groups of a chunk at a time or, where VTCM does not
// hold their weights, for some: weights are loaded beside the window, where only VTCM can be read. There are none where the
// core has no window, for weights that only the program has, and for few positions.
func windowKernels(l *step.Object, g *Convolution) (list []conv.GEMM) {
	if !l.ZWindow || g.RuntimeWeights != nil || g.Spatial != nil || g.Filter.Zero == 0 || g.Out.Shape.Positions() < 3*conv.WindowPositions {
		return nil
	}
	c := PlanGEMM(l, g).C
	c.Window, c.Positions, c.Aligned = true, conv.WindowPositions, g.In.Pitch%layout.VectorBytes == 0
	c.Words, c.WordPairs = layout.RoundUp(c.Words, conv.WindowWords), false
	c.ZeroPoint, c.Raises = signedZero(g) != 0, signedZero(g) < 0
	if c.WindowBytes() > maxWindowBytes {
		return nil
	}
	groups := 4
	if !c.Full {
		groups = c.Tail
	}
	if c.Record(groups)+readAhead <= l.VTCM {
		return []conv.GEMM{c}
	}
	if c.PerVector > 1 {
		return nil
	}
	c.Full, c.OneChunk, c.Slice = false, true, true
	for _, c.Tail = range []int{2, 1} {
		if c.Record(c.Tail)+readAhead <= l.VTCM {
			list = append(list, c)
		}
	}
	return list
}

// WindowBytes is the memory that the kernels with the Z window need in all, 0 where there are none.
func (g *Convolution) WindowBytes(l *step.Object) int {
	list := windowKernels(l, g)
	if len(list) == 0 {
		return 0
	}
	return l.Threads * list[0].WindowBytes()
}
