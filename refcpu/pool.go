package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// poolKernels are the operations that pool an image.
var poolKernels = []operation{
	{op: nn.OpAveragePool2D, prepare: prepareAveragePool},
	{op: nn.OpMaxPool2D, prepare: prepareMaxPool},
	{op: nn.OpL2Pool2D, prepare: prepareL2Pool},
}

// poolFunc reduces the taps of one output pixel: x is the image, off the
// offsets of the taps inside it, c the channels.
type poolFunc[T any] func(dst, x []T, off []int, c int)

// prepareAveragePool is AVERAGE_POOL_2D: the mean of the elements inside the
// image; quantized means round half away from zero.
func prepareAveragePool(v opspec.View, op *nn.Operation) (Kernel, error) {
	return preparePool(v, op, averageFloat, averageQuant)
}

// prepareMaxPool is MAX_POOL_2D.
func prepareMaxPool(v opspec.View, op *nn.Operation) (Kernel, error) {
	return preparePool(v, op, maxFloat, maxQuant)
}

// prepareL2Pool is L2_POOL_2D: the root of the mean square.
func prepareL2Pool(v opspec.View, op *nn.Operation) (Kernel, error) {
	return preparePool(v, op, l2Float, averageQuant)
}

func preparePool(v opspec.View, op *nn.Operation,
	float func(lo, hi float32) poolFunc[float32], quant func(t nn.OperandType, lo, hi int32) poolFunc[byte]) (Kernel, error) {
	p, err := opspec.Read[opspec.Pool](v, op)
	if err != nil {
		return nil, err
	}
	if isFloat(p.Type) {
		f := float(opspec.FloatActRange(p.Act))
		return func(x *Run) error {
			in := x.floats(p.Input, &x.shared)
			out, done := x.floatsOut(p.Output, &x.shared)
			pool(x, &p, out, in, x.shared.floats, f)
			done()
			return nil
		}, nil
	}
	o := &v.Operands[p.Output]
	lo, hi := opspec.ActRange(p.Act, p.Type, o.Scale, o.ZeroPoint)
	f := quant(p.Type, lo, hi)
	return func(x *Run) error {
		pool(x, &p, x.Bytes(p.Output), x.Bytes(p.Input), x.shared.bytes, f)
		return nil
	}, nil
}

func pool[T any](x *Run, p *opspec.Pool, out, in []T, scratch func(int) []T, f poolFunc[T]) {
	dst := out
	if p.NCHW {
		t := scratch(len(in))
		toNHWC(t, in, p.N, p.H, p.W, p.C)
		in, dst = t, scratch(len(out))
	}
	x.Parallel(p.N*p.OutH, 1, func(_, lo, hi int) {
		off := make([]int, 0, p.KH*p.KW)
		for row := lo; row < hi; row++ {
			y0 := row%p.OutH*p.StrideH - p.Top
			ky0, ky1 := taps(y0, p.KH, 1, p.H)
			for ox := range p.OutW {
				x0 := ox*p.StrideW - p.Left
				kx0, kx1 := taps(x0, p.KW, 1, p.W)
				off = off[:0]
				for ky := ky0; ky < ky1; ky++ {
					for kx := kx0; kx < kx1; kx++ {
						off = append(off, ((row/p.OutH*p.H+y0+ky)*p.W+x0+kx)*p.C)
					}
				}
				o := (row*p.OutW + ox) * p.C
				f(dst[o:o+p.C], in, off, p.C)
			}
		}
	})
	if p.NCHW {
		toNCHW(out, dst, p.N, p.OutH, p.OutW, p.C)
	}
}

func averageFloat(lo, hi float32) poolFunc[float32] {
	return func(dst, x []float32, off []int, c int) {
		clear(dst)
		for _, o := range off {
			for i, v := range x[o : o+c] {
				dst[i] += v
			}
		}
		n := float32(len(off))
		for i, v := range dst {
			dst[i] = clampF(v/n, lo, hi)
		}
	}
}

func l2Float(lo, hi float32) poolFunc[float32] {
	return func(dst, x []float32, off []int, c int) {
		clear(dst)
		for _, o := range off {
			for i, v := range x[o : o+c] {
				dst[i] += float32(v * v)
			}
		}
		n := float32(len(off))
		for i, v := range dst {
			dst[i] = clampF(float32(math.Sqrt(float64(v/n))), lo, hi)
		}
	}
}

func averageQuant(t nn.OperandType, lo, hi int32) poolFunc[byte] {
	return func(dst, x []byte, off []int, c int) {
		n := int32(len(off))
		for i := range dst {
			sum := int32(0)
			for _, o := range off {
				sum += quantOf(t, x[o+i])
			}
			if sum > 0 {
				sum = (sum + n/2) / max(n, 1)
			} else {
				sum = (sum - n/2) / max(n, 1)
			}
			dst[i] = byte(min(max(sum, lo), hi))
		}
	}
}

func maxFloat(lo, hi float32) poolFunc[float32] {
	return func(dst, x []float32, off []int, c int) {
		fillSlice(dst, -inf32)
		for _, o := range off {
			for i, v := range x[o : o+c] {
				dst[i] = max(dst[i], v)
			}
		}
		for i, v := range dst {
			dst[i] = clampF(v, lo, hi)
		}
	}
}

func maxQuant(t nn.OperandType, lo, hi int32) poolFunc[byte] {
	return func(dst, x []byte, off []int, c int) {
		for i := range dst {
			m := lo
			for _, o := range off {
				m = max(m, quantOf(t, x[o+i]))
			}
			dst[i] = byte(min(m, hi))
		}
	}
}
