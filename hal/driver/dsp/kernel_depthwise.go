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
}

// depthPrefetch is the index of the prefetch arguments.
const depthPrefetch = 3

// depthTap is a tap's input offset from the entry's input address. A weight
// that exceeds a signed byte is split over several taps of the same input.
type depthTap struct {
	offset int
	first  bool // reads its input; otherwise it shares that of the tap before
}

func (d *depthKernel) name() string {
	var b strings.Builder
	fmt.Fprintf(&b, "depth_n%d_i%d_o%d_c%dx%d.%d_%s", d.steps, d.inStep, d.outStep, d.cells, d.cell, d.spread, d.rq.tag())
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
	zero := a.zero()
	below := d.cellMasks(a)
	a.repeat(entries, func() {
		src, dst, rec := a.word(table, 0, "in"), a.word(table, 1, "out"), a.word(table, 2, "record")
		a.bump(table, 12)
		w := a.bases(rec, d.record())
		a.loop0(d.steps, func() {
			var acc [2]build.Reg
			for i := range acc {
				acc[i] = a.vv("acc")
				w.load(lo(acc[i]), 2*i)
				w.load(hi(acc[i]), 2*i+1)
			}
			d.multiply(a, src, w, acc, zero, below)
			l := noLanes
			if d.rq.perChannel {
				l = func(j int) lanes { return d.lanes(a, w, j) }
			}
			v := rq.pack([4]build.Reg{lo(acc[0]), hi(acc[0]), lo(acc[1]), hi(acc[1])}, l, true)
			a.vstore(dst, 0, v, aliasOut)
			a.bump(src, d.inStep)
			a.bump(dst, d.outStep)
		})
	})
	a.ret()
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

// multiply adds the products of all taps, two taps at a time.
func (d *depthKernel) multiply(a *asm, src build.Reg, w bases, acc [2]build.Reg, zero build.Reg, below []build.Reg) {
	var x build.Reg
	var prod [2]build.Reg
	for i, t := range d.taps {
		if t.first {
			x = d.input(a, src, t.offset, below)
		}
		wv := a.v("w")
		w.load(wv, d.header()+i)
		prod[i%2] = a.vv("product")
		a.op(hexagon.V6_vmpybusv, prod[i%2], x, wv)
		switch {
		case i%2 == 1:
			a.op(hexagon.V6_vaddhw_acc, acc[0], lo(prod[0]), lo(prod[1]))
			a.op(hexagon.V6_vaddhw_acc, acc[1], hi(prod[0]), hi(prod[1]))
		case i == len(d.taps)-1:
			a.op(hexagon.V6_vaddhw_acc, acc[0], lo(prod[0]), zero)
			a.op(hexagon.V6_vaddhw_acc, acc[1], hi(prod[0]), zero)
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
