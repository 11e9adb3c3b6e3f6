package datamove

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// FetchUnit is the granularity in bytes of the threads' parts of a fetch.
const FetchUnit = 4 * hvx.VectorBytes

// Wait starts the chain of its argument, unless
// that is 0, and waits for the thread's engine.
type Wait struct{}

// Name implements hvx.Kernel.
func (Wait) Name() string { return "dma_wait" }

// Emit implements hvx.Kernel.
func (Wait) Emit(a *hvx.Builder) {
	in := a.Args("chain")
	a.SkipIfZero(in[0], func() { a.StartDMAChain(in[0]) })
	a.Op(hexagon.Y6_dmwait, a.R("state"))
	a.Ret()
}

// Warm prefetches vectors and reads them, to end
// when they have come. Arguments: address, vectors.
type Warm struct{}

// Name implements hvx.Kernel.
func (Warm) Name() string { return "warm" }

// Emit implements hvx.Kernel.
func (Warm) Emit(a *hvx.Builder) {
	in := a.Args("from", "vectors")
	src, n := in[0], in[1]
	shape := a.RR("box")
	a.Op(hexagon.A2_tfrsi, hvx.Hi(shape), hvx.VectorBytes)
	a.Op(hexagon.A2_tfr, hvx.Lo(shape), n)
	a.Op(hexagon.S2_setbit_i, hvx.Lo(shape), hvx.Lo(shape), 23) // 128 bytes wide
	a.Op(hexagon.Y5_l2fetch, src, shape)
	a.Loop0(n, func() { a.Op(hexagon.V6_vL32b_pi, a.V("bytes"), src, 1).Loads(hvx.AliasConst) })
	a.Ret()
}

// Fetch copies ranges of whole units. Arguments:
// table of (source, destination, units), entries.
type Fetch struct{}

// Name implements hvx.Kernel.
func (Fetch) Name() string { return "fetch" }

// Emit implements hvx.Kernel.
func (Fetch) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	a.Loop1(entries, func() {
		src, dst, n := a.Word(table, 0, "from"), a.Word(table, 1, "to"), a.Word(table, 2, "units")
		a.Bump(table, 12)
		shape := a.RR("box")
		a.Op(hexagon.A2_tfrsi, hvx.Hi(shape), hvx.VectorBytes)
		vectors := a.R("vectors")
		a.Op(hexagon.S2_asl_i_r, vectors, n, 2)
		a.Op(hexagon.S2_setbit_i, hvx.Lo(shape), vectors, 23) // 128 bytes wide
		a.Op(hexagon.Y5_l2fetch, src, shape)
		v := a.V("bytes") // each is stored beside the load behind it
		a.Op(hexagon.V6_vL32b_pi, v, src, 1).Loads(hvx.AliasIn)
		a.Loop0(a.Add(vectors, -1), func() {
			a.Op(hexagon.V6_vS32b_pi, dst, 1, v).Stores(hvx.AliasScratch)
			a.Op(hexagon.V6_vL32b_pi, v, src, 1).Loads(hvx.AliasIn)
		})
		a.Op(hexagon.V6_vS32b_pi, dst, 1, v).Stores(hvx.AliasScratch)
	})
	a.Ret()
}
