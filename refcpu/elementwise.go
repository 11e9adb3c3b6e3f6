package refcpu

import "github.com/nnsoc/nnsoc/hal/opspec"

// broadcast calls f for runs of output elements: n elements from out on, read
// from a and b on with steps of stepA and stepB (0 or 1). Rows are shared out
// over the threads.
func (x *run) broadcast(e *opspec.Elementwise, f func(out, a, b, n, stepA, stepB int)) {
	total := 1
	for _, d := range e.Dims {
		total *= int(d)
	}
	if e.Same || len(e.Dims) == 0 {
		x.parallel(total, 4096, func(_, lo, hi int) { f(lo, lo, lo, hi-lo, 1, 1) })
		return
	}
	last := len(e.Dims) - 1
	n := int(e.Dims[last])
	if total == 0 {
		return
	}
	x.parallel(total/n, 1+1024/n, func(_, lo, hi int) {
		for row := lo; row < hi; row++ {
			rest, a, b := row, 0, 0
			for d := last - 1; d >= 0; d-- {
				i := rest % int(e.Dims[d])
				rest /= int(e.Dims[d])
				a += i * e.StridesA[d]
				b += i * e.StridesB[d]
			}
			f(row*n, a, b, n, min(e.StridesA[last], 1), min(e.StridesB[last], 1))
		}
	})
}

// binaryOp applies f to float or int32 elements.
func binaryOp[T any](x *run, e *opspec.Elementwise, out, a, b []T, f func(a, b T) T) {
	x.broadcast(e, func(o, i, j, n, si, sj int) {
		for k := range n {
			out[o+k] = f(a[i], b[j])
			i += si
			j += sj
		}
	})
}

// binaryFloat is the float form of a binary operation with activation.
func binaryFloat(e opspec.Elementwise, f func(a, b float32) float32) kern {
	lo, hi := opspec.FloatActRange(e.Act)
	return func(x *run) error {
		a, b := x.floats(e.A, &x.shared), x.floats(e.B, &x.shared)
		out, done := x.floatsOut(e.Output, &x.shared)
		binaryOp(x, &e, out, a, b, func(a, b float32) float32 { return clampF(f(a, b), lo, hi) })
		done()
		return nil
	}
}

// binaryInt is the TENSOR_INT32 form of a binary operation.
func binaryInt(e opspec.Elementwise, f func(a, b int32) int32) kern {
	return func(x *run) error {
		binaryOp(x, &e, x.int32s(e.Output), x.int32s(e.A), x.int32s(e.B), f)
		return nil
	}
}
