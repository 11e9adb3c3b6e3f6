package conv

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Products by the Z window: one vrmpyz multiplies a vector of weights, 32 channels by 4 inputs, by a word of each of four
// positions, so a packet makes 512 products where two vrmpy make 256. It uses all pipes: nothing else of the kernel can
// share its packet but the load of its weights, from VTCM, and that of the window.
//
// A vector of the window has 32 bytes of each position:
//
//	byte 32p+i of vector v is input byte 32v+i of position p
//
// so each thread first transposes the inputs of a block by blocks of 32 bytes into memory of its own (fillWindow), which
// all chunks of output channels then read.

// WindowPositions is how many positions the window holds, which are a block.
const WindowPositions = 4

// WindowWords is how many words of a position a vector of the window holds: runs are multiples of them.
const WindowWords = hvx.VectorBytes / WindowPositions / 4

// windowStart is the address of a product at which it begins with the first byte of the window.
const windowStart = 100

// windowVectors is how many vectors of the window the inputs of a block are.
func (c *GEMM) windowVectors() int { return c.Runs * c.Words / WindowWords }

// WindowBytes is the memory of a thread for them, and for what is loaded and stored behind them: whole windows.
func (c *GEMM) WindowBytes() int {
	return hvx.RoundUp((c.windowVectors()+WindowPositions)*hvx.VectorBytes, 2*hvx.VectorBytes)
}

// windowAccumulators makes the accumulators of a chunk, four positions of a group side by side.
func (e *convCode) windowAccumulators(b *convChunk) {
	for j := range b.groups {
		b.quads = append(b.quads, e.a.VVVV(fmt.Sprintf("acc%d", j)))
	}
	for p := range e.Positions {
		var acc []codegen.Reg
		for _, q := range b.quads {
			acc = append(acc, q.Sub(hvx.ClassV, p))
		}
		b.acc = append(b.acc, acc)
	}
}

// windowUnrolled bounds the vectors of a position that fillWindow transposes without a loop, among other instructions.
const windowUnrolled = 8

// fillWindow transposes the inputs of the block whose table entry is at offset from; nothing for other kernels.
func (e *convCode) fillWindow(from int) {
	if !e.Window {
		return
	}
	a := e.a
	in := make([]codegen.Reg, e.Positions)
	for p := range in {
		in[p] = a.R("in")
		a.Op(hexagon.L2_loadri_io, in[p], e.table, from+4*p).Loads(hvx.AliasConst)
	}
	to := a.CopyOf(e.window)
	half, quarter := a.Imm8(hvx.VectorBytes/2), a.Imm8(hvx.VectorBytes/4)
	part := func(n int) {
		e.transpose(in, to, n, half, quarter)
		for _, r := range in {
			a.Bump(r, hvx.VectorBytes)
		}
		a.Bump(to, n*hvx.VectorBytes)
	}
	vectors := e.Words / WindowWords
	full, rest := vectors/WindowPositions, vectors%WindowPositions
	unrolled := e.Runs*(full+1) <= windowUnrolled
	e.eachRun(in, !unrolled, func() {
		if unrolled {
			for range full {
				part(WindowPositions)
			}
		} else if full > 0 {
			a.Loop0(full, func() { part(WindowPositions) })
		}
		if rest > 0 {
			part(rest)
		}
	})
}

// transpose stores the first n of four vectors of the window, of a vector of each position. half and quarter exchange the
// halves and the quarters of two vectors.
func (e *convCode) transpose(in []codegen.Reg, to codegen.Reg, n int, half, quarter codegen.Reg) {
	a := e.a
	var v [WindowPositions]codegen.Reg
	for p, r := range in {
		if e.Aligned {
			v[p] = a.Load(r, 0, hvx.AliasIn, "position")
		} else {
			v[p] = a.LoadUnaligned(r, 0, hvx.AliasIn, "position")
		}
	}
	exchange := func(x, y, by codegen.Reg) codegen.Reg {
		d := a.VV("blocks")
		a.Op(hexagon.V6_vshuffvdd, d, y, x, by)
		return d
	}
	// Blocks a0 to a3, b0 to b3, ..: x is a0 b0 a2 b2, a1 b1 a3 b3.
	x, y := exchange(v[0], v[1], quarter), exchange(v[2], v[3], quarter)
	even := exchange(hvx.Lo(x), hvx.Lo(y), half)
	list := [WindowPositions]codegen.Reg{0: hvx.Lo(even), 2: hvx.Hi(even)}
	if n > 1 {
		odd := exchange(hvx.Hi(x), hvx.Hi(y), half)
		list[1], list[3] = hvx.Lo(odd), hvx.Hi(odd)
	}
	for i, r := range list[:n] {
		a.Store(to, i*hvx.VectorBytes, r, hvx.AliasScratch)
	}
}

// windowProducts adds the products of the block's inputs and the chunk's weights. While a vector of the window is
// multiplied the next one is loaded into the other half.
func (e *convCode) windowProducts(b *convChunk, w codegen.Reg) {
	a := e.a
	const reach = 8 // vectors on both sides of an address that loads can name
	z, at := a.CopyOf(e.window), a.R8("at")
	a.Op(hexagon.A2_addi, at, e.window, windowStart) // the half of the first vector is that of its address
	load := func() *codegen.Instr { return a.Op(hexagon.V6_zLd_pi, z, 1).Loads(hvx.AliasScratch) }
	if first := load(); e.windowVectors() == 1 { // its products are no other block of code
		first.With(codegen.Fence)
	}
	a.Bump(w, reach*hvx.VectorBytes)
	a.Loop0(e.windowVectors(), func() {
		load()
		next, off := a.Add(at, hvx.VectorBytes), -reach
		for k := range WindowWords {
			for j, acc := range b.quads {
				op := hexagon.V6_vrmpyzbub_rt_acc
				if k+1 < WindowWords && j+1 == b.groups {
					op = hexagon.V6_vrmpyzbub_rx_acc // and on to the next word
				}
				a.OpLoading(hvx.AliasConst, 1, w, off, op, acc, a.V("w"), at)
				if off++; off == reach {
					a.Bump(w, 2*reach*hvx.VectorBytes)
					off = -reach
				}
			}
		}
		a.Bump(w, (off+reach)*hvx.VectorBytes)
		a.Move(at, next)
	})
}
