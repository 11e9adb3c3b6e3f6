package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// reduceKernels are reductions and normalizations.
var reduceKernels = []operation{
	{op: nn.OpMean, prepare: read(prepareMean)},
	{op: nn.OpReduceSum, prepare: read(prepareReduce)},
	{op: nn.OpReduceProd, prepare: read(prepareReduce)},
	{op: nn.OpReduceMax, prepare: read(prepareReduce)},
	{op: nn.OpReduceMin, prepare: read(prepareReduce)},
	{op: nn.OpReduceAll, prepare: read(prepareReduce)},
	{op: nn.OpReduceAny, prepare: read(prepareReduce)},
	{op: nn.OpArgmax, prepare: read(prepareArg)},
	{op: nn.OpArgmin, prepare: read(prepareArg)},
	{op: nn.OpL2Normalization, prepare: read(prepareL2Norm)},
	{op: nn.OpLocalResponseNormalization, prepare: read(prepareLRN)},
	{op: nn.OpInstanceNormalization, prepare: read(prepareInstanceNorm)},
}

// prepareMean is MEAN. Quantized: the integer sum divided by the count,
// truncated.
func prepareMean(_ opspec.View, _ *nn.Operation, m opspec.Mean) (Kernel, error) {
	if isFloat(m.Type) {
		return func(x *Run) error {
			in := x.floats(m.Input, &x.shared)
			out, done := x.floatsOut(m.Output, &x.shared)
			clear(out)
			reduceIndex(&m, func(o, i int) { out[o] += in[i] })
			for i := range out {
				out[i] /= float32(m.Count)
			}
			done()
			return nil
		}, nil
	}
	return func(x *Run) error {
		in, out := x.Bytes(m.Input), x.Bytes(m.Output)
		sums := make([]int64, len(out))
		reduceIndex(&m, func(o, i int) { sums[o] += int64(quantOf(m.Type, in[i])) })
		for i, s := range sums {
			out[i] = byte(s / int64(m.Count))
		}
		return nil
	}, nil
}

// reduceIndex calls f for each input element, in order, with the output
// element it is reduced into.
func reduceIndex(m *opspec.Mean, f func(out, in int)) {
	rank := len(m.In)
	if rank == 0 {
		f(0, 0)
		return
	}
	stride := make([]int, rank) // of the output, 0 along reduced dimensions
	n := 1
	for d := rank - 1; d >= 0; d-- {
		if !m.Reduce[d] {
			stride[d] = n
			n *= int(m.In[d])
		}
	}
	total := int(nn.Elements(m.In))
	index := make([]int, rank)
	out := 0
	for i := range total {
		f(out, i)
		for d := rank - 1; d >= 0; d-- {
			index[d]++
			out += stride[d]
			if index[d] < int(m.In[d]) {
				break
			}
			out -= stride[d] * index[d]
			index[d] = 0
		}
	}
}

// prepareReduce is REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL
// and REDUCE_ANY.
func prepareReduce(_ opspec.View, op *nn.Operation, m opspec.Mean) (Kernel, error) {
	switch {
	case isFloat(m.Type):
		start, f := reducer[float32](op.Type, -inf32, inf32)
		return func(x *Run) error {
			in := x.floats(m.Input, &x.shared)
			out, done := x.floatsOut(m.Output, &x.shared)
			fillSlice(out, start)
			reduceIndex(&m, func(o, i int) { out[o] = f(out[o], in[i]) })
			done()
			return nil
		}, nil
	case m.Type == nn.TensorBool8:
		all := op.Type == nn.OpReduceAll
		return func(x *Run) error {
			in, out := truths(x.Bytes(m.Input)), x.Bytes(m.Output)
			fillSlice(out, 0)
			if all {
				fillSlice(out, 1)
			}
			reduceIndex(&m, func(o, i int) {
				if all {
					out[o] &= in[i]
				} else {
					out[o] |= in[i]
				}
			})
			return nil
		}, nil
	}
	start, f := reducer[int32](op.Type, math.MinInt32, math.MaxInt32)
	return func(x *Run) error {
		in, out := x.Bytes(m.Input), x.Bytes(m.Output)
		acc := make([]int32, len(out))
		fillSlice(acc, start)
		reduceIndex(&m, func(o, i int) { acc[o] = f(acc[o], quantOf(m.Type, in[i])) })
		for i, a := range acc {
			out[i] = byte(a)
		}
		return nil
	}, nil
}

// reducer is the start and the step of a reduction.
func reducer[T int32 | float32](t nn.OperationType, least, most T) (T, func(a, b T) T) {
	switch t {
	case nn.OpReduceSum:
		return 0, func(a, b T) T { return a + b }
	case nn.OpReduceProd:
		return 1, func(a, b T) T {
			if a == 0 || b == 0 {
				return 0 // even where the other is infinite
			}
			return a * b
		}
	case nn.OpReduceMax:
		return least, func(a, b T) T { return max(a, b) }
	}
	return most, func(a, b T) T { return min(a, b) }
}

// prepareArg is ARGMAX and ARGMIN: the first of equals.
func prepareArg(_ opspec.View, op *nn.Operation, r opspec.Along) (Kernel, error) {
	least := op.Type == nn.OpArgmin
	return func(x *Run) error {
		out := x.int32s(r.Output)
		switch {
		case isFloat(r.Type):
			argRows(&r, out, x.floats(r.Input, &x.shared), least)
		case r.Type == nn.TensorInt32:
			argRows(&r, out, x.int32s(r.Input), least)
		default:
			in := make([]int32, len(x.Bytes(r.Input)))
			for i, b := range x.Bytes(r.Input) {
				in[i] = quantOf(r.Type, b)
			}
			argRows(&r, out, in, least)
		}
		return nil
	}, nil
}

