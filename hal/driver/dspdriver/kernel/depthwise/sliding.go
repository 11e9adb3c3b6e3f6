package depthwise

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// The sliding-window kernel loads and interleaves each vector of input columns once and
// multiplies it for every window that contains the column. The accumulators of unfinished
// windows stay in registers until their last column.
//
// Wide positions have a vector per column. Otherwise a vector has one column of
// each of its cells' windows, and the next columns are the same words moved on by
// cells. With a stride the columns come in as many streams: column p of a row is
// column p/stride of stream p%stride.

// depthwiseColumn is the location of a column of the window: how many vectors of its stream
// after that of the output's first cell, and how many bytes into it.
type depthwiseColumn struct{ stream, index, shift int }

func (d *Kernel) column(col int) depthwiseColumn {
	p := col * d.Dilation
	if d.PerVector == 1 {
		return depthwiseColumn{p % d.Stride, p / d.Stride, 0}
	}
	p += d.Skew / d.Pitch
	at := p / d.Stride * d.Pitch
	return depthwiseColumn{p % d.Stride, at / hvx.VectorBytes, at % hvx.VectorBytes}
}

// delay is how many steps behind its output's first one the column is complete.
func (c depthwiseColumn) delay() int {
	if c.shift > 0 {
		return c.index + 1
	}
	return c.index
}

// slidingShape is what a sliding kernel keeps in registers.
type slidingShape struct {
	columns     []depthwiseColumn
	first, last int          // least and greatest delay
	shifts      map[int]bool // the streams of which words of the vector before are needed
}

func (d *Kernel) slidingShape() slidingShape {
	s := slidingShape{first: 1 << 30, shifts: map[int]bool{}}
	for col := range d.KW {
		c := d.column(col)
		s.columns = append(s.columns, c)
		s.first, s.last = min(s.first, c.delay()), max(s.last, c.delay())
		if c.shift > 0 {
			s.shifts[c.stream] = true
		}
	}
	return s
}

// waiting is how many outputs have sums between two steps.
func (s *slidingShape) waiting() int { return s.last - s.first }

// units is how many units a step has.
func (s *slidingShape) units(sets int) int {
	used := map[int]bool{}
	for _, c := range s.columns {
		used[c.stream] = true
	}
	return len(used) * sets
}

// Sliding selects a sliding-window kernel: steps outputs per iteration, which share their
// loads, and kept weight vectors in registers.
type Sliding struct{ Outputs, Kept int }

// SlidingForms lists the forms whose registers may suffice, the best first. It is empty if
// positions cannot be de-interleaved into streams, or if the last columns of a step may be
// too far past the tensor.
func (d *Kernel) SlidingForms() []Sliding {
	if d.PerVector > 1 && d.Stride > 2 || d.Stride*d.Pitch > hvx.EndGuard/2 {
		return nil
	}
	s := d.slidingShape()
	regs := func(steps int) int { // of sums, words and outputs
		n := 4*s.waiting() + 4*s.units(d.sets())*steps + 4*steps
		if d.Rq.Halfword {
			n -= 2 * steps
		}
		return n + 8*d.sets()*len(s.shifts)
	}
	var list []Sliding
	if regs(2) <= 24 && d.Stride == 1 && len(s.shifts) == 0 {
		form := Sliding{2, 2}
		if d.weights() > 4*d.KW+1 { // more products, more registers
			form.Kept = 0
		}
		list = append(list, form)
	}
	for _, kept := range [...]int{10, 4, 0} {
		if regs(1)+kept <= 32 && (d.PerVector == 1 || kept < 10) {
			list = append(list, Sliding{1, kept})
		}
	}
	return list
}

// slidingUnit is a vector of words: those of a set of rows in the columns of a
// stream at one step.
type slidingUnit struct{ step, stream, set int }

// slidingCode is the state of the generator of a sliding-window kernel between blocks of steps.
type slidingCode struct {
	*kernelCode
	slidingShape
	rows []codegen.Reg // of each row: the address slidingReach bytes behind at
	at   int           // bytes from the row's first column
	step int
	// bound is the output after the last whose columns are used; outputs of a loop are not bounded.
	bound int
	// sums holds the sum of output n at n modulo their number; fresh are the outputs that
	// began in the block before and wait for their biases.
	sums  []quad
	fresh []int
	// words holds the words of the block's units and, where they are shifted, of the step
	// before it. Of its last step they are in registers that a loop can rely on,
	// every other block in others.
	words map[slidingUnit]quad
	homes [2]map[slidingUnit]quad
	block int
	// ready are the outputs before, which are requantized and stored while the next
	// words are made.
	ready []quad
	done  int                 // how many
	out   int                 // and where the next one goes
	deal  codegen.Reg         // control of vdeal of cells into streams
	by    map[int]codegen.Reg // shifts
}

