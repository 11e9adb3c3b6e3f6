package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/resize"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerResize lowers RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
func lowerResize(l *lower.Lowering, op *nn.Operation, p opspec.Resize) {
	refuse(p.N*p.C*p.OutH*p.OutW == 0, lower.SomeElements, "%d images of %dx%dx%d", p.N, p.OutH, p.OutW, p.C)
	in, out := try.V2(l.Pair(p.Input, p.Output))
	k := &resize.Kernel{Batches: p.N, H: p.H, W: p.W, C: p.C, OutH: p.OutH, OutW: p.OutW, In: in, Out: out}
	if op.Type == nn.OpResizeBilinear {
		k.Bilinear = true
		k.Y, k.X = p.Bilinear()
	} else {
		k.Y.Lo, k.X.Lo = p.Nearest()
	}
	k.Cut(&l.Machine().Tile)
	l.Launch(k, out)
}
