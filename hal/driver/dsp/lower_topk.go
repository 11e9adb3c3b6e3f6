package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// lowerTopK lowers TOPK_V2: rows in lanes, the next best of each row again and
// again.
func lowerTopK(l *lowering, op *nn.Operation) error {
	t, err := l.view.TopK(op)
	if err != nil {
		return err
	}
	in, err := l.flat(t.Input)
	if err != nil {
		return err
	}
	size := l.sizeOf(t.Input)
	if t.Depth > maxIndex && size == 1 { // indexes of two bytes are not enough
		in, size = l.wordsOf(in, t.Input, 0), 4
	}
	s, err := l.intoSlices(in, []uint32{uint32(t.Rows), uint32(t.Depth)}, []bool{false, true}, size)
	if err != nil {
		return err
	}
	wide := s.pitch / size * 4 // from index to index of a row
	if int64(wide)*int64(t.K) > maxArena {
		return fmt.Errorf("%d values of each of %d rows need too much memory", t.K, t.Rows)
	}
	values, indices := l.newFlat("best values", s.pitch*t.K, 1), l.newFlat("best indexes", wide*t.K, 1)
	l.addStep("topk", []*tensor{s.t}, []*tensor{values, indices}, func(l *lowering, st *step) error {
		name, generate := "topk", generateTopK
		if size == 1 {
			name, generate = "topk_bytes", generateTopKBytes
		}
		kern, err := l.kernel(name, generate)
		if err != nil {
			return err
		}
		var table []uint32
		for v := 0; v < s.pitch; v += vecBytes {
			table = append(table, s.t.addr+uint32(v), values.addr+uint32(v), indices.addr+uint32(v/size*4), uint32(t.K))
		}
		l.launchTable(st, kern, table, 4, uint32(s.count), uint32(s.pitch), uint32(wide))
		return nil
	})
	rows := func(out, from *tensor, size, pitch int) error {
		return l.moveFlat("rows", out, from, size, []moveDim{{t.Rows, size, size * t.K}, {t.K, pitch, size}}, 0, 0)
	}
	if err := rows(l.flatResult(t.Indices), indices, 4, wide); err != nil {
		return err
	}
	if size == l.sizeOf(t.Values) {
		return rows(l.flatResult(t.Values), values, size, s.pitch)
	}
	best := l.newFlat("values", t.Rows*t.K, 4)
	if err := rows(best, values, 4, s.pitch); err != nil {
		return err
	}
	l.flatStep("narrow", narrowWordsKernel(), l.flatResult(t.Values), []*tensor{best}, 0)
	return nil
}

// generateTopK writes the kernel that lists the greatest words of each lane in
// descending order, equal ones by ascending slice. Each round looks for the best of
// those that come after the one found before. Arguments: table of (first slice,
// values, indexes, how many), entries, slices, distances of slices and of indexes.
func generateTopK(a *asm) {
	in := a.args("table", "entries", "slices", "step", "wide")
	table, entries, sliceCount, step := in[0], in[1], in[2], in[3]
	zero, one := a.zero(), a.splat(a.imm(1), "one")
	least, none := a.splat(a.imm(-1<<31), "least"), a.splat(a.imm(-1), "none")
	a.repeat(entries, func() {
		from, values := a.word(table, 0, "from"), a.word(table, 1, "values")
		indices, left := a.word(table, 2, "indexes"), a.word(table, 3, "left")
		a.bump(table, 16)
		last, lastAt := a.v("last"), a.v("last at")
		a.op(hexagon.V6_vnot, last, least) // the greatest word
		a.op(hexagon.V6_vassign, lastAt, none)
		a.repeat(left, func() {
			best, index, at := a.v("best"), a.v("index"), a.v("at")
			a.op(hexagon.V6_vassign, best, least)
			a.op(hexagon.V6_vassign, index, none)
			a.op(hexagon.V6_vassign, at, zero)
			p := a.copyOf(from)
			a.loop0(sliceCount, func() {
				x := a.vload(p, 0, aliasIn, "x")
				a.op(hexagon.A2_add, p, p, step)
				next, better := a.q("next"), a.q("better")
				a.op(hexagon.V6_veqw, next, x, last)
				a.op(hexagon.V6_vgtw_and, next, at, lastAt)
				a.op(hexagon.V6_vgtw_or, next, last, x)
				a.op(hexagon.V6_vgtw, better, x, best)
				a.op(hexagon.V6_vgtw_or, better, zero, index)
				take := a.q("take")
				a.op(hexagon.V6_pred_and, take, next, better)
				a.op(hexagon.V6_vmux, best, take, x, best)
				a.op(hexagon.V6_vmux, index, take, at, index)
				a.op(hexagon.V6_vaddw, at, at, one)
			})
			a.vstore(values, 0, best, aliasOut)
			a.vstore(indices, 0, index, aliasOut)
			a.op(hexagon.A2_add, values, values, step)
			a.op(hexagon.A2_add, indices, indices, in[4])
			a.op(hexagon.V6_vassign, last, best)
			a.op(hexagon.V6_vassign, lastAt, index)
		})
	})
	a.ret()
}

