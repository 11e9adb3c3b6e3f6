package lookup

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Lsh projects Items of ItemBytes bytes each to Hashes of Bits bits: a bit is set where the
// weighted sum of the fingerprints of {seed, item} is positive. Lanes are hashes.
type Lsh struct {
	Hashes, Bits, Items, ItemBytes int
	Kind                           int32          // opspec.LshDense or of one word for each hash
	Seeds, In, Weights, Out        *layout.Tensor // Weights may be nil
}

// Emit implements kernel.Kernel.
func (k *Lsh) Emit(a *rdna.Builder) kernel.Grid {
	lane := a.Lane(kernel.FlatGroup)
	first, signature := a.Times(lane, k.Bits), a.Variable(0)
	text := &hashed{Builder: a, prefixBytes: k.Seeds.Elem.Bytes(), base: a.Pointer(k.In.Region, k.In.Off, "items"), size: k.Seeds.Elem.Bytes() + k.ItemBytes}
	seeds := a.Pointer(k.Seeds.Region, k.Seeds.Off, "seeds")
	a.For(k.Bits, "bit", func(bit codegen.Reg) {
		at := a.Sum(first, bit)
		text.prefix = a.Load(k.Seeds.Elem, seeds, a.ShiftLeft(at, k.Seeds.Elem.Shift(), "offset"), 0, "seed")
		sum := a.WideConstant(0)
		text.at = a.Variable(0)
		a.For(k.Items, "item", func(item codegen.Reg) {
			s := a.WideToDouble(text.fingerprint())
			if k.Weights != nil {
				s = a.MulD(s, a.ToDouble(a.Element(k.Weights, a.Constant(item))))
			}
			a.SetWide(sum, a.AddD(sum, s))
			a.Increase(text.at, k.ItemBytes)
		})
		one := a.Choose(0, 1, a.Where(rdna2.V_CMP_LT_F64_E64, a.WideConstant(0), sum))
		if k.Kind == opspec.LshDense {
			a.SetElement(k.Out, at, one)
			return
		}
		a.Set(signature, a.Sum(a.ShiftLeft(signature, 1, "signature"), one))
	})
	if k.Kind == opspec.LshSparse {
		a.Increase(signature, a.Op2(rdna2.V_LSHLREV_B32_E32, a.V("offset"), k.Bits, lane))
	}
	if k.Kind != opspec.LshDense {
		a.SetElement(k.Out, lane, signature)
	}
	return kernel.Flat("lsh_projection", k.Hashes)
}

// Mixing constants of FarmHash's Fingerprint64: primes between 2^63 and 2^64.
const (
	mix0 = 0xc3a5c85c97cb3127
	mix1 = 0xb492b66fbe98f273
	mix2 = 0x9ae16a3b2f90404f
)

// hashed is a text of size bytes that is hashed: the first of them are the low ones of prefix,
// the others lie at bytes behind base.
type hashed struct {
	*rdna.Builder
	prefix      codegen.Reg
	prefixBytes int
	at          codegen.Reg
	base        codegen.Reg
	size        int
}

// load reads the element i bytes past the prefix.
func (h *hashed) load(e layout.Element, i int) codegen.Reg {
	const reach = 2047 // of the immediate offset of a load
	if i > reach {
		return h.Load(e, h.base, h.Sum(h.at, i), 0, "text")
	}
	return h.Load(e, h.base, h.at, i, "text")
}

// byte is byte i of the text.
func (h *hashed) byte(i int) codegen.Reg {
	if i < h.prefixBytes {
		return h.Op3(rdna2.V_BFE_U32, h.V("byte"), h.prefix, 8*i, 8)
	}
	return h.load(layout.U8, i-h.prefixBytes)
}

// word is the word at byte i of the text.
func (h *hashed) word(i int) codegen.Reg {
	if i >= h.prefixBytes {
		return h.load(layout.I32, i-h.prefixBytes)
	}
	w := h.byte(i)
	for b := 1; b < 4; b++ {
		w = h.Op3(rdna2.V_LSHL_OR_B32, h.V("word"), h.byte(i+b), 8*b, w)
	}
	return w
}

