package conv

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// ZeroPoint is the parameters of the code that computes the zero-point correction of a
// convolution.
//
// With filter weights w - z, a convolution subtracts from every output position
//
//	z * (sum of the window's inputs)
//
// the window sum. The positions of a tensor are numbered through, halo
// included, which makes the window sums one sequence: word i is the sum of the window
// whose first tap is position i. The code computes a chunk of positions at a
// time. vrmpy adds the bytes of a position's vectors, of all rows of the window,
// to words; then pairs of neighbouring words are added, and the words of two
// vectors become those of one, until a position has one. Words that fit halves are
// packed and added by vdmpy, which uses fewer pipes than de-interleaving them. Where the
// window has columns, words at their distances are added.
type ZeroPoint struct {
	Pitch     int  // of a position
	Vectors   int  // that hold a position's channels
	Positions int  // of a chunk: a power of two, whole vectors
	Rows      int  // of the window
	Taps      int  // columns of the window
	Dilation  int  // of the columns
	Masked    bool // the last vector of a position has bytes that are no channels
}

func (s ZeroPoint) Name() string {
	return fmt.Sprintf("s%d.%dn%d_%dx%d.%d%s", s.Pitch, s.Vectors, s.Positions, s.Rows, s.Taps, s.Dilation, hvx.Flag(s.Masked, "m"))
}

// Words of a strip: blocks of positions that a thread works on between two
// rounds of window sums.
const (
	StripBlocks   = iota // how many
	StripRuns            // table of runs of chunks: input address, offset of the sums, chunks
	StripRunCount        // 0 without sums
	StripAcross          // offset of the first sum to which columns are added
	StripVectors         // of sums to which columns are added, in units of AcrossVectors
	StripPrefetch        // address of the next strip's inputs
	StripBox             // and their l2fetch box, two words
	StripStride
	StripWords
)

const runWords = 3

// Words of the argument block of the zero-point correction.
const (
	ZeroPointBytes   = iota // the filter's zero point in every byte
	ZeroPointOnes           // 1 in every byte of a word that is a channel
	ZeroPointMask           // address of a vector: 1 in every byte of the last vector that is a channel
	ZeroPointRowStep        // distance of the window's rows
	ZeroPointScratch        // of the thread: the sums of the strip at hand
	ZeroPointArgs
)

// maxUnrolledWindowSums bounds the vectors of a position that are added without a loop.
const maxUnrolledWindowSums = 4

// MaxLeaves bounds the leaves of a chunk with loops, whose sums wait in registers,
// and of one that makes more than a vector.
const MaxLeaves = 16

// MaxChunk bounds the positions of a chunk.
const MaxChunk = 128

// Leaves is the number of vectors that positions of a chunk begin in.
func (s ZeroPoint) Leaves() int {
	return s.Positions * min(s.Pitch, hvx.VectorBytes) / hvx.VectorBytes
}

// Levels is how often neighbouring words are added.
func (s ZeroPoint) Levels() int { return bits.Len(uint(min(s.Pitch, hvx.VectorBytes)/4)) - 1 }

func (s ZeroPoint) Flat() bool { return s.Rows*s.Vectors <= maxUnrolledWindowSums }

// Code is about how many instructions make a chunk.
func (s ZeroPoint) Code() int {
	if s.Flat() {
		return 2 * s.Leaves() * (s.Rows*s.Vectors + 1)
	}
	return 8 * s.Leaves()
}

// zeroPointCode is the state of the generator of the window sums.
type zeroPointCode struct {
	*ZeroPoint
	a       *hvx.Builder
	zero    codegen.Reg
	ones    codegen.Reg
	mask    codegen.Reg // where masked
	each    codegen.Reg // 1 in every byte
	rowStep codegen.Reg // with rows
	words   codegen.Reg // control of vdeal by words
	nothing codegen.Reg // a vector of zeros, unless flat
	todo    []timed     // pending parts of the current chunk
}

