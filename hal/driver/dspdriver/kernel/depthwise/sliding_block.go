package depthwise

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// steps is a block of steps: units of words are made and multiplied, together or,
// where they are many, one after the other. The outputs of the block before are
// requantized while the first words are made.
func (s *slidingCode) steps(n int, dst codegen.Reg) {
	before := s.words
	s.words = map[slidingUnit]quad{}
	for u, x := range before {
		if u.step == s.step-1 {
			s.words[u] = x
		}
	}
	b := &slidingBlock{slidingCode: s, end: s.step + n, dealt: map[[2]int]codegen.Reg{}, grouped: s.sets() > 1}
	for k := range b.begun {
		b.begun[k] = map[int]codegen.Reg{}
		b.left[k] = b.contributions()
	}
	var units []slidingUnit
	for step := s.step; step < b.end; step++ {
		units = append(units, s.stepUnits(step)...)
	}
	each := max(1, len(units)) // of a group
	if b.grouped {
		each = 1
	}
	for i := 0; i < max(1, len(units)); i += each {
		group := units[i:min(i+each, len(units))]
		words := func() {
			for _, u := range group {
				b.makeWords(u)
			}
		}
		if i == 0 {
			s.a.Func.Weave(words, func() { s.flush(dst) }, s.addBiases)
		} else {
			words()
		}
		for k := range 2 {
			b.products(k, group)
			if i+each >= len(units) {
				b.finishOutputs(k)
			}
		}
	}
	for n := s.step - s.last; n < b.end-s.last; n++ {
		if s.isOutput(n) {
			s.done++
		}
	}
	s.block++
	s.step = b.end
}

// slidingBlock is the state of the generator for one block of steps.
type slidingBlock struct {
	*slidingCode
	end   int                    // the step behind it
	dealt map[[2]int]codegen.Reg // streams of a row's cells, by step and row
	// grouped: units come one after the other, and what begins is not where an output
	// may still wait for one.
	grouped bool
	// Of each pair of vectors: begun are the sums of outputs that begin in this block;
	// left are the columns and sets that outputs wait for.
	begun [2]map[int]codegen.Reg
	left  [2]map[int]int
}

// contributions counts what the block adds to each output.
func (b *slidingBlock) contributions() map[int]int {
	left := map[int]int{}
	for _, c := range b.columns {
		for step := b.step; step < b.end; step++ {
			left[step-c.delay()] += b.sets()
		}
	}
	return left
}

// isOutput reports whether output n is made.
func (s *slidingCode) isOutput(n int) bool { return n >= 0 && n < s.bound }

// stepUnits lists the units of a step.
func (s *slidingCode) stepUnits(step int) []slidingUnit {
	var list []slidingUnit
	for q := range s.Stride {
		needed := false
		for _, c := range s.columns {
			if c.stream == q {
				needed = needed || s.isOutput(step-c.delay()) || c.shift > 0 && s.isOutput(step+1-c.delay())
			}
		}
		for set := range s.sets() {
			if needed {
				list = append(list, slidingUnit{step, q, set})
			}
		}
	}
	return list
}

// products multiplies vectors 2k and 2k+1 of a group of units by all columns that
// they are for. The last columns come first: outputs that are complete leave their
// registers to those that begin.
func (b *slidingBlock) products(k int, group []slidingUnit) {
	b.a.SetPhase(hvx.PhaseProducts)
	for i := range b.columns {
		col := len(b.columns) - 1 - i
		c := b.columns[col]
		for set := range b.sets() {
			var outs []int
			var x []codegen.Reg
			for _, u := range group {
				if n := u.step - c.delay(); u.stream == c.stream && u.set == set && b.isOutput(n) {
					outs = append(outs, n)
					x = append(x, b.column(u, k, c.shift))
				}
			}
			if len(outs) == 0 {
				continue
			}
			at := col*b.sets() + set
			parts := b.Parts.at(at)
			for part := range slices.Max(parts[2*k : 2*k+2]) {
				t := make([]codegen.Reg, len(outs))
				for i, n := range outs {
					t[i] = b.target(n, k)
				}
				b.weigh(t, x, k, at, part)
				for i, n := range outs {
					b.add(n, t[i], at, k, part)
				}
			}
			for _, n := range outs {
				if b.left[k][n]--; b.left[k][n] == 0 && n+b.last < b.end && !b.begun[k][n].Valid() {
					b.complete(n, k, b.sums[n%len(b.sums)][k])
				}
			}
		}
	}
}

