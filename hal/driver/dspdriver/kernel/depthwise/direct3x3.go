package depthwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A 3x3 depthwise convolution whose vectors hold several positions has a kernel of its
// own. This file holds its loop over output rows, direct3x3_window.go how
// windows are read. The nine taps are two words of four bytes for vrmpy and a single byte:
//
//	first   rows a and b of columns 0 and 1
//	second  rows a and b of column 2, the third row of two columns
//	single  the third row of the remaining column
//
// For example, where the single tap is the last one, the window and the weights, less the weights' zero point,
//
//	1 2 3     1 1 1
//	4 5 6  *  1 2 1   with a bias of 10
//	7 8 9     1 1 1
//
// become, pixels beside their weights,
//
//	first   1 4 2 5 . 1 1 1 2 = 17
//	second  3 6 7 8 . 1 1 1 1 = 24
//	single  9 * 1             =  9
//	output  17 + 24 + 9 + 10  = 60
//
// vrmpy takes signed bytes as weights: a weight of 200 is 127 + 73, and its word is multiplied a second time, by 73 in
// that place and 0 elsewhere. The single tap has no second time, so chooseTaps takes one whose weights are all bytes.
//
// The product of the single tap is 16 bits wide; a widening addition adds it to the
// accumulators together with the 16-bit bias. The loop is software-pipelined: it
// interleaves the next output's bytes, multiplies this output and requantizes the
// previous one at the same time, across the ends of rows. Per-channel requantization
// narrows the accumulators to 16 bits at once, which halves the registers they occupy.

// direct3x3Code is the state of the generator of a 3x3 depthwise kernel.
type direct3x3Code struct {
	*kernelCode
	f         *Taps3x3
	rows      [3]codegen.Reg // where each row of the window is read, ahead bytes behind its first column
	rowOffset [3]int
	ready     quad           // accumulators of the previous output
	out       [2]codegen.Reg // addresses of the previous output and of this one
	const1    []codegen.Reg  // constants in registers
}

// windowBytes are the interleaved bytes of an output's window: rows a and b by column,
// and the third row.
type windowBytes struct {
	column [3]codegen.Reg
	third  codegen.Reg
}

// round is the outputs of a loop iteration: as many as until vectors are in the same registers
// again, or twice as many. Every end of a block costs some packets.
func (d *Kernel) round() int {
	if d.Stride == 1 || d.Rq.PerChannel {
		return 2 * (d.reach() + 1)
	}
	return d.reach() + 1
}

// outputAt is the offset of an output's window from that of output 0, in bytes.
func (d *Kernel) outputAt(output int) int { return output * d.Stride * hvx.VectorBytes }

// loop3x3 writes the loop over the entries of the table, one output row each.
func (e *kernelCode) loop3x3(table, entries, params codegen.Reg) {
	a, d := e.a, e.Kernel
	a.Func.Ordered()
	n := &direct3x3Code{kernelCode: e, f: &d.Direct3x3}
	for r := range n.rows {
		n.rows[r] = a.R("row")
		n.rowOffset[r] = slidingReach
	}
	body := n.newPacked()
	n.ready = newQuad(a, "ready")
	zero := a.Zero()
	for _, r := range n.ready.all() {
		a.Op(hexagon.V6_vassign, r, zero)
	}
	dst, rec := a.Word(table, 1, "out"), a.Word(table, 2, "record")
	for i := range n.out {
		n.out[i] = a.Add(dst, 0)
	}
	e.w = hvx.NewRecord(a, rec, d.Record())
	body.constants()
	n.begin(a.Word(table, 0, "in"))
	body.first()
	round := d.round()
	tail := 2 + (d.Outputs-2)%round
	rounds := (d.Outputs - tail) / round
	a.Loop1(entries, func() {
		if rounds > 0 {
			a.Loop0(rounds, func() {
				body.outputs(round, nil)
				for _, r := range n.rows {
					a.Bump(r, d.outputAt(round))
				}
				a.Op(hexagon.A2_addi, n.out[0], n.out[1], (round-1)*d.outStep())
				a.Bump(n.out[1], round*d.outStep())
			})
		}
		body.outputs(tail, func() codegen.Reg {
			if d.Lookahead > 0 {
				a.Op(hexagon.Y5_l2fetch, a.Add(a.Word(table, 3*d.Lookahead, "ahead"), d.LookaheadOff), hvx.PrefetchBox(a, params))
			}
			a.Bump(table, 12)
			return a.Word(table, 0, "in")
		})
		a.Op(hexagon.A2_addi, n.out[0], n.out[1], (tail-1)*d.outStep())
		a.Op(hexagon.L2_loadri_io, n.out[1], table, 4).Loads(hvx.AliasConst)
		if !n.f.same {
			next := a.Word(table, 2, "record")
			a.SkipIfEqual(next, rec, func() {
				a.Op(hexagon.A2_tfr, rec, next)
				for i, r := range e.w.R {
					a.Op(hexagon.A2_addi, r, rec, (16*i+8)*hvx.VectorBytes)
				}
				body.constants()
			})
		}
	})
	n.requantize(n.ready, n.out[0], 0)
}

// begin points to the rows of an entry.
func (n *direct3x3Code) begin(src codegen.Reg) {
	for r, p := range n.rows {
		n.a.Op(hexagon.A2_addi, p, src, r*n.RowStep+n.rowOffset[r])
	}
}

