package texel

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
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

// maxPieces are the pieces of a position's input that are loaded at once, a line; maxBlock those where the input of the
// positions of a quad is loaded as one block of memory, so that lines of two positions come once.
const (
	maxPieces = 4
	maxBlock  = 12
)

// flat reports whether the positions of input and output are the same.
func (s *Shape) flat() bool { return s.pointwise() && s.Window.StrideH == 1 && s.Window.StrideW == 1 }

// wholeLoads reports whether lanes load inputs together.
func (s *Shape) wholeLoads() bool { return s.Constants && s.pointwise() }

// blockLoads reports whether quads of lanes load the input of their positions as one block of memory.
func (s *Shape) blockLoads() bool {
	bytes := s.InC * s.Elem.Bytes()
	return s.wholeLoads() && s.flat() && bytes%4 == 0 && bytes%(maxPieces*pieceBytes) != 0 && bytes <= maxBlock*pieceBytes
}

// wholeStores reports whether lanes store outputs together: those of a quad, and of the tensor, are whole pieces.
func (k *Kernel) wholeStores() bool {
	bytes := k.OutC * k.Out.Elem.Bytes()
	return k.Constants && bytes%4 == 0 && k.positionBlocks()*bytes%pieceBytes == 0
}

// linePieces are the pieces that are loaded at once, and lines how often all of them are.
func (s *Shape) linePieces() (n, lines int) {
	bytes := s.InC * s.Elem.Bytes()
	switch n = bytes / pieceBytes; {
	case s.blockLoads():
		return kernel.Up(bytes, pieceBytes), 1
	case n >= maxPieces:
		return maxPieces, n / maxPieces
	}
	return max(n, 1), min(n, 1)
}

// wholeLoop adds the products of all texels.
func (g *generator) wholeLoop() {
	in := g.Reg(rdna2.S2, "line")
	g.CopyPair(in, g.Base(layout.Arena))
	n, lines := g.linePieces()
	if g.blockLoads() {
		g.wholeSteps(g.loadBlock(in, n), g.InC*g.Elem.Bytes()/4, g.InC)
		return
	}
	per := pieceBytes / g.Elem.Bytes() // channels of a piece
	line := func(n, channels int, from []codegen.Reg) {
		var x []codegen.Reg
		for _, at := range from {
			x = append(x, dwords(g.LoadQuad(layout.F32, in, at, 0), 4)...)
		}
		g.wholeSteps(x, 4*n, channels)
	}
	if lines > 0 {
		from := g.linePlaces(n)
		g.Loop(lines, "line", func() {
			line(n, n*per, from)
			g.Advance(in, n*pieceBytes)
		})
	}
	if rest := g.InC - lines*n*per; rest > 0 {
		n := kernel.Up(rest, per)
		line(n, rest, g.linePlaces(n))
	}
}

// wholeSteps adds the products of channels whose texels a quad has loaded, so many dwords of each lane behind each other.
func (g *generator) wholeSteps(own []codegen.Reg, per, channels int) {
	words := g.quadBytes() / 4 // of a texel
	var texels []codegen.Reg
	g.constantSteps(kernel.Up(channels, 4), channels, func(t int) codegen.Reg {
		if t == len(texels) { // those of a piece at once
			var d []codegen.Reg
			for range pieceBytes / g.quadBytes() {
				x := g.Reg(texelClass[g.Elem], "texel")
				texels = append(texels, x)
				d = append(d, dwords(x, words)...)
			}
			first := t * words
			d = d[:min(len(d), per-first)]
			g.permute(own, d, func(lane, i int) (int, int) {
				at := per*lane + first + i
				return at / 4 % pieces, at/16*4 + at%4
			})
		}
		return texels[t]
	})
}

// dwords are the first n registers of a tuple.
func dwords(x codegen.Reg, n int) (list []codegen.Reg) {
	for i := range n {
		list = append(list, rdna.At(x, i))
	}
	return list
}

// texelClass is the registers of a texel.
var texelClass = map[layout.Element]codegen.Class{layout.F32: rdna2.V4, layout.F16: rdna2.V2}

// linePlaces are the places of what a lane loads of n pieces of each position of its quad, from the arena's first byte on.
func (g *generator) linePlaces(n int) (from []codegen.Reg) {
	lane := g.laneOfQuad()
	for j := range n {
		at, source := g.V("position of a lane"), 0
		for lane := range pieces {
			source |= (pieces*j + lane) / n << (2 * lane)
		}
		quad(source, g.Builder.Emit(rdna2.V_MOV_B32_DPP, at, g.position[0]))
		piece := lane
		if n < pieces {
			_, piece = g.DivConstV(g.Sum(lane, pieces*j), n, "position of the quad")
		}
		from = append(from, g.Sum(at, g.ShiftLeft(piece, 4, "piece")))
	}
	return from
}

