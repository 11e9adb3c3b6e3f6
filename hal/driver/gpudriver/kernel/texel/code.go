package texel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// generator emits the code of a kernel.
type generator struct {
	*rdna.Builder
	*Kernel
	zBlock   codegen.Reg // the lane's block of units
	zWave    codegen.Reg // number of the weights that the wave shares with others, a scalar
	weight   codegen.Reg // address of the weights of the current texel
	lane     codegen.Reg // the lane's place in them
	xs, ys   []codegen.Reg
	image    codegen.Reg     // line 0 of the image, in lines of all images
	cols     []codegen.Reg   // byte offset of each x within its line, the lane's group included
	rows     []codegen.Reg   // byte offset of the line of each y
	acc      [][]codegen.Reg // [position][unit]
	pixel    int             // bytes of a position
	edges    bool            // some tap is outside the image
	item     codegen.Reg     // the lane's number in its wave
	first    codegen.Reg     // position of the wave's first lane, a scalar
	position []codegen.Reg   // byte offsets of the positions' taps
	spot     codegen.Reg     // number of the lane's position, where input and output have the same ones
}

// Emit implements kernel.Kernel.
func (k *Kernel) Emit(a *rdna.Builder) kernel.Grid {
	g := generator{Builder: a, Kernel: k, pixel: k.InC * k.Elem.Bytes()}
	w := &k.Window
	g.edges = k.Window.Padded()
	if k.Constants {
		g.touchWeights()
	}
	g.place()
	for range k.Block.X * k.Block.Y {
		var units []codegen.Reg
		for range 4 * k.Block.Z {
			units = append(units, a.Op1(rdna2.V_MOV_B32_E32, a.V("acc"), 0))
		}
		g.acc = append(g.acc, units)
	}
	switch {
	case k.Depthwise && k.Block == patch:
		g.patchLoop()
	case k.Depthwise:
		g.depthwiseLoop()
	case k.wholeLoads():
		g.positions(nil, nil)
		g.wholeLoop()
	case k.pointwise():
		g.positions(nil, nil)
		g.channelLoop()
	default:
		a.For(w.KH, "filter row", func(ky codegen.Reg) {
			a.For(w.KW, "filter column", func(kx codegen.Reg) {
				g.positions(&ky, &kx)
				g.channelLoop()
			})
		})
	}
	g.finish()
	if g.Builder.Registers = k.Registers; k.tiled() {
		g.WGP = true
		x, y, z := k.tiles()
		return kernel.Grid{Name: k.name(), Lanes: [3]int{x * k.Tile.lanes(), y, z}, Workgroup: k.Tile.lanes(), Busy: k.waves() * k.zGroups()}
	}
	positions, units := k.groups()
	return kernel.Grid{Name: k.name(), Lanes: [3]int{positions * g.groupWaves() * 32, units, 1}, Workgroup: g.groupWaves() * 32, Busy: k.waves() * k.zGroups()}
}

// placeRow finds the lane's block like placeTile, where lanes are blocks of positions in a row.
func (g *generator) placeRow() (x, y, n, z codegen.Reg) {
	var p codegen.Reg
	p, z = g.placeSpot()
	nx, ny, _ := g.across()
	p, x = g.DivConstV(p, nx, "x block")
	n, y = g.DivConstV(p, ny, "y block")
	return x, y, n, z
}

