package matmul

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Rescale requantizes words in memory to bytes.
type Rescale struct {
	Rq hvx.RequantKind
}

func (k Rescale) Name() string { return "rescale_" + k.Rq.Tag() }

// Emit writes the kernel. Arguments: table of (words, bytes, multipliers,
// vectors of bytes), entries, parameter block.
func (k Rescale) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "params")
	table, entries := in[0], in[1]
	rq := a.RequantSetup(k.Rq, in[2])
	a.Repeat(entries, func() {
		src, dst, head := a.Word(table, 0, "words"), a.Word(table, 1, "bytes"), a.Word(table, 2, "multipliers")
		n := a.Word(table, 3, "vectors")
		a.Bump(table, 16)
		a.Loop0(n, func() {
			var acc [4]codegen.Reg
			for i := range acc {
				acc[i] = a.V("acc")
				a.Op(hexagon.V6_vL32b_pi, acc[i], src, 1).Loads(hvx.AliasIn)
			}
			out := rq.Pack(acc, func(j int) hvx.ChannelVectors { return rq.ChannelVectorsAt(head, 0, j, 4) }, false)
			if n := k.Rq.Vectors(); n > 0 {
				a.Bump(head, n*4*hvx.VectorBytes)
			}
			a.Op(hexagon.V6_vS32b_pi, dst, 1, out).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
