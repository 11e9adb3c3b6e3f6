package refcpu

import (
	"errors"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/nnsoc/nnsoc/refcpu/internal/buffer"
	"github.com/nnsoc/nnsoc/refcpu/internal/gemm"
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
		return lazy(v, func(v opspec.View) (*gemm.FloatWeights, error) {
			return floatWeightsOf(v, c.Filter, c.Bias, k, c.K, c.Act)
		}, func(x *Run, w *gemm.FloatWeights) error { return convFloat(x, &c, w) })
	}
	q, err := c.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) (*gemm.QuantWeights, error) {
		return quantWeightsOf(v, c.Filter, c.Bias, c.Type, k, c.K, &q)
	}, func(x *Run, w *gemm.QuantWeights) error { return convQuant(x, &c, w) })
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

func floatWeightsOf(v opspec.View, filter, bias uint32, k, n int, act nn.FusedActivation) (*gemm.FloatWeights, error) {
	w, err := floatValues(v, filter)
	if err != nil {
		return nil, err
	}
	b, err := floatValues(v, bias)
	if err != nil {
		return nil, err
	}
	return gemm.PackFloat(w, b, k, n, act), nil
}

func quantWeightsOf(v opspec.View, filter, bias uint32, t nn.OperandType, k, n int, q *quantized.GEMM) (*gemm.QuantWeights, error) {
	w, err := v.Data(filter)
	if err != nil {
		return nil, err
	}
	b, err := int32Values(v, bias)
	if err != nil {
		return nil, err
	}
	return gemm.PackQuant(w, v.Operands[filter].Type, t, b, k, n, q), nil
}

func convFloat(x *Run, c *opspec.Conv, w *gemm.FloatWeights) error {
	in := x.floats(c.Input, &x.shared)
	if c.NCHW {
		t := x.shared.Floats(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in = t
	}
	out, done := x.floatsOut(c.Output, &x.shared)
	dst := out
	if c.NCHW {
		dst = x.shared.Floats(len(out))
	}
	var gather func(dst []float32, r int)
	if !pointwise(&c.Window) {
		gather = func(dst []float32, r int) { patch(dst, in, &c.Window, c.C, c.C, 0, r) }
	}
	x.Parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		w.Product(dst, in, gather, &x.arenas[worker], lo, hi)
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
	done()
	return nil
}

func convQuant(x *Run, c *opspec.Conv, w *gemm.QuantWeights) error {
	in := x.unsigned(c.Input, w.XFlip)
	if c.NCHW {
		t := x.shared.Bytes(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in = t
	}
	out := x.Bytes(c.Output)
	dst := out
	if c.NCHW {
		dst = x.shared.Bytes(len(out))
	}
	var gather gemm.GatherRow
	if !pointwise(&c.Window) || w.K%4 != 0 {
		gather = func(dst []byte, r int) {
			patch(dst, in, &c.Window, c.C, c.C, byte(w.XZero), r)
			clear(dst[w.K:])
		}
	}
	x.Parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		w.Product(dst, in, c.C, gather, &x.arenas[worker], lo, hi, x.prog.roundOnce)
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
	t := x.shared.Bytes(len(in))
	kernel.Flip(t, in)
	return t
}

// prepareGroupedConv is GROUPED_CONV_2D: a matrix product per group on a slice
// of the channels.
func prepareGroupedConv(v opspec.View, _ *nn.Operation, c opspec.GroupedConv) (Kernel, error) {
	cg, kg := c.C/c.Groups, c.K/c.Groups
	k := c.KH * c.KW * cg
	if isFloat(c.Type) {
		return lazy(v, func(v opspec.View) ([]*gemm.FloatWeights, error) {
			w, err := floatValues(v, c.Filter)
			if err != nil {
				return nil, err
			}
			b, err := floatValues(v, c.Bias)
			if err != nil {
				return nil, err
			}
			list := make([]*gemm.FloatWeights, c.Groups)
			for g := range list {
				list[g] = gemm.PackFloat(w[g*kg*k:(g+1)*kg*k], b[g*kg:(g+1)*kg], k, kg, c.Act)
				list[g].LDD = c.K
			}
			return list, nil
		}, func(x *Run, list []*gemm.FloatWeights) error {
			in := x.floats(c.Input, &x.shared)
			out, done := x.floatsOut(c.Output, &x.shared)
			grouped(x, &c, out, in, x.shared.Floats, func(g int, dst, src []float32, ar *buffer.Arena, lo, hi int) {
				list[g].Product(dst, nil, func(d []float32, r int) { patch(d, src, &c.Window, cg, c.C, 0, r) }, ar, lo, hi)
			})
			done()
			return nil
		})
	}
	q, err := c.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) ([]*gemm.QuantWeights, error) {
		w, err := v.Data(c.Filter)
		if err != nil {
			return nil, err
		}
		b, err := int32Values(v, c.Bias)
		if err != nil {
			return nil, err
		}
		list := make([]*gemm.QuantWeights, c.Groups)
		for g := range list {
			own := q
			if len(q.Mult) > 1 {
				own.Mult = q.Mult[g*kg : (g+1)*kg]
			}
			list[g] = gemm.PackQuant(w[g*kg*k:(g+1)*kg*k], v.Operands[c.Filter].Type, c.Type, b[g*kg:(g+1)*kg], k, kg, &own)
			list[g].LDD = c.K
		}
		return list, nil
	}, func(x *Run, list []*gemm.QuantWeights) error {
		in := x.unsigned(c.Input, list[0].XFlip)
		grouped(x, &c, x.Bytes(c.Output), in, x.shared.Bytes, func(g int, dst, src []byte, ar *buffer.Arena, lo, hi int) {
			w := list[g]
			w.Product(dst, nil, 0, func(d []byte, r int) {
				patch(d, src, &c.Window, cg, c.C, byte(w.XZero), r)
				clear(d[k:])
			}, ar, lo, hi, x.prog.roundOnce)
		})
		return nil
	})
}

