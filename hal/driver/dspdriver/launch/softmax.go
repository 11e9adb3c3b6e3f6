package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/softmax"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// Softmax is SOFTMAX along the channels of each position.
type Softmax struct {
	Quant   quantized.Softmax
	Op      opspec.Softmax
	In      *layout.Tensor
	Out     *layout.Tensor
	Scratch *layout.Tensor
}

// Launch implements step.Work.
func (w Softmax) Launch(l *step.Launcher, _ step.Rows) {
	var exps []uint32
	for _, e := range w.Quant.ExpTable() {
		exps = append(exps, uint32(e), uint32(quantized.SoftmaxSumTerm(e)))
	}
	expAt := l.Words(exps)
	k := softmax.Kernel{Depth: w.Op.Depth}
	var table []uint32
	for n := range w.In.Shape.N {
		for y := range w.In.Shape.H {
			for x := range w.In.Shape.W {
				table = append(table, w.In.At(n, y, x), w.Out.At(n, y, x))
			}
		}
	}
	at := l.Words(table)
	var args [][]uint32
	for t, r := range l.Spread(len(table) / 2) {
		args = append(args, []uint32{at + uint32(8*r[0]), uint32(r[1] - r[0]), expAt, w.Scratch.At(0, 0, t)})
	}
	l.Launch(l.Kernel(k), args)
}
