package refcpu

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

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
			acc := scatter(x, &c, in, byTap(w, &c, func(f float32) float32 { return f }), x.shared.floats, kernel.AddRows)
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
			setMultiplier(&rq, k, q.Multiplier(k))
		}
		in := x.shared.ints(len(x.Bytes(c.Input)))
		for i, b := range x.Bytes(c.Input) {
			in[i] = quantOf(c.Type, b) - q.InZero
		}
		acc := scatter(x, &c, in, byTap(w, &c, func(b byte) int32 { return quantOf(wt, b) - q.FilterZero }),
			func(n int) []int32 { return x.shared.ints(n + kernel.Block) }, kernel.AddRowsInt)
		res := x.shared.bytes(c.N * c.OutH * c.OutW * c.K)
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