// loadBlock loads the input of the positions of a quad, n pieces of each lane. Pieces beyond the tensor are its last.
func (g *generator) loadBlock(in codegen.Reg, n int) (own []codegen.Reg) {
	at := g.V("position of lane 0")
	quad(0, g.Builder.Emit(rdna2.V_MOV_B32_DPP, at, g.position[0]))
	at = g.Sum(at, g.ShiftLeft(g.laneOfQuad(), 4, "piece"))
	all := g.positionBlocks() * g.pixel
	for j := range n {
		piece := g.Sum(at, j*pieces*pieceBytes)
		if g.positionBlocks()%32 != 0 || n*pieceBytes != g.pixel {
			piece = g.Least(piece, int(g.In.Off)+(all-1)/pieceBytes*pieceBytes)
		}
		own = append(own, dwords(g.LoadQuad(layout.F32, in, piece, 0), 4)...)
	}
	return own
}

// laneOfQuad is the lane's number in its quad.
func (g *generator) laneOfQuad() codegen.Reg {
	return g.Op2(rdna2.V_AND_B32_E32, g.V("lane of the quad"), pieces-1, g.item)
}

// storeWhole writes the units of the positions of a quad, a block of memory, piece by piece.
func (g *generator) storeWhole(tail func(i, u, n int) []codegen.Reg) {
	e := g.Out.Elem
	bytes := g.OutC * e.Bytes()
	var own []codegen.Reg
	for u := 0; u < g.OutC; u += 4 {
		x := g.acc[0][u:][:4:4]
		if u+4 <= g.OutC {
			x = tail(0, u, 4)
		} else { // what follows is not stored
			x = append([]codegen.Reg(nil), x...)
			for i := range g.OutC - u {
				x[i] = tail(0, u+i, 1)[0]
			}
		}
		d := g.Reg(texelClass[e], "units")
		g.PackFour(e, d, 0, x)
		own = append(own, dwords(d, e.Bytes())...)
	}
	per, lane := bytes/4, g.laneOfQuad()
	quad := g.Op2(rdna2.V_LSHRREV_B32_E32, g.V("quad"), 2, g.item)
	place := g.Sum(g.Sum(g.MulConst(g.first, bytes, "first position"), g.Times(quad, pieces*bytes)), g.ShiftLeft(lane, 4, "piece"))
	out := g.Pointer(layout.Arena, g.Out.Off, "out")
	for j := range kernel.Up(per, pieces) {
		d := g.Reg(rdna2.V4, "piece")
		g.permute(own, dwords(d, 4), func(lane, i int) (int, int) {
			at := pieceBytes*j + 4*lane + i
			if at >= pieces*per {
				return -1, 0
			}
			return at / per, at % per
		})
		at := g.Sum(place, j*pieces*pieceBytes)
		var mask codegen.Reg
		if g.positionBlocks()%32 != 0 {
			mask = g.Where(rdna2.V_CMP_GT_U32_E64, g.positionBlocks()*bytes, at)
		}
		if left := per - pieces*j; left < pieces {
			own := g.Inside(lane, left)
			if mask.Valid() {
				own = g.Both(mask, own)
			}
			mask = own
		}
		store := func() { g.StoreQuad(layout.F32, out, at, d) }
		if mask.Valid() {
			g.Masked(mask, store)
		} else {
			store()
		}
	}
}

// permute gives lanes dwords of other lanes of their quad: to[i] of a lane is what from names, a lane and one of own, or a
// lane below 0 where it is nothing.
func (g *generator) permute(own, to []codegen.Reg, from func(lane, i int) (source, dword int)) {
	type take struct {
		dword, lanes int    // sources, two bits for each lane
		takers       uint32 // of all quads
	}
	takes, most := make([][]take, len(to)), 0
	for i := range to {
		for lane := range pieces {
			source, dword := from(lane, i)
			if source < 0 {
				continue
			}
			n := slices.IndexFunc(takes[i], func(t take) bool { return t.dword == dword })
			if n < 0 {
				n = len(takes[i])
				takes[i] = append(takes[i], take{dword: dword})
			}
			takes[i][n].lanes |= source << (2 * lane)
			takes[i][n].takers |= 0x11111111 << lane
		}
		most = max(most, len(takes[i]))
	}
	vcc := uint32(0)
	for n := range most {
		for i, list := range takes {
			switch {
			case n >= len(list):
			case n == 0:
				quad(list[0].lanes, g.Builder.Emit(rdna2.V_MOV_B32_DPP, to[i], own[list[0].dword]))
			default:
				if keep := ^list[n].takers; keep != vcc {
					vcc = keep
					g.Builder.Emit(rdna2.S_MOV_B32, rdna2.VCCReg(), vcc)
				}
				quad(list[n].lanes, g.Builder.Emit(rdna2.V_CNDMASK_B32_DPP, to[i], own[list[n].dword], to[i]))
			}
		}
	}
}
