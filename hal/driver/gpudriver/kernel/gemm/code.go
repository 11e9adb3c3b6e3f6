package gemm

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(b *rdna.Builder) kernel.Grid {
	g := generator{Kernel: k, Builder: b}
	g.prologue()
	g.Loop(k.Taps, "tap", func() {
		if k.Gather {
			t := tuples[k.P]
			b.Emit(t.load, g.block, g.tableAt, 0)
			g.Advance(g.tableAt, 4*k.P)
		}
		g.CopyPair(g.input, g.start)
		g.chunkLoop()
	})
	g.epilogue()
	rows, units := k.blocks()
	waves := k.WaveRows * k.WaveUnits
	return kernel.Grid{Name: k.name(), Lanes: [3]int{rows * waves * 32, units, 1}, Workgroup: waves * 32, Busy: k.rowTiles() * k.tiles()}
}

// generator writes the code of a kernel.
type generator struct {
	*Kernel
	*rdna.Builder
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
	ones     codegen.Reg   // of signed bytes
	rowSums  []codegen.Reg // of the input, nil where nothing needs them
}

// bias of the weight address, so that immediate offsets from -2048 on are used.
const weightBias = 2048

// placeWave finds the wave's tile of rows and of units; waves beyond the last
// ones end.
func (k *generator) placeWave() {
	k.laneID, k.rowTile, k.unitTile = k.WorkItem(0), k.Workgroup(0), k.Workgroup(1)
	if k.WaveRows*k.WaveUnits == 1 {
		return
	}
	wave, lane := k.WaveLane()
	unit, row := k.DivConst(wave, k.WaveRows, "unit of wave")
	k.laneID = lane
	k.rowTile = k.TileOfWave(k.Workgroup(0), k.WaveRows, row, k.rowTiles(), "tile of rows")
	k.unitTile = k.TileOfWave(k.Workgroup(1), k.WaveUnits, unit, k.tiles(), "tile of units")
}

func (k *generator) prologue() {
	k.placeWave()
	k.lane16 = k.ShiftLeft(k.laneID, 4, "lane16")
	tile := k.MulConst(k.unitTile, k.Taps*k.chunks()*k.Q*512, "tile")
	k.weight = k.Cursor(layout.Consts, k.weights+weightBias, "weights")
	k.Advance(k.weight, tile)
	k.input = k.Reg(rdna2.S2, "input")
	if k.Gather {
		k.start = k.Base(layout.Arena)
		k.tableAt = k.Cursor(layout.Consts, k.table, "tables")
		k.Advance(k.tableAt, k.MulConst(k.rowTile, k.Taps*k.P*4, "tile of table"))
		k.block = k.Reg(tuples[k.P].class, "offsets")
		for i := range k.P {
			k.offs = append(k.offs, rdna.SAt(k.block, i))
		}
	} else {
		k.start = k.Pointer(k.In.Region, k.In.Off, "in")
		first := k.MulConst(k.rowTile, k.P, "first row")
		for i := range k.P {
			r := k.bounded(first, i)
			k.offs = append(k.offs, k.MulConst(r, k.Depth*k.Elem.Bytes(), "offset"))
		}
	}
	for range k.P {
		var a []codegen.Reg
		for range k.Q {
			r := k.V("acc")
			k.Builder.Emit(rdna2.V_MOV_B32_E32, r, 0)
			a = append(a, r)
		}
		k.acc = append(k.acc, a)
		if k.Fixed.FilterZero != 0 {
			k.rowSums = append(k.rowSums, k.Op1(rdna2.V_MOV_B32_E32, k.V("row sum"), 0))
		}
	}
	if k.Fixed.FilterZero != 0 {
		k.ones = k.Constant(uint32(0x01010101))
	}
}

// bounded is row first+i, or the last row beyond it: the surplus rows of a tile
// repeat it and store the same values to the same place.
func (k *generator) bounded(first codegen.Reg, i int) codegen.Reg {
	r := k.S("row")
	if i == 0 && k.Rows%k.P == 0 {
		return first
	}
	k.Builder.Emit(rdna2.S_ADD_U32, r, first, i)
	if k.Rows%k.P != 0 {
		k.Builder.Emit(rdna2.S_MIN_U32, r, r, k.Rows-1)
	}
	return r
}

// chunkLoop adds the products of a tap.
func (k *generator) chunkLoop() {
	u, wide := k.unroll()
	n := k.wholeChunks() / u
	if n > 0 {
		k.wholeLoop(u, wide, n)
	}
	if k.Behind > 0 {
		k.body(1, 1, k.Elem.PerChunk()-k.Behind, func() {})
	}
}

