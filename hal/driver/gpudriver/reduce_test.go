package gpudriver

import (
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

func TestSoftmax(t *testing.T) {
	for i, c := range []struct {
		dims []uint32
		axis int32
		beta float32
	}{{[]uint32{2, 10}, -1, 1}, {[]uint32{1, 1001}, -1, 1}, {[]uint32{3, 33, 2}, 1, 0.5}, {[]uint32{4, 32}, -1, 2}, {[]uint32{2, 70, 3, 2}, -3, 1}} {
		types(t, fmt.Sprint(i), func(t *testing.T, b *modelBuilder) {
			x, v := b.input(5, c.dims...)
			y := b.output(c.dims...)
			b.op(nn.OpSoftmax, y, x, b.scalar(c.beta), b.i32(c.axis))
			axis := int(c.axis)
			if axis < 0 {
				axis += len(c.dims)
			}
			outer, depth, inner := 1, int(c.dims[axis]), 1
			for k, d := range c.dims {
				if k < axis {
					outer *= int(d)
				} else if k > axis {
					inner *= int(d)
				}
			}
			want := make([]float64, len(v))
			for o := range outer {
				for in := range inner {
					at := func(d int) int { return (o*depth+d)*inner + in }
					sum, top := 0.0, math.Inf(-1)
					for d := range depth {
						top = max(top, float64(v[at(d)]))
					}
					for d := range depth {
						want[at(d)] = math.Exp((float64(v[at(d)]) - top) * float64(c.beta))
						sum += want[at(d)]
					}
					for d := range depth {
						want[at(d)] /= sum
					}
				}
			}
			b.check(t, want)
		})
	}
}

func TestMean(t *testing.T) {
	for i, c := range []struct {
		dims []uint32
		axes []int32
		keep int32
	}{{[]uint32{2, 7, 5, 40}, []int32{1, 2}, 0}, {[]uint32{3, 9}, []int32{-1}, 1}, {[]uint32{4, 3, 5}, []int32{0, 2}, 0}, {[]uint32{6, 2}, []int32{0, 1}, 1}, {[]uint32{2, 3, 4, 5}, []int32{0, 2}, 0}} {
		types(t, fmt.Sprint(i), func(t *testing.T, b *modelBuilder) {
			x, v := b.input(3, c.dims...)
			gone := map[int]bool{}
			for _, a := range c.axes {
				gone[(int(a)+len(c.dims))%len(c.dims)] = true
			}
			var od []uint32
			n, cnt := 1, 1.0
			for k, d := range c.dims {
				switch {
				case !gone[k]:
					od = append(od, d)
					n *= int(d)
				case c.keep != 0:
					od = append(od, 1)
				}
				if gone[k] {
					cnt *= float64(d)
				}
			}
			want := make([]float64, n)
			for j, e := range v {
				to, rest, scale := 0, j, 1
				for k := len(c.dims) - 1; k >= 0; k-- {
					x := rest % int(c.dims[k])
					rest /= int(c.dims[k])
					if !gone[k] {
						to += x * scale
						scale *= int(c.dims[k])
					}
				}
				want[to] += float64(e) / cnt
			}
			if len(od) == 0 {
				od = []uint32{1}
			}
			y := b.output(od...)
			b.op(nn.OpMean, y, x, b.i32s([]uint32{uint32(len(c.axes))}, c.axes...), b.i32(c.keep))
			b.check(t, want)
		})
	}
}
