package texel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Tensors are dense, so that lanes that are neighbouring positions read far from
// each other, a few bytes of a line at a time. Where weights are constants and lanes are
// positions in a row, a wave's share of the input is one block of memory: it goes through
// local memory, a line of each position at a time, and every line is read once.

// maxStage are the bytes of a position that are staged at once: with half a cache line a cluster of
// a Pixel 4's size holds two waves of each SIMD, with a whole one only one.
const maxStage = 32

// line is what is staged of a position's input at once, less where there is less.
func (s *Shape) line() int {
	bytes := 16
	for bytes < maxStage && bytes < s.InC*s.Elem.Bytes() {
		bytes *= 2
	}
	return bytes
}

// pointwise reports whether each output position reads one input position that is there.
func (s *Shape) pointwise() bool { return s.taps() == 1 && !s.Window.Padded() }

// staged reports whether inputs go through local memory.
func (s *Shape) staged() bool {
	return s.Constants && s.pointwise() && s.Window.StrideH == 1 && s.Window.StrideW == 1
}

// quadBytes are the bytes of four elements.
func (s *Shape) quadBytes() int { return 4 * s.Elem.Bytes() }

// pitch is the distance of positions in local memory. What is behind a position spreads the reads of
// neighbouring lanes over the banks.
func (s *Shape) pitch() int { return s.line() + 16 }

// stageBytes are the local memory of a wave.
func (s *Shape) stageBytes() int { return 32 * s.pitch() }

// ds are the instructions that read four elements.
var ds = map[layout.Element]struct {
	class codegen.Class
	read  rdna2.Op
}{
	layout.F32: {rdna2.V4, rdna2.DS_READ_B128},
	layout.F16: {rdna2.V2, rdna2.DS_READ_B64},
}

// stagedLoop adds the products of all texels, a line of each position at a time: lanes
// load it in pieces of 16 bytes, and each lane reads the texels of its own position.
func (g *generator) stagedLoop() {
	g.LDSBytes = g.stageBytes() // of the one wave of a work-group
	pieces, pitch := g.line()/16, g.pitch()
	row, column := g.DivConstV(g.item, pieces, "row")
	piece := g.ShiftLeft(column, 4, "piece")
	put := g.Sum(g.Times(row, pitch), piece)
	take := g.Times(g.item, pitch)
	var from []codegen.Reg
	for i := range pieces {
		p := g.Least(g.Sum(g.first, g.Sum(row, i*32/pieces)), g.positionBlocks()-1)
		from = append(from, g.Sum(g.Sum(g.Times(p, g.pixel), g.In.Off), piece))
	}
	in := g.Reg(rdna2.S2, "line")
	g.CopyPair(in, g.Base(layout.Arena))
	move, per := ds[g.Elem], g.line()/g.quadBytes()
	line := func(channels int) {
		var loaded []codegen.Reg
		for _, at := range from {
			loaded = append(loaded, g.LoadQuad(layout.F32, in, at, 0))
		}
		for i, d := range loaded {
			g.Builder.Emit(rdna2.DS_WRITE_B128, put, d, i*32/pieces*pitch)
		}
		var x []codegen.Reg
		for t := range (min(channels, 4*per) + 3) / 4 {
			d := g.Reg(move.class, "four")
			g.Builder.Emit(move.read, d, take, t*g.quadBytes())
			x = append(x, d)
		}
		g.constantSteps(x, channels)
	}
	if n := g.InC / (4 * per); n > 0 {
		g.Loop(n, "line", func() {
			line(4 * per)
			g.Advance(in, g.line())
		})
	}
	if rest := g.InC % (4 * per); rest > 0 {
		line(rest)
	}
}
