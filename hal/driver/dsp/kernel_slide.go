package dsp

import (
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A window that overlaps its neighbour slides: each column is loaded and
// interleaved once and multiplied for all windows that it belongs to, whose sums
// wait in registers for their last column.

// slideSteps is how many outputs one round of the loop makes.
const slideSteps = 2

// slides reports whether the kernel slides: whole vectors, neighbouring columns,
// and registers for the sums.
func (d *depthKernel) slides() bool {
	return d.cells == 1 && d.dilation == 1 && d.kw > d.stride && (d.kw-1)/d.stride <= 2 && d.sets() == 1
}

// depthSlide is the state between outputs.
type depthSlide struct {
	*depthCode
	rows []build.Reg // where the next column lies, for each row
	at   int         // columns that the addresses are behind
	// sums[n] are those of the n-th output from now on.
	sums [][4]build.Reg
	// ready is the output before, which is requantized and stored while the next one
	// is multiplied.
	ready []build.Reg
}

func (e *depthCode) slide(src, dst build.Reg) {
	a := e.a
	s := &depthSlide{depthCode: e}
	for r := range e.kh {
		if r == 0 {
			s.rows = append(s.rows, src)
			continue
		}
		s.rows = append(s.rows, a.add(src, r*e.rowStep))
	}
	waiting := (e.kw - 1) / e.stride
	s.sums = make([][4]build.Reg, waiting+1)
	for n := range s.sums {
		for j := range s.sums[n] {
			s.sums[n][j] = a.v("sum")
		}
	}
	// Outputs before the first one only have their part in those that follow.
	for i := -ceilDiv(e.kw-e.stride, e.stride); i < 0; i++ {
		s.output(i)
	}
	s.output(0)
	s.catchUp()
	round := func(n int) {
		for i := range n {
			s.store(s.ready, dst, i*e.outStep())
			s.output(0)
		}
		s.catchUp()
		a.bump(dst, n*e.outStep())
	}
	if n := (e.steps - 1) / slideSteps; n > 0 {
		a.loop0(n, func() { round(slideSteps) })
	}
	if n := (e.steps - 1) % slideSteps; n > 0 {
		round(n)
	}
	s.store(s.ready, dst, 0)
}

// output takes the columns that end output i; outputs below 0 do not exist, nor
// do columns. The sums of the outputs behind it move up.
func (s *depthSlide) output(i int) {
	var done [4]build.Reg
	for q := range s.stride {
		if i < 0 && i*s.stride+s.kw-s.stride+q < 0 {
			continue
		}
		s.a.phase(phaseProducts)
		x := s.words(0, func(row int) build.Reg { return s.column(row) })
		s.at++
		last := q == s.stride-1
		for n := range s.sums { // output i+n
			col := s.kw - s.stride + q - n*s.stride
			if col < 0 || i+n < 0 {
				continue
			}
			from := s.sums[n]
			if col == 0 {
				from = [4]build.Reg{}
			}
			to := &s.sums[n]
			if last {
				if n == 0 {
					to = &done
					for j := range done {
						done[j] = s.a.v("done")
					}
				} else {
					to = &s.sums[n-1]
				}
			}
			s.multiply(to, from, x, col, 0)
		}
	}
	if i < 0 {
		return
	}
	s.ready = s.depthCode.ready(done, s.ready)
}

// column loads the vector of a row in the next column.
func (s *depthSlide) column(row int) build.Reg {
	off := s.at * s.pitch / vecBytes
	if off > 7 {
		s.catchUp()
		off = 0
	}
	v := s.a.v("x")
	s.a.op(hexagon.V6_vL32b_ai, v, s.rows[row], off).Loads(aliasIn)
	return v
}

// catchUp moves the addresses to the next column.
func (s *depthSlide) catchUp() {
	for _, r := range s.rows {
		s.a.bump(r, s.at*s.pitch)
	}
	s.at = 0
}