// wide is the eight bytes at byte i of the text.
func (h *hashed) wide(i int) codegen.Reg {
	w := h.WideConstant(0)
	h.Set(rdna.At(w, 0), h.word(i))
	h.Set(rdna.At(w, 1), h.word(i+4))
	return w
}

// sum is the sum of numbers.
func (h *hashed) sum(x codegen.Reg, list ...codegen.Reg) codegen.Reg {
	for _, y := range list {
		x = h.WideSum(x, y)
	}
	return x
}

// fold is x ^ x>>47.
func (h *hashed) fold(x codegen.Reg) codegen.Reg {
	high := h.WideConstant(0)
	h.Emit(rdna2.V_LSHRREV_B32_E32, rdna.At(high, 0), 47-32, rdna.At(x, 1))
	return h.WideXor(x, high)
}

// mix combines two numbers.
func (h *hashed) mix(u, v, times codegen.Reg) codegen.Reg {
	a := h.fold(h.WideTimes(h.WideXor(u, v), times))
	return h.WideTimes(h.fold(h.WideTimes(h.WideXor(v, a), times)), times)
}

// fingerprint is FarmHash's Fingerprint64 of the text, whose algorithm depends on its size.
func (h *hashed) fingerprint() codegen.Reg {
	n := h.size
	k2 := h.WideConstant(mix2)
	times := h.WideConstant(mix2 + 2*uint64(n))
	switch {
	case n > 64:
		return h.long()
	case n > 32:
		return h.medium(k2, times)
	case n > 16:
		a, b := h.WideTimes(h.wide(0), h.WideConstant(mix1)), h.wide(8)
		c, d := h.WideTimes(h.wide(n-8), times), h.WideTimes(h.wide(n-16), k2)
		return h.mix(h.sum(h.WideRotate(h.sum(a, b), 43), h.WideRotate(c, 30), d), h.sum(a, h.WideRotate(h.sum(b, k2), 18), c), times)
	case n >= 8:
		a, b := h.sum(h.wide(0), k2), h.wide(n-8)
		return h.mix(h.sum(h.WideTimes(h.WideRotate(b, 37), times), a), h.WideTimes(h.sum(h.WideRotate(a, 25), b), times), times)
	case n >= 4:
		first, last := h.WideConstant(uint64(n)), h.WideConstant(0)
		h.Emit(rdna2.V_MAD_U64_U32, first, h.S("carry"), h.word(0), 8, first)
		h.Set(rdna.At(last, 0), h.word(n-4))
		return h.mix(first, last, times)
	case n > 0:
		y, z := h.WideConstant(0), h.WideConstant(0)
		h.Emit(rdna2.V_LSHL_OR_B32, rdna.At(y, 0), h.byte(n>>1), 8, h.byte(0))
		h.Emit(rdna2.V_LSHL_ADD_U32, rdna.At(z, 0), h.byte(n-1), 2, h.Constant(n))
		return h.WideTimes(h.fold(h.WideXor(h.WideTimes(y, k2), h.WideTimes(z, h.WideConstant(mix0)))), k2)
	}
	return k2
}

// medium is the fingerprint of 33 to 64 bytes.
func (h *hashed) medium(k2, times codegen.Reg) codegen.Reg {
	n := h.size
	a, b := h.WideTimes(h.wide(0), k2), h.wide(8)
	c, d := h.WideTimes(h.wide(n-8), times), h.WideTimes(h.wide(n-16), k2)
	y := h.sum(h.WideRotate(h.sum(a, b), 43), h.WideRotate(c, 30), d)
	z := h.mix(y, h.sum(a, h.WideRotate(h.sum(b, k2), 18), c), times)
	e, f := h.WideTimes(h.wide(16), times), h.wide(24)
	g, i := h.WideTimes(h.sum(y, h.wide(n-32)), times), h.WideTimes(h.sum(z, h.wide(n-24)), times)
	return h.mix(h.sum(h.WideRotate(h.sum(e, f), 43), h.WideRotate(g, 30), i), h.sum(e, h.WideRotate(h.sum(f, a), 18), g), times)
}

