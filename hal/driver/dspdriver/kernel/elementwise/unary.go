package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Clamp bounds bytes. Arguments: table of
// (input, output, vectors), entries, lower and upper bound four times each.
type Clamp struct{}

// Name implements hvx.Kernel.
func (Clamp) Name() string { return "clamp" }

// Emit implements hvx.Kernel.
func (Clamp) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "lo", "hi", "address", "box", "stride")
	a.Prefetch(in[ClampPrefetch:])
	low, high := a.Splat(in[2], "lo"), a.Splat(in[3], "hi")
	unary(a, in[0], in[1], func(v codegen.Reg) codegen.Reg {
		a.Op(hexagon.V6_vmaxub, v, v, low)
		a.Op(hexagon.V6_vminub, v, v, high)
		return v
	})
}

// Lookup maps bytes through a table of 256.
// Arguments: table of (input, output, vectors), entries, address of the two
// vectors that LookupVectors makes.
type Lookup struct{}

// Name implements hvx.Kernel.
func (Lookup) Name() string { return "lookup" }

// Emit implements hvx.Kernel.
func (Lookup) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "map", "address", "box", "stride")
	a.Prefetch(in[LookupPrefetch:])
	var m [2]codegen.Reg
	for i := range m {
		m[i] = a.Load(in[2], i*hvx.VectorBytes, hvx.AliasConst, "map")
	}
	unary(a, in[0], in[1], func(v codegen.Reg) codegen.Reg {
		r := a.V("mapped")
		a.Op(hexagon.V6_vlutvvbi, r, v, m[0], 0)
		for i := 1; i < 8; i++ {
			a.Op(hexagon.V6_vlutvvb_oracci, r, v, m[i/4], i)
		}
		return r
	})
}

// ClampPrefetch and LookupPrefetch are the indexes of the prefetch arguments.
const ClampPrefetch, LookupPrefetch = 4, 3

// LookupVectors arranges a table of 256 bytes for vlut32: bank i (32 entries)
// of a vector is byte i/2 of halves 32 (i%2) and up.
func LookupVectors(t *[256]byte) []byte {
	out := make([]byte, 2*hvx.VectorBytes)
	for i, b := range t {
		out[i/128*hvx.VectorBytes+2*(i%64)+i/64%2] = b
	}
	return out
}

// unary walks ranges of vectors.
func unary(a *hvx.Builder, table, entries codegen.Reg, f func(v codegen.Reg) codegen.Reg) {
	a.Repeat(entries, func() {
		src, dst, n := a.Word(table, 0, "in"), a.Word(table, 1, "out"), a.Word(table, 2, "vectors")
		a.Bump(table, 12)
		a.Loop0(n, func() {
			v := a.V("x")
			a.Op(hexagon.V6_vL32b_pi, v, src, 1).Loads(hvx.AliasIn)
			a.Op(hexagon.V6_vS32b_pi, dst, 1, f(v)).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
