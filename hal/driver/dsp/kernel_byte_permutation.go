package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// permuteKernel gathers vectors from windows of the source; see byte_permutation.go.
type permuteKernel struct {
	kind permuteNetwork
	flip bool // add 128 to every byte
}

func (c *permuteKernel) name() string { return fmt.Sprintf("permute_%d%s", c.kind, flag(c.flip, "x")) }

// Words of an entry: a pattern, vectors of it as pairs of source and destination -
// groups of permuteUnroll and others, in numbers of their own where they take a single
// window -, and what l2fetch is to bring in.
const (
	permutePattern = iota
	permuteWindows
	permuteVectors
	permuteGroups
	permuteOthers
	permuteSingleGroups
	permuteSingleOthers
	permuteFrom
	permuteBox
	permuteWords
)

// tableLookahead is how far ahead lines of tables are asked for, in bytes.
const tableLookahead = 512

// permuteUnroll is how many vectors share the controls of a window.
const permuteUnroll = 4

// generate writes the kernel. Arguments: table, entries.
func (c *permuteKernel) generate(a *asm) {
	in := a.args("table", "entries")
	table, entries := in[0], in[1]
	zero, none := a.zero(), codegen.Reg{}
	if c.kind == vlut32Network {
		none = a.splat(a.imm(-1), "none")
	}
	var flip codegen.Reg
	if c.flip {
		flip = a.splat(a.imm(-0x7f7f7f80), "flip")
	}
	a.repeat(entries, func() {
		e := permuteCode{kernel: c, pattern: a.word(table, permutePattern, "pattern"), windows: a.word(table, permuteWindows, "windows"),
			vectors: a.word(table, permuteVectors, "vectors"), zero: zero, none: none, flip: flip}
		groups, others := a.word(table, permuteGroups, "groups"), a.word(table, permuteOthers, "others")
		singles, rest := a.word(table, permuteSingleGroups, "singles"), a.word(table, permuteSingleOthers, "rest")
		from, box := a.word(table, permuteFrom, "from"), a.word(table, permuteBox, "box")
		a.bump(table, 4*permuteWords)
		a.op(hexagon.Y2_dcfetchbo, table, tableLookahead)
		a.op(hexagon.Y2_dcfetchbo, e.pattern, tableLookahead)
		a.op(hexagon.Y2_dcfetchbo, e.vectors, tableLookahead)
		a.skipIfZero(box, func() {
			shape := a.rr("box")
			a.op(hexagon.A2_tfr, lo(shape), box)
			a.op(hexagon.A2_tfrsi, hi(shape), vecBytes)
			a.op(hexagon.Y5_l2fetch, from, shape)
		})
		a.skipIfZero(groups, func() { a.repeat(groups, func() { e.write(a, permuteUnroll) }) })
		a.skipIfZero(others, func() { a.repeat(others, func() { e.write(a, 1) }) })
		if c.kind == vlut32Network {
			return
		}
		a.skipIfZero(singles, func() {
			single := e.single(a)
			a.loop0(singles, func() { single(permuteUnroll) })
		})
		a.skipIfZero(rest, func() {
			single := e.single(a)
			a.loop0(rest, func() { single(1) })
		})
	})
	a.ret()
}

// permuteCode is the state of the generator for one entry.
type permuteCode struct {
	kernel                                      *permuteKernel
	pattern, windows, vectors, zero, none, flip codegen.Reg
}

// write makes the next n vectors.
func (v *permuteCode) write(a *asm, n int) {
	at := a.copyOf(v.pattern)
	move, acc := make([]codegen.Reg, n), make([]codegen.Reg, n)
	for i := range move {
		move[i], acc[i] = a.rr("vector"), a.v("vector")
		a.op(hexagon.L2_loadrd_pi, move[i], v.vectors, 8).Loads(aliasConst)
		a.op(hexagon.V6_vassign, acc[i], v.zero)
	}
	cover := a.q("cover")
	a.op(hexagon.V6_vgtb, cover, v.zero, v.zero)
	a.loop0(v.windows, func() {
		w := a.rr("window")
		a.op(hexagon.L2_loadrd_pi, w, at, 8).Loads(aliasConst)
		controls := a.vload(hi(w), 0, aliasConst, "controls")
		looks := v.kernel.kind == vlut32Network
		var q codegen.Reg
		if looks {
			// Indexes are not negative.
			a.op(hexagon.V6_vgtb_or, cover, controls, v.none)
		} else {
			q = a.q("moved")
			a.op(hexagon.V6_vgtb, q, v.zero, controls)
			a.op(hexagon.V6_vgtb_or, cover, v.zero, controls)
		}
		for i := range move {
			s := a.r("at")
			a.op(hexagon.A2_add, s, lo(move[i]), lo(w))
			x := a.vloadu(s, 0, aliasIn, "bytes")
			switch v.kernel.kind {
			case vlut32Network:
				for bank := range 4 {
					a.op(hexagon.V6_vlutvvb_oracci, acc[i], controls, x, bank)
				}
				continue
			case vrdeltaNetwork:
				a.op(hexagon.V6_vrdelta, x, x, controls)
			default:
				a.op(hexagon.V6_vdelta, x, x, controls)
			}
			a.op(hexagon.V6_vmux, acc[i], q, x, acc[i])
		}
	})
	for i := range acc {
		if v.kernel.flip {
			a.op(hexagon.V6_vxor, acc[i], acc[i], v.flip)
		}
		a.op(hexagon.V6_vS32b_qpred_ai, cover, hi(move[i]), 0, acc[i]).Stores(aliasOut)
	}
}

// single keeps what all vectors of a single window share; it returns what writes n of
// them.
func (v *permuteCode) single(a *asm) func(n int) {
	w := a.rr("window")
	a.op(hexagon.L2_loadrd_io, w, v.pattern, 0).Loads(aliasConst)
	controls, cover := a.vload(hi(w), 0, aliasConst, "controls"), a.q("cover")
	a.op(hexagon.V6_vgtb, cover, v.zero, controls)
	network := hexagon.V6_vdelta
	if v.kernel.kind == vrdeltaNetwork {
		network = hexagon.V6_vrdelta
	}
	return func(n int) {
		for i := range n {
			move, s := a.rr("vector"), a.r("at")
			a.op(hexagon.L2_loadrd_io, move, v.vectors, 8*i).Loads(aliasConst)
			a.op(hexagon.A2_add, s, lo(move), lo(w))
			x := a.vloadu(s, 0, aliasIn, "bytes")
			a.op(network, x, x, controls)
			if v.kernel.flip {
				a.op(hexagon.V6_vxor, x, x, v.flip)
			}
			a.op(hexagon.V6_vS32b_qpred_ai, cover, hi(move), 0, x).Stores(aliasOut)
		}
		a.bump(v.vectors, 8*n)
	}
}
