package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// lowerGather lowers GATHER and EMBEDDING_LOOKUP: the program reads the indexes. With
// constant ones, the byte permutation kernel gathers shorter entries.
func lowerGather(l *lowering, op *nn.Operation) error {
	g, err := l.view.Gather(op)
	if err != nil {
		return err
	}
	in, err := l.flat(g.Input)
	if err != nil {
		return err
	}
	n := g.Inner * l.sizeOf(g.Input)
	if l.graph.Operands[g.Indices].IsConst() {
		index, err := l.constIndexes(&g)
		if err != nil {
			return err
		}
		if n < shortEntry && !scalarEntry(n) {
			return l.move("gather", l.flatResult(g.Output), in, g.Outer*len(index), func(put func(to, from, n int)) {
				to := 0
				for o := range g.Outer {
					for _, x := range index {
						put(to, (o*g.Count+x)*n, n)
						to += n
					}
				}
			})
		}
	}
	indices, err := l.flat(g.Indices)
	if err != nil {
		return err
	}
	reason := fmt.Sprintf("%s: an index is not below %d", op.Type, g.Count)
	if n < shortEntry && g.Outer*n >= shortEntry {
		return l.gatherInner(l.flatResult(g.Output), in, indices, g.Outer, g.Count, n, reason)
	}
	return l.gather(l.flatResult(g.Output), in, indices, g.Outer, g.Count, n, reason)
}

// constIndexes reads and checks constant indexes.
func (l *lowering) constIndexes(g *opspec.Gather) ([]int, error) {
	data, err := l.view.Data(g.Indices)
	if err != nil {
		return nil, err
	}
	index := make([]int, len(data)/4)
	for i := range index {
		x := int32(binary.LittleEndian.Uint32(data[4*i:]))
		if x < 0 || int(x) >= g.Count {
			return nil, fmt.Errorf("index %d of %d entries", x, g.Count)
		}
		index[i] = int(x)
	}
	return index, nil
}

// scalarEntry reports whether a scalar register holds an entry of n bytes.
func scalarEntry(n int) bool { return n <= 8 && n&(n-1) == 0 }

// shortEntry is the bytes of an entry below which it is slow to copy.
const shortEntry = 32

// gatherInner is gather with short entries: those of all of outer are brought side
// by side first, and back behind it.
func (l *lowering) gatherInner(out, in, indices *tensor, outer, count, n int, reason string) error {
	list := indices.bytes() / 4
	if size := int64(max(count, list)) * int64(outer*n); size > maxArena {
		return fmt.Errorf("%d bytes of entries, at most %d", size, maxArena)
	}
	entries, found := l.newFlat("entries", count*outer*n, 1), l.newFlat("found", list*outer*n, 1)
	if err := l.moveFlat("turn", entries, in, n, []moveDim{{outer, count * n, n}, {count, n, outer * n}}, 0, 0); err != nil {
		return err
	}
	if err := l.gather(found, entries, indices, 1, count, outer*n, reason); err != nil {
		return err
	}
	return l.moveFlat("turn back", out, found, n, []moveDim{{outer, n, list * n}, {list, outer * n, n}}, 0, 0)
}

// gather copies the entries of n bytes that indices name, for each of outer.
func (l *lowering) gather(out, in, indices *tensor, outer, count, n int, reason string) error {
	list := indices.bytes() / 4
	if int64(outer)*int64(list) > maxPositions {
		return fmt.Errorf("%d entries for each of %d, at most %d in all", list, outer, maxPositions)
	}
	bad := l.newFlat("invalid index", vecBytes, 1)
	bad.keep = true
	l.faults = append(l.faults, fault{l.op, bad, reason})
	l.addStep("gather", []*tensor{in, indices}, []*tensor{out, bad}, func(l *lowering, s *step) error {
		k := gatherKernel{full: n >= vecBytes, rest: n%vecBytes != 0}
		if scalarEntry(n) {
			k = gatherKernel{size: n}
		}
		kern, err := l.kernel(k.name(), k.generate)
		if err != nil {
			return err
		}
		var table []uint32
		for o := range outer {
			for _, r := range l.spread(list) {
				table = append(table, indices.addr+uint32(4*r[0]), in.addr+uint32(o*count*n), out.addr+uint32((o*list+r[0])*n), uint32(r[1]-r[0]))
			}
		}
		l.launchTable(s, kern, table, 4, uint32(count), uint32(n), bad.addr, in.addr, 0, vecBytes)
		if in.bytes() <= prefetchLimit { // each thread fetches a part of the entries, which all may need
			args := l.jobs[len(l.jobs)-1].Args
			for t, part := range l.spread(ceilDiv(in.bytes(), vecBytes)) {
				if t < len(args) {
					args[t][5], args[t][6] = in.addr+uint32(part[0]*vecBytes), boxOf(uint32((part[1]-part[0]+1)*vecBytes))
				}
			}
		}
		return nil
	})
	return nil
}

