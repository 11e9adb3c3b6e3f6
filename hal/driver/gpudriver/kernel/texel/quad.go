package texel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// A line of a texture holds a texel of neighbouring positions, which the lanes of a wave read at once; a line of a dense
// tensor holds the texels of one position, which a lane reads one after the other, and L2 supplies again for each. Four
// lanes that are neighbouring blocks of positions can load the four pieces of a line of each of them at once, and
// exchange the pieces: each line comes once.

// pieces is into how many a line is divided, one for each lane of a quad; pieceBytes what a lane loads at once.
const (
	pieces     = 4
	pieceBytes = 16
)

// exchanges are the vector instructions that exchange the pieces of a line: for each of two bits of the lanes' numbers
// 16 selections.
const exchanges = 32

// quadChoices are whether quads of lanes load lines together: without a window by cycles, and with one where L2 does not
// hold the lines of all waves that the registers hold, two per position since waves are not in step: each texel would come
// from memory again (D-1950).
func (s *Shape) quadChoices(m *kernel.Machine) []bool {
	switch {
	case s.Block.X*s.Block.Y < 4 || s.Tile.Across < pieces || s.channels()*s.Elem.Bytes() < pieces*pieceBytes:
		return []bool{false}
	case s.taps() == 1:
		return []bool{false, true}
	}
	lanes := s.Tile.lanes()
	groups := m.CUs * m.SIMDs * (m.Rows / windowRegisters) * 32 / lanes
	blocks := min(groups*s.Tile.X*s.Tile.Y, s.positionBlocks())
	return []bool{2*blocks*s.Block.X*s.Block.Y*m.Line > m.L2Bytes}
}

// quadLoop adds the products of whole lines of channels, moves in behind them, and returns how many texels they have.
func (g *generator) quadLoop(in codegen.Reg) (texels int) {
	g.F.Limit(rdna2.V4, windowRegisters) // another wave needs the rest
	piece := g.ShiftLeft(g.Op2(rdna2.V_AND_B32_E32, g.V("lane of the quad"), pieces-1, g.WorkItem(0)), 4, "piece")
	var from [][pieces]codegen.Reg
	for _, at := range g.position {
		var of [pieces]codegen.Reg
		for lane := range of {
			x := g.V("position of a lane")
			quad(0x55*lane, g.Builder.Emit(rdna2.V_MOV_B32_DPP, x, at))
			of[lane] = g.Sum(x, piece)
		}
		from = append(from, of)
	}
	n := g.channels() * g.Elem.Bytes() / (pieces * pieceBytes)
	g.Loop(n, "line", func() {
		lines := make([][pieces]codegen.Reg, len(from))
		for i, of := range from {
			for lane, at := range of {
				lines[i][lane] = g.LoadQuad(layout.F32, in, at, 0)
			}
		}
		for i := range lines {
			g.exchange(&lines[i])
		}
		for p := range pieces {
			var x []codegen.Reg
			for i := range lines {
				x = append(x, lines[i][p])
			}
			for place := range pieceBytes / g.quadBytes() {
				g.step(x, place, 4)
			}
		}
		g.Advance(in, pieces*pieceBytes)
	})
	return n * pieces * pieceBytes / g.quadBytes()
}

// quad makes lanes of an instruction read from lanes of their quad, two bits for each.
func quad(lanes int, in *codegen.Instr) {
	rdna2.Mods{DPPCtrl: uint16(lanes), Rows: 15, Banks: 15, Bound: true}.With(in)
}

// exchange transposes the pieces that a quad has loaded, [line of a lane][lane that has the piece], so that each lane has
// its own line: it swaps them between lanes whose numbers differ in one bit, then in the other.
func (g *generator) exchange(x *[pieces]codegen.Reg) {
	for _, swap := range []struct {
		bit, from int
		low       uint32 // the lanes without the bit
	}{{1, 0xb1, 0x55555555}, {2, 0x4e, 0x33333333}} {
		before := *x
		for i := range x {
			if i&swap.bit == 0 {
				x[i] = g.Reg(rdna2.V4, "piece")
			}
		}
		for _, high := range []int{0, swap.bit} {
			keep := swap.low
			if high != 0 {
				keep = ^keep
			}
			g.Builder.Emit(rdna2.S_MOV_B32, rdna2.VCCReg(), keep)
			for i, own := range before {
				other := before[i^swap.bit]
				for d := 0; d < 4 && i&swap.bit == high; d++ {
					quad(swap.from, g.Builder.Emit(rdna2.V_CNDMASK_B32_DPP, rdna.At(x[i], d), rdna.At(other, d), rdna.At(own, d)))
				}
			}
		}
	}
}
