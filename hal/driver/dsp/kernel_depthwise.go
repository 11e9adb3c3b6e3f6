package dsp

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// depthKernel are the parameters that the code of a depthwise convolution
// depends on. A vector holds 128 channels of one position or, with a small
// pitch, all channels of several positions; each entry of the table is one
// row (and one chunk of channels).
//
// Up to three rows of a column of the window are interleaved to words, one per
// channel, so that one vrmpy multiplies them with the weights of 32 channels
// (filter zero point already out) and adds the products.
type depthKernel struct {
	kh, kw   int
	rowStep  int   // bytes between the window's rows
	stride   int   // positions between neighbouring windows
	dilation int   // positions between the window's columns
	pitch    int   // bytes between positions
	twice    []int // of each set: row that its words have twice, -1 none
	parts    []int // of each column and set: how many signed bytes its weights need
	steps    int   // vectors made per entry
	cells    int   // positions per vector
	rq       requantKind
	// ahead, when the input is likely not in L2: how many entries ahead inputs are
	// fetched, and how far behind that entry's address the new ones begin.
	ahead    int
	aheadOff int
}

// maxTaps bounds the window of the depthwise kernel, whose taps are unrolled.
const maxTaps = 128

// rowSet is how many rows of the window share a word.
const rowSet = 3

// sets is the number of sets of rows.
func (d *depthKernel) sets() int { return ceilDiv(d.kh, rowSet) }

// depthPrefetch is the index of the prefetch arguments.
const depthPrefetch = 3

func (d *depthKernel) name() string {
	return fmt.Sprintf("depth_%dx%d_r%d_s%d_d%d_p%d_n%d_c%d_%s_a%d+%d_%s", d.kh, d.kw, d.rowStep, d.stride, d.dilation, d.pitch,
		d.steps, d.cells, d.rq.tag(), d.ahead, d.aheadOff, strings.Trim(strings.ReplaceAll(fmt.Sprint(d.twice, d.parts), " ", "."), "[]"))
}

// header is the number of vectors before a record's weights.
func (d *depthKernel) header() int { return 4 * (1 + d.rq.vectors()) }

// weights is the number of weight vectors.
func (d *depthKernel) weights() int {
	n := 0
	for _, p := range d.parts {
		n += 4 * p
	}
	return n
}

func (d *depthKernel) record() int { return (d.header() + d.weights()) * vecBytes }

// outStep is the distance of output vectors.
func (d *depthKernel) outStep() int { return d.pitch * d.cells }

// keptWeights is how many weight vectors stay in registers.
const keptWeights = 4

// depthCode is a depthwise kernel being written.
type depthCode struct {
	*depthKernel
	a     *asm
	rq    *requantRegs
	w     bases
	kept  []build.Reg // all weights, when there are registers for them
	below []build.Reg
}

// generate writes the kernel. Arguments: table of (input, output, record),
// entries, parameter block, prefetch.
func (d *depthKernel) generate(a *asm) {
	in := a.args("table", "entries", "params", "address", "box")
	table, entries, params := in[0], in[1], in[2]
	a.prefetch(in[3], in[4])
	e := &depthCode{depthKernel: d, a: a, rq: a.requantSetup(d.rq, params)}
	e.cellMasks()
	a.repeat(entries, func() {
		if d.ahead > 0 {
			a.op(hexagon.Y5_l2fetch, a.add(a.word(table, 3*d.ahead, "ahead"), d.aheadOff), a.box(params))
		}
		src, dst, rec := a.word(table, 0, "in"), a.word(table, 1, "out"), a.word(table, 2, "record")
		a.bump(table, 12)
		e.w = a.bases(rec, d.record())
		e.kept = nil
		for i := range min(d.weights(), keptWeights) {
			e.kept = append(e.kept, a.v("w"))
			e.w.load(e.kept[i], d.header()+i)
		}
		if d.slides() {
			e.slide(src, dst)
			return
		}
		a.loop0(d.steps, func() {
			e.window(src, dst)
			a.bump(src, d.stride*d.pitch*d.cells)
			a.bump(dst, d.outStep())
		})
	})
	a.ret()
}

// window makes one output vector from all columns of its window.
func (e *depthCode) window(src, dst build.Reg) {
	e.a.phase(phaseProducts)
	var acc [4]build.Reg
	for col := range e.kw {
		for set := range e.sets() {
			x := e.words(set, func(row int) build.Reg {
				return e.input(src, row*e.rowStep+col*e.dilation*e.pitch)
			})
			e.multiply(&acc, acc, x, col, set)
		}
	}
	e.finish(acc, dst, 0)
}

// words interleaves the rows of a set: word i of vector j has the bytes of
// channel 4i + lanePhase[j].
func (e *depthCode) words(set int, load func(row int) build.Reg) [4]build.Reg {
	a := e.a
	var rows [rowSet]build.Reg
	for r := range rows {
		if row := set*rowSet + r; row < e.kh {
			rows[r] = load(row)
		} else {
			rows[r] = rows[0]
		}
	}
	even, odd := a.v("even"), a.v("odd")
	a.op(hexagon.V6_vshuffeb, even, rows[1], rows[0])
	a.op(hexagon.V6_vshuffob, odd, rows[1], rows[0])
	low := [2]build.Reg{even, odd}
	high := [2]build.Reg{rows[2], rows[2]}
	if n := e.twice[set]; n >= 0 {
		high = [2]build.Reg{a.v("even"), a.v("odd")}
		a.op(hexagon.V6_vshuffeb, high[0], rows[n], rows[2])
		a.op(hexagon.V6_vshuffob, high[1], rows[n], rows[2])
	}
	var x [4]build.Reg
	for j := range x {
		op := hexagon.V6_vshufeh
		if j%2 == 1 {
			op = hexagon.V6_vshufoh
		}
		x[j] = a.v("words")
		a.op(op, x[j], high[j/2], low[j/2])
	}
	return x
}

