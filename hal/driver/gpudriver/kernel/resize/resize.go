// Package resize scales images: RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
//
// A lane computes four neighbouring channels of a column in a few rows of the output, the last four of a pixel again
// where four do not divide its channels; of fewer as many as are whole words. The input's corners stay in registers while rows of the output lie between
// the same rows of the input. Rows are the same for all lanes of a wave, so their places and weights are scalars:
//
//	lane = column * (channels / 4) + quad     work-group y = image * segments + segment of rows
//
// A row of few lanes would leave waves half empty: lanes can be the quads of all rows, each with its row's record.
//
// Bytes of few channels can be computed four by four along the row, whatever pixels they belong to (see columns.go). Kernel.Cut
// compares the forms.
package resize

import (
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Kernel is one computation. Only bilinear axes use Hi and Frac.
type Kernel struct {
	Batches, H, W, C int
	OutH, OutW       int
	Bilinear         bool
	Y, X             opspec.ResizeAxis
	In, Out          *layout.Tensor
	Form

	machine kernel.Machine // that the choice was made for
	y, x    uint32         // offsets of the tables
}

// pixel is the bytes of a pixel.
func (k *Kernel) pixel() int { return k.C * k.In.Elem.Bytes() }

// unit is what a lane computes with at once: four elements, fewer channels that are whole words, or one.
func (k *Kernel) unit() (e layout.Element, n int) {
	if k.Windows > 0 {
		return layout.U8, perLane
	}
	if k.Bilinear {
		for n = min(k.C, perLane); n > 1 && n*k.In.Elem.Bytes()%4 != 0; n-- {
		}
		return k.In.Elem, n
	}
	for _, e := range []layout.Element{layout.F32, layout.F16, layout.U8} { // bits are moved as they are
		if perLane*e.Bytes() <= k.pixel() {
			return e, perLane
		}
	}
	return k.In.Elem, 1
}

// lane is the bytes that a lane loads at once.
func (k *Kernel) lane() int {
	e, n := k.unit()
	return n * e.Bytes()
}

// lanes returns how many lanes compute a row of the output.
func (k *Kernel) lanes() int {
	if k.Windows > 0 {
		return kernel.Up(k.OutW*k.C, perLane)
	}
	return k.OutW * kernel.Up(k.pixel(), k.lane())
}

// narrow reports whether waves have lanes of several rows.
func (k *Kernel) narrow() bool { return k.Rows == 0 }

// rows are the rows of the output that a wave computes.
func (k *Kernel) rows() int { return max(k.Rows, 1) }

// Words of the record of a row.
const (
	wordTop = iota // place of the upper row of the input in its image
	wordBottom
	wordNear   // weight of the upper row
	wordFar    // weight of the lower row
	wordNew    // 1 where the rows of the input are not those of the wave's row before
	wordOut    // place of the row in the image of the output
	wordsOfRow = 8
)

// position is where an output position of an axis lies: between two neighbours with weights.
func position(a *opspec.ResizeAxis, i int) (lo, hi int, near, far float32) {
	if a.Hi == nil {
		return a.Lo[i], a.Lo[i], 1, 0
	}
	return a.Lo[i], a.Hi[i], 1 - a.Frac[i], a.Frac[i]
}

// rowTable are the records of the rows of all segments; the last segment ends with the image and may overlap the one
// before. Weights of integers are twice as large, for round.
func (k *Kernel) rowTable() (w []uint32) {
	rows, line, scale := k.rows(), k.W*k.pixel(), float32(1)
	if !k.Out.Elem.IsFloat() {
		scale = 2
	}
	for first := 0; first < k.OutH; first += rows {
		start, before := min(first, k.OutH-rows), -1
		for oy := start; oy < start+rows; oy++ {
			lo, hi, near, far := position(&k.Y, oy)
			record := [wordsOfRow]uint32{wordTop: uint32(lo * line), wordBottom: uint32(hi * line), wordNear: math.Float32bits(scale * near),
				wordFar: math.Float32bits(scale * far), wordOut: uint32(oy * k.OutW * k.pixel())}
			if lo != before {
				record[wordNew] = 1
			}
			w, before = append(w, record[:]...), lo
		}
	}
	return w
}

// columnTable are records of columns: of four words the places of the left and the right one in a row of the input, and
// their weights; of nearest neighbours the place.
func (k *Kernel) columnTable() (w []uint32) {
	if k.Windows > 0 {
		return k.windowTable()
	}
	for ox := range k.OutW {
		lo, hi, near, far := position(&k.X, ox)
		w = append(w, uint32(lo*k.pixel()))
		if k.Bilinear {
			w = append(w, uint32(hi*k.pixel()), math.Float32bits(near), math.Float32bits(far))
		}
	}
	return w
}

// loads are the rows of waves behind their first for which the input is loaded, of so many.
func (k *Kernel) loads() (n, of int) {
	if k.Y.Lo == nil {
		return 0, 1 // packed: nobody counts
	}
	table := k.rowTable()
	for i := wordNew; i < len(table); i += wordsOfRow {
		if i/wordsOfRow%k.rows() > 0 {
			n, of = n+int(table[i]), of+1
		}
	}
	return n, max(of, 1)
}

// Pack implements kernel.Packer.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Kernel {
	p := *k
	p.machine, p.Y, p.X = kernel.Machine{}, opspec.ResizeAxis{}, opspec.ResizeAxis{}
	p.y, p.x = m.Consts.Words(k.rowTable()), m.Consts.Words(k.columnTable())
	return &p
}

