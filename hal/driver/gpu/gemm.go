package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// gemm is out[row][unit] = act(bias[unit] + sum over taps and depth of
// in[address(row, tap) + d] * weights[unit][tap][d]).
//
// A wave computes p rows of 32*q units: lane i holds units i, 32+i, ... Rows are
// uniform, so their inputs come through the scalar cache into scalar registers,
// 16 bytes (a chunk) of a row at a time; weights are packed so that a lane
// loads a chunk of its unit with one dwordx4. Per chunk that is p*q*4
// multiply-adds on p+q loads.
type gemm struct {
	elem                     element
	rows, units, taps, depth int
	weights                  []float32 // [units][taps][depth]
	bias                     []float32
	lo, hi                   float32
	in, out                  *tensor
	window                   *opspec.Window // of table
	table                    bool           // row addresses come from a table

	p, q                int // tile: rows, groups of 32 units
	waveRows, waveUnits int // tiles of a work-group
}

// perChunk is the number of elements in 16 bytes.
func perChunk(e element) int { return 16 / e.bytes() }

// tile picks the shape that wastes least: rows beyond the last are computed in
// vain, and small tiles spend more instructions on loads.
func (g *gemm) tile() {
	best := math.Inf(1)
	for _, t := range []struct {
		p    int
		cost float64 // per multiply-add: instructions, and memory traffic that larger tiles save
	}{{16, 1.16}, {8, 1.4}, {4, 1.8}, {2, 2.5}, {1, 3.5}} {
		if c := float64((g.rows+t.p-1)/t.p*t.p) * t.cost; c < best {
			best, g.p = c, t.p
		}
	}
	g.q = 1
	if groups := (g.units + 31) / 32; groups%2 == 0 || groups >= 7 {
		g.q = 2
	}
}

// share chooses the waves of a work-group: a block of tiles of rows by tiles of
// units. They meet at a barrier once per iteration, so that the inputs and the
// weights one of them fetches are still in the caches when the others want them.
func (g *gemm) share() {
	g.waveRows, g.waveUnits = 1, 1
	if g.p < 8 {
		return
	}
	if g.tiles() >= 2 {
		g.waveUnits = 2
	}
	if (g.rows+g.p-1)/g.p >= 2 {
		g.waveRows = 2
	}
}

// blocks are the work-groups along rows and units.
func (g *gemm) blocks() (rows, units int) {
	n := (g.rows + g.p - 1) / g.p
	return (n + g.waveRows - 1) / g.waveRows, (g.tiles() + g.waveUnits - 1) / g.waveUnits
}

func (g *gemm) tiles() int { return (g.units + 32*g.q - 1) / (32 * g.q) }

// pack lays the weights out as [tile][tap][chunk][group][lane][element].
func (g *gemm) pack(c *constants) (off uint32) {
	per := perChunk(g.elem)
	chunks := g.depth / per
	off = c.reserve(g.tiles()*g.taps*chunks*g.q*512 + guard)
	at := int(off)
	for t := range g.tiles() {
		for tap := range g.taps {
			for ch := range chunks {
				for u := t * 32 * g.q; u < (t+1)*32*g.q; u++ {
					for e := range per {
						if u < g.units {
							putElement(g.elem, c.data[at:], g.weights[(u*g.taps+tap)*g.depth+ch*per+e])
						}
						at += g.elem.bytes()
					}
				}
			}
		}
	}
	return off
}

// packBias is the bias in float32, padded to whole tiles.
func (g *gemm) packBias(c *constants) uint32 {
	off := c.reserve(4 * g.tiles() * 32 * g.q)
	for i, b := range g.bias {
		binary.LittleEndian.PutUint32(c.data[int(off)+4*i:], math.Float32bits(b))
	}
	return off
}

// rowTable is the table [tile][tap][row of tile] of arena offsets.
func (g *gemm) rowTable(c *constants) uint32 {
	tiles := (g.rows + g.p - 1) / g.p
	w := make([]uint32, tiles*g.taps*g.p)
	es := g.elem.bytes()
	put := func(row, tap int, v uint32) { w[(row/g.p*g.taps+tap)*g.p+row%g.p] = v }
	last := make([]uint32, g.taps)
	taps(g.window, g.rows/(g.window.OutH*g.window.OutW), g.depth, func(row, tap, i int) {
		v := uint32(0) // the page of zeros
		if i >= 0 {
			v = g.in.off + uint32(i*es)
		}
		put(row, tap, v)
		last[tap] = v
	})
	for row := g.rows; row < tiles*g.p; row++ { // repeats the last row
		for tap, v := range last {
			put(row, tap, v)
		}
	}
	return c.words(w)
}

