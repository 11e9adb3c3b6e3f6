package dsp

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// bilinearBits are the fraction bits of the weights: four weights of bytes stay
// below 2^31.
const bilinearBits = 22

// samples are the neighbours and the weight of the second along an axis.
type samples struct {
	at   [2][]int
	frac []float64
}

func bilinearSamples(in, out int, p *opspec.Resize) samples {
	var s samples
	scale := resizeScale(in, out, p.AlignCorners)
	for i := range out {
		x := float32(i) * scale
		if p.Center {
			x = float32((float32(i)+0.5)*scale) - 0.5
		}
		x = max(x, 0)
		first := min(int(x), in-1)
		s.at[0] = append(s.at[0], first)
		s.at[1] = append(s.at[1], min(first+1, in-1))
		s.frac = append(s.frac, float64(x-float32(first)))
	}
	return s
}

// blendKernel weighs four neighbours, all with one word per element: bytes,
// sums of products of words, rounded halves away from zero. The constants are
// the bias of stored bytes and half of a unit.
func blendKernel() *flatKernel {
	k := &flatKernel{name: "flat_blend", in: []int{1, 1, 1, 1, 4, 4, 4, 4}, out: 1, splats: 2}
	k.body = func(a *asm, x [][]build.Reg, c []build.Reg) []build.Reg {
		var acc [4]build.Reg
		for n := range 4 {
			for i, w := range a.widenBytes(x[n][0]) {
				v := a.v("centred")
				a.op(hexagon.V6_vsubw, v, w, c[0])
				if n == 0 {
					acc[i] = a.v("sum")
					a.op(hexagon.V6_vmpyieoh, acc[i], v, x[4+n][i])
				} else {
					p := a.v("crossed")
					a.op(hexagon.V6_vmpyieoh, p, v, x[4+n][i])
					a.op(hexagon.V6_vaddw, acc[i], acc[i], p)
				}
				a.op(hexagon.V6_vmpyiewuh_acc, acc[i], v, x[4+n][i])
			}
		}
		for i := range acc {
			sign := a.v("sign")
			a.op(hexagon.V6_vasrw, sign, acc[i], a.imm(31))
			a.op(hexagon.V6_vaddw, acc[i], acc[i], sign)
			a.op(hexagon.V6_vaddw, acc[i], acc[i], c[1])
			a.op(hexagon.V6_vasrw, acc[i], acc[i], a.imm(bilinearBits))
			a.op(hexagon.V6_vaddw, acc[i], acc[i], c[0])
		}
		return []build.Reg{a.narrowWords(acc)}
	}
	return k
}

// lowerBilinear lowers RESIZE_BILINEAR: the four neighbours of each element are
// gathered and blended with weights that depend on positions only.
func lowerBilinear(l *lowering, op *nn.Operation) error {
	p, err := l.view.Resize(op)
	if err != nil {
		return err
	}
	n := p.N * p.OutH * p.OutW * p.C
	if n == 0 || n > maxConst/64 {
		return fmt.Errorf("%d elements, 1 to %d needed", n, maxConst/64)
	}
	in, err := l.flat(p.Input)
	if err != nil {
		return err
	}
	ys, xs := bilinearSamples(p.H, p.OutH, &p), bilinearSamples(p.W, p.OutW, &p)
	if n <= exactBlend && needsFloat(ys, xs) {
		l.blendExactly(&p, in, ys, xs)
		return nil
	}
	planes, size := p.N, p.C
	if p.NCHW {
		planes, size = p.N*p.C, 1
	}
	ts := make([]*tensor, 8)
	for k := range 4 {
		ts[k] = l.newFlat("neighbours", n, 1)
		err := l.move("neighbours", ts[k], in, planes*p.OutH*p.OutW, func(put func(to, from, n int)) {
			to := 0
			for i := range planes {
				for _, y := range ys.at[k/2] {
					for _, x := range xs.at[k%2] {
						put(to, ((i*p.H+y)*p.W+x)*size, size)
						to += size
					}
				}
			}
		})
		if err != nil {
			return err
		}
		w := l.newFlat("weights", n, 4)
		w.first = -2 // a constant
		w.addr = l.constant(bilinearWeights(ys.frac, xs.frac, k, planes, size))
		ts[4+k] = w
	}
	bias := uint32(unsignedBias(p.Type))
	l.flatStep("blend", blendKernel(), l.flatResult(p.Output), ts, bias, 1<<(bilinearBits-1))
	return nil
}

// bilinearWeights are the weights of neighbour k of every element.
func bilinearWeights(fy, fx []float64, k, planes, size int) []byte {
	var b []byte
	for range planes {
		for _, y := range fy {
			for _, x := range fx {
				w := [2]float64{1 - y, y}[k/2] * [2]float64{1 - x, x}[k%2]
				for range size {
					b = binary.LittleEndian.AppendUint32(b, uint32(math.Round(w*(1<<bilinearBits))))
				}
			}
		}
	}
	return b
}
