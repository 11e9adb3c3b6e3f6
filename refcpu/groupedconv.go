package refcpu

import (
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareGroupedConv is GROUPED_CONV_2D: a matrix product per group on a slice
// of the channels.
func prepareGroupedConv(v opspec.View, op *nn.Operation) (kern, error) {
	c, err := v.GroupedConv(op)
	if err != nil {
		return nil, err
	}
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
		}, func(x *run, list []*floatWeights) error {
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
	}, func(x *run, list []*quantWeights) error {
		in := x.unsigned(c.Input, list[0].xFlip)
		grouped(x, &c, x.bytes(c.Output), in, x.shared.bytes, func(g int, dst, src []byte, ar *arena, lo, hi int) {
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
func grouped[T any](x *run, c *opspec.GroupedConv, out, in []T, scratch func(int) []T,
	product func(g int, dst, src []T, ar *arena, lo, hi int)) {
	dst := out
	if c.NCHW {
		t := scratch(len(in))
		toNHWC(t, in, c.N, c.H, c.W, c.C)
		in, dst = t, scratch(len(out))
	}
	x.parallel(c.N*c.OutH*c.OutW, 16, func(worker, lo, hi int) {
		for g := range c.Groups {
			x.arenas[worker].reset()
			product(g, dst[g*c.K/c.Groups:], in[g*c.C/c.Groups:], &x.arenas[worker], lo, hi)
		}
	})
	if c.NCHW {
		toNCHW(out, dst, c.N, c.OutH, c.OutW, c.K)
	}
}
