package resize

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Words of an entry of the exact blend: the neighbours, the result, and the
// weights of the upper, lower, left and right ones.
const (
	exactFrom  = 0
	exactOut   = 4
	exactAbove = 5
	exactLeft  = 7
	ExactWords = 9
)

// Exact blends runs of size bytes, each with one set of weights, in the
// order and with the roundings of the reference. Arguments: table, entries.
type Exact struct{ Size, Bias int }

// Name implements hvx.Kernel.
func (k Exact) Name() string { return fmt.Sprintf("exact_blend_%d", k.Size) }

func (k Exact) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	a.Repeat(entries, func() {
		var from, w [4]codegen.Reg
		for i := range from {
			from[i], w[i] = a.Word(table, exactFrom+i, "neighbour"), a.Word(table, exactAbove+i, "weight")
		}
		out := a.Word(table, exactOut, "out")
		a.Bump(table, 4*ExactWords)
		a.Loop0(k.Size, func() {
			var sum codegen.Reg
			for i := range from {
				v := a.R("stored")
				a.Op(hexagon.L2_loadrub_pi, v, from[i], 1).Loads(hvx.AliasIn)
				f := a.FMul(a.FMul(a.FloatOf(a.Add(v, -k.Bias)), w[i/2]), w[exactLeft-exactAbove+i%2])
				if i > 0 {
					f = a.FAdd(sum, f)
				}
				sum = f
			}
			a.Op(hexagon.S2_storerb_pi, out, 1, a.Add(a.Round(sum), k.Bias)).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