// generateTopKBytes is generateTopK for unsigned bytes. Slices are met from the last
// to the first, so that of equal ones the first stays. What comes after the one
// found before is less, or equal and not before the slice behind it.
func generateTopKBytes(a *asm) {
	in := a.args("table", "entries", "slices", "step", "wide")
	table, entries, sliceCount, step, wide := in[0], in[1], in[2], in[3], in[4]
	zero, one := a.zero(), a.splat(a.imm(ones), "one")
	back, top, blocks := a.r("back"), a.r("last slice"), a.r("blocks")
	a.op(hexagon.A2_subri, back, 0, step)
	a.op(hexagon.A2_addi, top, sliceCount, -1)
	a.op(hexagon.S2_lsr_i_r, blocks, top, 8)
	a.op(hexagon.A2_addi, blocks, blocks, 1)
	a.repeat(entries, func() {
		from, values := a.word(table, 0, "from"), a.word(table, 1, "values")
		indices, left := a.word(table, 2, "indexes"), a.word(table, 3, "left")
		a.bump(table, 16)
		last := indexedBytes{a.v("last"), a.v("low"), a.v("high")} // and the slice behind it
		a.op(hexagon.V6_vnot, last.value, zero)
		a.op(hexagon.V6_vassign, last.low, zero)
		a.op(hexagon.V6_vassign, last.high, zero)
		end := a.r("end")
		a.op(hexagon.M2_mpyi, end, top, step)
		a.op(hexagon.A2_add, end, end, from)
		a.repeat(left, func() {
			best := indexedBytes{a.v("best"), a.v("low"), a.v("high")}
			for _, v := range []any{best.value, best.low, best.high} {
				a.op(hexagon.V6_vassign, v, zero)
			}
			at := a.sliceNumbers(top)
			p, n, more := a.copyOf(end), a.r("slices"), a.copyOf(blocks)
			a.op(hexagon.A2_andir, n, top, 255)
			a.bump(n, 1)
			a.repeat(more, func() {
				above, same := a.q("above"), a.q("same")
				a.op(hexagon.V6_vgtub, above, at.high, last.high)
				a.op(hexagon.V6_veqb, same, at.high, last.high)
				a.loop0(n, func() {
					x := a.vload(p, 0, aliasIn, "x")
					a.op(hexagon.A2_add, p, p, back)
					before, next := a.q("before"), a.q("next")
					a.op(hexagon.V6_vgtub, before, last.low, at.low)
					a.op(hexagon.V6_pred_and_n, next, same, before)
					a.op(hexagon.V6_pred_or, next, next, above)
					a.op(hexagon.V6_veqb_and, next, x, last.value)
					a.op(hexagon.V6_vgtub_or, next, last.value, x)
					a.op(hexagon.V6_vgtub, before, best.value, x)
					a.op(hexagon.V6_pred_and_n, next, next, before)
					a.op(hexagon.V6_vmux, best.value, next, x, best.value)
					a.op(hexagon.V6_vmux, best.low, next, at.low, best.low)
					a.op(hexagon.V6_vmux, best.high, next, at.high, best.high)
					a.op(hexagon.V6_vsubb, at.low, at.low, one)
				})
				a.op(hexagon.V6_vsubb, at.high, at.high, one)
				a.op(hexagon.A2_tfrsi, n, 256)
			})
			a.vstore(values, 0, best.value, aliasOut)
			a.storeIndexes(indices, best)
			a.op(hexagon.A2_add, values, values, step)
			a.op(hexagon.A2_add, indices, indices, wide)
			a.op(hexagon.V6_vassign, last.value, best.value)
			a.op(hexagon.V6_vaddb, last.low, best.low, one)
			wraps, carried := a.q("wraps"), a.v("carried")
			a.op(hexagon.V6_veqb, wraps, last.low, zero)
			a.op(hexagon.V6_vaddb, carried, best.high, one)
			a.op(hexagon.V6_vmux, last.high, wraps, carried, best.high)
		})
	})
	a.ret()
}
