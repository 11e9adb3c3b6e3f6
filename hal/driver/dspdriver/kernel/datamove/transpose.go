package datamove

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Transpose transposes tiles of vectors. In a tile of N rows of N elements
// an exchange of a bit of the row's number with the same bit of the column's is one
// vshuff of each pair of rows; all bits make the transposition. Up to four bits
// are exchanged in registers, the others after a way through memory.
type Transpose struct {
	Size    int  // bytes of an element: 1, 2, 4, 8
	Rest    bool // tiles of fewer rows
	Partial bool // tiles of fewer columns
	Flip    bool // add 128 to every byte
}

// tileBits is the most bits of a row's number that are exchanged in registers.
const tileBits = 4

// Tile is the rows and columns of a tile.
func (k Transpose) Tile() int { return hvx.VectorBytes / k.Size }

func (k Transpose) Name() string {
	return fmt.Sprintf("transpose_%d%s", k.Size, hvx.Flag(k.Rest, "r")+hvx.Flag(k.Partial, "p")+hvx.Flag(k.Flip, "x"))
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
	TileFrom
	TileBox // two words on eight bytes
	TileStride
	TileWords
)

// TileScratch is the memory that a thread needs: a tile, and a place for columns
// that do not exist.
const TileScratch = hvx.VectorBytes*hvx.VectorBytes + 2*hvx.VectorBytes

// Emit writes the kernel. Arguments: table, entries, scratch memory, address and
// box of the first tile.
func (k Transpose) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "scratch", "from", "box")
	table, entries, scratch := in[0], in[1], in[2]
	t := transposeTile{Transpose: k, scratch: scratch}
	box := a.RR("box")
	a.Op(hexagon.L2_loadrd_io, box, in[4], 0).Loads(hvx.AliasConst)
	a.Op(hexagon.Y5_l2fetch, in[3], box)
	if k.Flip {
		t.flipBytes = a.Splat(a.Imm(-0x7f7f7f80), "flip")
	}
	a.Repeat(entries, func() {
		t.src, t.last, t.srcStep = a.Word(table, tileSrc, "src"), a.Word(table, tileLast, "last"), a.Word(table, tileSrcStep, "step")
		t.dst, t.dstStep = a.Word(table, tileDst, "dst"), a.Word(table, tileDstStep, "step")
		t.bytes, t.columns = a.Word(table, tileBytes, "bytes"), a.Word(table, tileColumns, "columns")
		next, box := a.Word(table, TileFrom, "next"), a.RR("box")
		a.Op(hexagon.L2_loadrd_io, box, table, 4*TileBox).Loads(hvx.AliasConst)
		a.Op(hexagon.Y5_l2fetch, next, box)
		a.Bump(table, 4*TileWords)
		t.write(a)
	})
	a.Ret()
}

// transposeTile is a tile in the making.
type transposeTile struct {
	Transpose
	src, last, srcStep, dst, dstStep, bytes, columns, scratch, flipBytes codegen.Reg
}

func (t *transposeTile) write(a *hvx.Builder) {
	all := bits.Len(uint(t.Tile())) - 1
	low := min(all, tileBits)
	high := all - low
	// Groups of consecutive rows: the low bits.
	out := a.CopyOf(t.scratch)
	a.Loop0(1<<high, func() {
		rows := make([]codegen.Reg, 1<<low)
		for i := range rows {
			rows[i] = a.LoadUnaligned(t.src, 0, hvx.AliasIn, "row")
			next := a.R("src")
			a.Op(hexagon.A2_add, next, t.src, t.srcStep)
			if t.Rest {
				a.Op(hexagon.A2_minu, t.src, next, t.last)
			} else {
				a.Op(hexagon.A2_tfr, t.src, next)
			}
		}
		rows = t.exchange(a, rows, 0, low)
		if high == 0 {
			d := a.CopyOf(t.dst)
			for i, v := range rows {
				t.store(a, d, v, i)
				a.Op(hexagon.A2_add, d, d, t.dstStep)
			}
			return
		}
		for _, v := range rows {
			a.Op(hexagon.V6_vS32b_pi, out, 1, v).Stores(hvx.AliasScratch)
		}
	})
	if high == 0 {
		return
	}
	// Rows of the same low bits: the high ones.
	far := a.R("far") // between the columns of a group
	a.Op(hexagon.S2_asl_i_r, far, t.dstStep, low)
	from := a.CopyOf(t.scratch)
	a.Loop0(1<<low, func() {
		rows := make([]codegen.Reg, 1<<high)
		for i := range rows {
			rows[i] = a.Load(from, i*hvx.VectorBytes<<low, hvx.AliasScratch, "row")
		}
		a.Bump(from, hvx.VectorBytes)
		d := a.CopyOf(t.dst)
		for i, v := range t.exchange(a, rows, low, high) {
			t.store(a, d, v, i<<low)
			a.Op(hexagon.A2_add, d, d, far)
		}
		a.Op(hexagon.A2_add, t.dst, t.dst, t.dstStep)
		if t.Partial {
			a.Bump(t.columns, -1)
		}
	})
}

// exchange swaps n bits of the rows' numbers, from bit first of the elements' on.
func (t *transposeTile) exchange(a *hvx.Builder, rows []codegen.Reg, first, n int) []codegen.Reg {
	for b := range n {
		distance := a.Imm8(t.Size << (first + b))
		next := make([]codegen.Reg, len(rows))
		for i := range rows {
			if i>>b&1 == 0 {
				pair := a.VV("rows")
				a.Op(hexagon.V6_vshuffvdd, pair, rows[i|1<<b], rows[i], distance)
				next[i], next[i|1<<b] = hvx.Lo(pair), hvx.Hi(pair)
			}
		}
		rows = next
	}
	return rows
}

// store stores column c of those left, if it exists.
func (t *transposeTile) store(a *hvx.Builder, at, v codegen.Reg, c int) {
	if t.Flip {
		w := a.V("flipped")
		a.Op(hexagon.V6_vxor, w, v, t.flipBytes)
		v = w
	}
	if t.Partial {
		p, d := a.P("exists"), a.R("at")
		a.Op(hexagon.C2_cmpgti, p, t.columns, c)
		a.Op(hexagon.C2_mux, d, p, at, t.none(a))
		at = d
	}
	if t.Rest {
		a.StoreBytes(at, v, t.bytes)
		return
	}
	a.Op(hexagon.V6_vS32Ub_ai, at, 0, v).Stores(hvx.AliasOut)
}

// none is where columns go that do not exist.
func (t *transposeTile) none(a *hvx.Builder) codegen.Reg {
	return a.Add(t.scratch, hvx.VectorBytes*hvx.VectorBytes)
}
