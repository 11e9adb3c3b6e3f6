package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/resize"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

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

// lowerBilinear lowers RESIZE_BILINEAR: the rows of the input that are needed are
// stretched to the result's width, once with the left and once with the right
// neighbours, and blended.
func lowerBilinear(l *lowering, op *nn.Operation) error {
	p, err := l.view.Resize(op)
	if err != nil {
		return err
	}
	n := p.N * p.OutH * p.OutW * p.C
	if n == 0 {
		return fmt.Errorf("no elements")
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
	var used []int // rows of the input
	place := make([]int, p.H)
	for y := range p.H {
		if slices.Contains(ys.at[0], y) || slices.Contains(ys.at[1], y) {
			place[y] = len(used)
			used = append(used, y)
		}
	}
	width := p.OutW * size
	pitch := roundUp(width, vecBytes)
	if n := int64(planes) * int64(max(p.OutH, len(used))) * int64(pitch); n > maxArena || 4*pitch > maxConst/16 {
		return fmt.Errorf("%d rows of %d bytes need too much memory", planes*p.OutH, pitch)
	}
	var stretched [2]*tensor
	for k := range stretched {
		stretched[k] = l.newFlat("neighbours", planes*len(used)*pitch, 1)
		err := l.move("neighbours", stretched[k], in, planes*len(used)*p.OutW, func(put func(to, from, n int)) {
			for i := range planes {
				for j, y := range used {
					for x, at := range xs.at[k] {
						put((i*len(used)+j)*pitch+x*size, ((i*p.H+y)*p.W+at)*size, size)
					}
				}
			}
		})
		if err != nil {
			return err
		}
	}
	out := l.flatResult(p.Output)
	rows := out
	if pitch != width {
		rows = l.newFlat("rows", planes*p.OutH*pitch, 1)
	}
	l.addStep("blend", stretched[:], []*tensor{rows}, blendWork{xs, size, pitch, planes, p, ys, used, place, stretched, rows})
	if rows == out {
		return nil
	}
	return l.moveFlat("result", out, rows, 1, []moveDim{{planes * p.OutH, pitch, width}, {width, 1, 1}}, 0, 0)
}

// blendWork weighs four neighbours of each element with 22 fraction bits.
type blendWork struct {
	xs        samples
	size      int
	pitch     int
	planes    int
	p         opspec.Resize
	ys        samples
	used      []int
	place     []int
	stretched [2]*tensor
	rows      *tensor
}

func (w blendWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(resize.Blend{})
	if err != nil {
		return err
	}
	fractions := l.constant(columnFractions(w.xs.frac, w.size, w.pitch))
	parts := l.parts(w.pitch/vecBytes, 64)
	if w.planes*w.p.OutH >= l.threads {
		parts = [][2]int{{0, w.pitch / vecBytes}}
	}
	var table []uint32
	for i := range w.planes {
		for y := range w.p.OutH {
			for _, part := range parts {
				at := uint32(part[0] * vecBytes)
				for _, r := range w.ys.at {
					row := at + uint32((i*len(w.used)+w.place[r[y]])*w.pitch)
					table = append(table, w.stretched[0].addr+row, w.stretched[1].addr+row)
				}
				table = append(table, fractions+4*at, w.rows.addr+at+uint32((i*w.p.OutH+y)*w.pitch), uint32(part[1]-part[0]),
					fraction(w.ys.frac[y]))
			}
		}
	}
	l.launchTable(kern, table, resize.BlendWords, uint32(unsignedBias(w.p.Type)))
	return nil
}

func fraction(f float64) uint32 { return uint32(math.Round(f * (1 << resize.FractionBits))) }

// columnFractions are the fractions of the elements of a row.
func columnFractions(frac []float64, size, pitch int) []byte {
	b := make([]byte, 0, 4*pitch)
	for _, x := range frac {
		for range size {
			b = binary.LittleEndian.AppendUint32(b, fraction(x))
		}
	}
	return append(b, make([]byte, 4*pitch-len(b))...)
}
