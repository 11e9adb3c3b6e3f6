package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

const (
	// bilinearBits are the fraction bits of the weights: four weights of bytes stay
	// below 2^31.
	bilinearBits = 22
	// fractionBits are those of the fractions that they are products of.
	fractionBits = 30
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

// Words of an entry of the blend kernel: a range of a row of the result, the same
// of the rows that hold its left and right neighbours above and below, the fractions
// of its columns, the vectors and the fraction of the row.
const (
	blendRows  = 0
	blendX     = 4
	blendOut   = 5
	blendCount = 6
	blendY     = 7
	blendWords = 8
)

// generateBlend writes the kernel that weighs four neighbours: sums of products of
// words, halves rounded away from zero. Arguments: table, entries, the bias of stored
// bytes.
func generateBlend(a *hvx.Builder) {
	in := a.Args("table", "entries", "bias")
	table, entries, bias := in[0], in[1], a.Splat(in[2], "bias")
	one := a.Splat(a.Imm(1<<fractionBits), "one")
	half := a.Splat(a.Imm(1<<(bilinearBits-1)), "half")
	// Products of fractions have 2*fractionBits - 31 bits.
	const surplus = 2*fractionBits - 31 - bilinearBits
	roundBy := a.Splat(a.Imm(1<<(surplus-1)), "round")
	shift, last, bits := a.Imm(surplus), a.Imm(31), a.Imm(bilinearBits)
	a.Repeat(entries, func() {
		var rows [4]codegen.Reg
		for i := range rows {
			rows[i] = a.Word(table, blendRows+i, "row")
		}
		fractions, out, count := a.Word(table, blendX, "fractions"), a.Word(table, blendOut, "out"), a.Word(table, blendCount, "vectors")
		below, above := a.Splat(a.Word(table, blendY, "y"), "below"), a.V("above")
		a.Bump(table, 4*blendWords)
		a.Op(hexagon.V6_vsubw, above, one, below)
		a.Loop0(count, func() {
			var x [4][4]codegen.Reg // neighbour, words
			for n := range x {
				v := a.V("neighbour")
				a.Op(hexagon.V6_vL32b_pi, v, rows[n], 1).Loads(hvx.AliasIn)
				x[n] = a.WidenBytes(v)
			}
			var acc [4]codegen.Reg
			for i := range acc {
				right, left := a.V("right"), a.V("left")
				a.Op(hexagon.V6_vL32b_pi, right, fractions, 1).Loads(hvx.AliasConst)
				a.Op(hexagon.V6_vsubw, left, one, right)
				for n, f := range [4][2]codegen.Reg{{above, left}, {above, right}, {below, left}, {below, right}} {
					w, v := a.MulHigh(f[1], f[0]), a.V("centred")
					a.Op(hexagon.V6_vaddw, w, w, roundBy)
					a.Op(hexagon.V6_vasrw, w, w, shift)
					a.Op(hexagon.V6_vsubw, v, x[n][i], bias)
					p := a.MulWords(v, w)
					if n > 0 {
						a.Op(hexagon.V6_vaddw, p, p, acc[i])
					}
					acc[i] = p
				}
				sign := a.V("sign")
				a.Op(hexagon.V6_vasrw, sign, acc[i], last)
				a.Op(hexagon.V6_vaddw, acc[i], acc[i], sign)
				a.Op(hexagon.V6_vaddw, acc[i], acc[i], half)
				a.Op(hexagon.V6_vasrw, acc[i], acc[i], bits)
				a.Op(hexagon.V6_vaddw, acc[i], acc[i], bias)
			}
			a.Op(hexagon.V6_vS32b_pi, out, 1, a.NarrowWords(acc)).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
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
	l.addStep("blend", stretched[:], []*tensor{rows}, func(l *lowering, s *step) error {
		kern, err := l.kernel("blend", generateBlend)
		if err != nil {
			return err
		}
		fractions := l.constant(columnFractions(xs.frac, size, pitch))
		parts := l.parts(pitch/vecBytes, 64)
		if planes*p.OutH >= l.threads {
			parts = [][2]int{{0, pitch / vecBytes}}
		}
		var table []uint32
		for i := range planes {
			for y := range p.OutH {
				for _, part := range parts {
					at := uint32(part[0] * vecBytes)
					for _, r := range ys.at {
						row := at + uint32((i*len(used)+place[r[y]])*pitch)
						table = append(table, stretched[0].addr+row, stretched[1].addr+row)
					}
					table = append(table, fractions+4*at, rows.addr+at+uint32((i*p.OutH+y)*pitch), uint32(part[1]-part[0]),
						fraction(ys.frac[y]))
				}
			}
		}
		l.launchTable(s, kern, table, blendWords, uint32(unsignedBias(p.Type)))
		return nil
	})
	if rows == out {
		return nil
	}
	return l.moveFlat("result", out, rows, 1, []moveDim{{planes * p.OutH, pitch, width}, {width, 1, 1}}, 0, 0)
}

func fraction(f float64) uint32 { return uint32(math.Round(f * (1 << fractionBits))) }

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