// absorb mixes the 32 bytes at byte i into a pair of numbers.
func (h *hashed) absorb(i int, a, b codegen.Reg) (lo, hi codegen.Reg) {
	w, x, y, z := h.wide(i), h.wide(i+8), h.wide(i+16), h.wide(i+24)
	a = h.sum(a, w)
	b = h.WideRotate(h.sum(b, a, z), 21)
	c := h.sum(a, x, y)
	return h.sum(c, z), h.sum(b, h.WideRotate(c, 44), a)
}

// longState is what the fingerprint of a long text carries from block to block.
type longState struct{ x, y, z, vLo, vHi, wLo, wHi codegen.Reg }

// long is the fingerprint of more than 64 bytes: blocks of 64, and the last 64 bytes once more.
func (h *hashed) long() codegen.Reg {
	const seed = 81
	n := h.size
	fold := func(v uint64) uint64 { return v ^ v>>47 }
	y := uint64(seed)
	y = y*mix1 + 113
	s := &longState{x: h.WideConstant(0), y: h.WideConstant(y), z: h.WideConstant(fold(y*mix2+113) * mix2), vLo: h.WideConstant(0), vHi: h.WideConstant(0), wLo: h.WideConstant(0), wHi: h.WideConstant(0)}
	k2 := uint64(mix2)
	h.SetWide(s.x, h.sum(h.WideConstant(seed*k2), h.wide(0)))
	// The first block begins in the prefix, which no other block sees.
	times := h.WideConstant(mix1)
	h.round(s, 0, times, 1)
	if more := (n-1)/64 - 1; more > 0 {
		at := h.Variable(h.Sum(h.at, 64-h.prefixBytes))
		rest := *h
		rest.at, rest.prefixBytes = at, 0
		h.For(more, "block", func(codegen.Reg) {
			rest.round(s, 0, times, 1)
			h.Increase(at, 64)
		})
	}
	// The factor of the end depends on the state.
	low := h.WideConstant(0)
	h.Emit(rdna2.V_AND_B32_E32, rdna.At(low, 0), 0xff, rdna.At(s.z, 0))
	end := h.sum(h.WideConstant(mix1), low, low)
	h.SetWide(s.wLo, h.sum(s.wLo, h.WideConstant(uint64(n-1)&63)))
	h.SetWide(s.vLo, h.sum(s.vLo, s.wLo))
	h.SetWide(s.wLo, h.sum(s.wLo, s.vLo))
	h.round(s, n-64, end, 9)
	u := h.sum(h.mix(s.vLo, s.wLo, end), h.WideTimes(h.fold(s.y), h.WideConstant(mix0)), s.z)
	return h.mix(u, h.sum(h.mix(s.vHi, s.wHi, end), s.x), end)
}

// round mixes the 64 bytes at byte i into the state.
func (h *hashed) round(s *longState, i int, factor codegen.Reg, times uint64) {
	some := h.WideConstant(times)
	x := h.WideTimes(h.WideRotate(h.sum(s.x, s.y, s.vLo, h.wide(i+8)), 37), factor)
	y := h.WideTimes(h.WideRotate(h.sum(s.y, s.vHi, h.wide(i+48)), 42), factor)
	x = h.WideXor(x, h.WideTimes(s.wHi, some))
	y = h.sum(y, h.WideTimes(s.vLo, some), h.wide(i+40))
	z := h.WideTimes(h.WideRotate(h.sum(s.z, s.wLo), 33), factor)
	vLo, vHi := h.absorb(i, h.WideTimes(s.vHi, factor), h.sum(x, s.wLo))
	wLo, wHi := h.absorb(i+32, h.sum(z, s.wHi), h.sum(y, h.wide(i+16)))
	for _, set := range [][2]codegen.Reg{{s.x, z}, {s.y, y}, {s.z, x}, {s.vLo, vLo}, {s.vHi, vHi}, {s.wLo, wLo}, {s.wHi, wHi}} {
		h.SetWide(set[0], set[1])
	}
}
