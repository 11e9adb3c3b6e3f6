package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// gather writes the inputs of a convolution as a matrix of one row per output
// position, [taps][channels], padded with zeros to whole chunks, longer rows to whole cache lines. A wave writes
// up to gatherRows rows of 32 elements: lanes are elements of a row, what an
// element adds to a row's coordinates and address comes from a table.
type gather struct {
	window   opspec.Window
	batches  int
	channels int
	width    int // elements per row of the matrix
	in, out  *tensor
}

const gatherRows = 8

// gather makes g a dense matrix product behind a gather.
func (l *lowering) gather(g *gemm, w opspec.Window, batches int) {
	k := g.taps * g.depth
	per := perChunk(g.elem)
	if k > 4*per {
		per *= 4 // whole cache lines
	}
	width := (k + per - 1) / per * per
	g.in = l.inArena(g.in)
	h := &gather{window: w, batches: batches, channels: g.depth, width: width, in: g.in}
	h.out = l.temporary(g.elem, g.rows*width)
	l.needZero(guard)
	l.add([]*tensor{h.in}, []*tensor{h.out}, h.emit)
	padded := make([]float32, g.units*width)
	for u := range g.units {
		copy(padded[u*width:], g.weights[u*k:(u+1)*k])
	}
	g.weights, g.in, g.taps, g.depth = padded, h.out, 1, width
}

// outside is a row distance no tensor has: its lanes read zeros.
const outside = 0x7fff

// table has {y distance | x distance << 16, byte distance} per element.
func (h *gather) table(c *constants) uint32 {
	w := &h.window
	es := h.in.elem.bytes()
	var t []uint32
	for ky := range w.KH {
		for kx := range w.KW {
			for ch := range h.channels {
				y, x := ky*w.DilationH, kx*w.DilationW
				t = append(t, uint32(y|x<<16), uint32(((y*w.W+x)*h.channels+ch)*es))
			}
		}
	}
	for len(t) < 2*((h.width+31)/32*32) {
		t = append(t, outside, 0)
	}
	return c.words(t)
}

// gatherFits reports what makes the matrix of a gather too large, whether or not
// there will be one.
func gatherFits(g *gemm, w *opspec.Window) error {
	const limit = maxRegion / 8 // elements
	if g.rows > limit/g.taps/(g.depth+2*perChunk(g.elem)*4) {
		return fmt.Errorf("%d positions of %d taps and %d channels are too many", g.rows, g.taps, g.depth)
	}
	if w.KH*w.DilationH >= outside || w.KW*w.DilationW >= outside || w.H >= outside || w.W >= outside {
		return fmt.Errorf("filter of %dx%d on an image of %dx%d is too large", w.KH, w.KW, w.H, w.W)
	}
	return nil
}

func (h *gather) emit(l *lowering) (*launch, error) {
	w := &h.window
	a := l.newAsm("gather")
	es := h.in.elem.bytes()
	rows := h.batches * w.OutH * w.OutW
	k := a.lane(32)
	entry := a.Reg(rdna2.V2, "entry")
	a.Emit(rdna2.GLOBAL_LOAD_DWORDX2_SADDR, entry, a.pointer(consts, h.table(&l.consts), "table"), a.shiftLeft(k, 3, "entry offset"), 0)
	dy := a.op2(rdna2.V_AND_B32_E32, a.v("dy"), uint32(0xffff), at(entry, 0))
	dx := a.op2(rdna2.V_LSHRREV_B32_E32, a.v("dx"), 16, at(entry, 0))
	if h.width%32 != 0 {
		a.Emit(rdna2.V_CMPX_GT_U32_E32, h.width, k)
	}
	kOff := a.shiftLeft(k, h.in.elem.shift(), "column offset")
	out := a.pointer(arena, h.out.off, "out")
	first := a.mulConst(a.Workgroup(1), gatherRows, "first row")
	n := min(gatherRows, rows)
	for i := range n {
		row := a.s("row")
		a.Emit(rdna2.S_ADD_U32, row, first, i)
		a.Emit(rdna2.S_MIN_U32, row, row, rows-1)
		b, rest := a.divConst(row, w.OutH*w.OutW, "batch")
		oy, ox := a.divConst(rest, w.OutW, "oy")
		y0, x0 := a.corner(oy, w.StrideH, w.Top, "y"), a.corner(ox, w.StrideW, w.Left, "x")
		// ((b*H + y0)*W + x0) * channels * es + offset, modulo 2^32.
		p := a.op2(rdna2.S_ADD_U32, a.s("place"), a.mulConst(b, w.H, "image"), y0)
		p = a.op2(rdna2.S_ADD_U32, a.s("place"), a.mulConst(p, w.W, "line"), x0)
		p = a.op2(rdna2.S_ADD_U32, a.s("place"), a.mulConst(p, h.channels*es, "bytes"), h.in.off)
		y := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("y"), y0, dy)
		x := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("x"), x0, dx)
		my, mx := a.s("y inside"), a.s("x inside")
		a.Emit(rdna2.V_CMP_GT_U32_E64, my, w.H, y)
		a.Emit(rdna2.V_CMP_GT_U32_E64, mx, w.W, x)
		a.Emit(rdna2.S_AND_B32, my, my, mx)
		off := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("offset"), p, at(entry, 1))
		off = a.op3(rdna2.V_CNDMASK_B32_E64, a.v("offset"), 0, off, my)
		v := a.load(h.in.elem, a.base(h.in.region), off, 0, "element")
		dst := a.op2(rdna2.V_ADD_NC_U32_E32, a.v("place in row"), a.mulConst(row, h.width*es, "row offset"), kOff)
		a.store(h.in.elem, out, dst, v, 0)
	}
	return a.finish((h.width+31)/32*32, (rows+gatherRows-1)/gatherRows, 1, 32)
}

// corner is o*stride - pad.
func (a *asm) corner(o codegen.Reg, stride, pad int, name string) codegen.Reg {
	d := a.mulConst(o, stride, name)
	if pad == 0 {
		return d
	}
	return a.op2(rdna2.S_SUB_I32, a.s(name), d, pad)
}