// slidingReach is the distance of an address past its first vector, so that signed offsets
// of four bits reach all of them.
const slidingReach = 8 * hvx.VectorBytes

// endless is a bound for loops.
const endless = 1 << 30

func (e *kernelCode) newSliding(src codegen.Reg) *slidingCode {
	a := e.a
	s := &slidingCode{kernelCode: e, slidingShape: e.slidingShape(), by: map[int]codegen.Reg{}, words: map[slidingUnit]quad{}}
	for r := range e.KH {
		s.rows = append(s.rows, a.Add(src, r*e.RowStep+slidingReach))
	}
	for _, c := range s.columns {
		if c.shift > 0 && !s.by[c.shift].Valid() {
			s.by[c.shift] = a.Imm8(c.shift)
		}
	}
	if e.PerVector > 1 && e.Stride == 2 {
		s.deal = a.Imm8(-e.Pitch)
	}
	for range s.waiting() {
		s.sums = append(s.sums, newQuad(a, "sum"))
	}
	for i := range s.homes {
		s.homes[i] = map[slidingUnit]quad{}
		for q := range e.Stride {
			for set := range e.sets() {
				if s.shifts[q] {
					s.homes[i][slidingUnit{0, q, set}] = newQuad(a, "words")
				}
			}
		}
	}
	return s
}

// slidingCarry holds the finished accumulators that an entry of the table leaves to the next
// entry, which requantizes and stores them while it begins. The first entry of all finds zeros,
// which it stores where its own first outputs will be. Requantization by channel
// needs the entry's record, so nothing is left then.
type slidingCarry struct {
	ready []quad
	dst   codegen.Reg
}

// newCarry begins with where the first outputs go.
func (e *kernelCode) newCarry(dst codegen.Reg) *slidingCarry {
	c := &slidingCarry{dst: dst}
	for range e.Sliding.Outputs {
		c.ready = append(c.ready, newQuad(e.a, "ready"))
	}
	if e.rq.Halfword {
		zero := e.a.Zero()
		for _, r := range c.ready {
			for _, x := range r {
				e.a.Op(hexagon.V6_vassign, hvx.Lo(x), zero)
			}
		}
	}
	return c
}

// plan divides an entry's outputs: the first ones, rounds of a loop of so many
// blocks, the others, of which the last block may be smaller.
func (s *slidingCode) plan() (first, blocks, rounds, rest, last int) {
	size := s.Sliding.Outputs
	for blocks = 1; size*blocks%max(1, s.waiting()) > 0; {
		blocks++
	}
	if len(s.shifts) > 0 && blocks%2 > 0 {
		blocks *= 2
	}
	first = min(size, s.Kernel.Outputs)
	left := s.Kernel.Outputs - first
	rounds, rest = left/(size*blocks), left%(size*blocks)
	switch {
	case rest > 0:
		last = (rest-1)%size + 1
	case rounds > 0:
		last = size
	default:
		last = first
	}
	return first, blocks, rounds, rest, last
}

func (e *kernelCode) sliding(src, dst codegen.Reg, c *slidingCarry) {
	a := e.a
	e.loadResident(e.Sliding.Kept)
	s := e.newSliding(src)
	s.ready = c.ready
	size := e.Sliding.Outputs
	first, blocks, rounds, rest, last := s.plan()
	all := first + rest
	if s.bound = all; rounds > 0 {
		all += size * blocks
		s.bound = endless
	}
	to := dst
	if e.rq.Halfword {
		s.done, to = last, c.dst
	}
	for n := s.last; n > 0; n -= min(n, size) { // no output is complete yet
		s.steps(min(n, size), to)
	}
	s.steps(first, to)
	s.out = 0
	round := func(n int) {
		for at := 0; at < n; at += size {
			s.steps(min(size, n-at), dst)
		}
		s.moveTo(s.step * s.stepBytes())
		a.Bump(dst, s.out*e.outStep())
		s.out = 0
	}
	s.moveTo(s.step * s.stepBytes())
	if rounds > 0 {
		a.Loop0(rounds, func() { round(size * blocks) })
	}
	s.bound = all
	round(rest)
	if e.rq.Halfword {
		a.Op(hexagon.A2_tfr, c.dst, dst)
		return
	}
	s.flush(dst)
}

// finish stores what the last entry left.
func (e *kernelCode) finish(c *slidingCarry) {
	if e.rq.Halfword {
		s := &slidingCode{kernelCode: e, slidingShape: e.slidingShape(), ready: c.ready}
		_, _, _, _, s.done = s.plan()
		s.flush(c.dst)
	}
}

// flush requantizes and stores the outputs that are ready.
func (s *slidingCode) flush(dst codegen.Reg) {
	for i := range s.done {
		s.store(s.readyRegs(i), dst, s.out*s.outStep())
		s.out++
	}
	s.done = 0
}