// names are the kernels in listings.
var names = map[bool]string{true: "resize_bilinear", false: "resize_nearest"}

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(a *rdna.Builder) kernel.Grid {
	g := generator{Builder: a, Kernel: k}
	if k.narrow() {
		return g.emitNarrow()
	}
	lanes, rows := k.lanes(), k.rows()
	segments := kernel.Up(k.OutH, rows)
	lane := a.Lane(32)
	if lanes%32 != 0 {
		a.Emit(rdna2.V_CMPX_GT_U32_E32, lanes, lane)
	}
	batch, segment := a.DivConst(a.Workgroup(1), segments, "image")
	var records [][]codegen.Reg
	table := a.Cursor(layout.Consts, k.y, "rows")
	a.Advance(table, a.MulConst(segment, 4*wordsOfRow*rows, "segment"))
	for row := range rows {
		records = append(records, a.Scalars(table, 4*wordsOfRow*row, wordsOfRow))
	}
	g.image = a.Cursor(k.In.Region, k.In.Off, "image")
	a.Advance(g.image, a.MulConst(batch, k.H*k.W*k.pixel(), "bytes"))
	out := a.Cursor(layout.Arena, k.Out.Off, "out")
	a.Advance(out, a.MulConst(batch, k.OutH*k.OutW*k.pixel(), "bytes"))
	place := g.place(lane)
	n, of := k.loads()
	for row, record := range records {
		if row == 0 {
			g.load(record)
		} else {
			same := a.F.Label("same rows")
			a.Emit(rdna2.S_CMP_EQ_U32, record[wordNew], 0)
			a.Jump(rdna2.S_CBRANCH_SCC1, same)
			a.Share(n, of, func() { a.Repeated(1, func() { g.load(record) }) })
			a.F.Bind(same)
		}
		g.store(a.Beyond(out, record[wordOut], "row"), place, record)
	}
	return kernel.Grid{Name: names[k.Bilinear], Lanes: [3]int{32 * kernel.Up(lanes, 32), k.Batches * segments, 1}, Workgroup: 32}
}

// emitNarrow emits the code of lanes that read the record of their row.
func (g *generator) emitNarrow() kernel.Grid {
	line, lane := g.DivConstV(g.Lane(kernel.FlatGroup), g.lanes(), "line")
	batch, oy := g.DivConstV(line, g.OutH, "image")
	r := g.LoadQuad(layout.F32, g.Pointer(layout.Consts, g.y, "rows"), g.ShiftLeft(oy, bits.TrailingZeros(4*wordsOfRow), "record"), 0)
	var record []codegen.Reg
	for i := range 4 {
		record = append(record, rdna.At(r, i))
	}
	g.image = g.Pointer(g.In.Region, g.In.Off, "image")
	place := g.Sum(g.Times(line, g.OutW*g.pixel()), g.place(lane))
	if g.Batches > 1 {
		for i, x := range g.left {
			if x.Valid() {
				g.left[i] = g.Sum(x, g.Times(batch, g.H*g.W*g.pixel()))
			}
		}
	}
	g.load(record)
	g.store(g.Pointer(layout.Arena, g.Out.Off, "out"), place, record)
	return kernel.Flat(names[g.Bilinear], g.Batches*g.OutH*g.lanes())
}

// generator emits the code of a kernel.
type generator struct {
	*rdna.Builder
	*Kernel
	image   codegen.Reg
	left    [2]codegen.Reg          // places of the left and the right column in a row of the input, or of windows
	picks   [2]codegen.Reg          // selectors of a lane's bytes in its windows
	across  [2][perLane]codegen.Reg // weights of the two columns for each element of a lane
	corners []codegen.Reg           // what is loaded: upper left, upper right, lower left, lower right; of nearest neighbours one
}