// gatherKernel copies entries named by indexes in memory; one that does not
// exist sets a word and copies entry 0.
type gatherKernel struct {
	full, rest bool // as copyKernel's
	size       int  // of entries that scalar registers hold: 1, 2, 4, 8; otherwise 0
}

func (g *gatherKernel) name() string {
	return fmt.Sprintf("gather_%d", g.size) + hvx.Flag(g.full, "v") + hvx.Flag(g.rest, "r")
}

// moveScalars copies entries that registers hold, four at a time.
func (g *gatherKernel) moveScalars(a *hvx.Builder, count codegen.Reg, source func() codegen.Reg, out codegen.Reg) {
	load, store, entry := hexagon.L2_loadrub_io, hexagon.S2_storerb_io, a.R
	switch g.size {
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
					a.Op(store, out, i*g.size, x[i]).Stores(hvx.AliasOut)
				}
				a.Bump(out, n*g.size)
			})
		})
	}
	fours := a.R("fours")
	a.Op(hexagon.S2_lsr_i_r, fours, count, 2)
	a.Op(hexagon.A2_andir, count, count, 3)
	some(fours, 4)
	some(count, 1)
}

// generate writes the kernel. Arguments: table of (indexes, entry 0, result,
// number of indexes), entries, number of entries that exist, bytes of each,
// the word to set, prefetch.
func (g *gatherKernel) generate(a *hvx.Builder) {
	in := a.Args("table", "entries", "count", "bytes", "bad", "address", "box", "stride")
	table, entries, count, n, bad := in[0], in[1], in[2], in[3], in[4]
	a.Prefetch(in[5:])
	full, rest, wrong := a.R("full"), a.R("rest"), a.R("wrong")
	a.Op(hexagon.A2_tfrsi, wrong, 0)
	if g.full {
		a.Op(hexagon.S2_lsr_i_r, full, n, 7)
	}
	if g.rest {
		a.Op(hexagon.A2_andir, rest, n, vecBytes-1)
	}
	a.Repeat(entries, func() {
		index, base, out := a.Word(table, 0, "index"), a.Word(table, 1, "base"), a.Word(table, 2, "out")
		left := a.Word(table, 3, "left")
		a.Bump(table, 16)
		// source is where the entry of the next index lies.
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
		if g.size > 0 {
			g.moveScalars(a, left, source, out)
			return
		}
		a.Loop1(left, func() {
			s, d := source(), a.CopyOf(out)
			if g.full {
				a.Loop0(full, func() {
					v := a.V("bytes")
					a.Op(hexagon.V6_vL32Ub_pi, v, s, 1).Loads(hvx.AliasIn)
					a.Op(hexagon.V6_vS32Ub_pi, d, 1, v).Stores(hvx.AliasOut)
				})
			}
			if g.rest {
				a.StoreBytes(d, a.LoadUnaligned(s, 0, hvx.AliasIn, "bytes"), rest)
			}
			a.Op(hexagon.A2_add, out, out, n)
		})
	})
	a.SkipIfZero(wrong, func() { a.Op(hexagon.S2_storeri_io, bad, 0, wrong).Stores(hvx.AliasOut) })
	a.Ret()
}

// lowerHashtable lowers HASHTABLE_LOOKUP: the program finds the row of each key,
// one behind the last where there is none, and gathers from the rows and a row
// of zeros.
func lowerHashtable(l *lowering, op *nn.Operation) error {
	h, err := l.view.Hashtable(op)
	if err != nil {
		return err
	}
	var in [3]*tensor
	for i, x := range [3]uint32{h.Lookups, h.Keys, h.Values} {
		if in[i], err = l.flat(x); err != nil {
			return err
		}
	}
	n, list := h.Size*l.sizeOf(h.Values), in[0].bytes()/4
	found := l.newFlat("rows", list, 4)
	l.addStep("find", in[:2], []*tensor{found}, func(l *lowering, s *step) error {
		kern, err := l.kernel("find_key", generateFindKey)
		if err != nil {
			return err
		}
		var table []uint32
		for _, r := range l.spread(list) {
			table = append(table, in[0].addr+uint32(4*r[0]), found.addr+uint32(4*r[0]), uint32(r[1]-r[0]))
		}
		lane := make([]uint32, vecBytes/4)
		for i := range lane {
			lane[i] = uint32(i)
		}
		l.launchTable(s, kern, table, 3, in[1].addr, uint32(ceilDiv(max(h.Rows, 1), vecBytes/4)), uint32(h.Rows), l.constWords(lane))
		return nil
	})
	rows := l.newFlat("rows and zeros", (h.Rows+1)*n, 1)
	l.fillFlat(rows, 0)
	if err := l.move("rows", rows, in[2], min(h.Rows*n, 1), func(put func(to, from, n int)) { put(0, 0, h.Rows*n) }); err != nil {
		return err
	}
	hits, all := l.flatResult(h.Hits), l.newFlat("row count", list, 4)
	l.fillFlat(all, uint32(h.Rows))
	l.flatStep("hits", compareWordsKernel(false, false, false), hits, []*tensor{all, found}, 1, 0)
	if n == 0 {
		l.flatResult(h.Output)
		return nil
	}
	return l.gather(l.flatResult(h.Output), rows, found, 1, h.Rows+1, n, "HASHTABLE_LOOKUP: no row")
}