// placeSpot finds the number p of the lane's block of positions: neighbouring lanes share the addresses of their weights.
// Lanes beyond the last block of positions repeat it, waves beyond the last end.
func (g *generator) placeSpot() (p, z codegen.Reg) {
	wave, lane := g.WaveLane()
	g.item = lane
	pWave, zWave := g.DivConst(wave, g.ZWaves, "wave of positions")
	g.zWave = g.TileOfWave(g.Workgroup(1), g.ZWaves, zWave, g.zGroups(), "group of units")
	group := g.TileOfWave(g.Workgroup(0), g.groupWaves()/g.ZWaves, pWave, g.waves(), "group of positions")
	per, all := g.perWave(), g.positionBlocks()
	z, p = g.DivConstV(g.item, per, "lane of units")
	g.first = g.MulConst(group, per, "blocks")
	p = g.Sum(g.first, p)
	if all%per != 0 {
		p = g.Least(p, all-1)
	}
	g.zBlock = g.Sum(g.MulConst(g.zWave, g.ZLanes, "blocks of units"), z)
	return p, z
}

// place finds the lane's block and the offsets that do not change from tap to tap.
func (g *generator) place() {
	if g.Constants && g.flat() {
		g.spot, _ = g.placeSpot()
		g.position = []codegen.Reg{g.Sum(g.Times(g.spot, g.pixel), g.In.Off)}
		g.weight = g.Cursor(layout.Consts, g.weights, "weights")
		return
	}
	w, b := &g.Window, &g.Block
	place := g.placeRow
	if g.tiled() {
		place = g.placeTile
	}
	x, y, n, z := place()
	g.lane = g.ShiftLeft(z, 2+g.Elem.Shift(), "lane of weights")
	g.image = g.Times(n, w.H)
	group := g.channelGroup()
	for i := range b.X {
		o := g.output(x, i, b.X, w.OutW)
		g.xs = append(g.xs, o)
		at := g.Less(g.Times(o, w.StrideW), w.Left)
		off := g.Times(at, g.pixel)
		if group.Valid() {
			off = g.Sum(off, group)
		}
		g.cols = append(g.cols, off)
	}
	for i := range b.Y {
		o := g.output(y, i, b.Y, w.OutH)
		g.ys = append(g.ys, o)
		at := g.Sum(g.image, g.Less(g.Times(o, w.StrideH), w.Top))
		g.rows = append(g.rows, g.Sum(g.Times(at, w.W*g.pixel), g.In.Off))
	}
	g.image = g.Times(n, w.OutH)
	step := g.taps() * g.texels() * g.perTexel() * g.ZLanes * g.quadBytes()
	g.weight = g.Cursor(layout.Consts, g.weights, "weights")
	g.Advance(g.weight, g.MulConst(g.zWave, step, "weights of the wave"))
}

// output is position i of a block of so many of an axis of n. Of a last block that has fewer the last one is repeated; of
// a depthwise convolution the block begins earlier, since its positions share what is loaded.
func (g *generator) output(block codegen.Reg, i, size, n int) codegen.Reg {
	first := g.Times(block, size)
	if g.Depthwise && n%size != 0 {
		first = g.Least(first, n-size)
	}
	o := g.Sum(first, i)
	if !g.Depthwise && n%size != 0 {
		o = g.Least(o, n-1)
	}
	return o
}

// channelGroup is the byte offset of the first channel of the lane's group; of a depthwise convolution
// that of its quad, of the last one where there is none.
func (g *generator) channelGroup() (none codegen.Reg) {
	if g.Depthwise {
		return g.Times(g.Least(g.zBlock, g.quads()-1), g.quadBytes())
	}
	if g.Groups == 1 {
		return none
	}
	n, _ := g.DivConstV(g.zBlock, g.OutC/g.Groups/(4*g.Block.Z), "group")
	return g.Times(g.Least(n, g.Groups-1), g.channels()*g.Elem.Bytes())
}

