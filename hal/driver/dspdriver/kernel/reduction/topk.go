package reduction

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// TopK lists the greatest words of each lane in
// descending order, equal ones by ascending slice. Each round looks for the best of
// those that come after the one found before. Arguments: table of (first slice,
// values, indexes, how many), entries, slices, distances of slices and of indexes.
type TopK struct{}

// Name implements hvx.Kernel.
func (TopK) Name() string { return "topk" }

// Emit implements hvx.Kernel.
func (TopK) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "slices", "step", "wide")
	table, entries, sliceCount, step := in[0], in[1], in[2], in[3]
	zero, one := a.Zero(), a.Splat(a.Imm(1), "one")
	least, none := a.Splat(a.Imm(-1<<31), "least"), a.Splat(a.Imm(-1), "none")
	a.Repeat(entries, func() {
		from, values := a.Word(table, 0, "from"), a.Word(table, 1, "values")
		indices, left := a.Word(table, 2, "indexes"), a.Word(table, 3, "left")
		a.Bump(table, 16)
		last, lastAt := a.V("last"), a.V("last at")
		a.Op(hexagon.V6_vnot, last, least) // the greatest word
		a.Op(hexagon.V6_vassign, lastAt, none)
		a.Repeat(left, func() {
			best, index, at := a.V("best"), a.V("index"), a.V("at")
			a.Op(hexagon.V6_vassign, best, least)
			a.Op(hexagon.V6_vassign, index, none)
			a.Op(hexagon.V6_vassign, at, zero)
			p := a.CopyOf(from)
			a.Loop0(sliceCount, func() {
				x := a.Load(p, 0, hvx.AliasIn, "x")
				a.Op(hexagon.A2_add, p, p, step)
				next, better := a.Q("next"), a.Q("better")
				a.Op(hexagon.V6_veqw, next, x, last)
				a.Op(hexagon.V6_vgtw_and, next, at, lastAt)
				a.Op(hexagon.V6_vgtw_or, next, last, x)
				a.Op(hexagon.V6_vgtw, better, x, best)
				a.Op(hexagon.V6_vgtw_or, better, zero, index)
				take := a.Q("take")
				a.Op(hexagon.V6_pred_and, take, next, better)
				a.Op(hexagon.V6_vmux, best, take, x, best)
				a.Op(hexagon.V6_vmux, index, take, at, index)
				a.Op(hexagon.V6_vaddw, at, at, one)
			})
			a.Store(values, 0, best, hvx.AliasOut)
			a.Store(indices, 0, index, hvx.AliasOut)
			a.Op(hexagon.A2_add, values, values, step)
			a.Op(hexagon.A2_add, indices, indices, in[4])
			a.Op(hexagon.V6_vassign, last, best)
			a.Op(hexagon.V6_vassign, lastAt, index)
		})
	})
	a.Ret()
}

// TopKBytes is TopK for unsigned bytes. Slices are visited from the last to the
// first, so that of equal ones the first is kept. The successor of the previous
// result is less, or equal and not before the slice after it.
type TopKBytes struct{}

// Name implements hvx.Kernel.
func (TopKBytes) Name() string { return "topk_bytes" }

// Emit implements hvx.Kernel.
func (TopKBytes) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "slices", "step", "wide")
	table, entries, sliceCount, step, wide := in[0], in[1], in[2], in[3], in[4]
	zero, one := a.Zero(), a.Splat(a.Imm(hvx.Ones), "one")
	back, top, blocks := a.R("back"), a.R("last slice"), a.R("blocks")
	a.Op(hexagon.A2_subri, back, 0, step)
	a.Op(hexagon.A2_addi, top, sliceCount, -1)
	a.Op(hexagon.S2_lsr_i_r, blocks, top, 8)
	a.Op(hexagon.A2_addi, blocks, blocks, 1)
	a.Repeat(entries, func() {
		from, values := a.Word(table, 0, "from"), a.Word(table, 1, "values")
		indices, left := a.Word(table, 2, "indexes"), a.Word(table, 3, "left")
		a.Bump(table, 16)
		last := indexedBytes{a.V("last"), a.V("low"), a.V("high")} // and the slice behind it
		a.Op(hexagon.V6_vnot, last.value, zero)
		a.Op(hexagon.V6_vassign, last.low, zero)
		a.Op(hexagon.V6_vassign, last.high, zero)
		end := a.R("end")
		a.Op(hexagon.M2_mpyi, end, top, step)
		a.Op(hexagon.A2_add, end, end, from)
		a.Repeat(left, func() {
			best := indexedBytes{a.V("best"), a.V("low"), a.V("high")}
			for _, v := range []any{best.value, best.low, best.high} {
				a.Op(hexagon.V6_vassign, v, zero)
			}
			at := sliceNumbers(a, top)
			p, n, more := a.CopyOf(end), a.R("slices"), a.CopyOf(blocks)
			a.Op(hexagon.A2_andir, n, top, 255)
			a.Bump(n, 1)
			a.Repeat(more, func() {
				above, same := a.Q("above"), a.Q("same")
				a.Op(hexagon.V6_vgtub, above, at.high, last.high)
				a.Op(hexagon.V6_veqb, same, at.high, last.high)
				a.Loop0(n, func() {
					x := a.Load(p, 0, hvx.AliasIn, "x")
					a.Op(hexagon.A2_add, p, p, back)
					before, next := a.Q("before"), a.Q("next")
					a.Op(hexagon.V6_vgtub, before, last.low, at.low)
					a.Op(hexagon.V6_pred_and_n, next, same, before)
					a.Op(hexagon.V6_pred_or, next, next, above)
					a.Op(hexagon.V6_veqb_and, next, x, last.value)
					a.Op(hexagon.V6_vgtub_or, next, last.value, x)
					a.Op(hexagon.V6_vgtub, before, best.value, x)
					a.Op(hexagon.V6_pred_and_n, next, next, before)
					a.Op(hexagon.V6_vmux, best.value, next, x, best.value)
					a.Op(hexagon.V6_vmux, best.low, next, at.low, best.low)
					a.Op(hexagon.V6_vmux, best.high, next, at.high, best.high)
					a.Op(hexagon.V6_vsubb, at.low, at.low, one)
				})
				a.Op(hexagon.V6_vsubb, at.high, at.high, one)
				a.Op(hexagon.A2_tfrsi, n, 256)
			})
			a.Store(values, 0, best.value, hvx.AliasOut)
			storeIndexes(a, indices, best)
			a.Op(hexagon.A2_add, values, values, step)
			a.Op(hexagon.A2_add, indices, indices, wide)
			a.Op(hexagon.V6_vassign, last.value, best.value)
			a.Op(hexagon.V6_vaddb, last.low, best.low, one)
			wraps, carried := a.Q("wraps"), a.V("carried")
			a.Op(hexagon.V6_veqb, wraps, last.low, zero)
			a.Op(hexagon.V6_vaddb, carried, best.high, one)
			a.Op(hexagon.V6_vmux, last.high, wraps, carried, best.high)
		})
	})
	a.Ret()
}
