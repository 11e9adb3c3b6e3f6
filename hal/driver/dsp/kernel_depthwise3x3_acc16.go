package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// The acc16 kernels compute a 3x3 depthwise convolution with 16-bit accumulators. The
// planner (lower_depthwise3x3_acc16.go) proves for each channel that they are exact. One
// vmpa multiplies two taps of a column, whose bytes lie in a register pair as they lie in
// memory; nothing is interleaved. The multipliers add the products of the third row to
// those of a column.

// acc16Code is the state that the bodies of the acc16 kernels share.
type acc16Code struct {
	*dw3x3Code
	p      *acc16Split
	weight [3]codegen.Reg // of columns
}

func (n *dw3x3Code) newAcc16() dw3x3Body {
	c := &acc16Code{dw3x3Code: n, p: n.f.acc16}
	switch {
	case n.cells == 1:
		return c.newOnePosition()
	case n.stride == 1:
		return c.newPackedStride1()
	}
	return c.newPackedStride2()
}

func (n *acc16Code) constants() {
	if n.const1 == nil {
		for i := range n.weight {
			n.weight[i] = n.a.VV("weights")
			n.const1 = append(n.const1, hvx.Lo(n.weight[i]), hvx.Hi(n.weight[i]))
		}
	}
	n.dw3x3Code.constants()
}

// load loads a vector of each row, so many bytes from output 0's first column.
func (n *acc16Code) load(pair, third codegen.Reg, at int) {
	n.a.SetPhase(hvx.PhaseProducts)
	a, b := n.p.pairedRows()
	for _, x := range [...]struct {
		to  codegen.Reg
		row int
	}{{hvx.Lo(pair), a}, {hvx.Hi(pair), b}, {third, n.p.row}} {
		n.a.LoadTo(x.to, n.rows[x.row], at-n.rowOffset[x.row], hvx.AliasIn)
	}
}

// requantizeBefore requantizes what output i finds in ready.
func (n *acc16Code) requantizeBefore(i int, ready quad) {
	n.requantize(ready, n.out[min(i, 1)], max(i-1, 0)*n.outStep())
}

// acc16Sum is an output's sum being made.
type acc16Sum struct {
	*acc16Code
	column func(col int) codegen.Reg // rows a and b, asked for once
	third  func(col int) codegen.Reg // asked for once; the column was before
	made   [acc16Products]codegen.Reg
}

// make makes the product of a column.
func (s *acc16Sum) make(col int) {
	if s.made[col].Valid() {
		return
	}
	x, to := s.column(col), s.a.VV("product")
	s.a.SetPhase(hvx.PhaseProducts)
	s.made[col] = to
	s.a.Op(hexagon.V6_vmpabusv, to, x, s.weight[col])
	a, b := s.p.pairedRows()
	s.more(to, hvx.Lo(x), a, col)
	s.more(to, hvx.Hi(x), b, col)
}

// more adds the products of further parts of a tap's weights.
func (s *acc16Sum) more(to, x codegen.Reg, row, col int) {
	for i := range s.p.more[row][col] {
		s.constant(s.p.partAt(row, col, i), hexagon.V6_vmpybusv_acc, to, x)
	}
}

// add adds the product of a column of the third row to its partner.
func (s *acc16Sum) add(col int) {
	p := int(s.p.partner[col])
	op := hexagon.V6_vmpybusv_acc
	if p != thirdProduct {
		s.make(p)
	} else if !s.made[p].Valid() {
		op, s.made[p] = hexagon.V6_vmpybusv, s.a.VV("product")
	}
	x := s.third(col)
	s.a.SetPhase(hvx.PhaseProducts)
	s.constant(s.p.weightAt(s.p.row, col), op, s.made[p], x)
	s.more(s.made[p], x, s.p.row, col)
}

// finish makes the products that are left, but for the first so many columns, whose are
// there, and joins the groups.
func (s *acc16Sum) finish(from int, ready quad) {
	a, p := s.a, s.p
	var sum codegen.Reg
	groups := p.groups()
	for g := range groups {
		var group codegen.Reg
		for i := range p.products() {
			if int(p.group[i]) != g {
				continue
			}
			if i < thirdProduct {
				s.make(i)
			}
			for col := from; col < 3; col++ {
				if int(p.partner[col]) == i {
					s.add(col)
				}
			}
			a.SetPhase(hvx.PhaseProducts)
			if group.Valid() {
				a.Op(hexagon.V6_vaddh_dv, group, group, s.made[i])
			} else {
				group = s.made[i]
			}
		}
		if p.offset[g] {
			for k := range 2 {
				s.constant(p.offsetAt(g)+k, hexagon.V6_vaddh, hvx.Half(group, k), hvx.Half(group, k))
			}
		}
		switch {
		case groups == 1:
			for k := range 2 {
				a.Op(hexagon.V6_vassign, hvx.Lo(ready[k]), hvx.Half(group, k))
			}
		case g == 0:
			sum = group
		case g < groups-1:
			a.Op(hexagon.V6_vaddhsat_dv, sum, sum, group)
		default:
			for k := range 2 {
				a.Op(hexagon.V6_vaddhsat, hvx.Lo(ready[k]), hvx.Half(sum, k), hvx.Half(group, k))
			}
		}
	}
}
