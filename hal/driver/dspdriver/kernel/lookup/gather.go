package lookup

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Gather copies entries named by indexes in memory; one that does not
// exist sets a word and copies entry 0.
type Gather struct {
	Full, Rest bool // as Copy's
	Size       int  // of entries that scalar registers hold: 1, 2, 4, 8; otherwise 0
}

func (g Gather) Name() string {
	return fmt.Sprintf("gather_%d", g.Size) + hvx.Flag(g.Full, "v") + hvx.Flag(g.Rest, "r")
}

// moveScalars copies entries that registers hold, four at a time.
func (g Gather) moveScalars(a *hvx.Builder, count codegen.Reg, source func() codegen.Reg, out codegen.Reg) {
	load, store, entry := hexagon.L2_loadrub_io, hexagon.S2_storerb_io, a.R
	switch g.Size {
	case 2:
		load, store = hexagon.L2_loadruh_io, hexagon.S2_storerh_io
	case 4:
		load, store = hexagon.L2_loadri_io, hexagon.S2_storeri_io
	case 8:
		load, store, entry = hexagon.L2_loadrd_io, hexagon.S2_storerd_io, a.RR
	}
	some := func(times codegen.Reg, n int) {
		a.SkipIfZero(times, func() {
			a.Loop0(times, func() {
				x := make([]codegen.Reg, n)
				for i := range x {
					x[i] = entry("entry")
					a.Op(load, x[i], source(), 0).Loads(hvx.AliasIn)
				}
				for i := range x {
					a.Op(store, out, i*g.Size, x[i]).Stores(hvx.AliasOut)
				}
				a.Bump(out, n*g.Size)
			})
		})
	}
	fours := a.R("fours")
	a.Op(hexagon.S2_lsr_i_r, fours, count, 2)
	a.Op(hexagon.A2_andir, count, count, 3)
	some(fours, 4)
	some(count, 1)
}

// Emit writes the kernel. Arguments: table of (indexes, entry 0, result,
// number of indexes), entries, number of entries that exist, bytes of each,
// the word to set, prefetch.
func (g Gather) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "count", "bytes", "bad", "address", "box", "stride")
	table, entries, count, n, bad := in[0], in[1], in[2], in[3], in[4]
	a.Prefetch(in[5:])
	full, rest, wrong := a.R("full"), a.R("rest"), a.R("wrong")
	a.Op(hexagon.A2_tfrsi, wrong, 0)
	if g.Full {
		a.Op(hexagon.S2_lsr_i_r, full, n, 7)
	}
	if g.Rest {
		a.Op(hexagon.A2_andir, rest, n, hvx.VectorBytes-1)
	}
	a.Repeat(entries, func() {
		index, base, out := a.Word(table, 0, "index"), a.Word(table, 1, "base"), a.Word(table, 2, "out")
		left := a.Word(table, 3, "left")
		a.Bump(table, 16)
		// source is the address of the entry of the next index.
		source := func() codegen.Reg {
			x, s, p, no := a.R("x"), a.R("from"), a.P("exists"), a.R("no")
			a.Op(hexagon.L2_loadri_pi, x, index, 4).Loads(hvx.AliasIn)
			a.Op(hexagon.C2_cmpgtu, p, count, x)
			a.Op(hexagon.C2_muxii, no, p, 0, 1)
			a.Op(hexagon.A2_or, wrong, wrong, no)
			a.Op(hexagon.C2_muxir, x, p, x, 0)
			a.Op(hexagon.M2_mpyi, s, x, n)
			a.Op(hexagon.A2_add, s, s, base)
			return s
		}
		if g.Size > 0 {
			g.moveScalars(a, left, source, out)
			return
		}
		a.Loop1(left, func() {
			s, d := source(), a.CopyOf(out)
			if g.Full {
				a.Loop0(full, func() {
					v := a.V("bytes")
					a.Op(hexagon.V6_vL32Ub_pi, v, s, 1).Loads(hvx.AliasIn)
					a.Op(hexagon.V6_vS32Ub_pi, d, 1, v).Stores(hvx.AliasOut)
				})
			}
			if g.Rest {
				a.StoreBytes(d, a.LoadUnaligned(s, 0, hvx.AliasIn, "bytes"), rest)
			}
			a.Op(hexagon.A2_add, out, out, n)
		})
	})
	a.SkipIfZero(wrong, func() { a.Op(hexagon.S2_storeri_io, bad, 0, wrong).Stores(hvx.AliasOut) })
	a.Ret()
}