// target is where products for output n go: to its sums if it begins and does not end
// in this block, whose registers the output before it there has left by now.
func (b *slidingBlock) target(n, k int) codegen.Reg {
	if n+b.first >= b.step && !b.begun[k][n].Valid() && n+b.last >= b.end && !b.grouped {
		return b.sums[n%len(b.sums)][k]
	}
	return b.a.VV("products")
}

// add adds products to what output n has.
func (b *slidingBlock) add(n int, t codegen.Reg, at, k, part int) {
	switch sum := b.begun[k][n]; {
	case sum.Valid():
		b.addTo(sum, t, at, k, part)
	case n+b.first >= b.step:
		b.begun[k][n] = t
		if n+b.last >= b.end && !b.grouped && k == 0 {
			b.fresh = append(b.fresh, n)
		}
	default:
		b.addTo(b.sums[n%len(b.sums)][k], t, at, k, part)
	}
}

// addBiases adds the biases to the outputs that began in the block before.
func (s *slidingCode) addBiases() {
	a := s.a
	a.SetPhase(hvx.PhaseRequantize)
	list := slices.DeleteFunc(s.fresh, func(n int) bool { return !s.isOutput(n) })
	s.fresh = nil
	for i := 0; i < len(list); i += 2 {
		for j := range 4 {
			base, off := s.w.At(j)
			x := s.sums[list[i]%len(s.sums)].at(j)
			if i+1 < len(list) {
				y := s.sums[list[i+1]%len(s.sums)].at(j)
				a.OpsLoading(hvx.AliasConst, base, off, hexagon.V6_vaddw, [2]codegen.Reg{x, y}, [2]codegen.Reg{x, y})
			} else {
				a.OpLoading(hvx.AliasConst, 2, base, off, hexagon.V6_vaddw, x, x, a.V("bias"))
			}
		}
	}
	a.SetPhase(hvx.PhaseProducts)
}

// finishOutputs adds the biases to the outputs that began, unless the next block does, and
// completes those that end.
func (b *slidingBlock) finishOutputs(k int) {
	a := b.a
	a.SetPhase(hvx.PhaseRequantize)
	for n := b.step - b.first; n < b.end-b.first; n++ {
		sum, ends := b.begun[k][n], n+b.last < b.end
		if !sum.Valid() || !ends && !b.grouped {
			continue
		}
		to := sum
		if !ends {
			to = b.sums[n%len(b.sums)][k]
		}
		for j := range 2 {
			base, off := b.w.At(2*k + j)
			a.OpLoading(hvx.AliasConst, 2, base, off, hexagon.V6_vaddw, hvx.Half(to, j), hvx.Half(sum, j), a.V("bias"))
		}
		if ends {
			b.complete(n, k, to)
		}
	}
}

// complete requantizes sums 2k and 2k+1 of an output.
func (s *slidingCode) complete(n, k int, sum codegen.Reg) {
	a := s.a
	i := n + s.last - s.step
	if !s.rq.Halfword {
		a.Op(hexagon.V6_vcombine, s.ready[i][k], hvx.Hi(sum), hvx.Lo(sum))
		return
	}
	a.SetPhase(hvx.PhaseRequantize)
	a.Op(hexagon.V6_vsatwh, hvx.Lo(s.ready[i][k]), hvx.Hi(sum), hvx.Lo(sum))
	a.SetPhase(hvx.PhaseProducts)
}

