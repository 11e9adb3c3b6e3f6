package dsp

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// maxTaps bounds the window of the depthwise kernel, whose taps are unrolled.
const maxTaps = 128

// depthKernel are the parameters that the code of a depthwise convolution
// depends on. A vector holds 128 channels of one position or, with a small
// pitch, all channels of several positions; each entry of the table is one
// row (and one chunk of channels). Products of unsigned inputs and signed
// weights (filter zero point already out) are added pairwise to 32 bits.
type depthKernel struct {
	taps    []depthTap
	steps   int // vectors made per entry
	inStep  int // bytes from one to the next
	outStep int
	cells   int // positions per vector
	cell    int // bytes per position, when cells > 1
	spread  int // input distance of neighbouring cells, when it is not cell
	rq      requantKind
	// ahead, when the input is likely not in L2: how many entries ahead inputs are
	// fetched, and how far behind that entry's address the new ones begin.
	ahead    int
	aheadOff int
}

// depthPrefetch is the index of the prefetch arguments.
const depthPrefetch = 3

// depthTap is a tap's input offset from the entry's input address. A weight
// that exceeds a signed byte is split over several taps of the same input.
type depthTap struct {
	offset int
	first  bool // the first part of its weight
}

func (d *depthKernel) name() string {
	var b strings.Builder
	fmt.Fprintf(&b, "depth_n%d_i%d_o%d_c%dx%d.%d_%s", d.steps, d.inStep, d.outStep, d.cells, d.cell, d.spread, d.rq.tag())
	if d.ahead > 0 {
		fmt.Fprintf(&b, "_a%d+%d", d.ahead, d.aheadOff)
	}
	for _, t := range d.taps {
		if t.first {
			fmt.Fprintf(&b, "_%d", t.offset)
		} else {
			b.WriteByte('+')
		}
	}
	return b.String()
}

// header is the number of vectors before a record's weights.
func (d *depthKernel) header() int { return 4 * (1 + d.rq.vectors()) }

func (d *depthKernel) record() int { return (d.header() + len(d.taps)) * vecBytes }

// generate writes the kernel. Arguments: table of (input, output, record),
// entries, parameter block, prefetch.
func (d *depthKernel) generate(a *asm) {
	in := a.args("table", "entries", "params", "address", "box")
	table, entries, params := in[0], in[1], in[2]
	a.prefetch(in[3], in[4])
	rq := a.requantSetup(d.rq, params)
	var zero build.Reg // the partner of the last tap of an odd number
	if len(d.taps)%2 == 1 {
		zero = a.zero()
	}
	below := d.cellMasks(a)
	var box build.Reg
	if d.ahead > 0 {
		box = a.box(params)
	}
	a.repeat(entries, func() {
		if d.ahead > 0 {
			a.op(hexagon.Y5_l2fetch, a.add(a.word(table, 3*d.ahead, "ahead"), d.aheadOff), box)
		}
		src, dst, rec := a.word(table, 0, "in"), a.word(table, 1, "out"), a.word(table, 2, "record")
		a.bump(table, 12)
		w := a.bases(rec, d.record())
		step := func(n int) {
			d.step(a, n, src, dst, w, rq, zero, below)
			a.bump(src, n*d.inStep)
			a.bump(dst, n*d.outStep)
		}
		if n := d.steps / depthSteps; n > 0 {
			a.loop0(n, func() { step(depthSteps) })
		}
		if n := d.steps % depthSteps; n > 0 {
			step(n)
		}
	})
	a.ret()
}

// depthSteps is the number of output vectors that share one load of the weights.
const depthSteps = 2

// step makes n output vectors.
func (d *depthKernel) step(a *asm, n int, src, dst build.Reg, w bases, rq *requantRegs, zero build.Reg, below []build.Reg) {
	acc := make([][2]build.Reg, n)
	for i := range acc {
		for k := range acc[i] {
			acc[i][k] = a.vv("acc")
			if i == 0 {
				w.load(lo(acc[0][k]), 2*k)
				w.load(hi(acc[0][k]), 2*k+1)
				continue
			}
			a.op(hexagon.V6_vassign, lo(acc[i][k]), lo(acc[0][k]))
			a.op(hexagon.V6_vassign, hi(acc[i][k]), hi(acc[0][k]))
		}
	}
	a.phase(phaseProducts)
	d.multiply(a, src, w, acc, zero, below)
	a.phase(phaseRequantize)
	l := noLanes
	if d.rq.perChannel {
		l = rq.keepLanes(4, func(j int) lanes { return d.lanes(a, w, j) })
	}
	for i, c := range acc {
		v := rq.pack([4]build.Reg{lo(c[0]), hi(c[0]), lo(c[1]), hi(c[1])}, l, true)
		a.vstore(dst, i*d.outStep, v, aliasOut)
	}
	a.phase(phaseOther)
}

func (d *depthKernel) lanes(a *asm, w bases, j int) lanes {
	l := lanes{mult: a.v("mult"), shift: a.v("shift")}
	w.load(l.mult, 4+j)
	w.load(l.shift, 8+j)
	if d.rq.left {
		l.left = a.v("left")
		w.load(l.left, 12+j)
	}
	return l
}

// multiply adds the products of all taps to the accumulators of each step, two
// taps at a time. Steps share weights, and inputs where windows overlap.
func (d *depthKernel) multiply(a *asm, src build.Reg, w bases, acc [][2]build.Reg, zero build.Reg, below []build.Reg) {
	inputs := map[int]build.Reg{}
	prod := make([][2]build.Reg, len(acc))
	for i, t := range d.taps {
		wv := a.v("w")
		w.load(wv, d.header()+i)
		for n := range acc {
			off := t.offset + n*d.inStep
			x, ok := inputs[off]
			if !ok {
				x = d.input(a, src, off, below)
				inputs[off] = x
			}
			prod[n][i%2] = a.vv("product")
			a.op(hexagon.V6_vmpybusv, prod[n][i%2], x, wv)
			last := i == len(d.taps)-1
			for k, half := range [2]func(build.Reg) build.Reg{lo, hi} {
				switch {
				case i%2 == 1:
					a.op(hexagon.V6_vaddhw_acc, acc[n][k], half(prod[n][0]), half(prod[n][1]))
				case last:
					a.op(hexagon.V6_vaddhw_acc, acc[n][k], half(prod[n][0]), zero)
				}
			}
		}
	}
}

// cellMasks are the predicates that select the lanes before each cell, where
// cells must be gathered one by one.
func (d *depthKernel) cellMasks(a *asm) []build.Reg {
	if d.cells == 1 || d.spread == d.cell {
		return nil
	}
	below := make([]build.Reg, d.cells)
	for i := 1; i < d.cells; i++ {
		below[i] = a.q("below")
		a.op(hexagon.V6_pred_scalar2, below[i], a.imm(i*d.cell))
	}
	return below
}

// input loads a tap's input vector.
func (d *depthKernel) input(a *asm, src build.Reg, off int, below []build.Reg) build.Reg {
	if d.cells == 1 {
		return a.vload(src, off, aliasIn, "x")
	}
	x := a.vloadu(src, off, aliasIn, "x")
	for i := 1; i < len(below); i++ {
		y := a.vloadu(src, off+i*(d.spread-d.cell), aliasIn, "y")
		z := a.v("x")
		a.op(hexagon.V6_vmux, z, below[i], x, y)
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
