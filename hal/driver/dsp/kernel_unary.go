package dsp

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// generateClamp writes the kernel that bounds bytes. Arguments: table of
// (input, output, vectors), entries, lower and upper bound four times each.
func generateClamp(a *asm) {
	in := a.args("table", "entries", "lo", "hi")
	low, high := a.splat(in[2], "lo"), a.splat(in[3], "hi")
	a.unary(in[0], in[1], func(v codegen.Reg) codegen.Reg {
		a.op(hexagon.V6_vmaxub, v, v, low)
		a.op(hexagon.V6_vminub, v, v, high)
		return v
	})
}

// generateLookup writes the kernel that maps bytes through a table of 256.
// Arguments: table of (input, output, vectors), entries, address of the two
// vectors that lookupVectors makes.
func generateLookup(a *asm) {
	in := a.args("table", "entries", "map")
	var m [2]codegen.Reg
	for i := range m {
		m[i] = a.vload(in[2], i*vecBytes, aliasConst, "map")
	}
	a.unary(in[0], in[1], func(v codegen.Reg) codegen.Reg {
		r := a.v("mapped")
		a.op(hexagon.V6_vlutvvbi, r, v, m[0], 0)
		for i := 1; i < 8; i++ {
			a.op(hexagon.V6_vlutvvb_oracci, r, v, m[i/4], i)
		}
		return r
	})
}

// lookupVectors arranges a table of 256 bytes for vlut32: bank i (32 entries)
// of a vector is byte i/2 of halves 32 (i%2) and up.
func lookupVectors(t *[256]byte) []byte {
	out := make([]byte, 2*vecBytes)
	for i, b := range t {
		out[i/128*vecBytes+2*(i%64)+i/64%2] = b
	}
	return out
}

// unary walks ranges of vectors.
func (a *asm) unary(table, entries codegen.Reg, f func(v codegen.Reg) codegen.Reg) {
	a.repeat(entries, func() {
		src, dst, n := a.word(table, 0, "in"), a.word(table, 1, "out"), a.word(table, 2, "vectors")
		a.bump(table, 12)
		a.loop0(n, func() {
			v := a.v("x")
			a.op(hexagon.V6_vL32b_pi, v, src, 1).Loads(aliasIn)
			a.op(hexagon.V6_vS32b_pi, dst, 1, f(v)).Stores(aliasOut)
		})
	})
	a.ret()
}
