package lookup

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// FindKey finds the first of equal words.
// Arguments: table of (words to find, results, number), entries, words to search,
// their vectors, their number - the result where there is none - and a vector
// of lane numbers.
type FindKey struct{}

// Name implements hvx.Kernel.
func (FindKey) Name() string { return "find_key" }

// Emit implements hvx.Kernel.
func (FindKey) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "keys", "vectors", "rows", "lanes")
	table, entries, keys, vectors := in[0], in[1], in[2], in[3]
	none, lanes := a.Splat(in[4], "none"), a.Load(in[5], 0, hvx.AliasConst, "lanes")
	step := a.Splat(a.Imm(hvx.VectorBytes/4), "step")
	a.Repeat(entries, func() {
		want, out, left := a.Word(table, 0, "want"), a.Word(table, 1, "out"), a.Word(table, 2, "left")
		a.Bump(table, 12)
		a.Repeat(left, func() {
			w, from := a.R("key"), a.CopyOf(keys)
			a.Op(hexagon.L2_loadri_pi, w, want, 4).Loads(hvx.AliasIn)
			key, best, at := a.Splat(w, "key"), a.V("best"), a.V("at")
			a.Op(hexagon.V6_vassign, best, none)
			a.Op(hexagon.V6_vassign, at, lanes)
			a.Loop0(vectors, func() {
				x, q, hit := a.V("x"), a.Q("equal"), a.V("hit")
				a.Op(hexagon.V6_vL32b_pi, x, from, 1).Loads(hvx.AliasIn)
				a.Op(hexagon.V6_veqw, q, x, key)
				a.Op(hexagon.V6_vmux, hit, q, at, none)
				a.Op(hexagon.V6_vminw, best, best, hit)
				a.Op(hexagon.V6_vaddw, at, at, step)
			})
			for n := hvx.VectorBytes / 2; n >= 4; n /= 2 {
				t := a.V("turned")
				a.Op(hexagon.V6_vror, t, best, a.Imm(n))
				a.Op(hexagon.V6_vminw, best, best, t)
			}
			r := a.R("row")
			a.Op(hexagon.V6_extractw, r, best, a.Imm(0))
			a.Op(hexagon.S2_storeri_pi, out, 4, r).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
