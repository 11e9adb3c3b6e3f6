package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareFullyConnected is FULLY_CONNECTED: a matrix product as it stands.
func prepareFullyConnected(v opspec.View, op *nn.Operation) (kern, error) {
	f, err := v.FullyConnected(op)
	if err != nil {
		return nil, err
	}
	if isFloat(f.Type) {
		return lazy(v, func(v opspec.View) (*floatWeights, error) {
			return floatWeightsOf(v, f.Weights, f.Bias, f.Depth, f.Units, f.Act)
		}, func(x *run, w *floatWeights) error {
			in := x.floats(f.Input, &x.shared)
			out, done := x.floatsOut(f.Output, &x.shared)
			x.parallel(f.Batch, 4, func(worker, lo, hi int) {
				w.product(out, in, nil, &x.arenas[worker], lo, hi)
			})
			done()
			return nil
		})
	}
	q, err := f.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) (*quantWeights, error) {
		return quantWeightsOf(v, f.Weights, f.Bias, f.Type, f.Depth, f.Units, &q)
	}, func(x *run, w *quantWeights) error {
		in := x.unsigned(f.Input, w.xFlip)
		var gather gatherRow
		if f.Depth%4 != 0 {
			gather = func(dst []byte, r int) {
				copy(dst, in[r*f.Depth:(r+1)*f.Depth])
				clear(dst[f.Depth:])
			}
		}
		x.parallel(f.Batch, 4, func(worker, lo, hi int) {
			w.product(x.bytes(f.Output), in, f.Depth, gather, &x.arenas[worker], lo, hi, x.prog.roundOnce)
		})
		return nil
	})
}
