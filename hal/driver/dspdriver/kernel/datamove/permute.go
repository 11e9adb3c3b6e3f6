package datamove

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Permute gathers vectors from windows of the source; see launch/byte_permutation.go of the driver.
type Permute struct {
	Kind Network
	Flip bool // add 128 to every byte
}

func (c Permute) Name() string {
	return fmt.Sprintf("permute_%d%s", c.Kind, hvx.Flag(c.Flip, "x"))
}

// Words of an entry: a pattern, vectors of it as pairs of source and destination -
// groups of PermuteUnroll and others, counted separately for vectors of a single window -,
// and the range for l2fetch.
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
	PermuteWords
)

// tableLookahead is how far ahead lines of tables are requested, in bytes.
const tableLookahead = 512

// PermuteUnroll is how many vectors share the controls of a window.
const PermuteUnroll = 4

// Emit writes the kernel. Arguments: table, entries.
func (c Permute) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	zero, none := a.Zero(), codegen.Reg{}
	if c.Kind == Vlut32Network {
		none = a.Splat(a.Imm(-1), "none")
	}
	var flip codegen.Reg
	if c.Flip {
		flip = a.Splat(a.Imm(-0x7f7f7f80), "flip")
	}
	a.Repeat(entries, func() {
		e := permuteCode{kernel: c, pattern: a.Word(table, permutePattern, "pattern"), windows: a.Word(table, permuteWindows, "windows"),
			vectors: a.Word(table, permuteVectors, "vectors"), zero: zero, none: none, flip: flip}
		groups, others := a.Word(table, permuteGroups, "groups"), a.Word(table, permuteOthers, "others")
		singles, rest := a.Word(table, permuteSingleGroups, "singles"), a.Word(table, permuteSingleOthers, "rest")
		from, box := a.Word(table, permuteFrom, "from"), a.Word(table, permuteBox, "box")
		a.Bump(table, 4*PermuteWords)
		a.Op(hexagon.Y2_dcfetchbo, table, tableLookahead)
		a.Op(hexagon.Y2_dcfetchbo, e.pattern, tableLookahead)
		a.Op(hexagon.Y2_dcfetchbo, e.vectors, tableLookahead)
		a.SkipIfZero(box, func() {
			shape := a.RR("box")
			a.Op(hexagon.A2_tfr, hvx.Lo(shape), box)
			a.Op(hexagon.A2_tfrsi, hvx.Hi(shape), hvx.VectorBytes)
			a.Op(hexagon.Y5_l2fetch, from, shape)
		})
		a.SkipIfZero(groups, func() { a.Repeat(groups, func() { e.write(a, PermuteUnroll) }) })
		a.SkipIfZero(others, func() { a.Repeat(others, func() { e.write(a, 1) }) })
		if c.Kind == Vlut32Network {
			return
		}
		a.SkipIfZero(singles, func() {
			single := e.single(a)
			a.Loop0(singles, func() { single(PermuteUnroll) })
		})
		a.SkipIfZero(rest, func() {
			single := e.single(a)
			a.Loop0(rest, func() { single(1) })
		})
	})
	a.Ret()
}

// permuteCode is the state of the generator for one entry.
type permuteCode struct {
	kernel                                      Permute
	pattern, windows, vectors, zero, none, flip codegen.Reg
}

// write makes the next n vectors.
func (v *permuteCode) write(a *hvx.Builder, n int) {
	at := a.CopyOf(v.pattern)
	move, acc := make([]codegen.Reg, n), make([]codegen.Reg, n)
	for i := range move {
		move[i], acc[i] = a.RR("vector"), a.V("vector")
		a.Op(hexagon.L2_loadrd_pi, move[i], v.vectors, 8).Loads(hvx.AliasConst)
		a.Op(hexagon.V6_vassign, acc[i], v.zero)
	}
	cover := a.Q("cover")
	a.Op(hexagon.V6_vgtb, cover, v.zero, v.zero)
	a.Loop0(v.windows, func() {
		w := a.RR("window")
		a.Op(hexagon.L2_loadrd_pi, w, at, 8).Loads(hvx.AliasConst)
		controls := a.Load(hvx.Hi(w), 0, hvx.AliasConst, "controls")
		looks := v.kernel.Kind == Vlut32Network
		var q codegen.Reg
		if looks {
			// Indexes are not negative.
			a.Op(hexagon.V6_vgtb_or, cover, controls, v.none)
		} else {
			q = a.Q("moved")
			a.Op(hexagon.V6_vgtb, q, v.zero, controls)
			a.Op(hexagon.V6_vgtb_or, cover, v.zero, controls)
		}
		for i := range move {
			s := a.R("at")
			a.Op(hexagon.A2_add, s, hvx.Lo(move[i]), hvx.Lo(w))
			x := a.LoadUnaligned(s, 0, hvx.AliasIn, "bytes")
			switch v.kernel.Kind {
			case Vlut32Network:
				for bank := range 4 {
					a.Op(hexagon.V6_vlutvvb_oracci, acc[i], controls, x, bank)
				}
				continue
			case VrdeltaNetwork:
				a.Op(hexagon.V6_vrdelta, x, x, controls)
			default:
				a.Op(hexagon.V6_vdelta, x, x, controls)
			}
			a.Op(hexagon.V6_vmux, acc[i], q, x, acc[i])
		}
	})
	for i := range acc {
		if v.kernel.Flip {
			a.Op(hexagon.V6_vxor, acc[i], acc[i], v.flip)
		}
		a.Op(hexagon.V6_vS32b_qpred_ai, cover, hvx.Hi(move[i]), 0, acc[i]).Stores(hvx.AliasOut)
	}
}

// single keeps what all vectors of a single window share; it returns what writes n of
// them.
func (v *permuteCode) single(a *hvx.Builder) func(n int) {
	w := a.RR("window")
	a.Op(hexagon.L2_loadrd_io, w, v.pattern, 0).Loads(hvx.AliasConst)
	controls, cover := a.Load(hvx.Hi(w), 0, hvx.AliasConst, "controls"), a.Q("cover")
	a.Op(hexagon.V6_vgtb, cover, v.zero, controls)
	network := hexagon.V6_vdelta
	if v.kernel.Kind == VrdeltaNetwork {
		network = hexagon.V6_vrdelta
	}
	return func(n int) {
		for i := range n {
			move, s := a.RR("vector"), a.R("at")
			a.Op(hexagon.L2_loadrd_io, move, v.vectors, 8*i).Loads(hvx.AliasConst)
			a.Op(hexagon.A2_add, s, hvx.Lo(move), hvx.Lo(w))
			x := a.LoadUnaligned(s, 0, hvx.AliasIn, "bytes")
			a.Op(network, x, x, controls)
			if v.kernel.Flip {
				a.Op(hexagon.V6_vxor, x, x, v.flip)
			}
			a.Op(hexagon.V6_vS32b_qpred_ai, cover, hvx.Hi(move), 0, x).Stores(hvx.AliasOut)
		}
		a.Bump(v.vectors, 8*n)
	}
}
