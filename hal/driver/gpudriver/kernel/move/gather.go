package move

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Gather writes the inputs of a convolution as a matrix of one row per output
// position, [taps][channels], padded to Width. A wave writes up to
// gatherRows rows of 32 elements: lanes are elements of a row, and a table has the offset of
// each element from a row's coordinates and address.
type Gather struct {
	Window   opspec.Window
	Batches  int
	Channels int
	Width    int    // elements per row of the matrix
	Padding  uint32 // word that stands for elements outside the image
	In, Out  *layout.Tensor

	tableOffset, outside uint32 // offsets of the table, and of what is read in place of padding
}

const gatherRows = 8

// Pack implements kernel.Packer.
func (h *Gather) Pack(m *kernel.Memory) kernel.Kernel {
	p := *h
	p.tableOffset, p.outside = h.table(&m.Consts), m.Pages.At(h.Padding)
	return &p
}

// Outside is a row distance no tensor has: its lanes read padding.
const Outside = 0x7fff

// table has {y distance | x distance << 16, byte distance} per element.
func (h *Gather) table(c *layout.Constants) uint32 {
	w := &h.Window
	es := h.In.Elem.Bytes()
	var t []uint32
	for ky := range w.KH {
		for kx := range w.KW {
			for ch := range h.Channels {
				y, x := ky*w.DilationH, kx*w.DilationW
				t = append(t, uint32(y|x<<16), uint32(((y*w.W+x)*h.Channels+ch)*es))
			}
		}
	}
	for len(t) < 2*((h.Width+31)/32*32) {
		t = append(t, Outside, 0)
	}
	return c.Words(t)
}

// Emit implements kernel.Kernel.
func (h *Gather) Emit(a *rdna.Builder) kernel.Grid {
	w := &h.Window
	es := h.In.Elem.Bytes()
	rows := h.Batches * w.OutH * w.OutW
	k := a.Lane(32)
	entry := a.Reg(rdna2.V2, "entry")
	a.Emit(rdna2.GLOBAL_LOAD_DWORDX2_SADDR, entry, a.Pointer(layout.Consts, h.tableOffset, "table"), a.ShiftLeft(k, 3, "entry offset"), 0)
	dy := a.Op2(rdna2.V_AND_B32_E32, a.V("dy"), uint32(0xffff), rdna.At(entry, 0))
	dx := a.Op2(rdna2.V_LSHRREV_B32_E32, a.V("dx"), 16, rdna.At(entry, 0))
	if h.Width%32 != 0 {
		a.Emit(rdna2.V_CMPX_GT_U32_E32, h.Width, k)
	}
	kOff := a.ShiftLeft(k, h.In.Elem.Shift(), "column offset")
	out := a.Pointer(layout.Arena, h.Out.Off, "out")
	first := a.MulConst(a.Workgroup(1), gatherRows, "first row")
	outside := a.Constant(h.outside)
	n := min(gatherRows, rows)
	for i := range n {
		row := a.S("row")
		a.Emit(rdna2.S_ADD_U32, row, first, i)
		a.Emit(rdna2.S_MIN_U32, row, row, rows-1)
		b, rest := a.DivConst(row, w.OutH*w.OutW, "batch")
		oy, ox := a.DivConst(rest, w.OutW, "oy")
		y0, x0 := a.Corner(oy, w.StrideH, w.Top, "y"), a.Corner(ox, w.StrideW, w.Left, "x")
		// ((b*H + y0)*W + x0) * channels * es + offset, modulo 2^32.
		p := a.Op2(rdna2.S_ADD_U32, a.S("place"), a.MulConst(b, w.H, "image"), y0)
		p = a.Op2(rdna2.S_ADD_U32, a.S("place"), a.MulConst(p, w.W, "line"), x0)
		p = a.Op2(rdna2.S_ADD_U32, a.S("place"), a.MulConst(p, h.Channels*es, "bytes"), h.In.Off)
		y := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("y"), y0, dy)
		x := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("x"), x0, dx)
		inside := a.Both(a.Inside(y, w.H), a.Inside(x, w.W))
		off := a.Choose(outside, a.Sum(p, rdna.At(entry, 1)), inside)
		v := a.Load(h.In.Elem, a.Base(h.In.Region), off, 0, "element")
		dst := a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("place in row"), a.MulConst(row, h.Width*es, "row offset"), kOff)
		a.Store(h.In.Elem, out, dst, v, 0)
	}
	return kernel.Grid{Name: "gather", Lanes: [3]int{(h.Width + 31) / 32 * 32, (rows + gatherRows - 1) / gatherRows, 1}, Workgroup: 32}
}
