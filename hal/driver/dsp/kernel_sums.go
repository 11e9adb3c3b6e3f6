package dsp

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// sumsKernel are the parameters that the code of the sums depends on.
//
// A filter with a zero point asks, per position, for zero point * (sum of the
// window's inputs). The positions of a tensor are numbered through, halo
// included, which makes the sums of all windows one sequence: that of the window
// whose first tap is position i is word i. It is made a chunk of positions at a
// time. vrmpy adds the bytes of a position's vectors, of all rows of the window,
// to words; then pairs of neighbouring words are added, and the words of two
// vectors become those of one, until a position has one. Where the window has
// columns, words at their distances are added to that.
type sumsKernel struct {
	pitch     int  // of a position
	vectors   int  // that hold a position's channels
	positions int  // of a chunk: a power of two, whole vectors
	rows      int  // of the window
	taps      int  // columns of the window
	dilation  int  // of the columns
	masked    bool // the last vector of a position has bytes that are no channels
}

func (s *sumsKernel) name() string {
	return fmt.Sprintf("s%d.%dn%d_%dx%d.%d%s", s.pitch, s.vectors, s.positions, s.rows, s.taps, s.dilation, flag(s.masked, "m"))
}

// Words of a strip: blocks of positions that a thread works on between two
// rounds of sums.
const (
	stripBlocks   = iota // how many
	stripRuns            // table of runs of chunks: input address, offset of the sums, chunks
	stripRunCount        // 0 without sums
	stripAcross          // offset of the first sum to which columns are added
	stripVectors         // of sums to which columns are added
	stripAhead           // address of the next strip's inputs
	stripBox             // and their l2fetch box, two words
	stripStride
	stripWords
)

const runWords = 3

// Words of the block of constants for the sums.
const (
	sumsZero    = iota // the filter's zero point in every byte
	sumsMask           // address of a vector: the zero point in every byte of the last vector that is a channel
	sumsRowStep        // distance of the window's rows
	sumsScratch        // of the thread: the sums of the strip at hand
	sumsArgs
)

// maxFlatSums bounds the vectors of a position that are added without a loop.
const maxFlatSums = 4

// leaves is the number of vectors that positions of a chunk begin in.
func (s *sumsKernel) leaves() int { return s.positions * min(s.pitch, vecBytes) / vecBytes }

// levels is how often neighbouring words are added.
func (s *sumsKernel) levels() int { return bits.Len(uint(min(s.pitch, vecBytes)/4)) - 1 }

func (s *sumsKernel) flat() bool { return s.rows*s.vectors <= maxFlatSums }

// code is about how many instructions make a chunk.
func (s *sumsKernel) code() int {
	if s.flat() {
		return 2 * s.leaves() * (s.rows*s.vectors + 1)
	}
	return 8 * s.leaves()
}

// sumsCode are sums being written.
type sumsCode struct {
	*sumsKernel
	a        *asm
	zero     build.Reg
	mask     build.Reg // where masked
	rowStep  build.Reg // with rows
	pairs    build.Reg // control of the deal of words
	nothing  build.Reg // a vector of zeros, unless flat
	consumed int       // how far the code has moved the input pointer
}

// emit writes the code that makes the sums of the strip at hand.
func (s *sumsKernel) emit(a *asm, strip, args build.Reg) {
	a.phase(phaseSums)
	defer a.phase(phaseOther)
	e := &sumsCode{sumsKernel: s, a: a, zero: a.word(args, sumsZero, "zero point")}
	if s.levels() > 0 {
		e.pairs = a.imm8(-4)
	}
	if s.masked {
		e.mask = a.vload(a.word(args, sumsMask, "mask"), 0, aliasConst, "mask")
	}
	if s.rows > 1 {
		e.rowStep = a.word(args, sumsRowStep, "row step")
	}
	loop := a.loop1
	if !s.flat() {
		e.nothing = a.zero()
		loop = func(n any, body func()) { a.repeat(n.(build.Reg), body) }
	}
	scratch := a.word(args, sumsScratch, "scratch")
	run, runs := a.word(strip, stripRuns, "run"), a.word(strip, stripRunCount, "runs")
	a.repeat(runs, func() {
		in, out, chunks := a.word(run, 0, "in"), a.word(run, 1, "sums"), a.word(run, 2, "chunks")
		a.op(hexagon.A2_add, out, out, scratch)
		a.bump(run, 4*runWords)
		loop(chunks, func() {
			a.op(hexagon.V6_vS32Ub_ai, out, 0, e.chunk(in)).Stores(aliasScratch)
			a.bump(out, 4*s.positions)
		})
	})
	if s.taps > 1 {
		at := a.r("sums")
		a.op(hexagon.A2_add, at, scratch, a.word(strip, stripAcross, "first"))
		e.across(at, a.word(strip, stripVectors, "vectors"))
	}
}

