package dsp

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Words of a copy entry: count runs of n bytes, each run srcStep and dstStep
// behind the one before. Nothing need be aligned.
const (
	copySrc = iota
	copyDst
	copyBytes
	copyCount
	copySrcStep
	copyDstStep
	copyWidth // box that l2fetch brings in: bytes per run and, with the stride above it, runs
	copyStride
	copyWords
)

// copyKernel says which cases the table has.
type copyKernel struct {
	full bool // runs of 128 bytes or more
	rest bool // runs that are no multiple of 128 bytes
	flip bool // add 128 to every byte: between signed and unsigned values
}

func (c *copyKernel) name() string {
	return "copy_" + flag(c.full, "v") + flag(c.rest, "r") + flag(c.flip, "x")
}

// generate writes the kernel. Arguments: table, entries.
func (c *copyKernel) generate(a *asm) {
	in := a.args("table", "entries")
	table, entries := in[0], in[1]
	var flip codegen.Reg
	if c.flip {
		flip = a.splat(a.imm(-0x7f7f7f80), "flip") // 0x80 in every byte
	}
	a.repeat(entries, func() {
		src, dst := a.word(table, copySrc, "src"), a.word(table, copyDst, "dst")
		n, count := a.word(table, copyBytes, "bytes"), a.word(table, copyCount, "count")
		ss, ds := a.word(table, copySrcStep, "step"), a.word(table, copyDstStep, "step")
		box := a.rr("box")
		a.op(hexagon.L2_loadrd_io, box, table, 4*copyWidth).Loads(aliasConst)
		a.skipIfZero(lo(box), func() { a.op(hexagon.Y5_l2fetch, src, box) })
		a.bump(table, 4*copyWords)
		full, rest := a.r("full"), a.r("rest")
		if c.full {
			a.op(hexagon.S2_lsr_i_r, full, n, 7)
		}
		if c.rest {
			a.op(hexagon.A2_andir, rest, n, vecBytes-1)
		}
		a.repeat(count, func() {
			s, d := a.r("s"), a.r("d")
			a.op(hexagon.A2_tfr, s, src)
			a.op(hexagon.A2_tfr, d, dst)
			if c.full {
				a.skipIfZero(full, func() {
					a.loop0(full, func() {
						v := a.v("bytes")
						a.op(hexagon.V6_vL32Ub_pi, v, s, 1).Loads(aliasIn)
						if c.flip {
							a.op(hexagon.V6_vxor, v, v, flip)
						}
						a.op(hexagon.V6_vS32Ub_pi, d, 1, v).Stores(aliasOut)
					})
				})
			}
			if c.rest {
				a.skipIfZero(rest, func() {
					v := a.vloadu(s, 0, aliasIn, "bytes")
					if c.flip {
						a.op(hexagon.V6_vxor, v, v, flip)
					}
					a.storeBytes(d, v, rest)
				})
			}
			a.op(hexagon.A2_add, src, src, ss)
			a.op(hexagon.A2_add, dst, dst, ds)
		})
	})
	a.ret()
}

// storeBytes stores the first n (1 to 127) bytes of v at d, which need not be
// aligned: rotated to its place, v goes under masks to the one or two aligned
// vectors that it touches.
func (a *asm) storeBytes(d, v, n codegen.Reg) {
	ones := a.imm(0x01010101)
	turn := a.r("turn")
	a.op(hexagon.A2_subri, turn, 0, d)
	rot, mask := a.v("turned"), a.v("mask")
	a.op(hexagon.V6_vror, rot, v, turn)
	want, below, first, second := a.q("want"), a.q("below"), a.q("first"), a.q("second")
	a.op(hexagon.V6_pred_scalar2, want, n)
	a.op(hexagon.V6_vandqrt, mask, want, ones)
	a.op(hexagon.V6_vror, mask, mask, turn)
	moved := a.q("moved")
	a.op(hexagon.V6_vandvrt, moved, mask, ones)
	a.op(hexagon.V6_pred_scalar2, below, d)
	a.op(hexagon.V6_pred_and_n, first, moved, below)
	a.op(hexagon.V6_pred_and, second, moved, below)
	a.op(hexagon.V6_vS32b_qpred_ai, first, d, 0, rot).Stores(aliasOut)
	a.op(hexagon.V6_vS32b_qpred_ai, second, d, 1, rot).Stores(aliasOut)
}

// generateFill writes the kernel that stores one byte value over ranges of
// whole vectors. Arguments: table of (address, vectors), entries, value four
// times. Addresses need not be aligned.
func generateFill(a *asm) {
	in := a.args("table", "entries", "value")
	table, entries := in[0], in[1]
	v := a.splat(in[2], "value")
	a.repeat(entries, func() {
		d, n := a.word(table, 0, "to"), a.word(table, 1, "vectors")
		a.bump(table, 8)
		a.loop0(n, func() {
			a.op(hexagon.V6_vS32Ub_pi, d, 1, v).Stores(aliasOut)
		})
	})
	a.ret()
}
