package refcpu

import (
	"errors"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// convKernels are CONV_2D and GROUPED_CONV_2D.
var convKernels = []operation{
	{op: nn.OpConv2D, prepare: read(prepareConv)},
	{op: nn.OpGroupedConv2D, prepare: read(prepareGroupedConv)},
}

// prepareConv is CONV_2D: a matrix product of image patches and filters.
func prepareConv(v opspec.View, _ *nn.Operation, c opspec.Conv) (Kernel, error) {
	k := c.KH * c.KW * c.C
	if isFloat(c.Type) {
		return lazy(v, func(v opspec.View) (*floatWeights, error) {
			return floatWeightsOf(v, c.Filter, c.Bias, k, c.K, c.Act)
		}, func(x *Run, w *floatWeights) error { return convFloat(x, &c, w) })
	}
	q, err := c.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) (*quantWeights, error) {
		return quantWeightsOf(v, c.Filter, c.Bias, c.Type, k, c.K, &q)
	}, func(x *Run, w *quantWeights) error { return convQuant(x, &c, w) })
}

// lazy prepares weights now when they are constant, otherwise in each run.
func lazy[W any](v opspec.View, pack func(opspec.View) (W, error), exec func(*Run, W) error) (Kernel, error) {
	w, err := pack(v)
	if err == nil {
		return func(x *Run) error { return exec(x, w) }, nil
	}
	if !errors.Is(err, opspec.ErrUnknown) {
		return nil, err
	}
	return func(x *Run) error {
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

func convFloat(x *Run, c *opspec.Conv, w *floatWeights) error {
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
	x.Parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		w.product(dst, in, gather, &x.arenas[worker], lo, hi)
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
	done()
	return nil
}

func convQuant(x *Run, c *opspec.Conv, w *quantWeights) error {
	in := x.unsigned(c.Input, w.xFlip)
	if c.NCHW {
		t := x.shared.bytes(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in = t
	}
	out := x.Bytes(c.Output)
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
	x.Parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		w.product(dst, in, c.C, gather, &x.arenas[worker], lo, hi, x.prog.roundOnce)
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
	return nil
}

// unsigned is the value of an 8-bit quantized operand as unsigned bytes.
func (x *Run) unsigned(i uint32, flip byte) []byte {
	in := x.Bytes(i)
	if flip == 0 {
		return in
	}
	t := x.shared.bytes(len(in))
	kernel.Flip(t, in)
	return t
}

// prepareGroupedConv is GROUPED_CONV_2D: a matrix product per group on a slice
// of the channels.
func prepareGroupedConv(v opspec.View, _ *nn.Operation, c opspec.GroupedConv) (Kernel, error) {
	cg, kg := c.C/c.Groups, c.K/c.Groups
	k := c.KH * c.KW * cg
	if isFloat(c.Type) {
		return lazy(v, func(v opspec.View) ([]*floatWeights, error) {
			w, err := floatValues(v, c.Filter)
			if err != nil {
				return nil, err
			}
			b, err := floatValues(v, c.Bias)
			if err != nil {
				return nil, err
			}
			list := make([]*floatWeights, c.Groups)
			for g := range list {
				list[g] = packFloat(w[g*kg*k:(g+1)*kg*k], b[g*kg:(g+1)*kg], k, kg, c.Act)
				list[g].ldd = c.K
			}
			return list, nil
		}, func(x *Run, list []*floatWeights) error {
			in := x.floats(c.Input, &x.shared)
			out, done := x.floatsOut(c.Output, &x.shared)
			grouped(x, &c, out, in, x.shared.floats, func(g int, dst, src []float32, ar *arena, lo, hi int) {
				list[g].product(dst, nil, func(d []float32, r int) { patch(d, src, &c.Window, cg, c.C, 0, r) }, ar, lo, hi)
			})
			done()
			return nil
		})
	}
	q, err := c.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) ([]*quantWeights, error) {
		w, err := v.Data(c.Filter)
		if err != nil {
			return nil, err
		}
		b, err := int32Values(v, c.Bias)
		if err != nil {
			return nil, err
		}
		list := make([]*quantWeights, c.Groups)
		for g := range list {
			own := q
			if len(q.Mult) > 1 {
				own.Mult = q.Mult[g*kg : (g+1)*kg]
			}
			list[g] = packQuant(w[g*kg*k:(g+1)*kg*k], v.Operands[c.Filter].Type, c.Type, b[g*kg:(g+1)*kg], k, kg, &own)
			list[g].ldd = c.K
		}
		return list, nil
	}, func(x *Run, list []*quantWeights) error {
		in := x.unsigned(c.Input, list[0].xFlip)
		grouped(x, &c, x.Bytes(c.Output), in, x.shared.bytes, func(g int, dst, src []byte, ar *arena, lo, hi int) {
			w := list[g]
			w.product(dst, nil, 0, func(d []byte, r int) {
				patch(d, src, &c.Window, cg, c.C, byte(w.xZero), r)
				clear(d[k:])
			}, ar, lo, hi, x.prog.roundOnce)
		})
		return nil
	})
}

// grouped calls product for every group with the image and the result from the
// group's first channel on.
func grouped[T any](x *Run, c *opspec.GroupedConv, out, in []T, scratch func(int) []T,
	product func(g int, dst, src []T, ar *arena, lo, hi int)) {
	dst := out
	if c.NCHW {
		t := scratch(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in, dst = t, scratch(len(out))
	}
	x.Parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		for g := range c.Groups {
			x.arenas[worker].reset()
			product(g, dst[g*c.K/c.Groups:], in[g*c.C/c.Groups:], &x.arenas[worker], lo, hi)
		}
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
}