// positions finds the bytes that a tap reads of each position of the block, from the arena's
// first on: a page of zeros where the tap is outside the image.
func (g *generator) positions(ky, kx *codegen.Reg) {
	w := &g.Window
	if g.spot.Valid() {
		return
	}
	g.position = nil
	var down, right codegen.Reg
	if ky != nil {
		down = g.MulConst(*ky, w.DilationH*w.W*g.pixel, "rows")
		right = g.MulConst(*kx, w.DilationW*g.pixel, "columns")
		right = g.Op2(rdna2.S_ADD_U32, g.S("tap"), down, right)
	}
	inside := func(o codegen.Reg, k *codegen.Reg, stride, dilation, pad, n int) codegen.Reg {
		first := g.Less(g.Times(o, stride), pad)
		return g.Inside(g.Sum(g.MulConst(*k, dilation, "distance"), first), n)
	}
	var xIn, yIn []codegen.Reg
	if g.edges {
		for _, o := range g.xs {
			xIn = append(xIn, inside(o, kx, w.StrideW, w.DilationW, w.Left, w.W))
		}
		for _, o := range g.ys {
			yIn = append(yIn, inside(o, ky, w.StrideH, w.DilationH, w.Top, w.H))
		}
	}
	for y := range g.rows {
		for x := range g.cols {
			at := g.Sum(g.rows[y], g.cols[x])
			if ky != nil {
				at = g.Sum(right, at)
			}
			if g.edges {
				at = g.Choose(g.Constant(g.page), at, g.Both(xIn[x], yIn[y]))
			}
			g.position = append(g.position, at)
		}
	}
}

// channelLoop adds the products of a tap, texel by texel.
func (g *generator) channelLoop() {
	whole := g.channels() / 4
	in := g.Reg(rdna2.S2, "texel")
	g.CopyPair(in, g.Base(layout.Arena))
	if g.Quads {
		whole -= g.quadLoop(in)
	}
	load := func() (x []codegen.Reg) {
		for _, at := range g.position {
			x = append(x, g.LoadQuad(g.Elem, in, at, 0))
		}
		return x
	}
	switch {
	case g.Pairs && whole > 0:
		g.Loop(whole/2, "pair of texels", func() {
			var x []codegen.Reg
			for _, at := range g.position {
				x = append(x, g.LoadQuad(layout.F32, in, at, 0)) // of two texels
			}
			g.step(x, 0, 4)
			g.step(x, 1, 4)
			g.Advance(in, 2*g.quadBytes())
		})
	case whole > 0:
		g.Loop(whole, "texel", func() {
			g.step(load(), 0, 4)
			g.Advance(in, g.quadBytes())
		})
	}
	if rest := g.channels() % 4; rest > 0 {
		g.step(load(), 0, rest)
	}
}

// depthwiseLoop adds the products of all taps, channel by channel: the texels of a row of taps
// and their weights are loaded at once.
func (g *generator) depthwiseLoop() {
	g.For(g.Window.KH, "filter row", func(ky codegen.Reg) {
		var x, w []codegen.Reg
		for column := range g.Window.KW {
			kx := g.Op1(rdna2.S_MOV_B32, g.S("filter column"), column)
			g.positions(&ky, &kx)
			x = append(x, g.LoadQuad(g.Elem, g.Base(layout.Arena), g.position[0], 0))
			w = append(w, g.LoadQuad(g.Elem, g.weight, g.lane, 0))
			g.Advance(g.weight, g.ZLanes*g.quadBytes())
		}
		for i := range x {
			g.weigh(g.acc[0], x[i], w[i])
		}
	})
}

// weigh adds the products of the channels of a texel with their weights.
func (g *generator) weigh(acc []codegen.Reg, x, w codegen.Reg) {
	for c, acc := range acc {
		if g.Elem == layout.F32 {
			g.Builder.Emit(rdna2.V_FMAC_F32_E32, acc, rdna.At(x, c), rdna.At(w, c))
			continue
		}
		half := rdna2.Mods{OpSelHi: 3, OpSel: uint8(3 * (c % 2))} // both factors are halves, low or high ones
		half.With(g.Builder.Emit(rdna2.V_FMA_MIX_F32, acc, rdna.At(x, c/2), rdna.At(w, c/2), acc))
	}
}