// wholeLoop adds the products of n times u chunks. The loop's own instructions go in front of the last multiplications:
// those leave SCC alone.
func (k *generator) wholeLoop(u, wide, n int) {
	count, head := k.S("chunks"), k.F.Label("chunk")
	if n > 1 {
		k.Builder.Emit(rdna2.S_MOV_B32, count, n)
		k.F.Bind(head)
	}
	if k.WaveRows*k.WaveUnits > 1 {
		k.Builder.Emit(rdna2.S_BARRIER)
	}
	k.Repeated(n, func() {
		k.body(u, wide, u*k.Elem.PerChunk(), func() {
			k.Advance(k.weight, u*k.Q*512)
			if n > 1 || k.Behind > 0 {
				k.Advance(k.input, u*16)
			}
			if n > 1 {
				k.Builder.Emit(rdna2.S_SUB_I32, count, count, 1)
				rdna2.Fence(k.Builder.Emit(rdna2.S_CMP_LG_U32, count, 0))
			}
		})
	})
	if n > 1 {
		k.Jump(rdna2.S_CBRANCH_SCC1, head)
	}
}

// body is the work on u chunks: weights first, then steps of some rows of wide chunks. While a step multiplies, the scalars of the next are fetched;
// scalar loads return in any order, so each step begins by waiting for all of
// its own before it issues the next ones.
// control is emitted when the last loads have been. The first so many elements of a row count.
func (k *generator) body(u, wide, elements int, control func()) {
	var w [][]codegen.Reg // [chunk][group]
	for c := range u {
		var r []codegen.Reg
		for q := range k.Q {
			r = append(r, k.LoadQuad(layout.F32, k.weight, k.lane16, (c*k.Q+q)*512-weightBias))
		}
		w = append(w, r)
	}
	type step struct{ row, chunk int }
	var steps []step
	group := k.atOnce(wide)
	for c := 0; c < u; c += wide {
		for r := 0; r < k.P; r += group {
			steps = append(steps, step{r, c})
		}
	}
	words := 4 * wide // of a load of scalars
	fetch := func(s step) []codegen.Reg {
		var x []codegen.Reg
		for i := range group {
			t := tuples[words]
			d := k.Reg(t.class, "in")
			operands, op := []any{d, k.input, k.offs[s.row+i]}, t.loadScalar
			if at := s.chunk * 16; at > 0 {
				operands, op = append(operands, at), t.loadScalarImm
			}
			if in := k.Builder.Emit(op, operands...); i == group-1 {
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
		for _, x := range now {
			for i := 0; i < words && k.Elem == layout.U8; i++ { // signed now; before control, since it writes SCC
				k.Builder.Emit(rdna2.S_XOR_B32, rdna.SAt(x, i), rdna.SAt(x, i), uint32(0x80808080))
			}
		}
		for _, x := range now {
			k.clear(x, elements-s.chunk*k.Elem.PerChunk(), words)
		}
		if i+1 < len(steps) {
			next = fetch(steps[i+1])
		} else {
			control()
		}
		for c := range wide {
			for d := range 4 {
				for r := range group {
					if k.rowSums != nil {
						k.multiply(k.rowSums[s.row+r], rdna.SAt(now[r], 4*c+d), k.ones)
					}
					for q := range k.Q {
						k.multiply(k.acc[s.row+r][q], rdna.SAt(now[r], 4*c+d), rdna.At(w[s.chunk+c][q], d))
					}
				}
			}
		}
	}
}

// clear makes the elements of so many words zero from one of them on: those behind a row, which may not be numbers.
func (k *generator) clear(x codegen.Reg, elements, words int) {
	per := 4 / k.Elem.Bytes() // elements of a word
	for w := range words {
		switch n := elements - w*per; {
		case n <= 0:
			k.Builder.Emit(rdna2.S_MOV_B32, rdna.SAt(x, w), 0)
		case n < per:
			k.Builder.Emit(rdna2.S_AND_B32, rdna.SAt(x, w), rdna.SAt(x, w), uint32(1)<<(32*n/per)-1)
		}
	}
}

// tuples are registers for words that one instruction loads: from an address, from an address plus a scalar, or plus a
// scalar and an immediate.
var tuples = map[int]struct {
	class                           codegen.Class
	load, loadScalar, loadScalarImm rdna2.Op
}{
	1:  {class: rdna2.S1, load: rdna2.S_LOAD_DWORD_IMM},
	2:  {class: rdna2.S2, load: rdna2.S_LOAD_DWORDX2_IMM},
	4:  {rdna2.S4, rdna2.S_LOAD_DWORDX4_IMM, rdna2.S_LOAD_DWORDX4_SGPR, rdna2.S_LOAD_DWORDX4_SGPR_IMM},
	8:  {rdna2.S8, rdna2.S_LOAD_DWORDX8_IMM, rdna2.S_LOAD_DWORDX8_SGPR, rdna2.S_LOAD_DWORDX8_SGPR_IMM},
	16: {rdna2.S16, rdna2.S_LOAD_DWORDX16_IMM, rdna2.S_LOAD_DWORDX16_SGPR, rdna2.S_LOAD_DWORDX16_SGPR_IMM},
}

// products are the instructions that add the product of a word of elements each.
var products = map[layout.Element]rdna2.Op{
	layout.F32: rdna2.V_FMAC_F32_E32,
	layout.F16: rdna2.V_DOT2C_F32_F16_E32,
	layout.I8:  rdna2.V_DOT4C_I32_I8_E32,
	layout.U8:  rdna2.V_DOT4C_I32_I8_E32, // made signed
}

// multiply accumulates one dword of input and weights.
func (k *generator) multiply(acc, x, w codegen.Reg) {
	k.Builder.Emit(products[k.Elem], acc, x, w)
}

func (k *generator) epilogue() {
	es := k.Out.Elem.Bytes()
	bias := k.Pointer(layout.Consts, k.bias, "bias")
	out := k.Pointer(layout.Arena, k.Out.Off, "out")
	unit := k.V("unit")
	k.Builder.Emit(rdna2.V_LSHL_ADD_U32, unit, k.MulConst(k.unitTile, k.Q, "group"), 5, k.laneID)
	biasOff := k.ShiftLeft(unit, 2, "bias offset")
	var multOff, mults codegen.Reg
	if k.Fixed.PerChannel {
		mults, multOff = k.Pointer(layout.Consts, k.mult, "multipliers"), k.ShiftLeft(unit, 4, "multiplier offset")
	}
	for i, s := range k.rowSums {
		k.rowSums[i] = k.Op2(rdna2.V_MUL_LO_U32, k.V("row sum"), uint32(-k.Fixed.FilterZero), s)
	}
	unitOff := k.ShiftLeft(unit, k.Out.Elem.Shift(), "unit offset")
	first := k.MulConst(k.rowTile, k.P, "first row")
	var rowOff []codegen.Reg
	for i := range k.P {
		rowOff = append(rowOff, k.Op2(rdna2.V_ADD_NC_U32_E32, k.V("row offset"), k.MulConst(k.bounded(first, i), k.Units*es, "row"), unitOff))
	}
	for q := range k.Q {
		if k.Units%(32*k.Q) != 0 {
			// Lanes beyond the last unit are switched off; a later group's lanes are a
			// subset of an earlier one's.
			u := unit
			if q > 0 {
				u = k.Op2(rdna2.V_ADD_NC_U32_E32, k.V("unit"), 32*q, unit)
			}
			k.Builder.Emit(rdna2.V_CMPX_GT_U32_E32, k.Units, u)
		}
		b := k.Load(layout.F32, bias, biasOff, 128*q, "bias")
		var record codegen.Reg
		if k.Fixed.PerChannel {
			record = k.LoadQuad(layout.F32, mults, multOff, 512*q)
		}
		for i := range k.P {
			y := k.Tail.Emit(k.Builder, []codegen.Reg{k.finish(i, q, b, record)}, elementwise.Place{
				Element: func() codegen.Reg {
					return k.Sum(k.Op2(rdna2.V_LSHRREV_B32_E32, k.V("element"), k.Out.Elem.Shift(), rowOff[i]), 32*q)
				},
				Channel: func(int) codegen.Reg { return k.Sum(unit, 32*q) },
			})
			k.Store(k.Out.Elem, out, rowOff[i], k.Narrow(k.Out.Elem, y[0]), q*32*es)
		}
	}
}

// finish is an output.
func (k *generator) finish(row, group int, bias, record codegen.Reg) codegen.Reg {
	if k.Elem.IsFloat() {
		x := k.Op2(rdna2.V_ADD_F32_E32, k.V("sum"), k.acc[row][group], bias)
		return k.Clamp(x, k.Lo, k.Hi)
	}
	x := k.Op2(rdna2.V_ADD_NC_U32_E32, k.V("sum"), k.acc[row][group], bias)
	if k.rowSums != nil {
		x = k.Op2(rdna2.V_ADD_NC_U32_E32, k.V("sum"), k.rowSums[row], x)
	}
	return k.Requantize(x, &k.Fixed, record)
}