// chunk makes the words of a chunk and moves the pointer behind it.
func (e *sumsCode) chunk(in build.Reg) build.Reg {
	e.consumed = 0
	n := e.leaves()
	var tree []build.Reg // sums of 1, 2, 4, .. vectors that wait for their neighbours
	add := func(i int, x build.Reg) {
		for ; i&1 == 1; i >>= 1 {
			x = e.halve(tree[len(tree)-1], x)
			tree = tree[:len(tree)-1]
		}
		tree = append(tree, x)
	}
	if e.flat() {
		rows := []build.Reg{in}
		for r := 1; r < e.rows; r++ {
			p := e.a.r("row")
			e.a.op(hexagon.A2_add, p, rows[r-1], e.rowStep)
			rows = append(rows, p)
		}
		for i := range n {
			add(i, e.leaf(rows))
		}
	} else {
		const together = 4
		for i := 0; i < n; i += together {
			for j, x := range e.loops(in, min(together, n-i)) {
				add(i+j, x)
			}
		}
	}
	e.a.bump(in, e.positions*e.pitch-e.consumed)
	x := tree[0]
	for range e.levels() - (bits.Len(uint(n)) - 1) {
		x = e.halve(x, x)
	}
	return x
}

// halve adds the neighbouring words of two vectors.
func (e *sumsCode) halve(first, second build.Reg) build.Reg {
	d, sum := e.a.vv("even and odd"), e.a.v("halves")
	e.a.op(hexagon.V6_vdealvdd, d, second, first, e.pairs)
	e.a.op(hexagon.V6_vaddw, sum, lo(d), hi(d))
	return sum
}

// leaf adds the vectors of a position, or of all positions of a vector.
func (e *sumsCode) leaf(rows []build.Reg) build.Reg {
	a, acc := e.a, e.a.v("sum")
	for r, p := range rows {
		for v := range e.vectors {
			x := a.v("x")
			a.op(hexagon.V6_vL32b_pi, x, p, 1).Loads(aliasIn)
			e.addBytes(acc, x, v == e.vectors-1, r+v > 0)
		}
		if r > 0 {
			a.bump(p, e.leafBytes()-e.vectors*vecBytes)
		}
	}
	a.bump(rows[0], e.leafBytes()-e.vectors*vecBytes)
	e.consumed += e.leafBytes()
	return acc
}

// leafBytes is the distance of leaves.
func (s *sumsKernel) leafBytes() int { return max(s.pitch, vecBytes) }

// addBytes adds the bytes of x, times the zero point, to the words of acc, which
// holds something if more is set.
func (e *sumsCode) addBytes(acc, x build.Reg, last, more bool) {
	op, by := hexagon.V6_vrmpyub, e.zero
	switch masked := last && e.masked; {
	case masked && more:
		op, by = hexagon.V6_vrmpyubv_acc, e.mask
	case masked:
		op, by = hexagon.V6_vrmpyubv, e.mask
	case more:
		op = hexagon.V6_vrmpyub_acc
	}
	e.a.op(op, acc, x, by)
}

// loops adds the vectors of the next n positions in loops over rows and vectors.
func (e *sumsCode) loops(in build.Reg, n int) []build.Reg {
	a := e.a
	acc, ptr, x := make([]build.Reg, n), make([]build.Reg, n), make([]build.Reg, n)
	for j := range acc {
		acc[j], ptr[j], x[j] = a.v("sum"), a.r("in"), a.v("x")
		a.op(hexagon.V6_vassign, acc[j], e.nothing)
	}
	row := a.r("row")
	a.op(hexagon.A2_tfr, row, in)
	load := func(j int) { a.op(hexagon.V6_vL32b_pi, x[j], ptr[j], 1).Loads(aliasIn) }
	a.loop1(e.rows, func() {
		for j := range ptr {
			a.op(hexagon.A2_addi, ptr[j], row, j*e.leafBytes())
			load(j)
		}
		if e.vectors > 1 {
			a.loop0(e.vectors-1, func() {
				for j := range ptr {
					e.addBytes(acc[j], x[j], false, true)
					load(j)
				}
			})
		}
		for j := range ptr {
			e.addBytes(acc[j], x[j], true, true)
		}
		if e.rows > 1 {
			a.op(hexagon.A2_add, row, row, e.rowStep)
		}
	})
	a.bump(in, n*e.leafBytes())
	e.consumed += n * e.leafBytes()
	return acc
}

// across adds, to the words of n vectors, those of the window's other columns.
func (e *sumsCode) across(at, n build.Reg) {
	const flat = 8
	a, step := e.a, 4*e.dilation
	store := func(sum build.Reg) { a.op(hexagon.V6_vS32b_pi, at, 1, sum).Stores(aliasScratch) }
	if e.taps <= flat {
		a.loop0(n, func() {
			sum := a.vload(at, 0, aliasScratch, "sum")
			for t := 1; t < e.taps; t++ {
				a.op(hexagon.V6_vaddw, sum, sum, a.vloadu(at, t*step, aliasScratch, "column"))
			}
			store(sum)
		})
		return
	}
	a.repeat(n, func() {
		sum := a.vload(at, 0, aliasScratch, "sum")
		p := a.add(at, step)
		a.loop0(e.taps-1, func() {
			a.op(hexagon.V6_vaddw, sum, sum, a.vloadu(p, 0, aliasScratch, "column"))
			a.bump(p, step)
		})
		store(sum)
	})
}