// step adds the products of the texel of input channels that stands at a place in the registers
// of each position; the first so many channels count.
func (g *generator) step(x []codegen.Reg, place, channels int) {
	if g.Constants {
		g.constantSteps(1, channels, func(int) codegen.Reg { return x[0] })
		return
	}
	units := 4 * g.Block.Z
	w := g.loadWeights(units)
	for i := range x {
		g.clear(x[i], channels)
	}
	for i := range x {
		for u := range w {
			g.multiply(g.acc[i][u], x[i], place*g.Elem.Bytes(), w[u])
		}
	}
}

// maxScalars are the words of weights that are fetched at once; as many are being multiplied.
const maxScalars = 32

// touched are the lines of weights that are requested at once.
const touched = 32

// touchWeights brings the lines of the weights to the scalar cache, many at once: each step would
// wait for its own otherwise, where a phone's driver loads them before the kernel.
func (g *generator) touchWeights() {
	at := g.Pointer(layout.Consts, g.weights, "weights")
	bytes := g.taps() * g.texels() * g.perTexel() * g.quadBytes()
	for from := 0; from < bytes; from += 64 * touched {
		var lines []codegen.Reg
		for off := from; off < min(bytes, from+64*touched); off += 64 {
			lines = append(lines, g.S("line"))
			g.Builder.Emit(rdna2.S_LOAD_DWORD_IMM, lines[len(lines)-1], at, off)
		}
		for _, l := range lines { // a register that nothing reads could be the next one's
			g.Builder.Emit(rdna2.S_OR_B32, l, l, 0)
		}
	}
}

// constantSteps adds the products of n texels behind each other, of so many channels in all:
// while some weights are multiplied the next are fetched. Scalar loads return in any order, so
// all are waited for before others begin.
func (g *generator) constantSteps(n, channels int, texel func(t int) codegen.Reg) {
	type piece struct{ texel, unit, n int }
	var pieces []piece
	words, units := g.Elem.Bytes(), 4*g.Block.Z // words of four elements
	per := min(units, maxScalars/words)
	for t := range n {
		for u := 0; u < units; u += per {
			pieces = append(pieces, piece{t, u, min(per, units-u)})
		}
	}
	fetch := func(p piece) []codegen.Reg {
		return g.Scalars(g.weight, (p.texel*units+p.unit)*4*words, p.n*words)
	}
	next := fetch(pieces[0])
	var x codegen.Reg
	for i, p := range pieces {
		if p.unit == 0 {
			x = texel(p.texel)
			g.clear(x, channels-4*p.texel)
		}
		g.WaitScalar()
		now := next
		if i+1 < len(pieces) {
			next = fetch(pieces[i+1])
		} else {
			g.Advance(g.weight, n*units*4*words)
		}
		for u := range p.n {
			g.multiply(g.acc[0][p.unit+u], x, 0, now[u*words:][:words])
		}
	}
}

// multiply adds the products of a texel, from a word of x on, with the words of weights of a unit.
func (g *generator) multiply(acc, x codegen.Reg, from int, w []codegen.Reg) {
	op := rdna2.V_FMAC_F32_E32
	if g.Elem == layout.F16 {
		op = rdna2.V_DOT2C_F32_F16_E32
	}
	for d := range w {
		g.Builder.Emit(op, acc, w[d], rdna.At(x, from+d))
	}
}

// maxOffset is the largest distance of a load from its address.
const maxOffset = 2047

// loadWeights loads the weights of a texel, the words of each unit of the block, and moves behind them.
func (g *generator) loadWeights(units int) (list [][]codegen.Reg) {
	words, per, at := g.Elem.Bytes(), g.ZLanes*g.quadBytes(), 0 // words of four elements
	for range units {
		if at > maxOffset {
			g.Advance(g.weight, at)
			at = 0
		}
		q := g.LoadQuad(g.Elem, g.weight, g.lane, at)
		var w []codegen.Reg
		for d := range words {
			w = append(w, rdna.At(q, d))
		}
		list = append(list, w)
		at += per
	}
	g.Advance(g.weight, at)
	return list
}

