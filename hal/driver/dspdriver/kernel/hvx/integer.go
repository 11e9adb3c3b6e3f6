package hvx

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// SplatHalfword is v in both halves of a word.
func SplatHalfword(v int32) uint32 { return uint32(uint16(v)) * 0x10001 }

// LoadCentred loads a vector of bytes, widens it to halfwords (even bytes, odd bytes)
// and subtracts the zero point.
func (b *Builder) LoadCentred(ptr, zero codegen.Reg) [2]codegen.Reg {
	v, w := b.V("bytes"), b.VV("wide")
	b.Op(hexagon.V6_vL32b_pi, v, ptr, 1).Loads(AliasIn)
	b.Op(hexagon.V6_vzb, w, v)
	x := [2]codegen.Reg{b.V("even"), b.V("odd")}
	b.Op(hexagon.V6_vsubh, x[0], Lo(w), zero)
	b.Op(hexagon.V6_vsubh, x[1], Hi(w), zero)
	return x
}

// SumLanes leaves the sum of all words in every word.
func (b *Builder) SumLanes(v codegen.Reg) codegen.Reg {
	for n := VectorBytes / 2; n >= 4; n /= 2 {
		t, s := b.V("turned"), b.V("sum")
		b.Op(hexagon.V6_vror, t, v, b.Imm(n))
		b.Op(hexagon.V6_vaddw, s, v, t)
		v = s
	}
	return v
}

// WidenBytes makes four vectors of words from a vector of unsigned bytes.
func (b *Builder) WidenBytes(v codegen.Reg) [4]codegen.Reg {
	h := b.VV("halves")
	b.Op(hexagon.V6_vunpackub, h, v)
	w0, w1 := b.VV("words"), b.VV("words")
	b.Op(hexagon.V6_vunpackuh, w0, Lo(h))
	b.Op(hexagon.V6_vunpackuh, w1, Hi(h))
	return [4]codegen.Reg{Lo(w0), Hi(w0), Lo(w1), Hi(w1)}
}

// NarrowWords makes a vector of unsigned bytes from four of words, saturating.
func (b *Builder) NarrowWords(w [4]codegen.Reg) codegen.Reg {
	h0, h1, v := b.V("half"), b.V("half"), b.V("bytes")
	b.Op(hexagon.V6_vpackwh_sat, h0, w[1], w[0])
	b.Op(hexagon.V6_vpackwh_sat, h1, w[3], w[2])
	b.Op(hexagon.V6_vpackhub_sat, v, h1, h0)
	return v
}

// CopyOf is a register that may change.
func (b *Builder) CopyOf(r codegen.Reg) codegen.Reg {
	c := b.R("copy")
	b.Op(hexagon.A2_tfr, c, r)
	return c
}

// Doubled is v * 2^n, saturated.
func (b *Builder) Doubled(v codegen.Reg, n int) codegen.Reg {
	for range n {
		t := b.V("doubled")
		b.Op(hexagon.V6_vaddwsat, t, v, v)
		v = t
	}
	return v
}

// CentredHalfwords are bytes less a zero point, as halfwords in order.
func (b *Builder) CentredHalfwords(x, zero codegen.Reg) [2]codegen.Reg {
	h, y := b.VV("halves"), [2]codegen.Reg{b.V("centred"), b.V("centred")}
	b.Op(hexagon.V6_vunpackub, h, x)
	for i := range y {
		b.Op(hexagon.V6_vsubh, y[i], Half(h, i), zero)
	}
	return y
}

// MulWords is the low half of 32-bit products: the crossed product of low and
// high halfwords, shifted, and all of x times the low half of y.
func (b *Builder) MulWords(x, y codegen.Reg) codegen.Reg {
	p := b.V("product")
	b.Op(hexagon.V6_vmpyieoh, p, x, y)
	b.Op(hexagon.V6_vmpyiewuh_acc, p, x, y)
	return p
}

// MulHigh is SRDHM(x, m): (x*m + 2^30) >> 31, saturated.
func (b *Builder) MulHigh(x, m codegen.Reg) codegen.Reg {
	y := b.V("product")
	b.Op(hexagon.V6_vmpyewuh, y, x, m)
	b.Op(hexagon.V6_vmpyowh_rnd_sacc, y, x, m)
	return y
}
