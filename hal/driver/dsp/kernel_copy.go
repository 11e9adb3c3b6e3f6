package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
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
	return "copy_" + hvx.Flag(c.full, "v") + hvx.Flag(c.rest, "r") + hvx.Flag(c.flip, "x")
}

// generate writes the kernel. Arguments: table, entries.
func (c *copyKernel) generate(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	var flip codegen.Reg
	if c.flip {
		flip = a.Splat(a.Imm(-0x7f7f7f80), "flip") // 0x80 in every byte
	}
	a.Repeat(entries, func() {
		src, dst := a.Word(table, copySrc, "src"), a.Word(table, copyDst, "dst")
		n, count := a.Word(table, copyBytes, "bytes"), a.Word(table, copyCount, "count")
		ss, ds := a.Word(table, copySrcStep, "step"), a.Word(table, copyDstStep, "step")
		box := a.RR("box")
		a.Op(hexagon.L2_loadrd_io, box, table, 4*copyWidth).Loads(hvx.AliasConst)
		a.SkipIfZero(hvx.Lo(box), func() { a.Op(hexagon.Y5_l2fetch, src, box) })
		a.Bump(table, 4*copyWords)
		full, rest := a.R("full"), a.R("rest")
		if c.full {
			a.Op(hexagon.S2_lsr_i_r, full, n, 7)
		}
		if c.rest {
			a.Op(hexagon.A2_andir, rest, n, vecBytes-1)
		}
		a.Repeat(count, func() {
			s, d := a.R("s"), a.R("d")
			a.Op(hexagon.A2_tfr, s, src)
			a.Op(hexagon.A2_tfr, d, dst)
			if c.full {
				a.SkipIfZero(full, func() {
					a.Loop0(full, func() {
						v := a.V("bytes")
						a.Op(hexagon.V6_vL32Ub_pi, v, s, 1).Loads(hvx.AliasIn)
						if c.flip {
							a.Op(hexagon.V6_vxor, v, v, flip)
						}
						a.Op(hexagon.V6_vS32Ub_pi, d, 1, v).Stores(hvx.AliasOut)
					})
				})
			}
			if c.rest {
				a.SkipIfZero(rest, func() {
					v := a.LoadUnaligned(s, 0, hvx.AliasIn, "bytes")
					if c.flip {
						a.Op(hexagon.V6_vxor, v, v, flip)
					}
					a.StoreBytes(d, v, rest)
				})
			}
			a.Op(hexagon.A2_add, src, src, ss)
			a.Op(hexagon.A2_add, dst, dst, ds)
		})
	})
	a.Ret()
}

// generateFill writes the kernel that stores one byte value over ranges of
// whole vectors. Arguments: table of (address, vectors), entries, value four
// times. Addresses need not be aligned.
func generateFill(a *hvx.Builder) {
	in := a.Args("table", "entries", "value")
	table, entries := in[0], in[1]
	v := a.Splat(in[2], "value")
	a.Repeat(entries, func() {
		d, n := a.Word(table, 0, "to"), a.Word(table, 1, "vectors")
		a.Bump(table, 8)
		a.Loop0(n, func() {
			a.Op(hexagon.V6_vS32Ub_pi, d, 1, v).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}
