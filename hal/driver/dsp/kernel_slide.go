package dsp

import (
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Windows that overlap slide: each vector of input columns is loaded and
// interleaved once and multiplied for all windows that it belongs to, whose sums
// wait in registers for their last column.
//
// Wide positions have a vector per column. Otherwise a vector has one column of
// each of its cells' windows, and the next columns are the same words moved on by
// cells. With a stride the columns come in as many streams: column p of a row is
// column p/stride of stream p%stride.

// depthColumn is where a column of the window lies: how many vectors of its stream
// behind the one of the output's first cell, and how many bytes into it.
type depthColumn struct{ stream, index, shift int }

func (d *depthKernel) column(col int) depthColumn {
	p := col * d.dilation
	if d.cells == 1 {
		return depthColumn{p % d.stride, p / d.stride, 0}
	}
	p += d.skew / d.pitch
	at := p / d.stride * d.pitch
	return depthColumn{p % d.stride, at / vecBytes, at % vecBytes}
}

// delay is how many steps behind its output's first one the column is complete.
func (c depthColumn) delay() int {
	if c.shift > 0 {
		return c.index + 1
	}
	return c.index
}

// slideShape is what a sliding kernel keeps in registers.
type slideShape struct {
	columns     []depthColumn
	first, last int          // least and greatest delay
	shifts      map[int]bool // the streams of which words of the vector before are needed
}

func (d *depthKernel) slideShape() slideShape {
	s := slideShape{first: 1 << 30, shifts: map[int]bool{}}
	for col := range d.kw {
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
func (s *slideShape) waiting() int { return s.last - s.first }

// units is how many units a step has.
func (s *slideShape) units(sets int) int {
	used := map[int]bool{}
	for _, c := range s.columns {
		used[c.stream] = true
	}
	return len(used) * sets
}

// slideForm is how a kernel slides: so many steps at a time, which share what they
// load, and so many weight vectors in registers.
type slideForm struct{ steps, kept int }

// slideForms lists the forms that a kernel may have registers for, the best first;
// none where cells cannot be dealt to streams, or the last columns of a step may lie
// too far behind the tensor.
func (d *depthKernel) slideForms() []slideForm {
	if d.cells > 1 && d.stride > 2 || d.stride*d.pitch > endGuard/2 {
		return nil
	}
	s := d.slideShape()
	regs := func(steps int) int { // of sums, words and outputs
		n := 4*s.waiting() + 4*s.units(d.sets())*steps + 4*steps
		if d.rq.half {
			n -= 2 * steps
		}
		return n + 8*d.sets()*len(s.shifts)
	}
	var list []slideForm
	if regs(2) <= 24 && d.stride == 1 && len(s.shifts) == 0 {
		form := slideForm{2, 2}
		if d.weights() > 4*d.kw+1 { // more products, more registers
			form.kept = 0
		}
		list = append(list, form)
	}
	for _, kept := range [...]int{10, 4, 0} {
		if regs(1)+kept <= 32 && (d.cells == 1 || kept < 10) {
			list = append(list, slideForm{1, kept})
		}
	}
	return list
}

// slideUnit is a vector of words: those of a set of rows in the columns of a
// stream at one step.
type slideUnit struct{ step, stream, set int }

// depthSlide is the state between blocks of steps.
type depthSlide struct {
	*depthCode
	slideShape
	rows []build.Reg // of each row: the address slideReach bytes behind at
	at   int         // bytes from the row's first column
	step int
	// bound is behind the last output whose columns are taken: none of those in a loop.
	bound int
	// sums are those of output n at n modulo their number; fresh are the outputs that
	// began in the block before and wait for their biases.
	sums  []quad
	fresh []int
	// words are those of the block's units and, where they are shifted, of the step
	// before it. Of its last step they are in registers that a loop can rely on,
	// every other block in others.
	words map[slideUnit]quad
	homes [2]map[slideUnit]quad
	block int
	// ready are the outputs before, which are requantized and stored while the next
	// words are made.
	ready []quad
	done  int               // how many
	out   int               // and where the next one goes
	deal  build.Reg         // how cells are dealt to streams
	by    map[int]build.Reg // shifts
}

// slideReach is how far behind its vectors an address lies: they are reached by
// offsets of four bits.
const slideReach = 8 * vecBytes

// endless is a bound for loops.
const endless = 1 << 30

func (e *depthCode) newSlide(src build.Reg) *depthSlide {
	a := e.a
	s := &depthSlide{depthCode: e, slideShape: e.slideShape(), by: map[int]build.Reg{}, words: map[slideUnit]quad{}}
	for r := range e.kh {
		s.rows = append(s.rows, a.add(src, r*e.rowStep+slideReach))
	}
	for _, c := range s.columns {
		if c.shift > 0 && !s.by[c.shift].Valid() {
			s.by[c.shift] = a.imm8(c.shift)
		}
	}
	if e.cells > 1 && e.stride == 2 {
		s.deal = a.imm8(-e.pitch)
	}
	for range s.waiting() {
		s.sums = append(s.sums, a.quad("sum"))
	}
	for i := range s.homes {
		s.homes[i] = map[slideUnit]quad{}
		for q := range e.stride {
			for set := range e.sets() {
				if s.shifts[q] {
					s.homes[i][slideUnit{0, q, set}] = a.quad("words")
				}
			}
		}
	}
	return s
}

// slideCarry is what an entry leaves to the next one: outputs that are ready, to be
// requantized and stored while that one begins. The first entry of all finds zeros,
// which it stores where its own first outputs will be. Requantization by channel
// needs the entry's record, so nothing is left then.
type slideCarry struct {
	ready []quad
	dst   build.Reg
}

// newCarry begins with where the first outputs go.
func (e *depthCode) newCarry(dst build.Reg) *slideCarry {
	c := &slideCarry{dst: dst}
	for range e.form.steps {
		c.ready = append(c.ready, e.a.quad("ready"))
	}
	if e.rq.half {
		zero := e.a.zero()
		for _, r := range c.ready {
			for _, x := range r {
				e.a.op(hexagon.V6_vassign, lo(x), zero)
			}
		}
	}
	return c
}

// plan divides an entry's outputs: the first ones, rounds of a loop of so many
// blocks, the others, of which the last block may be smaller.
func (s *depthSlide) plan() (first, blocks, rounds, rest, last int) {
	size := s.form.steps
	for blocks = 1; size*blocks%max(1, s.waiting()) > 0; {
		blocks++
	}
	if len(s.shifts) > 0 && blocks%2 > 0 {
		blocks *= 2
	}
	first = min(size, s.depthKernel.steps)
	left := s.depthKernel.steps - first
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

func (e *depthCode) slide(src, dst build.Reg, c *slideCarry) {
	a := e.a
	e.keep(e.form.kept)
	s := e.newSlide(src)
	s.ready = c.ready
	size := e.form.steps
	first, blocks, rounds, rest, last := s.plan()
	all := first + rest
	if s.bound = all; rounds > 0 {
		all += size * blocks
		s.bound = endless
	}
	to := dst
	if e.rq.half {
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
		a.bump(dst, s.out*e.outStep())
		s.out = 0
	}
	s.moveTo(s.step * s.stepBytes())
	if rounds > 0 {
		a.loop0(rounds, func() { round(size * blocks) })
	}
	s.bound = all
	round(rest)
	if e.rq.half {
		a.op(hexagon.A2_tfr, c.dst, dst)
		return
	}
	s.flush(dst)
}

// finish stores what the last entry left.
func (e *depthCode) finish(c *slideCarry) {
	if e.rq.half {
		s := &depthSlide{depthCode: e, slideShape: e.slideShape(), ready: c.ready}
		_, _, _, _, s.done = s.plan()
		s.flush(c.dst)
	}
}

// flush requantizes and stores the outputs that are ready.
func (s *depthSlide) flush(dst build.Reg) {
	for i := range s.done {
		s.store(s.readyRegs(i), dst, s.out*s.outStep())
		s.out++
	}
	s.done = 0
}