func (l *lowering) gemm(g *gemm) {
	g.in = l.inArena(g.in)
	g.tile()
	g.share()
	l.add([]*tensor{g.in}, []*tensor{g.out}, g.emit)
}

func (g *gemm) emit(l *lowering) (*launch, error) {
	name := fmt.Sprintf("gemm_%dx%d", g.p, g.q)
	if g.elem == f16 {
		name += "_f16"
	}
	k := gemmKernel{gemm: g, asm: l.newAsm(name)}
	k.prologue(l)
	chunks := g.depth / perChunk(g.elem)
	k.loop(g.taps, "tap", func() {
		k.startTap()
		k.chunkLoop(chunks)
	})
	k.epilogue(l)
	rows, units := g.blocks()
	waves := g.waveRows * g.waveUnits
	return k.finish(rows*waves*32, units, 1, waves*32)
}

// gemmKernel generates the kernel.
type gemmKernel struct {
	*gemm
	*asm
	wide     int           // chunks per scalar load
	offs     []codegen.Reg // byte offset of each row
	rowTile  codegen.Reg   // number of the tile of rows
	unitTile codegen.Reg
	laneID   codegen.Reg
	input    codegen.Reg // address the offsets are relative to, at the current chunk
	start    codegen.Reg // the same at chunk 0
	weight   codegen.Reg // address of the weights of the current chunk
	lane16   codegen.Reg // 16 * lane
	tableAt  codegen.Reg
	block    codegen.Reg // rows' offsets as one tuple when they come from the table
	acc      [][]codegen.Reg
	row      []codegen.Reg // row numbers, bounded
}

// bias of the weight address, so that immediate offsets from -2048 on are used.
const weightBias = 2048

// placeWave finds the wave's tile of rows and of units; waves beyond the last
// ones end.
func (k *gemmKernel) placeWave() {
	k.laneID, k.rowTile, k.unitTile = k.WorkItem(0), k.Workgroup(0), k.Workgroup(1)
	waves := k.waveRows * k.waveUnits
	if waves == 1 {
		return
	}
	k.laneID = k.op2(rdna2.V_AND_B32_E32, k.v("lane"), 31, k.WorkItem(0))
	w := k.op2(rdna2.V_LSHRREV_B32_E32, k.v("wave"), 5, k.WorkItem(0))
	wave := k.op1(rdna2.V_READFIRSTLANE_B32, k.s("wave"), w)
	unit, row := k.divConst(wave, k.waveRows, "unit of wave")
	place := func(group codegen.Reg, per int, part codegen.Reg, tiles int, name string) codegen.Reg {
		t := k.op2(rdna2.S_ADD_U32, k.s(name), k.mulConst(group, per, name), part)
		if tiles%per != 0 {
			k.Emit(rdna2.S_CMP_GE_U32, t, tiles)
			k.Exit()
		}
		return t
	}
	k.rowTile = place(k.Workgroup(0), k.waveRows, row, (k.rows+k.p-1)/k.p, "tile of rows")
	k.unitTile = place(k.Workgroup(1), k.waveUnits, unit, k.tiles(), "tile of units")
}