// grouped calls product for every group with the image and the result from the
// group's first channel on.
func grouped[T any](x *Run, c *opspec.GroupedConv, out, in []T, scratch func(int) []T,
	product func(g int, dst, src []T, ar *buffer.Arena, lo, hi int)) {
	dst := out
	if c.NCHW {
		t := scratch(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in, dst = t, scratch(len(out))
	}
	x.Parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		for g := range c.Groups {
			x.arenas[worker].Reset()
			product(g, dst[g*c.K/c.Groups:], in[g*c.C/c.Groups:], &x.arenas[worker], lo, hi)
		}
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
}

// transposeConvKernels is TRANSPOSE_CONV_2D.
var transposeConvKernels = []operation{
	{op: nn.OpTransposeConv2D, prepare: read(prepareTransposeConv)},
}

// prepareTransposeConv is TRANSPOSE_CONV_2D: every input pixel adds its
// filter to the output; then bias, scale and clamp.
func prepareTransposeConv(v opspec.View, _ *nn.Operation, c opspec.TransposeConv) (Kernel, error) {
	if isFloat(c.Type) {
		lo, hi := opspec.FloatActRange(c.Act)
		return func(x *Run) error {
			w, err := floatValues(x.view, c.Filter)
			if err != nil {
				return err
			}
			bias := x.floats(c.Bias, &x.shared)
			in := x.floats(c.Input, &x.shared)
			out, done := x.floatsOut(c.Output, &x.shared)
			acc := scatter(x, &c, in, byTap(w, &c, func(f float32) float32 { return f }), x.shared.Floats, kernel.AddRows)
			for r := range c.N * c.OutH * c.OutW {
				a := acc[r*c.K : (r+1)*c.K]
				kernel.BiasClamp(a, a, bias, lo, hi)
			}
			fromNHWC(&c, out, acc)
			done()
			return nil
		}, nil
	}
	q, err := c.Quant(v)
	if err != nil {
		return nil, err
	}
	wt := v.Operands[c.Filter].Type
	return func(x *Run) error {
		w, err := x.view.Data(c.Filter)
		if err != nil {
			return err
		}
		bias, err := int32Values(x.view, c.Bias)
		if err != nil {
			return err
		}
		rq := kernel.NewRequant(c.K)
		for k := range c.K {
			rq.Bias[k] = bias[k]
			gemm.SetMultiplier(&rq, k, q.Multiplier(k))
		}
		in := x.shared.Ints(len(x.Bytes(c.Input)))
		for i, b := range x.Bytes(c.Input) {
			in[i] = quantOf(c.Type, b) - q.InZero
		}
		acc := scatter(x, &c, in, byTap(w, &c, func(b byte) int32 { return quantOf(wt, b) - q.FilterZero }),
			func(n int) []int32 { return x.shared.Ints(n + kernel.Block) }, kernel.AddRowsInt)
		res := x.shared.Bytes(c.N * c.OutH * c.OutW * c.K)
		for r := range c.N * c.OutH * c.OutW {
			rq.Row(res[r*c.K:(r+1)*c.K], acc[r*c.K:], 0, 0, q.OutZero, q.Lo, q.Hi)
		}
		fromNHWC(&c, x.Bytes(c.Output), res)
		return nil
	}, nil
}

// byTap reorders a filter [K][taps][C] to [taps][C][K].
func byTap[S, T any](w []S, c *opspec.TransposeConv, f func(S) T) []T {
	taps := c.KH * c.KW
	out := make([]T, len(w))
	for k := range c.K {
		for i, v := range w[k*taps*c.C : (k+1)*taps*c.C] {
			out[i*c.K+k] = f(v)
		}
	}
	return out
}

// scatter sums the products of input and filter into an NHWC image.
func scatter[T int32 | float32](x *Run, c *opspec.TransposeConv, in, w []T, scratch func(int) []T, add func(dst, b, a []T, step, n int)) []T {
	if c.NCHW {
		t := scratch(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in = t
	}
	acc := scratch(c.N * c.OutH * c.OutW * c.K)
	clear(acc)
	x.Parallel(c.N, 1, func(_, from, to int) {
		for p := from * c.H * c.W; p < to*c.H*c.W; p++ {
			b, y, ix := p/(c.H*c.W), p/c.W%c.H, p%c.W
			for t := range c.KH * c.KW {
				oy, ox := y*c.StrideH-c.Top+t/c.KW, ix*c.StrideW-c.Left+t%c.KW
				if oy < 0 || oy >= c.OutH || ox < 0 || ox >= c.OutW {
					continue
				}
				dst := acc[((b*c.OutH+oy)*c.OutW+ox)*c.K:][:c.K]
				add(dst, w[t*c.C*c.K:], in[p*c.C:], 1, c.C)
			}
		}
	})
	return acc
}

// fromNHWC puts the result into the operand's layout.
func fromNHWC[T any](c *opspec.TransposeConv, out, res []T) {
	if c.NCHW {
		toNCHW(out, res, c.N, c.OutH, c.OutW, c.K)
		return
	}
	copy(out, res)
}
