package conv

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// How the vectors of positions that a spatial kernel loads become planes of words, and
// planes of results vectors of positions.

// fetch makes the planes of fetches of the entry so many bytes ahead.
func (e *spatialCode) fetch(list []spatialFetch, ahead int) {
	a := e.a
	a.SetPhase(hvx.PhaseNone)
	in := make([]codegen.Reg, e.Granules())
	for g := range in {
		in[g] = a.Word(e.table, ahead/4+g, "in")
	}
	row := 0
	for _, f := range list {
		for g := range in {
			in[g] = e.below(in[g], f.row-row)
		}
		row = f.row
		n := e.Stride * e.Pitch / 4
		x := make([]codegen.Reg, n)
		for v := range x {
			lane := v * SpatialPositions / n
			off := f.at*e.Stride*e.Pitch + lane%e.Granule()*e.Stride*e.Pitch
			if n == 1 {
				x[v] = e.plane[f.planes[0]]
			} else {
				x[v] = a.V("x")
			}
			op := hexagon.V6_vL32Ub_ai
			if e.Aligned && off%hvx.VectorBytes == 0 {
				op = hexagon.V6_vL32b_ai
			}
			b, at := a.SplitOffset(in[lane/e.Granule()], off)
			a.Op(op, x[v], b, at).Loads(hvx.AliasIn)
		}
		if n > 1 {
			e.deal(x, e.pairs[f.index], 0, 1)
		}
	}
}

// below points so many rows of the window further.
func (e *spatialCode) below(in codegen.Reg, rows int) codegen.Reg {
	if rows == 0 {
		return in
	}
	a, next := e.a, e.a.R("in")
	if rows == 1 {
		a.Op(hexagon.A2_add, next, in, e.rowStep)
		return next
	}
	a.Op(hexagon.A2_tfr, next, in)
	a.Op(hexagon.M2_macsip, next, e.rowStep, rows)
	return next
}

// deal de-interleaves vectors, in which words first, first+step, .. of positions follow each
// other, into planes.
func (e *spatialCode) deal(x []codegen.Reg, homes []codegen.Reg, first, step int) {
	used := false
	for w := first; w < len(homes); w += step {
		used = used || homes[w].Valid()
	}
	if !used {
		return
	}
	a := e.a
	if len(x) == 2 {
		a.Op(hexagon.V6_vdealvdd, homes[first], x[1], x[0], e.words)
		return
	}
	var even, odd []codegen.Reg
	for i := 0; i < len(x); i += 2 {
		p := a.VV("dealt")
		a.Op(hexagon.V6_vdealvdd, p, x[i+1], x[i], e.words)
		even, odd = append(even, hvx.Lo(p)), append(odd, hvx.Hi(p))
	}
	e.deal(even, homes, first, 2*step)
	e.deal(odd, homes, first+step, 2*step)
}

// store makes vectors of positions of the planes of results and stores them, the last
// one first.
func (e *spatialCode) store() {
	e.a.SetPhase(hvx.PhaseRequantize)
	planes := make([]codegen.Reg, e.outputVectors())
	for i := range planes {
		planes[i] = e.result[min(i, len(e.result)-1)]
	}
	list := e.shuffle(planes)
	for i := len(list) - 1; i >= 0; i-- {
		e.a.Store(e.to[i], 0, list[i], hvx.AliasOut)
	}
	e.a.SetPhase(hvx.PhaseNone)
}

// shuffle is the inverse of deal.
func (e *spatialCode) shuffle(planes []codegen.Reg) []codegen.Reg {
	if len(planes) == 1 {
		return planes
	}
	var even, odd []codegen.Reg
	for i := 0; i < len(planes); i += 2 {
		even, odd = append(even, planes[i]), append(odd, planes[i+1])
	}
	even, odd = e.shuffle(even), e.shuffle(odd)
	var list []codegen.Reg
	for i := range even {
		p := e.a.VV("positions")
		e.a.Op(hexagon.V6_vshuffvdd, p, odd[i], even[i], e.words)
		list = append(list, hvx.Lo(p), hvx.Hi(p))
	}
	return list
}