func (k *gemmKernel) prologue(l *lowering) {
	chunks := k.depth / perChunk(k.elem)
	k.placeWave()
	k.lane16 = k.shiftLeft(k.laneID, 4, "lane16")
	tile := k.mulConst(k.unitTile, k.taps*chunks*k.q*512, "tile")
	k.weight = k.cursor(consts, k.pack(&l.consts)+weightBias, "weights")
	k.advance(k.weight, tile)
	k.input = k.Reg(rdna2.S2, "input")
	if k.table {
		k.start = k.base(arena)
		k.tableAt = k.cursor(consts, k.rowTable(&l.consts), "tables")
		k.advance(k.tableAt, k.mulConst(k.rowTile, k.taps*k.p*4, "tile of table"))
		class := map[int]codegen.Class{16: rdna2.S16, 8: rdna2.S8, 4: rdna2.S4, 2: rdna2.S2, 1: rdna2.S1}[k.p]
		k.block = k.Reg(class, "offsets")
		for i := range k.p {
			k.offs = append(k.offs, sAt(k.block, i))
		}
	} else {
		k.start = k.pointer(k.in.region, k.in.off, "in")
		first := k.mulConst(k.rowTile, k.p, "first row")
		for i := range k.p {
			r := k.bounded(first, i)
			k.offs = append(k.offs, k.mulConst(r, k.depth*k.elem.bytes(), "offset"))
		}
	}
	for range k.p {
		var a []codegen.Reg
		for range k.q {
			r := k.v("acc")
			k.Emit(rdna2.V_MOV_B32_E32, r, 0)
			a = append(a, r)
		}
		k.acc = append(k.acc, a)
	}
}

// bounded is row first+i, or the last row beyond it: the surplus rows of a tile
// repeat it and store the same values to the same place.
func (k *gemmKernel) bounded(first codegen.Reg, i int) codegen.Reg {
	r := k.s("row")
	if i == 0 && k.rows%k.p == 0 {
		return first
	}
	k.Emit(rdna2.S_ADD_U32, r, first, i)
	if k.rows%k.p != 0 {
		k.Emit(rdna2.S_MIN_U32, r, r, k.rows-1)
	}
	return r
}

func (k *gemmKernel) startTap() {
	if k.table {
		op := map[int]rdna2.Op{16: rdna2.S_LOAD_DWORDX16_IMM, 8: rdna2.S_LOAD_DWORDX8_IMM, 4: rdna2.S_LOAD_DWORDX4_IMM,
			2: rdna2.S_LOAD_DWORDX2_IMM, 1: rdna2.S_LOAD_DWORD_IMM}[k.p]
		k.Emit(op, k.block, k.tableAt, 0)
		k.advance(k.tableAt, 4*k.p)
	}
	k.copyPair(k.input, k.start)
}

// unroll is the number of chunks one iteration of the loop takes: as many as
// immediate offsets reach and divide the depth.
func (k *gemmKernel) unroll(chunks int) int {
	for u := 8 / k.q; u > 1; u /= 2 {
		if chunks%u == 0 {
			return u
		}
	}
	return 1
}

func (k *gemmKernel) chunkLoop(chunks int) {
	u := k.unroll(chunks)
	// The wider a scalar load, the fewer there are, and the better cache lines
	// are used: up to a whole one.
	k.wide = 1
	for k.wide < 4 && u%(2*k.wide) == 0 {
		k.wide *= 2
	}
	// The loop's own instructions go in front of the last multiplications: those
	// leave SCC alone.
	n := chunks / u
	count, head := k.s("chunks"), k.F.Label("chunk")
	if n > 1 {
		k.Emit(rdna2.S_MOV_B32, count, n)
		k.F.Bind(head)
	}
	if k.waveRows*k.waveUnits > 1 {
		k.Emit(rdna2.S_BARRIER)
	}
	k.body(u, func() {
		k.advance(k.weight, u*k.q*512)
		if n > 1 {
			k.advance(k.input, u*16)
			k.Emit(rdna2.S_SUB_I32, count, count, 1)
			rdna2.Fence(k.Emit(rdna2.S_CMP_LG_U32, count, 0))
		}
	})
	if n > 1 {
		k.Jump(rdna2.S_CBRANCH_SCC1, head)
	}
}

