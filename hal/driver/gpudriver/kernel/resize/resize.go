// Package resize scales images: RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR. Lanes are elements
// of the output; tables map its rows and columns to the input.
package resize

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Kernel is one computation. Only bilinear axes use Hi and Frac.
type Kernel struct {
	Batches, H, W, C int
	OutH, OutW       int
	Bilinear         bool
	Y, X             opspec.ResizeAxis
	In, Out          *layout.Tensor

	y, x uint32 // offsets of the tables
}

// table is an axis as records of four words: positions times the elements of a step, the
// weight of the second, and nothing.
func table(c *layout.Constants, a *opspec.ResizeAxis, step int) uint32 {
	var w []uint32
	for i, lo := range a.Lo {
		hi, frac := lo, float32(0)
		if a.Hi != nil {
			hi, frac = a.Hi[i], a.Frac[i]
		}
		w = append(w, uint32(lo*step), uint32(hi*step), math.Float32bits(frac), 0)
	}
	return c.Words(w)
}

// Pack implements kernel.Packer.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Kernel {
	p := *k
	p.Y, p.X, p.y, p.x = opspec.ResizeAxis{}, opspec.ResizeAxis{}, table(&m.Consts, &k.Y, k.W*k.C), table(&m.Consts, &k.X, k.C)
	return &p
}

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	pos, c := a.DivConstV(lane, k.C, "position")
	pos, ox := a.DivConstV(pos, k.OutW, "x")
	b, oy := a.DivConstV(pos, k.OutH, "y")
	image := a.Sum(a.Times(b, k.H*k.W*k.C), c)
	entry := func(table uint32, i codegen.Reg, field int) codegen.Reg {
		return a.Word(table, a.Sum(a.ShiftLeft(i, 2, "record"), field))
	}
	line := func(field int) codegen.Reg { return a.Sum(image, entry(k.y, oy, field)) }
	left := entry(k.x, ox, 0)
	if !k.Bilinear {
		a.SetElement(k.Out, lane, a.Element(k.In, a.Sum(line(0), left)))
		return kernel.Flat("resize_nearest", k.Batches*k.OutH*k.OutW*k.C)
	}
	right := entry(k.x, ox, 1)
	fy, fx := entry(k.y, oy, 2), entry(k.x, ox, 2)
	gy, gx := a.SubF(float32(1), fy), a.SubF(float32(1), fx)
	// The products are in the order of the reference, which quantized results are held to.
	term := func(line, column, wy, wx codegen.Reg) codegen.Reg {
		x := a.Element(k.In, a.Sum(line, column))
		if !k.In.Elem.IsFloat() {
			x = a.ToFloat(x)
		}
		return a.MulF(a.MulF(x, wy), wx)
	}
	top, bottom := line(0), line(1)
	sum := a.AddF(term(top, left, gy, gx), term(top, right, gy, fx))
	sum = a.AddF(sum, term(bottom, left, fy, gx))
	sum = a.AddF(sum, term(bottom, right, fy, fx))
	if !k.Out.Elem.IsFloat() {
		sum = a.ToInt(a.RoundHalfAway(sum))
	}
	a.SetElement(k.Out, lane, sum)
	return kernel.Flat("resize_bilinear", k.Batches*k.OutH*k.OutW*k.C)
}