// generateFindKey writes the kernel that finds the first of equal words.
// Arguments: table of (words to find, results, number), entries, words to search,
// their vectors, their number - the result where there is none - and a vector
// of lane numbers.
func generateFindKey(a *hvx.Builder) {
	in := a.Args("table", "entries", "keys", "vectors", "rows", "lanes")
	table, entries, keys, vectors := in[0], in[1], in[2], in[3]
	none, lanes := a.Splat(in[4], "none"), a.Load(in[5], 0, hvx.AliasConst, "lanes")
	step := a.Splat(a.Imm(vecBytes/4), "step")
	a.Repeat(entries, func() {
		want, out, left := a.Word(table, 0, "want"), a.Word(table, 1, "out"), a.Word(table, 2, "left")
		a.Bump(table, 12)
		a.Repeat(left, func() {
			w, from := a.R("key"), a.CopyOf(keys)
			a.Op(hexagon.L2_loadri_pi, w, want, 4).Loads(hvx.AliasIn)
			key, best, at := a.Splat(w, "key"), a.V("best"), a.V("at")
			a.Op(hexagon.V6_vassign, best, none)
			a.Op(hexagon.V6_vassign, at, lanes)
			a.Loop0(vectors, func() {
				x, q, hit := a.V("x"), a.Q("equal"), a.V("hit")
				a.Op(hexagon.V6_vL32b_pi, x, from, 1).Loads(hvx.AliasIn)
				a.Op(hexagon.V6_veqw, q, x, key)
				a.Op(hexagon.V6_vmux, hit, q, at, none)
				a.Op(hexagon.V6_vminw, best, best, hit)
				a.Op(hexagon.V6_vaddw, at, at, step)
			})
			for n := vecBytes / 2; n >= 4; n /= 2 {
				t := a.V("turned")
				a.Op(hexagon.V6_vror, t, best, a.Imm(n))
				a.Op(hexagon.V6_vminw, best, best, t)
			}
			r := a.R("row")
			a.Op(hexagon.V6_extractw, r, best, a.Imm(0))
			a.Op(hexagon.S2_storeri_pi, out, 4, r).Stores(hvx.AliasOut)
		})
	})
	a.Ret()
}

// divKernel divides words and rounds towards minus infinity; a division by 0
// gives 0. Magnitudes are divided bit by bit; 32 bits are 32 rounds.
func divKernel() *flatKernel {
	return flatOp("div_words", 2, 0, func(a *hvx.Builder, out codegen.Reg, x, _ []codegen.Reg) {
		zero, one, c31 := a.Zero(), a.Splat(a.Imm(1), "one"), a.Imm(31)
		n, d := a.V("dividend"), a.V("divisor")
		a.Op(hexagon.V6_vabsw, n, x[0])
		a.Op(hexagon.V6_vabsw, d, x[1])
		rem, quot := a.V("remainder"), a.V("quotient")
		a.Op(hexagon.V6_vassign, rem, zero)
		a.Op(hexagon.V6_vassign, quot, zero)
		for range 32 {
			top, fits, bit := a.V("top"), a.Q("too large"), a.V("bit")
			a.Op(hexagon.V6_vlsrw, top, n, c31)
			a.Op(hexagon.V6_vaddw, n, n, n)
			a.Op(hexagon.V6_vaddw, rem, rem, rem)
			a.Op(hexagon.V6_vaddw, rem, rem, top)
			a.Op(hexagon.V6_vgtuw, fits, d, rem)
			a.Op(hexagon.V6_vsubwnq, fits, rem, d)
			a.Op(hexagon.V6_vmux, bit, fits, zero, one)
			a.Op(hexagon.V6_vaddw, quot, quot, quot)
			a.Op(hexagon.V6_vaddw, quot, quot, bit)
		}
		// Signs that differ: the quotient is negative, and one less with a remainder.
		signs, down := a.V("signs"), a.V("down")
		a.Op(hexagon.V6_vxor, signs, x[0], x[1])
		differ, whole, none := a.Q("differ"), a.Q("whole"), a.Q("none")
		a.Op(hexagon.V6_vgtw, differ, zero, signs)
		a.Op(hexagon.V6_veqw, whole, rem, zero)
		a.Op(hexagon.V6_vmux, down, whole, zero, one)
		negative := a.V("negative")
		a.Op(hexagon.V6_vsubw, negative, zero, quot)
		a.Op(hexagon.V6_vsubw, negative, negative, down)
		a.Op(hexagon.V6_vmux, quot, differ, negative, quot)
		a.Op(hexagon.V6_veqw, none, d, zero)
		a.Op(hexagon.V6_vmux, out, none, zero, quot)
	})
}

// lowerDiv lowers DIV of TENSOR_INT32.
func lowerDiv(l *lowering, op *nn.Operation) error {
	e, err := l.view.Elementwise(op)
	if err != nil {
		return err
	}
	return l.words(op, &e)
}