// place loads a lane's columns of the input, and is its place in a row of the output.
func (g *generator) place(lane codegen.Reg) codegen.Reg {
	if g.Windows > 0 {
		return g.placeWindows(lane)
	}
	ox, quad := g.DivConstV(lane, kernel.Up(g.pixel(), g.lane()), "column")
	channel, place := g.bytes(quad, "channel"), g.bytes(lane, "place")
	if g.pixel()%g.lane() != 0 {
		channel = g.Least(channel, g.pixel()-g.lane())
		place = g.Sum(g.Times(ox, g.pixel()), channel)
	}
	if !g.Bilinear {
		g.left[0] = g.Sum(g.Word(g.x, ox), channel)
		return place
	}
	record := g.LoadQuad(layout.F32, g.Pointer(layout.Consts, g.x, "columns"), g.ShiftLeft(ox, 4, "record"), 0)
	for i := range 2 {
		g.left[i] = g.Sum(rdna.At(record, i), channel)
		for c := range perLane {
			g.across[i][c] = rdna.At(record, 2+i)
		}
	}
	return place
}

// bytes are those of so many units.
func (g *generator) bytes(units codegen.Reg, name string) codegen.Reg {
	if n := g.lane(); n&(n-1) != 0 {
		return g.Times(units, n)
	}
	return g.ShiftLeft(units, bits.TrailingZeros(uint(g.lane())), name)
}

// load loads the corners of a row, into the same registers for all rows.
func (g *generator) load(record []codegen.Reg) {
	var window codegen.Reg
	for i := range 4 {
		if !g.Bilinear && i > 0 {
			return
		}
		if i == len(g.corners) {
			e, n := g.unit()
			g.corners = append(g.corners, g.Room(e, n))
		}
		if g.Windows == 1 && i%2 == 1 {
			g.pick(i, window)
			continue
		}
		line, off := g.image, g.left[i%2]
		if g.narrow() {
			off = g.Sum(off, record[wordTop+i/2])
		} else {
			line = g.Beyond(line, record[wordTop+i/2], "row")
		}
		if g.Windows > 0 {
			window = g.LoadQuad(layout.F16, line, off, 0) // two words
			g.pick(i, window)
			continue
		}
		e, n := g.unit()
		g.LoadInto(e, n, g.corners[i], line, off)
	}
}

// store computes a row and stores it.
func (g *generator) store(line, place codegen.Reg, record []codegen.Reg) {
	e, n := g.unit()
	switch {
	case !g.Bilinear && n > 1:
		g.StoreQuad(e, line, place, g.corners[0])
	case !g.Bilinear:
		g.Store(e, line, place, g.corners[0], 0)
	case n > 1:
		g.StoreFour(g.Out.Elem, line, place, g.bilinear(n, record))
	default:
		g.Store(g.Out.Elem, line, place, g.Narrow(g.Out.Elem, g.bilinear(1, record)[0]), 0)
	}
}

// bilinear are the outputs of n channels. The products are in the order of the reference, which quantized results are held to.
func (g *generator) bilinear(n int, record []codegen.Reg) (y []codegen.Reg) {
	var x [4][]codegen.Reg
	for i, corner := range g.corners {
		x[i] = g.floats(corner, n)
	}
	for c := range n {
		var sum codegen.Reg
		for i := range x {
			term := g.MulF(g.MulF(x[i][c], record[wordNear+i/2]), g.across[i%2][c])
			if i == 0 {
				sum = term
				continue
			}
			sum = g.AddF(sum, term)
		}
		if !g.Out.Elem.IsFloat() {
			sum = g.round(sum)
		}
		y = append(y, sum)
	}
	return y
}

// bytesToFloat convert one byte of a word.
var bytesToFloat = [4]rdna2.Op{rdna2.V_CVT_F32_UBYTE0_E32, rdna2.V_CVT_F32_UBYTE1_E32, rdna2.V_CVT_F32_UBYTE2_E32, rdna2.V_CVT_F32_UBYTE3_E32}

// floats are n elements of a corner as float32.
func (g *generator) floats(corner codegen.Reg, n int) (x []codegen.Reg) {
	e := g.In.Elem
	for i := range n {
		switch {
		case e == layout.U8:
			x = append(x, g.Op1(bytesToFloat[i], g.V("float"), corner))
		case n == 1:
			x = append(x, g.Widen(e, corner))
		default:
			x = append(x, g.Elements(e, corner, n)[i])
		}
		if e == layout.I8 {
			x[i] = g.ToFloat(x[i])
		}
	}
	return x
}

// round is half of a float, rounded to an integer, halves away from zero. With t = trunc(2x)
//
//	round(x) = (t + 1) >> 1 for t >= 0, t >> 1 for t < 0
//
// Weights of the rows are doubled, which is exact.
func (g *generator) round(twice codegen.Reg) codegen.Reg {
	t := g.ToInt(twice)
	if !g.Out.Elem.IsSigned() {
		return g.Op2(rdna2.V_LSHRREV_B32_E32, g.V("rounded"), 1, g.Sum(t, 1))
	}
	sign := g.Op2(rdna2.V_ASHRREV_I32_E32, g.V("sign"), 31, t)
	return g.Op2(rdna2.V_ASHRREV_I32_E32, g.V("rounded"), 1, g.Op3(rdna2.V_ADD3_U32, g.V("sum"), t, sign, 1))
}