// column is the pair k of a unit's words, shift bytes into them.
func (s *slidingCode) column(u slidingUnit, k, shift int) codegen.Reg {
	x := s.words[u][k]
	if shift == 0 {
		return x
	}
	a := s.a
	before := s.words[slidingUnit{u.step - 1, u.stream, u.set}][k]
	y := a.VV("moved")
	for j := range 2 {
		a.Op(hexagon.V6_valignb, hvx.Half(y, j), hvx.Half(x, j), hvx.Half(before, j), s.by[shift])
	}
	return y
}

// weigh multiplies pairs k of words by part of the weights of a column: each vector
// of these is read once for two steps.
func (s *slidingCode) weigh(t, x []codegen.Reg, k, at, part int) {
	for j := range 2 {
		if s.Parts.at(at)[2*k+j] <= part {
			continue
		}
		w := s.weight(at, part, 2*k+j)
		for i := 0; i < len(x); i += 2 {
			if i+1 < len(x) && w >= len(s.kept) {
				base, off := s.w.At(s.header() + w)
				s.a.OpsLoading(hvx.AliasConst, base, off, hexagon.V6_vrmpybusv, [2]codegen.Reg{hvx.Half(t[i], j), hvx.Half(t[i+1], j)},
					[2]codegen.Reg{hvx.Half(x[i], j), hvx.Half(x[i+1], j)})
				continue
			}
			for m := i; m < min(i+2, len(x)); m++ {
				s.product(hvx.Half(t[m], j), hvx.Half(x[m], j), w)
			}
		}
	}
}

// readyRegs are the vectors of the i-th output before.
func (s *slidingCode) readyRegs(i int) []codegen.Reg {
	all := s.ready[i].all()
	switch {
	case s.rq.ByteFactor:
		return s.ready[i][:]
	case s.rq.Halfword:
		return []codegen.Reg{all[0], all[2]}
	}
	return all[:]
}

// makeWords makes the words of a unit.
func (b *slidingBlock) makeWords(u slidingUnit) {
	a := b.a
	a.SetPhase(hvx.PhaseProducts)
	x, ok := b.homes[b.block%2][slidingUnit{0, u.stream, u.set}]
	if !ok || u.step < b.end-1 {
		x = newQuad(a, "words")
	}
	b.words[u] = x
	at := u.step * b.stepBytes()
	if b.PerVector == 1 {
		at += u.stream * b.Pitch
	}
	if b.PerVector == 1 || b.Stride == 1 {
		b.kernelCode.words(x, u.set, func(row int) codegen.Reg { return b.load(row, at) },
			func(row int) (codegen.Reg, int) { return b.place(row, at) })
		return
	}
	b.kernelCode.words(x, u.set, func(row int) codegen.Reg {
		key := [2]int{u.step, row}
		if !b.dealt[key].Valid() {
			b.dealt[key] = a.VV("dealt")
			first, second := b.load(row, at), b.load(row, at+hvx.VectorBytes)
			a.Op(hexagon.V6_vdealvdd, b.dealt[key], second, first, b.deal)
		}
		return hvx.Half(b.dealt[key], u.stream)
	}, nil)
}

// stepBytes is the distance of a step's columns from those of the next one.
func (s *slidingCode) stepBytes() int {
	if s.PerVector == 1 {
		return s.Stride * s.Pitch
	}
	return s.Stride * hvx.VectorBytes
}

// place returns base and offset of the vector of a row that is at bytes from the first one.
func (s *slidingCode) place(row, at int) (codegen.Reg, int) {
	if at-s.at >= 2*slidingReach || at < s.at {
		s.moveTo(at)
	}
	return s.rows[row], (at - s.at - slidingReach) / hvx.VectorBytes
}

func (s *slidingCode) load(row, at int) codegen.Reg {
	v := s.a.V("x")
	base, n := s.place(row, at)
	s.a.Op(hexagon.V6_vL32b_ai, v, base, n).Loads(hvx.AliasIn)
	return v
}

// moveTo moves the addresses.
func (s *slidingCode) moveTo(at int) {
	for _, r := range s.rows {
		s.a.Bump(r, at-s.at)
	}
	s.at = at
}
