package datamove

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Words of a copy entry: count runs of n bytes, each run srcStep and dstStep
// behind the one before. Nothing need be aligned.
const (
	CopySrc = iota
	CopyDst
	CopyBytes
	CopyCount
	CopySrcStep
	CopyDstStep
	CopyWidth // box that l2fetch brings in: bytes per run and, with the stride above it, runs
	CopyStride
	CopyWords
)

// Copy is the copy kernel for tables with these cases.
type Copy struct {
	Full bool // runs of 128 bytes or more
	Rest bool // runs that are no multiple of 128 bytes
	Flip bool // add 128 to every byte: between signed and unsigned values
}

func (c Copy) Name() string {
	return "copy_" + hvx.Flag(c.Full, "v") + hvx.Flag(c.Rest, "r") + hvx.Flag(c.Flip, "x")
}

// Emit writes the kernel. Arguments: table, entries.
func (c Copy) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries")
	table, entries := in[0], in[1]
	var flip codegen.Reg
	if c.Flip {
		flip = a.Splat(a.Imm(-0x7f7f7f80), "flip") // 0x80 in every byte
	}
	a.Repeat(entries, func() {
		src, dst := a.Word(table, CopySrc, "src"), a.Word(table, CopyDst, "dst")
		n, count := a.Word(table, CopyBytes, "bytes"), a.Word(table, CopyCount, "count")
		ss, ds := a.Word(table, CopySrcStep, "step"), a.Word(table, CopyDstStep, "step")
		box := a.RR("box")
		a.Op(hexagon.L2_loadrd_io, box, table, 4*CopyWidth).Loads(hvx.AliasConst)
		a.SkipIfZero(hvx.Lo(box), func() { a.Op(hexagon.Y5_l2fetch, src, box) })
		a.Bump(table, 4*CopyWords)
		full, rest := a.R("full"), a.R("rest")
		if c.Full {
			a.Op(hexagon.S2_lsr_i_r, full, n, 7)
		}
		if c.Rest {
			a.Op(hexagon.A2_andir, rest, n, hvx.VectorBytes-1)
		}
		a.Repeat(count, func() {
			s, d := a.R("s"), a.R("d")
			a.Op(hexagon.A2_tfr, s, src)
			a.Op(hexagon.A2_tfr, d, dst)
			if c.Full {
				a.SkipIfZero(full, func() {
					a.Loop0(full, func() {
						v := a.V("bytes")
						a.Op(hexagon.V6_vL32Ub_pi, v, s, 1).Loads(hvx.AliasIn)
						if c.Flip {
							a.Op(hexagon.V6_vxor, v, v, flip)
						}
						a.Op(hexagon.V6_vS32Ub_pi, d, 1, v).Stores(hvx.AliasOut)
					})
				})
			}
			if c.Rest {
				a.SkipIfZero(rest, func() {
					v := a.LoadUnaligned(s, 0, hvx.AliasIn, "bytes")
					if c.Flip {
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

// Fill stores one byte value over ranges of
// whole vectors. Arguments: table of (address, vectors), entries, value four
// times. Addresses need not be aligned.
type Fill struct{}

// Name implements hvx.Kernel.
func (Fill) Name() string { return "fill" }

// Emit implements hvx.Kernel.
func (Fill) Emit(a *hvx.Builder) {
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
