package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// unaryFloat applies f to every element of a float tensor.
func unaryFloat(u opspec.Unary, f func(float32) float32) kern {
	return func(x *run) error {
		in := x.floats(u.Input, &x.shared)
		out, done := x.floatsOut(u.Output, &x.shared)
		x.parallel(len(in), 4096, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] = f(in[i])
			}
		})
		done()
		return nil
	}
}

// unaryTable maps every byte of an 8-bit tensor.
func unaryTable(u opspec.Unary, t *[256]byte) kern {
	return func(x *run) error {
		in, out := x.bytes(u.Input), x.bytes(u.Output)
		x.parallel(len(in), 16384, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] = t[in[i]]
			}
		})
		return nil
	}
}
