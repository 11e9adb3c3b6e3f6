package texel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Tensors are dense, so that a lane that reads or computes all channels of a position would move a few bytes of a line
// at a time, and its neighbours those of other lines. Where weights are constants, lanes are positions behind each
// other, and a wave's inputs and outputs are blocks of memory: four lanes load or store neighbouring pieces of 16 bytes,
// and exchange them, so that each line is moved once. Three pieces of each position:
//
//	         lane 0  1   2   3
//	move 0   0.0 0.1 0.2 1.0    piece 0 of lane 0, piece 1 of lane 0, ...
//	move 1   1.1 1.2 2.0 2.1
//	move 2   2.2 3.0 3.1 3.2

// maxPieces are the pieces of a position's input that are loaded at once: a line.
const maxPieces = 4

// wholeLoads reports whether lanes load inputs together.
func (s *Shape) wholeLoads() bool {
	return s.Constants && s.pointwise() && s.Window.StrideH == 1 && s.Window.StrideW == 1
}

// wholeStores reports whether lanes store outputs together: those of a position are whole pieces.
func (k *Kernel) wholeStores() bool {
	return k.Constants && k.OutC%4 == 0 && k.OutC*k.Out.Elem.Bytes()%pieceBytes == 0
}

// linePieces are the pieces that are loaded at once, and lines how often all of a line are.
func (s *Shape) linePieces() (n, lines int) {
	bytes := s.InC * s.Elem.Bytes()
	if n = bytes / pieceBytes; n >= maxPieces {
		return maxPieces, n / maxPieces
	}
	return max(n, 1), min(n, 1)
}

// wholeLoop adds the products of all texels, a line of each position at a time.
func (g *generator) wholeLoop() {
	in := g.Reg(rdna2.S2, "line")
	g.CopyPair(in, g.Base(layout.Arena))
	per := pieceBytes / g.Elem.Bytes() // channels of a piece
	line := func(n, channels int, from []codegen.Reg) {
		var x, texels []codegen.Reg
		for _, at := range from {
			x = append(x, g.LoadQuad(layout.F32, in, at, 0))
		}
		for _, d := range g.permute(x, func(lane, piece int) (int, int) { return (n*lane + piece) % pieces, (n*lane + piece) / pieces }) {
			for at := 0; at < pieceBytes/4; at += g.quadBytes() / 4 {
				texels = append(texels, d.Sub(texelClass[g.Elem], at))
			}
		}
		g.constantSteps(texels[:min(len(texels), (channels+3)/4)], channels)
	}
	n, lines := g.linePieces()
	if lines > 0 {
		from := g.linePlaces(n)
		g.Loop(lines, "line", func() {
			line(n, n*per, from)
			g.Advance(in, n*pieceBytes)
		})
	}
	if rest := g.InC - lines*n*per; rest > 0 {
		n := (rest + per - 1) / per
		line(n, rest, g.linePlaces(n))
	}
}

// texelClass is the registers of a texel.
var texelClass = map[layout.Element]codegen.Class{layout.F32: rdna2.V4, layout.F16: rdna2.V2}

// linePlaces are the places of what a lane loads of n pieces of each position, from the arena's first byte on. Positions
// beyond the last are the last.
func (g *generator) linePlaces(n int) (from []codegen.Reg) {
	lane := g.Op2(rdna2.V_AND_B32_E32, g.V("lane of the quad"), pieces-1, g.item)
	first := g.Sum(g.first, g.Less(g.item, lane))
	for j := range n {
		position, piece := g.DivConstV(g.Sum(lane, pieces*j), n, "position of the quad")
		p := g.Least(g.Sum(first, position), g.positionBlocks()-1)
		from = append(from, g.Sum(g.Sum(g.Times(p, g.pixel), g.In.Off), g.ShiftLeft(piece, 4, "piece")))
	}
	return from
}

// storeWhole writes the units of the lane's position, and of three others, piece by piece.
func (g *generator) storeWhole(tail func(i, u, n int) []codegen.Reg) {
	e := g.Out.Elem
	bytes, units := g.OutC*e.Bytes(), pieceBytes/e.Bytes()
	n := bytes / pieceBytes
	var own []codegen.Reg
	for p := range n {
		d := g.Reg(rdna2.V4, "piece")
		for u := 0; u < units; u += 4 {
			g.PackFour(e, d, u*e.Bytes()/4, tail(0, p*units+u, 4))
		}
		own = append(own, d)
	}
	quad := g.Op2(rdna2.V_LSHRREV_B32_E32, g.V("quad"), 2, g.item)
	lane := g.Op2(rdna2.V_AND_B32_E32, g.V("lane of the quad"), pieces-1, g.item)
	place := g.Sum(g.Sum(g.MulConst(g.first, bytes, "first position"), g.Times(quad, pieces*bytes)), g.ShiftLeft(lane, 4, "piece"))
	out := g.Pointer(layout.Arena, g.Out.Off, "out")
	for j, d := range g.permute(own, func(lane, store int) (int, int) { return (pieces*store + lane) / n, (pieces*store + lane) % n }) {
		at := g.Sum(place, j*pieces*pieceBytes)
		if g.positionBlocks()%32 == 0 {
			g.StoreQuad(layout.F32, out, at, d)
			continue
		}
		g.Masked(g.Where(rdna2.V_CMP_GT_U32_E64, g.positionBlocks()*bytes, at), func() { g.StoreQuad(layout.F32, out, at, d) })
	}
}

// permute exchanges pieces between the lanes of quads: piece i of a lane is what from names, a piece of a lane.
func (g *generator) permute(x []codegen.Reg, from func(lane, i int) (source, piece int)) (list []codegen.Reg) {
	if len(x) == 1 {
		return x
	}
	for i := range x {
		lanes, takers := make([]int, len(x)), make([]uint32, len(x)) // per piece: sources, two bits for each lane, and who takes it, of all quads
		for lane := range pieces {
			source, piece := from(lane, i)
			lanes[piece] |= source << (2 * lane)
			takers[piece] |= 0x11111111 << lane
		}
		d, first := g.Reg(rdna2.V4, "pieces"), true
		for piece, own := range x {
			if takers[piece] == 0 {
				continue
			}
			if !first {
				g.Builder.Emit(rdna2.S_MOV_B32, rdna2.VCCReg(), ^takers[piece])
			}
			for w := range 4 {
				if first {
					quad(lanes[piece], g.Builder.Emit(rdna2.V_MOV_B32_DPP, rdna.At(d, w), rdna.At(own, w)))
				} else {
					quad(lanes[piece], g.Builder.Emit(rdna2.V_CNDMASK_B32_DPP, rdna.At(d, w), rdna.At(own, w), rdna.At(d, w)))
				}
			}
			first = false
		}
		list = append(list, d)
	}
	return list
}
