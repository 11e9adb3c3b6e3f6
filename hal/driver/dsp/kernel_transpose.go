package dsp

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// transposeKernel transposes tiles of vectors. In a tile of N rows of N elements
// an exchange of a bit of the row's number with the same bit of the column's is one
// vshuff of each pair of rows; all bits make the transposition. Up to four bits
// are exchanged in registers, the others after a way through memory.
type transposeKernel struct {
	size    int  // bytes of an element: 1, 2, 4, 8
	rest    bool // tiles of fewer rows
	partial bool // tiles of fewer columns
	flip    bool // add 128 to every byte
}

// tileBits is the most bits of a row's number that are exchanged in registers.
const tileBits = 4

// tile is the rows and columns of a tile.
func (k *transposeKernel) tile() int { return vecBytes / k.size }

func (k *transposeKernel) name() string {
	return fmt.Sprintf("transpose_%d%s", k.size, flag(k.rest, "r")+flag(k.partial, "p")+flag(k.flip, "x"))
}

// Words of a tile: its first row, the last one that exists, their distance; the
// first row of the result and their distance; the bytes that count of these and
// their number; what l2fetch is to bring in, which is the next tile.
const (
	tileSrc = iota
	tileLast
	tileSrcStep
	tileDst
	tileDstStep
	tileBytes
	tileColumns
	tileFrom
	tileBox // two words on eight bytes
	tileStride
	tileWords
)

// tileScratch is the memory that a thread needs: a tile, and a place for columns
// that do not exist.
const tileScratch = vecBytes*vecBytes + 2*vecBytes

// generate writes the kernel. Arguments: table, entries, scratch memory, address and
// box of the first tile.
func (k *transposeKernel) generate(a *asm) {
	in := a.args("table", "entries", "scratch", "from", "box")
	table, entries, scratch := in[0], in[1], in[2]
	t := transposeTile{transposeKernel: k, scratch: scratch}
	box := a.rr("box")
	a.op(hexagon.L2_loadrd_io, box, in[4], 0).Loads(aliasConst)
	a.op(hexagon.Y5_l2fetch, in[3], box)
	if k.flip {
		t.flipBytes = a.splat(a.imm(-0x7f7f7f80), "flip")
	}
	a.repeat(entries, func() {
		t.src, t.last, t.srcStep = a.word(table, tileSrc, "src"), a.word(table, tileLast, "last"), a.word(table, tileSrcStep, "step")
		t.dst, t.dstStep = a.word(table, tileDst, "dst"), a.word(table, tileDstStep, "step")
		t.bytes, t.columns = a.word(table, tileBytes, "bytes"), a.word(table, tileColumns, "columns")
		next, box := a.word(table, tileFrom, "next"), a.rr("box")
		a.op(hexagon.L2_loadrd_io, box, table, 4*tileBox).Loads(aliasConst)
		a.op(hexagon.Y5_l2fetch, next, box)
		a.bump(table, 4*tileWords)
		t.write(a)
	})
	a.ret()
}

// transposeTile is a tile in the making.
type transposeTile struct {
	*transposeKernel
	src, last, srcStep, dst, dstStep, bytes, columns, scratch, flipBytes codegen.Reg
}

func (t *transposeTile) write(a *asm) {
	all := bits.Len(uint(t.tile())) - 1
	low := min(all, tileBits)
	high := all - low
	// Groups of consecutive rows: the low bits.
	out := a.copyOf(t.scratch)
	a.loop0(1<<high, func() {
		rows := make([]codegen.Reg, 1<<low)
		for i := range rows {
			rows[i] = a.vloadu(t.src, 0, aliasIn, "row")
			next := a.r("src")
			a.op(hexagon.A2_add, next, t.src, t.srcStep)
			if t.rest {
				a.op(hexagon.A2_minu, t.src, next, t.last)
			} else {
				a.op(hexagon.A2_tfr, t.src, next)
			}
		}
		rows = t.exchange(a, rows, 0, low)
		if high == 0 {
			d := a.copyOf(t.dst)
			for i, v := range rows {
				t.store(a, d, v, i)
				a.op(hexagon.A2_add, d, d, t.dstStep)
			}
			return
		}
		for _, v := range rows {
			a.op(hexagon.V6_vS32b_pi, out, 1, v).Stores(aliasScratch)
		}
	})
	if high == 0 {
		return
	}
	// Rows of the same low bits: the high ones.
	far := a.r("far") // between the columns of a group
	a.op(hexagon.S2_asl_i_r, far, t.dstStep, low)
	from := a.copyOf(t.scratch)
	a.loop0(1<<low, func() {
		rows := make([]codegen.Reg, 1<<high)
		for i := range rows {
			rows[i] = a.vload(from, i*vecBytes<<low, aliasScratch, "row")
		}
		a.bump(from, vecBytes)
		d := a.copyOf(t.dst)
		for i, v := range t.exchange(a, rows, low, high) {
			t.store(a, d, v, i<<low)
			a.op(hexagon.A2_add, d, d, far)
		}
		a.op(hexagon.A2_add, t.dst, t.dst, t.dstStep)
		if t.partial {
			a.bump(t.columns, -1)
		}
	})
}

// exchange swaps n bits of the rows' numbers, from bit first of the elements' on.
func (t *transposeTile) exchange(a *asm, rows []codegen.Reg, first, n int) []codegen.Reg {
	for b := range n {
		distance := a.imm8(t.size << (first + b))
		next := make([]codegen.Reg, len(rows))
		for i := range rows {
			if i>>b&1 == 0 {
				pair := a.vv("rows")
				a.op(hexagon.V6_vshuffvdd, pair, rows[i|1<<b], rows[i], distance)
				next[i], next[i|1<<b] = lo(pair), hi(pair)
			}
		}
		rows = next
	}
	return rows
}

// store stores column c of those left, if it exists.
func (t *transposeTile) store(a *asm, at, v codegen.Reg, c int) {
	if t.flip {
		w := a.v("flipped")
		a.op(hexagon.V6_vxor, w, v, t.flipBytes)
		v = w
	}
	if t.partial {
		p, d := a.p("exists"), a.r("at")
		a.op(hexagon.C2_cmpgti, p, t.columns, c)
		a.op(hexagon.C2_mux, d, p, at, t.none(a))
		at = d
	}
	if t.rest {
		a.storeBytes(at, v, t.bytes)
		return
	}
	a.op(hexagon.V6_vS32Ub_ai, at, 0, v).Stores(aliasOut)
}

// none is where columns go that do not exist.
func (t *transposeTile) none(a *asm) codegen.Reg { return a.add(t.scratch, vecBytes*vecBytes) }
