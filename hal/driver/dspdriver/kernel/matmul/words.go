package matmul

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// MatmulEntry is the words of an entry of the kernel below: the first element
// of a row and the distance of the next, a vector of columns, the distance of the
// rows, their number, the result.
const MatmulEntry = 6

// Words adds up rows of words times the
// words of another row. Arguments: table, entries.
type Words struct{}

// Name implements hvx.Kernel.
func (Words) Name() string { return "matmul_words" }

// Emit implements hvx.Kernel.
func (Words) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	a.Repeat(entries, func() {
		x, step := a.Word(table, 0, "x"), a.Word(table, 1, "step")
		y, pitch, depth := a.Word(table, 2, "y"), a.Word(table, 3, "pitch"), a.Word(table, 4, "depth")
		out := a.Word(table, 5, "out")
		a.Bump(table, 4*MatmulEntry)
		sum := a.V("sum")
		a.Op(hexagon.V6_vassign, sum, a.Zero())
		a.Loop0(depth, func() {
			e := a.R("element")
			a.Op(hexagon.L2_loadri_io, e, x, 0).Loads(hvx.AliasIn)
			a.Op(hexagon.A2_add, x, x, step)
			row := a.Load(y, 0, hvx.AliasIn, "row")
			a.Op(hexagon.A2_add, y, y, pitch)
			a.Op(hexagon.V6_vaddw, sum, sum, a.MulWords(a.Splat(e, "element"), row))
		})
		a.Store(out, 0, sum, hvx.AliasOut)
	})
	a.Ret()
}