// clear makes the channels of a texel zero from the first so many on: they are a neighbour's,
// and what is not a number would not vanish by a weight of zero.
func (g *generator) clear(x codegen.Reg, channels int) {
	if channels >= 4 {
		return
	}
	per := 4 / g.Elem.Bytes() // elements of a word
	for d := range 4 / per {
		switch n := channels - d*per; {
		case n <= 0:
			g.Builder.Emit(rdna2.V_MOV_B32_E32, rdna.At(x, d), 0)
		case n < per:
			g.Builder.Emit(rdna2.V_AND_B32_E32, rdna.At(x, d), uint32(0xffff), rdna.At(x, d))
		}
	}
}

// finish adds biases and stores the block.
func (g *generator) finish() {
	b := &g.Block
	unit := g.Times(g.zBlock, 4*b.Z)
	bias := g.Pointer(layout.Consts, g.bias, "bias")
	biasOff := g.ShiftLeft(unit, 2, "bias offset")
	for z := range b.Z {
		d := g.LoadQuad(layout.F32, bias, biasOff, 16*z)
		for u := range 4 {
			for i := range g.acc {
				x := g.AddF(g.acc[i][4*z+u], rdna.At(d, u))
				g.acc[i][4*z+u] = g.Clamp(x, g.Lo, g.Hi)
			}
		}
	}
	g.store(unit)
}

// store computes the tail of the lane's block and writes it, quad by quad; units beyond the last are not there.
func (g *generator) store(unit codegen.Reg) {
	b, e := &g.Block, g.Out.Elem
	es := e.Bytes()
	unitOff := g.ShiftLeft(unit, e.Shift(), "unit offset")
	var places []codegen.Reg
	if g.spot.Valid() {
		places = append(places, g.Sum(g.Times(g.spot, g.OutC*es), unitOff))
	}
	for _, y := range g.ys {
		line := g.Times(g.Sum(g.image, y), g.Window.OutW)
		for _, x := range g.xs {
			places = append(places, g.Sum(g.Times(g.Sum(line, x), g.OutC*es), unitOff))
		}
	}
	out := g.Pointer(layout.Arena, g.Out.Off, "out")
	tail := func(i, u, n int) []codegen.Reg {
		return g.Tail.Emit(g.Builder, g.acc[i][u:u+n], elementwise.Place{
			Element: func() codegen.Reg {
				return g.Sum(g.Op2(rdna2.V_LSHRREV_B32_E32, g.V("element"), e.Shift(), places[i]), u)
			},
			Channel: func(int) codegen.Reg { return g.Sum(unit, u) },
		})
	}
	if g.wholeStores() {
		g.storeWhole(tail)
		return
	}
	units := func() {
		for z := range b.Z {
			left := g.Less(g.OutC-4*z, unit)
			if g.OutC%4 == 0 {
				g.Masked(g.Where(rdna2.V_CMP_LT_I32_E64, 0, left), func() {
					for i := range g.acc {
						g.StoreFour(e, out, g.Sum(places[i], 4*z*es), tail(i, 4*z, 4))
					}
				})
				continue
			}
			for u := range 4 {
				g.Masked(g.Where(rdna2.V_CMP_LT_I32_E64, u, left), func() {
					for i := range g.acc {
						g.Store(e, out, places[i], g.Narrow(e, tail(i, 4*z+u, 1)[0]), (4*z+u)*es)
					}
				})
			}
		}
	}
	if g.blockLoads() && g.positionBlocks()%g.perWave() != 0 { // lanes beyond the last position have no part of a block
		g.Masked(g.Where(rdna2.V_CMP_GT_U32_E64, g.positionBlocks(), g.Sum(g.first, g.item)), units)
		return
	}
	units()
}
