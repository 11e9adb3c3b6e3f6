package refcpu

import (
	"errors"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// prepareConv is CONV_2D: a matrix product of image patches and filters.
func prepareConv(v opspec.View, op *nn.Operation) (kern, error) {
	c, err := v.Conv(op)
	if err != nil {
		return nil, err
	}
	k := c.KH * c.KW * c.C
	if isFloat(c.Type) {
		return lazy(v, func(v opspec.View) (*floatWeights, error) {
			return floatWeightsOf(v, c.Filter, c.Bias, k, c.K, c.Act)
		}, func(x *run, w *floatWeights) error { return convFloat(x, &c, w) })
	}
	q, err := c.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) (*quantWeights, error) {
		return quantWeightsOf(v, c.Filter, c.Bias, c.Type, k, c.K, &q)
	}, func(x *run, w *quantWeights) error { return convQuant(x, &c, w) })
}

// lazy prepares weights now when they are constant, otherwise in each run.
func lazy[W any](v opspec.View, pack func(opspec.View) (W, error), exec func(*run, W) error) (kern, error) {
	w, err := pack(v)
	if err == nil {
		return func(x *run) error { return exec(x, w) }, nil
	}
	if !errors.Is(err, opspec.ErrUnknown) {
		return nil, err
	}
	return func(x *run) error {
		w, err := pack(x.view)
		if err != nil {
			return err
		}
		return exec(x, w)
	}, nil
}

func floatWeightsOf(v opspec.View, filter, bias uint32, k, n int, act nn.FusedActivation) (*floatWeights, error) {
	w, err := floatValues(v, filter)
	if err != nil {
		return nil, err
	}
	b, err := floatValues(v, bias)
	if err != nil {
		return nil, err
	}
	return packFloat(w, b, k, n, act), nil
}

func quantWeightsOf(v opspec.View, filter, bias uint32, t nn.OperandType, k, n int, q *opspec.GEMMQuant) (*quantWeights, error) {
	w, err := v.Data(filter)
	if err != nil {
		return nil, err
	}
	b, err := int32Values(v, bias)
	if err != nil {
		return nil, err
	}
	return packQuant(w, v.Operands[filter].Type, t, b, k, n, q), nil
}

func convFloat(x *run, c *opspec.Conv, w *floatWeights) error {
	in := x.floats(c.Input, &x.shared)
	if c.NCHW {
		t := x.shared.floats(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in = t
	}
	out, done := x.floatsOut(c.Output, &x.shared)
	dst := out
	if c.NCHW {
		dst = x.shared.floats(len(out))
	}
	var gather func(dst []float32, r int)
	if !pointwise(&c.Window) {
		gather = func(dst []float32, r int) { patch(dst, in, &c.Window, c.C, c.C, 0, r) }
	}
	x.parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		w.product(dst, in, gather, &x.arenas[worker], lo, hi)
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
	done()
	return nil
}

func convQuant(x *run, c *opspec.Conv, w *quantWeights) error {
	in := x.unsigned(c.Input, w.xFlip)
	if c.NCHW {
		t := x.shared.bytes(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in = t
	}
	out := x.bytes(c.Output)
	dst := out
	if c.NCHW {
		dst = x.shared.bytes(len(out))
	}
	var gather gatherRow
	if !pointwise(&c.Window) || w.k%4 != 0 {
		gather = func(dst []byte, r int) {
			patch(dst, in, &c.Window, c.C, c.C, byte(w.xZero), r)
			clear(dst[w.k:])
		}
	}
	x.parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		w.product(dst, in, c.C, gather, &x.arenas[worker], lo, hi, x.prog.roundOnce)
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
	return nil
}

// unsigned is the value of an 8-bit quantized operand as unsigned bytes.
func (x *run) unsigned(i uint32, flip byte) []byte {
	in := x.bytes(i)
	if flip == 0 {
		return in
	}
	t := x.shared.bytes(len(in))
	kernel.Flip(t, in)
	return t
}
