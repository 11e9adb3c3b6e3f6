package elementwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Scalar computes elements one by one in scalar registers.
type Scalar struct {
	Label   string
	In, Out int // bytes of an element
	Unroll  int
	Body    func(a *hvx.Builder, v, table codegen.Reg) codegen.Reg
}

// Emit writes the kernel. Arguments: table of (input, output, elements,
// lookup table), entries.
func (k *Scalar) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	load := map[int]hexagon.Op{1: hexagon.L2_loadrub_io, 4: hexagon.L2_loadri_io}[k.In]
	store := map[int]hexagon.Op{1: hexagon.S2_storerb_io, 4: hexagon.S2_storeri_io}[k.Out]
	a.Repeat(entries, func() {
		src, dst, n, lookup := a.Word(table, 0, "in"), a.Word(table, 1, "out"), a.Word(table, 2, "elements"), a.Word(table, 3, "lookup")
		a.Bump(table, 16)
		pass := func(count codegen.Reg, times int) {
			a.SkipIfZero(count, func() {
				a.Loop0(count, func() {
					for i := range times {
						v := a.R("element")
						a.Op(load, v, src, i*k.In).Loads(hvx.AliasIn)
						a.Op(store, dst, i*k.Out, k.Body(a, v, lookup)).Stores(hvx.AliasOut)
					}
					a.Bump(src, times*k.In)
					a.Bump(dst, times*k.Out)
				})
			})
		}
		rest := a.Into(hexagon.A2_andir, n, k.Unroll-1)
		pass(a.Into(hexagon.S2_lsr_i_r, n, map[int]int{2: 1, 4: 2}[k.Unroll]), k.Unroll)
		pass(rest, 1)
	})
	a.Ret()
}