func argRows[T int32 | float32](r *opspec.Along, out []int32, in []T, least bool) {
	for o := range r.Outer {
		for i := range r.Inner {
			at := o*r.Depth*r.Inner + i
			best := 0
			for k := 1; k < r.Depth; k++ {
				a, b := in[at+k*r.Inner], in[at+best*r.Inner]
				if least && a < b || !least && a > b {
					best = k
				}
			}
			out[o*r.Inner+i] = int32(best)
		}
	}
}

// prepareL2Norm is L2_NORMALIZATION: x / sqrt(sum of squares) along an axis.
func prepareL2Norm(v opspec.View, _ *nn.Operation, r opspec.Along) (Kernel, error) {
	if isFloat(r.Type) {
		return func(x *Run) error {
			in := x.floats(r.Input, &x.shared)
			out, done := x.floatsOut(r.Output, &x.shared)
			alongRows(&r, func(at int) {
				sum := float32(0)
				for k := range r.Depth {
					q := in[at+k*r.Inner]
					sum += float32(q * q)
				}
				norm := max(float32(math.Sqrt(float64(sum))), 1e-6)
				for k := range r.Depth {
					out[at+k*r.Inner] = in[at+k*r.Inner] / norm
				}
			})
			done()
			return nil
		}, nil
	}
	zero := v.Operands[r.Input].ZeroPoint
	lo, hi := quantized.Limits(r.Type)
	return func(x *Run) error {
		in, out := x.Bytes(r.Input), x.Bytes(r.Output)
		alongRows(&r, func(at int) {
			sum := int32(0)
			for k := range r.Depth {
				q := quantOf(r.Type, in[at+k*r.Inner]) - zero
				sum += q * q
			}
			inv := fixedpoint.InverseSqrt(sum)
			for k := range r.Depth {
				q := inv.Apply((quantOf(r.Type, in[at+k*r.Inner]) - zero) * 128)
				out[at+k*r.Inner] = byte(min(max(q+lo+128, lo), hi))
			}
		})
		return nil
	}, nil
}

// alongRows calls f with the first element of every row along the axis.
func alongRows(r *opspec.Along, f func(at int)) {
	for o := range r.Outer {
		for i := range r.Inner {
			f(o*r.Depth*r.Inner + i)
		}
	}
}

// prepareLRN is LOCAL_RESPONSE_NORMALIZATION:
// x * (bias + alpha * sum of squares within the radius)^-beta.
func prepareLRN(_ opspec.View, _ *nn.Operation, r opspec.Along) (Kernel, error) {
	return func(x *Run) error {
		in := x.floats(r.Input, &x.shared)
		out, done := x.floatsOut(r.Output, &x.shared)
		radius := min(r.Radius, r.Depth)
		window := 2*radius + 1
		// Sums of squares from the beginning, and up to the end, of each block of a window's size, in a row with zeros
		// around it: a window is the end of one block and the beginning of the next, and nothing is subtracted.
		before, after := make([]float64, r.Depth+2*radius), make([]float64, r.Depth+2*radius+1)
		alongRows(&r, func(at int) {
			square := func(k int) float64 {
				if k -= radius; k < 0 || k >= r.Depth {
					return 0
				}
				q := float64(in[at+k*r.Inner])
				return float64(q * q)
			}
			for k := range before {
				if before[k] = square(k); k%window > 0 {
					before[k] += before[k-1]
				}
			}
			for k := len(before) - 1; k >= 0; k-- {
				if after[k] = square(k); (k+1)%window > 0 {
					after[k] += after[k+1]
				}
			}
			for k := range r.Depth {
				sum := before[k+window-1]
				if k%window > 0 {
					sum += after[k]
				}
				scale := math.Pow(float64(r.Bias)+float64(float64(r.Alpha)*sum), -float64(r.Beta))
				out[at+k*r.Inner] = float32(float64(in[at+k*r.Inner]) * scale)
			}
		})
		done()
		return nil
	}, nil
}

// prepareInstanceNorm is INSTANCE_NORMALIZATION: each image and channel by its
// own mean and variance.
func prepareInstanceNorm(_ opspec.View, _ *nn.Operation, p opspec.InstanceNorm) (Kernel, error) {
	pixels := p.H * p.W
	return func(x *Run) error {
		in := x.floats(p.Input, &x.shared)
		out, done := x.floatsOut(p.Output, &x.shared)
		for b := range p.N {
			for c := range p.C {
				at, step := b*pixels*p.C+c, p.C
				if p.NCHW {
					at, step = (b*p.C+c)*pixels, 1
				}
				mean, variance := 0., 0.
				for i := range pixels {
					mean += float64(in[at+i*step])
				}
				mean /= float64(pixels)
				for i := range pixels {
					d := float64(in[at+i*step]) - mean
					variance += float64(d * d)
				}
				variance /= float64(pixels)
				scale := float64(p.Gamma) / math.Sqrt(variance+float64(p.Epsilon))
				for i := range pixels {
					d := (float64(in[at+i*step]) - mean) * scale
					out[at+i*step] = float32(float64(d) + float64(p.Beta))
				}
			}
		}
		done()
		return nil
	}, nil
}