// emit writes the code that computes the window sums of one strip.
func (s ZeroPoint) emit(a *hvx.Builder, strip, args codegen.Reg) {
	a.SetPhase(hvx.PhaseZeroPoint)
	defer a.SetPhase(hvx.PhaseNone)
	e := &zeroPointCode{ZeroPoint: &s, a: a, zero: a.Word(args, ZeroPointBytes, "zero point"), ones: a.Word(args, ZeroPointOnes, "ones")}
	e.each = e.ones
	if s.Pitch < hvx.VectorBytes { // the bytes of a word may be no channels
		e.each = a.Imm(hvx.Ones)
	}
	if !s.halves(s.Levels() - 1) {
		e.words = a.Imm8(-4)
	}
	if s.Masked {
		e.mask = a.Load(a.Word(args, ZeroPointMask, "mask"), 0, hvx.AliasConst, "mask")
	}
	if s.Rows > 1 {
		e.rowStep = a.Word(args, ZeroPointRowStep, "row step")
	}
	loop := a.Loop1
	if !s.Flat() {
		e.nothing = a.Zero()
		loop = func(n any, body func()) { a.Repeat(n.(codegen.Reg), body) }
	}
	scratch := a.Word(args, ZeroPointScratch, "scratch")
	run, runs := a.Word(strip, StripRuns, "run"), a.Word(strip, StripRunCount, "runs")
	a.Repeat(runs, func() {
		in, out, chunks := a.Word(run, 0, "in"), a.Word(run, 1, "sums"), a.Word(run, 2, "chunks")
		a.Op(hexagon.A2_add, out, out, scratch)
		a.Bump(run, 4*runWords)
		loop(chunks, func() {
			for i, sums := range e.chunk(in) {
				a.Op(hexagon.V6_vS32Ub_ai, out, i, sums).Stores(hvx.AliasScratch)
			}
			a.Bump(out, 4*s.Positions)
		})
	})
	if s.Taps > 1 {
		at := a.R("sums")
		a.Op(hexagon.A2_add, at, scratch, a.Word(strip, StripAcross, "first"))
		e.across(at, a.Word(strip, StripVectors, "vectors"))
	}
}

// partial is a vector of words that a chunk makes, and the packet from the chunk's
// first one on in which it can be used.
type partial struct {
	words codegen.Reg
	at    int
}

// at lists an instruction, or a few, for a packet of the chunk. Scheduling does
// not look far ahead, so they are written in the order of these packets.
func (e *zeroPointCode) at(packet int, emit func()) {
	e.todo = append(e.todo, timed{packet, emit})
}

type timed struct {
	at   int
	emit func()
}

// Packets from an instruction to the use of its result.
const (
	afterLoad    = 1
	afterProduct = 2
	afterAdd     = 1
)

// chunk makes the words of a chunk and moves the pointer to the next one.
func (e *zeroPointCode) chunk(in codegen.Reg) []codegen.Reg {
	n := e.Leaves()
	var leaves []partial
	if e.Flat() {
		rows := []convInput{{ptr: in}}
		for r := 1; r < e.Rows; r++ {
			p := e.a.R("row")
			e.a.Op(hexagon.A2_add, p, rows[r-1].ptr, e.rowStep)
			rows = append(rows, convInput{ptr: p})
		}
		for i := range n {
			leaves = append(leaves, e.leaf(rows, i))
		}
	} else {
		const together = 4
		for i := 0; i < n; i += together {
			leaves = append(leaves, e.loops(in, i, min(together, n-i))...)
		}
	}
	for level := range e.Levels() {
		for i := range hvx.CeilDiv(len(leaves), 2) {
			leaves[i] = e.halve(level, leaves[2*i], leaves[min(2*i+1, len(leaves)-1)])
		}
		leaves = leaves[:hvx.CeilDiv(len(leaves), 2)]
	}
	sums := make([]codegen.Reg, len(leaves))
	for i, x := range leaves {
		sums[i] = e.a.V("sums")
		e.at(x.at, func() { e.a.Op(hexagon.V6_vmpyiwub, sums[i], x.words, e.zero) })
	}
	slices.SortStableFunc(e.todo, func(a, b timed) int { return a.at - b.at })
	for _, t := range e.todo {
		t.emit()
	}
	e.todo = e.todo[:0]
	e.a.Bump(in, e.Positions*e.Pitch)
	return sums
}

// halves reports whether words that have been added so many times are positive
// halves.
func (s ZeroPoint) halves(level int) bool {
	return 4*255*s.Rows*s.Vectors<<max(level, 0) < 1<<15
}

// halve adds the neighbouring words of two vectors.
func (e *zeroPointCode) halve(level int, x, y partial) partial {
	a, sum, t := e.a, e.a.V("halved"), max(x.at, y.at)
	if e.halves(level) {
		packed := a.V("packed")
		e.at(t, func() { a.Op(hexagon.V6_vpackeh, packed, y.words, x.words) })
		e.at(t+afterProduct, func() { a.Op(hexagon.V6_vdmpyhb, sum, packed, e.each) })
		return partial{sum, t + 2*afterProduct}
	}
	dealt := a.VV("even and odd")
	e.at(t, func() { a.Op(hexagon.V6_vdealvdd, dealt, y.words, x.words, e.words) })
	e.at(t+afterProduct, func() { a.Op(hexagon.V6_vaddw, sum, hvx.Lo(dealt), hvx.Hi(dealt)) })
	return partial{sum, t + afterProduct + afterAdd}
}