// constants loads what stays in registers of a record.
func (n *direct3x3Code) constants() {
	for i := range min(n.f.Kept, n.f.vectors()) {
		if i == len(n.const1) {
			n.const1 = append(n.const1, n.a.V("constant"))
		}
		n.w.Load(n.const1[i], n.Kernel.header()+i)
	}
}

// interleave interleaves a vector of row r and one of row s, so many bytes from
// output 0's first column.
func (n *direct3x3Code) interleave(to codegen.Reg, r, s, x, y int) {
	a := n.a
	v, w := a.Load(n.rows[r], x-n.rowOffset[r], hvx.AliasIn, "x"), a.V("y")
	base, off := a.SplitOffset(n.rows[s], y-n.rowOffset[s])
	a.OpLoading(hvx.AliasIn, 1, base, off, hexagon.V6_vshufoeb, to, w, v)
}

// join makes words of two pairs of bytes.
func (n *direct3x3Code) join(low, high codegen.Reg) quad {
	n.a.SetPhase(hvx.PhaseProducts)
	to := newQuad(n.a, "words")
	for k := range to {
		n.joinPart(to[k], low, high, k)
	}
	return to
}

func (n *direct3x3Code) joinPart(to, low, high codegen.Reg, k int) {
	n.a.Op(hexagon.V6_vshufoeh, to, hvx.Half(high, k), hvx.Half(low, k))
}

// constant emits an instruction that reads constant i last.
func (n *direct3x3Code) constant(i int, op hexagon.Op, to, x codegen.Reg) {
	a := n.a
	if i < len(n.const1) {
		a.Op(op, to, x, n.const1[i])
		return
	}
	base, off := n.w.At(n.Kernel.header() + i)
	a.OpLoading(hvx.AliasConst, 2, base, off, op, to, x, a.V("constant"))
}

// products makes an output of its words, the second of which may still be bytes, and
// the products of its single tap.
func (n *direct3x3Code) products(first, second quad, x windowBytes, ready quad, multiply func(to codegen.Reg)) {
	a, f := n.a, n.f
	single := a.VV("single")
	for k := range ready {
		a.SetPhase(hvx.PhaseProducts)
		if !second[k].Valid() {
			second[k] = a.VV("words")
			n.joinPart(second[k], x.column[2], x.third, k)
		}
		sum, t := a.VV("sum"), a.VV("products")
		if !n.narrowed() {
			sum = ready[k]
		}
		words := [2]codegen.Reg{first[k], second[k]}
		op := [2]hexagon.Op{hexagon.V6_vrmpybusv, hexagon.V6_vrmpybusv}
		if k == 1 { // adding uses as many pipes either way, but others
			op[1], t = hexagon.V6_vrmpybusv_acc, sum
		}
		for w, to := range [2]codegen.Reg{sum, t} {
			for j := range 2 {
				n.constant(f.weight(w, 0, 2*k+j), op[w], hvx.Half(to, j), hvx.Half(words[w], j))
			}
		}
		if k == 0 {
			multiply(single)
		}
		if t != sum {
			a.Op(hexagon.V6_vaddw_dv, sum, sum, t)
		}
		for w := range f.Parts {
			for j := range 2 {
				for part := 1; part < f.Parts[w][2*k+j]; part++ {
					n.constant(f.weight(w, part, 2*k+j), hexagon.V6_vrmpybusv_acc, hvx.Half(sum, j), hvx.Half(words[w], j))
				}
			}
		}
		n.constant(biasVectors+k, hexagon.V6_vaddhw_acc, sum, hvx.Half(single, k))
		a.SetPhase(hvx.PhaseRequantize)
		for j := range 2 {
			if f.wide {
				b, at := n.w.At(2*k + j)
				a.OpLoading(hvx.AliasConst, 2, b, at, hexagon.V6_vaddw, hvx.Half(sum, j), hvx.Half(sum, j), a.V("bias"))
			}
		}
		switch {
		case n.rq.Halfword:
			a.Op(hexagon.V6_vsatwh, hvx.Lo(ready[k]), hvx.Hi(sum), hvx.Lo(sum))
		case n.rq.PerChannel:
			x, y := n.channelVectors(2*k), n.channelVectors(2*k+1)
			n.rq.NarrowTo(hvx.Lo(ready[k]), n.rq.Scale(hvx.Lo(sum), x), n.rq.Scale(hvx.Hi(sum), y), x, y)
		}
	}
}

// narrowed reports whether sums become halves at once: by channel that needs the record.
func (n *direct3x3Code) narrowed() bool { return n.rq.Halfword || n.rq.PerChannel }

// requantize stores an output.
func (n *direct3x3Code) requantize(ready quad, dst codegen.Reg, off int) {
	if n.rq.PerChannel {
		n.a.SetPhase(hvx.PhaseRequantize)
		n.a.Store(dst, off, n.rq.Finish(hvx.Lo(ready[0]), hvx.Lo(ready[1]), true), hvx.AliasOut)
		n.a.SetPhase(hvx.PhaseNone)
		return
	}
	s := slidingCode{kernelCode: n.kernelCode, ready: []quad{ready}}
	n.store(s.readyRegs(0), dst, off)
}
