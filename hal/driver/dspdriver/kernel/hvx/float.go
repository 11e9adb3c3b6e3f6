package hvx

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Scalar arithmetic in single precision, every operation rounded to nearest as
// the reference rounds it, and the control flow of kernels that decide.

// Into emits an instruction with one result and returns the result.
func (b *Builder) Into(op hexagon.Op, args ...any) codegen.Reg {
	r := b.R(op.String())
	b.Op(op, append([]any{r}, args...)...)
	return r
}

func (b *Builder) FAdd(x, y codegen.Reg) codegen.Reg { return b.Into(hexagon.F2_sfadd, x, y) }
func (b *Builder) FSub(x, y codegen.Reg) codegen.Reg { return b.Into(hexagon.F2_sfsub, x, y) }
func (b *Builder) FMul(x, y codegen.Reg) codegen.Reg { return b.Into(hexagon.F2_sfmpy, x, y) }
func (b *Builder) FMax(x, y codegen.Reg) codegen.Reg { return b.Into(hexagon.F2_sfmax, x, y) }
func (b *Builder) FMin(x, y codegen.Reg) codegen.Reg { return b.Into(hexagon.F2_sfmin, x, y) }
func (b *Builder) FNeg(x codegen.Reg) codegen.Reg    { return b.Into(hexagon.S2_togglebit_i, x, 31) }

// Float is a register that holds a float.
func (b *Builder) Float(v float32) codegen.Reg { return b.Imm(int(math.Float32bits(v))) }

// FloatOf is an integer as a float.
func (b *Builder) FloatOf(x codegen.Reg) codegen.Reg { return b.Into(hexagon.F2_conv_w2sf, x) }

// FDiv is n / d, rounded to nearest: the estimate of 1/d is refined twice, the
// quotient corrected twice by its exact remainder.
func (b *Builder) FDiv(n, d codegen.Reg) codegen.Reg {
	r, p := b.R("1/d"), b.P("scale")
	b.Op(hexagon.F2_sfrecipa, r, p, n, d)
	num, den := b.Into(hexagon.F2_sffixupn, n, d), b.Into(hexagon.F2_sffixupd, n, d)
	one := b.Float(1)
	for range 2 {
		miss := b.CopyOf(one)
		b.Op(hexagon.F2_sffms_lib, miss, den, r)
		b.Op(hexagon.F2_sffma_lib, r, miss, r)
	}
	q := b.Into(hexagon.A2_andir, num, math.MinInt32)
	b.Op(hexagon.F2_sffma_lib, q, num, r)
	rest := b.CopyOf(num)
	b.Op(hexagon.F2_sffms_lib, rest, q, den)
	b.Op(hexagon.F2_sffma_lib, q, rest, r)
	rest = b.CopyOf(num)
	b.Op(hexagon.F2_sffms_lib, rest, q, den)
	b.Op(hexagon.F2_sffma_sc, q, rest, r, p)
	return q
}

// Floor, ceil and round make integers, halves rounded away from zero. What does
// not fit 32 bits gives the nearest that does.
func (b *Builder) Floor(x codegen.Reg) codegen.Reg {
	i := b.Into(hexagon.F2_conv_sf2w_chop, x)
	return b.AddIf(i, -1, b.FLess(x, b.FloatOf(i)))
}

func (b *Builder) Ceil(x codegen.Reg) codegen.Reg {
	i := b.Into(hexagon.F2_conv_sf2w_chop, x)
	return b.AddIf(i, 1, b.FLess(b.FloatOf(i), x))
}

func (b *Builder) Round(x codegen.Reg) codegen.Reg {
	i := b.Into(hexagon.F2_conv_sf2w_chop, x)
	rest := b.FSub(x, b.FloatOf(i))
	i = b.AddIf(i, 1, b.FAtLeast(rest, b.Float(0.5)))
	return b.AddIf(i, -1, b.FAtLeast(b.Float(-0.5), rest))
}

// AddIf is i + by if p, else i; it saturates.
func (b *Builder) AddIf(i codegen.Reg, by int, p codegen.Reg) codegen.Reg {
	return b.Into(hexagon.A2_addsat, i, b.Into(hexagon.C2_muxii, p, by, 0))
}

// FLess is x < y, FAtLeast x >= y; false for a NaN.
func (b *Builder) FLess(x, y codegen.Reg) codegen.Reg    { return b.Compare(hexagon.F2_sfcmpgt, y, x) }
func (b *Builder) FAtLeast(x, y codegen.Reg) codegen.Reg { return b.Compare(hexagon.F2_sfcmpge, x, y) }

// Compare emits a compare.
func (b *Builder) Compare(op hexagon.Op, args ...any) codegen.Reg {
	p := b.P(op.String())
	b.Op(op, append([]any{p}, args...)...)
	return p
}

func (b *Builder) FAbs(x codegen.Reg) codegen.Reg { return b.Into(hexagon.S2_clrbit_i, x, 31) }
