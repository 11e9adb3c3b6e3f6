package refcpu

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/nnsoc/nnsoc/refcpu/internal/buffer"
	"github.com/nnsoc/nnsoc/refcpu/internal/gemm"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// depthwiseKernels is DEPTHWISE_CONV_2D.
var depthwiseKernels = []operation{
	{op: nn.OpDepthwiseConv2D, prepare: read(prepareDepthwise)},
}

// depthwiseQuant are the widened weights of a quantized DEPTHWISE_CONV_2D,
// [KH*KW][stride] with the zero point subtracted.
type depthwiseQuant struct {
	w      []int32
	stride int // channels rounded up to whole vectors
	rq     kernel.Requant
	q      quantized.GEMM
	xFlip  byte
	xZero  int32
}

type depthwiseFloat struct {
	w, bias []float32
	stride  int
}

// prepareDepthwise is DEPTHWISE_CONV_2D.
func prepareDepthwise(v opspec.View, _ *nn.Operation, c opspec.Conv) (Kernel, error) {
	if isFloat(c.Type) {
		return lazy(v, func(v opspec.View) (*depthwiseFloat, error) { return packDepthwiseFloat(v, &c) },
			func(x *Run, w *depthwiseFloat) error { return runDepthwiseFloat(x, &c, w) })
	}
	q, err := c.Quant(v)
	if err != nil {
		return nil, err
	}
	return lazy(v, func(v opspec.View) (*depthwiseQuant, error) { return packDepthwise(v, &c, q) },
		func(x *Run, w *depthwiseQuant) error { return runDepthwise(x, &c, w) })
}

func packDepthwise(v opspec.View, c *opspec.Conv, q quantized.GEMM) (*depthwiseQuant, error) {
	w, err := v.Data(c.Filter)
	if err != nil {
		return nil, err
	}
	bias, err := int32Values(v, c.Bias)
	if err != nil {
		return nil, err
	}
	wt := v.Operands[c.Filter].Type
	p := &depthwiseQuant{stride: kernel.Blocks(c.K) * kernel.Block, rq: kernel.NewRequant(c.K), q: q,
		xFlip: gemm.FlipOf(c.Type), xZero: q.InZero}
	if p.xFlip != 0 {
		p.xZero += 128
	}
	p.w = make([]int32, c.KH*c.KW*p.stride)
	for t := range c.KH * c.KW {
		for k := range c.K {
			p.w[t*p.stride+k] = quantOf(wt, w[t*c.K+k]) - q.FilterZero
		}
	}
	for k := range c.K {
		p.rq.Bias[k] = bias[k]
		gemm.SetMultiplier(&p.rq, k, q.Multiplier(k))
	}
	return p, nil
}

func packDepthwiseFloat(v opspec.View, c *opspec.Conv) (*depthwiseFloat, error) {
	w, err := floatValues(v, c.Filter)
	if err != nil {
		return nil, err
	}
	p := &depthwiseFloat{stride: kernel.Blocks(c.K) * kernel.Block}
	if p.bias, err = floatValues(v, c.Bias); err != nil {
		return nil, err
	}
	p.w = make([]float32, c.KH*c.KW*p.stride)
	for t := range c.KH * c.KW {
		copy(p.w[t*p.stride:], w[t*c.K:(t+1)*c.K])
	}
	return p, nil
}

// spread repeats every channel m times.
func spread[T any](dst, src []T, m int) {
	for i, v := range src {
		for j := range m {
			dst[i*m+j] = v
		}
	}
}

// depthwiseRows calls f for every output pixel of rows [lo, hi) with the
// offsets of its taps inside the image: elements of the input and of the weights.
func depthwiseRows(c *opspec.Conv, stride int, lo, hi int, f func(pixel int, xOff, wOff []int)) {
	xOff, wOff := make([]int, 0, c.KH*c.KW), make([]int, 0, c.KH*c.KW)
	for row := lo; row < hi; row++ {
		b, oy := row/c.OutH, row%c.OutH
		y0 := oy*c.StrideH - c.Top
		ky0, ky1 := taps(y0, c.KH, c.DilationH, c.H)
		for ox := range c.OutW {
			x0 := ox*c.StrideW - c.Left
			kx0, kx1 := taps(x0, c.KW, c.DilationW, c.W)
			xOff, wOff = xOff[:0], wOff[:0]
			for ky := ky0; ky < ky1; ky++ {
				line := (b*c.H+y0+ky*c.DilationH)*c.W + x0
				for kx := kx0; kx < kx1; kx++ {
					xOff = append(xOff, (line+kx*c.DilationW)*c.K)
					wOff = append(wOff, (ky*c.KW+kx)*stride)
				}
			}
			f(row*c.OutW+ox, xOff, wOff)
		}
	}
}

func runDepthwise(x *Run, c *opspec.Conv, w *depthwiseQuant) error {
	in := x.padded(c.Input)
	n := c.N * c.H * c.W * c.C
	if w.xFlip != 0 || c.NCHW || c.Multiplier > 1 {
		t := x.shared.Bytes(n + buffer.Slack)
		copy(t, x.unsigned(c.Input, w.xFlip))
		in = t
	}
	if c.NCHW {
		t := x.shared.Bytes(n + buffer.Slack)
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in = t
	}
	if c.Multiplier > 1 {
		t := x.shared.Bytes(n*c.Multiplier + buffer.Slack)
		spread(t, in[:n], c.Multiplier)
		in = t
	}
	out := x.Bytes(c.Output)
	dst := out
	if c.NCHW {
		dst = x.shared.Bytes(len(out))
	}
	x.Parallel(c.N*c.OutH, 1, func(worker, lo, hi int) {
		acc := x.arenas[worker].Ints(w.stride)
		depthwiseRows(c, w.stride, lo, hi, func(pixel int, xOff, wOff []int) {
			kernel.DepthwiseTaps(acc, in, w.w, xOff, wOff, w.xZero, w.stride)
			w.rq.Row(dst[pixel*c.K:(pixel+1)*c.K], acc, 0, 0, w.q.OutZero, w.q.Lo, w.q.Hi)
		})
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
	return nil
}

func runDepthwiseFloat(x *Run, c *opspec.Conv, w *depthwiseFloat) error {
	src := x.floats(c.Input, &x.shared)
	n := c.N * c.H * c.W * c.C
	in := x.shared.Floats(n*c.Multiplier + kernel.Block)
	if c.NCHW {
		t := x.shared.Floats(n)
		toNHWC(t, src, c.N, c.H, c.W, c.C)
		src = t
	}
	if c.Multiplier > 1 {
		spread(in, src[:n], c.Multiplier)
	} else {
		copy(in, src)
	}
	out, done := x.floatsOut(c.Output, &x.shared)
	dst := out
	if c.NCHW {
		dst = x.shared.Floats(len(out))
	}
	lowest, highest := opspec.FloatActRange(c.Act)
	x.Parallel(c.N*c.OutH, 1, func(worker, lo, hi int) {
		acc := x.arenas[worker].Floats(w.stride)
		depthwiseRows(c, w.stride, lo, hi, func(pixel int, xOff, wOff []int) {
			kernel.DepthwiseTapsF32(acc, in, w.w, xOff, wOff, w.stride)
			kernel.BiasClamp(dst[pixel*c.K:(pixel+1)*c.K], acc, w.bias, lowest, highest)
		})
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
	done()
	return nil
}
