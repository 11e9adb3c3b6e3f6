package texel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
)

// A lane of a depthwise convolution of 3 x 3 can compute four positions, as the library's does: the patch of 4 x 4 texels
// that they read together has 16, where four lanes load 36, and weights are loaded once.

// patch is its block, patchSide the texels of a line.
var patch = Block{2, 2, 1}

const patchSide = 4

// patches reports whether a convolution has this form.
func (s *Shape) patches() bool {
	w := &s.Window
	return s.Depthwise && w.KH == 3 && w.KW == 3 && w.StrideH*w.StrideW*w.DilationH*w.DilationW == 1 && w.OutH >= patch.Y && w.OutW >= patch.X
}

// patched reports whether a convolution uses this form: where positions are no whole lines, nor parts of one. Others read
// each line once from L2 either way, and of their measured times this form takes half (D-2205).
func (s *Shape) patched(m *kernel.Machine) bool {
	bytes := s.InC * s.Elem.Bytes()
	return s.patches() && bytes%m.Line != 0 && m.Line%bytes != 0
}

// patchLoop adds the products of all taps, a line of the patch at a time.
func (g *generator) patchLoop() {
	w := &g.Window
	var weights []codegen.Reg
	for range g.taps() {
		weights = append(weights, g.LoadQuad(g.Elem, g.weight, g.lane, 0))
		g.Advance(g.weight, g.ZLanes*g.quadBytes())
	}
	var columns, inside []codegen.Reg
	for j := range patchSide {
		columns = append(columns, g.Sum(g.cols[0], j*g.pixel))
		if g.edges {
			inside = append(inside, g.Inside(g.Sum(g.Less(g.xs[0], w.Left), j), w.W))
		}
	}
	for line := range patchSide {
		row := g.Sum(g.rows[0], line*w.W*g.pixel)
		var x []codegen.Reg
		for j, column := range columns {
			at := g.Sum(row, column)
			if g.edges {
				here := g.Inside(g.Sum(g.Less(g.ys[0], w.Top), line), w.H)
				at = g.Choose(g.Constant(g.page), at, g.Both(inside[j], here))
			}
			x = append(x, g.LoadQuad(g.Elem, g.Base(layout.Arena), at, 0))
		}
		for y := range patch.Y {
			ky := line - y
			for i := 0; i < patch.X*w.KW && ky >= 0 && ky < w.KH; i++ {
				px, kx := i/w.KW, i%w.KW
				g.weigh(g.acc[y*patch.X+px], x[px+kx], weights[ky*w.KW+kx])
			}
		}
	}
}