// body is the work on u chunks: weights first, then steps of k.wide chunks of as
// many rows as fill 32 scalar registers. While a step multiplies, the scalars of the next are fetched;
// scalar loads return in any order, so each step begins by waiting for all of
// its own before it issues the next ones.
// control is emitted when the last loads have been.
func (k *gemmKernel) body(u int, control func()) {
	var w [][]codegen.Reg // [chunk][group]
	for c := range u {
		var r []codegen.Reg
		for q := range k.q {
			x := k.Reg(rdna2.V4, "weights")
			k.Emit(rdna2.GLOBAL_LOAD_DWORDX4_SADDR, x, k.weight, k.lane16, (c*k.q+q)*512-weightBias)
			r = append(r, x)
		}
		w = append(w, r)
	}
	type step struct{ row, chunk int }
	var steps []step
	group := min(k.p, 8/k.wide)
	for c := 0; c < u; c += k.wide {
		for r := 0; r < k.p; r += group {
			steps = append(steps, step{r, c})
		}
	}
	class := map[int]codegen.Class{1: rdna2.S4, 2: rdna2.S8, 4: rdna2.S16}[k.wide]
	fetch := func(s step) []codegen.Reg {
		var x []codegen.Reg
		for i := range group {
			d := k.Reg(class, "in")
			in := k.fetch(d, k.offs[s.row+i], s.chunk*16)
			if i == group-1 {
				rdna2.Fence(in) // loads first, then a long run of multiplications
			}
			x = append(x, d)
		}
		return x
	}
	next := fetch(steps[0])
	for i, s := range steps {
		k.WaitScalar()
		now := next
		if i+1 < len(steps) {
			next = fetch(steps[i+1])
		} else {
			control()
		}
		for c := range k.wide {
			for d := range 4 {
				for r := range group {
					for q := range k.q {
						k.multiply(k.acc[s.row+r][q], sAt(now[r], 4*c+d), at(w[s.chunk+c][q], d))
					}
				}
			}
		}
	}
}

// fetch loads chunks of a row into scalars.
func (k *gemmKernel) fetch(d, off codegen.Reg, imm int) *codegen.Instr {
	ops := map[codegen.Class][2]rdna2.Op{
		rdna2.S4:  {rdna2.S_LOAD_DWORDX4_SGPR, rdna2.S_LOAD_DWORDX4_SGPR_IMM},
		rdna2.S8:  {rdna2.S_LOAD_DWORDX8_SGPR, rdna2.S_LOAD_DWORDX8_SGPR_IMM},
		rdna2.S16: {rdna2.S_LOAD_DWORDX16_SGPR, rdna2.S_LOAD_DWORDX16_SGPR_IMM},
	}[d.Class()]
	if imm == 0 {
		return k.Emit(ops[0], d, k.input, off)
	}
	return k.Emit(ops[1], d, k.input, off, imm)
}

// multiply accumulates one dword of input and weights.
func (k *gemmKernel) multiply(acc, x, w codegen.Reg) {
	if k.elem == f16 {
		k.Emit(rdna2.V_DOT2C_F32_F16_E32, acc, x, w)
	} else {
		k.Emit(rdna2.V_FMAC_F32_E32, acc, x, w)
	}
}

func (k *gemmKernel) epilogue(l *lowering) {
	es := k.out.elem.bytes()
	bias := k.pointer(consts, k.packBias(&l.consts), "bias")
	out := k.pointer(arena, k.out.off, "out")
	unit := k.v("unit")
	k.Emit(rdna2.V_LSHL_ADD_U32, unit, k.mulConst(k.unitTile, k.q, "group"), 5, k.laneID)
	biasOff := k.shiftLeft(unit, 2, "bias offset")
	unitOff := k.shiftLeft(unit, k.out.elem.shift(), "unit offset")
	first := k.mulConst(k.rowTile, k.p, "first row")
	var rowOff []codegen.Reg
	for i := range k.p {
		rowOff = append(rowOff, k.op2(rdna2.V_ADD_NC_U32_E32, k.v("row offset"), k.mulConst(k.bounded(first, i), k.units*es, "row"), unitOff))
	}
	for q := range k.q {
		if k.units%(32*k.q) != 0 {
			// Lanes beyond the last unit are switched off; a later group's lanes are a
			// subset of an earlier one's.
			u := unit
			if q > 0 {
				u = k.op2(rdna2.V_ADD_NC_U32_E32, k.v("unit"), 32*q, unit)
			}
			k.Emit(rdna2.V_CMPX_GT_U32_E32, k.units, u)
		}
		b := k.load(f32, bias, biasOff, 128*q, "bias")
		for i := range k.p {
			x := k.op2(rdna2.V_ADD_F32_E32, k.v("sum"), k.acc[i][q], b)
			x = k.clamp(x, k.lo, k.hi)
			k.store(k.out.elem, out, rowOff[i], k.narrow(k.out.elem, x), q*32*es)
		}
	}
}