// packTaps packs the weights of the rows of a set for channel vector j: one part of
// each. The third row comes with its neighbour, of which odd channels are the
// second, unless the fourth byte is for the second part of a row.
func packTaps(rows [rowSet][]int8, twice, part, j int) (w [4]int8) {
	for r, parts := range rows {
		if r == twice {
			for n, at := range [2]int{r, 3} {
				if k := 2*part + n; k < len(parts) {
					w[at] = parts[k]
				}
			}
			continue
		}
		at := r
		if r == 2 && twice < 0 && lanePhase[j]%2 == 1 {
			at = 3
		}
		if part < len(parts) {
			w[at] = parts[part]
		}
	}
	return w
}

// multiply makes to the sum of from, unless that is empty, and the products of a
// column.
func (e *depthCode) multiply(to *[4]build.Reg, from [4]build.Reg, x [4]build.Reg, col, set int) {
	a := e.a
	first := 0
	for i := range col*e.sets() + set {
		first += 4 * e.parts[i]
	}
	for part := range e.parts[col*e.sets()+set] {
		for j := range x {
			w := e.weight(first + 4*part + j)
			if !from[j].Valid() {
				if !to[j].Valid() {
					to[j] = a.v("acc")
				}
				a.op(hexagon.V6_vrmpybusv, to[j], x[j], w)
				continue
			}
			t := a.v("product")
			a.op(hexagon.V6_vrmpybusv, t, x[j], w)
			a.op(hexagon.V6_vaddw, to[j], from[j], t)
		}
		from = *to
	}
}

func (e *depthCode) weight(i int) build.Reg {
	if i < len(e.kept) {
		return e.kept[i]
	}
	v := e.a.v("w")
	e.w.load(v, e.header()+i)
	return v
}

// finish adds the biases, requantizes and stores.
func (e *depthCode) finish(acc [4]build.Reg, dst build.Reg, off int) {
	e.store(e.ready(acc, nil), dst, off)
}

// ready adds the biases; where halves are multiplied it leaves two vectors. They
// go to the given registers if there are any.
func (e *depthCode) ready(acc [4]build.Reg, to []build.Reg) []build.Reg {
	a := e.a
	a.phase(phaseRequantize)
	var sum [4]build.Reg
	for j := range sum {
		bias := a.v("bias")
		e.w.load(bias, j)
		if sum[j] = a.v("sum"); to != nil && !e.rq.half {
			sum[j] = to[j]
		}
		a.op(hexagon.V6_vaddw, sum[j], acc[j], bias)
	}
	if !e.rq.half {
		return sum[:]
	}
	if to == nil {
		to = []build.Reg{a.v("half"), a.v("half")}
	}
	e.rq.halves(sum, to)
	return to
}

// store requantizes and stores what ready made.
func (e *depthCode) store(ready []build.Reg, dst build.Reg, off int) {
	a := e.a
	a.phase(phaseRequantize)
	var v build.Reg
	if e.rq.half {
		v = e.rq.scaleHalves(ready, true)
	} else {
		v = e.rq.pack([4]build.Reg(ready), e.lanes, true)
	}
	a.vstore(dst, off, v, aliasOut)
	a.phase(phaseOther)
}

func (e *depthCode) lanes(j int) lanes {
	if !e.depthKernel.rq.perChannel {
		return lanes{}
	}
	l := lanes{mult: e.a.v("mult"), shift: e.a.v("shift")}
	e.w.load(l.mult, 4+j)
	e.w.load(l.shift, 8+j)
	if e.depthKernel.rq.left {
		l.left = e.a.v("left")
		e.w.load(l.left, 12+j)
	}
	return l
}

// cellMasks are the predicates that select the lanes before each cell, where
// cells must be gathered one by one.
func (e *depthCode) cellMasks() {
	if e.cells == 1 || e.stride == 1 {
		return
	}
	e.below = make([]build.Reg, e.cells)
	for i := 1; i < e.cells; i++ {
		e.below[i] = e.a.q("below")
		e.a.op(hexagon.V6_pred_scalar2, e.below[i], e.a.imm(i*e.pitch))
	}
}

// input loads the vector of inputs that begins off behind src.
func (e *depthCode) input(src build.Reg, off int) build.Reg {
	a := e.a
	if e.cells == 1 {
		return a.vload(src, off, aliasIn, "x")
	}
	x := a.vloadu(src, off, aliasIn, "x")
	for i := 1; i < len(e.below); i++ {
		y := a.vloadu(src, off+i*(e.stride-1)*e.pitch, aliasIn, "y")
		z := a.v("x")
		a.op(hexagon.V6_vmux, z, e.below[i], x, y)
		x = z
	}
	return x
}

// bases addresses a record larger than the reach of a vector load: one
// register per 16 vectors.
type bases struct {
	a *asm
	r []build.Reg
}

func (a *asm) bases(rec build.Reg, bytes int) bases {
	b := bases{a: a}
	for at := 0; at < bytes; at += 16 * vecBytes {
		b.r = append(b.r, a.add(rec, at+8*vecBytes))
	}
	return b
}

// load loads vector n of the record.
func (b bases) load(to build.Reg, n int) {
	b.a.op(hexagon.V6_vL32b_ai, to, b.r[n/16], n%16-8).Loads(aliasConst)
}