// leaf adds the vectors of position i of the chunk, or of all positions of vector i.
func (e *zeroPointCode) leaf(rows []convInput, i int) partial {
	a, acc := e.a, e.a.V("sum")
	t, last := i*e.Rows*e.Vectors, e.Vectors-1
	const near = 8 * hvx.VectorBytes // what a load reaches; a pointer that moves is slower
	for r := range rows {
		x := make([]codegen.Reg, e.Vectors)
		for v := range x {
			x[v] = a.V("x")
			off := i*e.LeafBytes() + v*hvx.VectorBytes
			if far := off / near * near; far > rows[r].off {
				from, by := rows[r].ptr, far-rows[r].off
				p := a.R("in")
				rows[r] = convInput{p, far}
				e.at(t-2, func() { a.Op(hexagon.A2_addi, p, from, by) })
			}
			p := rows[r].ptr
			e.at(t, func() { a.Op(hexagon.V6_vL32b_ai, x[v], p, off%near/hvx.VectorBytes).Loads(hvx.AliasIn) })
			t++
		}
		for v := last; v >= 0; v-- { // the masked one first: without an accumulator it uses one pipe, not two
			e.at(t+afterLoad+last-v, func() { e.addBytes(acc, x[v], v == last, r > 0 || v < last) })
		}
	}
	return partial{acc, t + afterLoad + last + afterProduct}
}

// LeafBytes is the distance of leaves.
func (s ZeroPoint) LeafBytes() int { return max(s.Pitch, hvx.VectorBytes) }

// addBytes adds the bytes of x to the words of acc, which holds something if more
// is set.
func (e *zeroPointCode) addBytes(acc, x codegen.Reg, last, more bool) {
	op, by := hexagon.V6_vrmpyub, e.ones
	switch masked := last && e.Masked; {
	case masked && more:
		op, by = hexagon.V6_vrmpyubv_acc, e.mask
	case masked:
		op, by = hexagon.V6_vrmpyubv, e.mask
	case more:
		op = hexagon.V6_vrmpyub_acc
	}
	e.a.Op(op, acc, x, by)
}

// loops adds the vectors of n leaves from the one given on in loops over rows and
// vectors.
func (e *zeroPointCode) loops(in codegen.Reg, first, n int) []partial {
	a, list := e.a, make([]partial, n)
	acc, ptr, x := make([]codegen.Reg, n), make([]codegen.Reg, n), make([]codegen.Reg, n)
	for j := range acc {
		acc[j], ptr[j], x[j] = a.V("sum"), a.R("in"), a.V("x")
		list[j].words = acc[j]
		a.Op(hexagon.V6_vassign, acc[j], e.nothing)
	}
	row := a.R("row")
	a.Op(hexagon.A2_tfr, row, in)
	load := func(j int) { a.Op(hexagon.V6_vL32b_pi, x[j], ptr[j], 1).Loads(hvx.AliasIn) }
	a.Loop1(e.Rows, func() {
		for j := range ptr {
			a.Op(hexagon.A2_addi, ptr[j], row, (first+j)*e.LeafBytes())
			load(j)
		}
		if e.Vectors > 1 {
			a.Loop0(e.Vectors-1, func() {
				for j := range ptr {
					e.addBytes(acc[j], x[j], false, true)
					load(j)
				}
			})
		}
		for j := range ptr {
			e.addBytes(acc[j], x[j], true, true)
		}
		if e.Rows > 1 {
			a.Op(hexagon.A2_add, row, row, e.rowStep)
		}
	})
	return list
}

// AcrossVectors is how many vectors of sums columns are added to together.
const AcrossVectors = 2

// across adds, to the words of n times AcrossVectors vectors, those of the window's other columns.
func (e *zeroPointCode) across(at, n codegen.Reg) {
	const flat = 8
	a, step := e.a, 4*e.Dilation
	store := func(sum codegen.Reg) { a.Op(hexagon.V6_vS32b_pi, at, 1, sum).Stores(hvx.AliasScratch) }
	if e.Taps <= flat {
		a.Loop0(n, func() {
			var sums [AcrossVectors]codegen.Reg
			for i := range sums {
				sums[i] = a.Load(at, i*hvx.VectorBytes, hvx.AliasScratch, "sum")
				for t := 1; t < e.Taps; t++ {
					a.Op(hexagon.V6_vaddw, sums[i], sums[i], a.LoadUnaligned(at, i*hvx.VectorBytes+t*step, hvx.AliasScratch, "column"))
				}
			}
			for _, sum := range sums {
				store(sum)
			}
		})
		return
	}
	a.Op(hexagon.S2_asl_i_r, n, n, bits.Len(AcrossVectors)-1)
	a.Repeat(n, func() {
		sum := a.Load(at, 0, hvx.AliasScratch, "sum")
		p := a.Add(at, step)
		a.Loop0(e.Taps-1, func() {
			a.Op(hexagon.V6_vaddw, sum, sum, a.LoadUnaligned(p, 0, hvx.AliasScratch, "column"))
			a.Bump(p, step)
		})
		store(sum)
	})
}
