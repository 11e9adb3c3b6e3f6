package conv

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// SpatialPrefetch is the index of the prefetch arguments.
const SpatialPrefetch = 5

// spatialCode is the state of the generator of a spatial kernel.
type spatialCode struct {
	*Spatial
	a         *hvx.Builder
	rq        *hvx.Requantizer
	table     codegen.Reg
	records   hvx.Record
	weights   codegen.Reg
	used      int // weight words so far
	pair      codegen.Reg
	rowStep   codegen.Reg
	words     codegen.Reg   // control of vdeal and vshuff by words
	plane     []codegen.Reg // by number
	pairs     [][]codegen.Reg
	zeroShare codegen.Reg
	acc       [][4]codegen.Reg // by quad
	ready     [][]codegen.Reg  // what is requantized, by quad: sums, or halves of them
	result    []codegen.Reg    // planes of results
	to        []codegen.Reg    // where they go
}

// Emit writes the kernel. Arguments: table, entries, parameter block, biases and
// multipliers, weights, prefetch.
func (d Spatial) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "params", "records", "weights", "address", "box", "stride")
	e := &spatialCode{Spatial: &d, a: a, table: in[0], weights: in[4]}
	a.Prefetch(in[SpatialPrefetch:])
	params := in[2]
	e.rq = a.RequantSetup(d.Rq, params)
	if e.rq.Halfword && !e.rq.ByteFactor {
		e.rq.Fifteen = a.Imm8(15)
	}
	e.records = hvx.NewRecord(a, in[3], d.Quads()*d.header()*hvx.VectorBytes)
	if d.KH > 1 {
		e.rowStep = a.Word(params, hvx.ParRowStep, "row step")
	}
	e.words = a.Imm8(-4)
	list := d.fetches()
	e.plane = make([]codegen.Reg, d.Planes())
	e.pairs = make([][]codegen.Reg, len(list))
	for _, f := range list {
		e.home(f)
	}
	e.acc, e.ready, e.result = make([][4]codegen.Reg, d.Quads()), make([][]codegen.Reg, d.Quads()), make([]codegen.Reg, d.Quads())
	for range d.outputVectors() {
		e.to = append(e.to, a.R("to"))
	}
	if d.Carried {
		e.carry()
	}
	if d.Unsigned {
		e.zeroShare = a.V("zero share")
	}
	first := list
	if d.Streamed {
		first = list[:1]
	}
	e.fetch(first, 0)
	a.Loop0(in[1], func() {
		e.used = 0
		a.Op(hexagon.Y2_dcfetchbo, e.table, 8*4*d.EntryWords()&^7)
		if !d.Carried {
			e.place()
		}
		if d.Streamed {
			e.passPlanes(list)
		} else {
			e.passQuads(list)
		}
		if d.Carried {
			e.place()
		} else {
			e.store()
		}
		a.Bump(e.table, 4*d.EntryWords())
	})
	if d.Carried {
		e.complete()
	}
	a.Ret()
}

// place loads where the results of a block go.
func (e *spatialCode) place() {
	for i, to := range e.to {
		e.a.Op(hexagon.L2_loadri_io, to, e.table, 4*(e.Granules()+i)).Loads(hvx.AliasConst)
	}
}

// carry gives what is carried its registers. The first block of all finds zeros, whose
// results it stores where its own will be.
func (e *spatialCode) carry() {
	e.place()
	zero := e.a.Zero()
	vector := func(name string) codegen.Reg {
		v := e.a.V(name)
		e.a.Op(hexagon.V6_vassign, v, zero)
		return v
	}
	for q := range e.result {
		if !e.nextBlock(q) {
			e.result[q] = vector("result")
			continue
		}
		if !e.rq.Halfword {
			for range 4 {
				e.ready[q] = append(e.ready[q], vector("ready"))
			}
			continue
		}
		for range 2 {
			v := e.a.VV("ready")
			e.ready[q] = append(e.ready[q], v)
			e.a.Op(hexagon.V6_vassign, hvx.Lo(v), zero)
		}
	}
}

// nextBlock reports whether a quad is requantized beside the next block's products.
func (e *spatialCode) nextBlock(q int) bool { return e.Carried && (e.Streamed || q == e.Quads()-1) }

// complete requantizes and stores what is carried.
func (e *spatialCode) complete() {
	for q := range e.result {
		if e.nextBlock(q) {
			e.finish(q)
		}
	}
	e.store()
}

// home gives the planes of a fetch their registers.
func (e *spatialCode) home(f spatialFetch) {
	n := e.Stride * e.Pitch / 4
	if n == 1 {
		e.plane[f.planes[0]] = e.a.V("plane")
		return
	}
	e.pairs[f.index] = make([]codegen.Reg, n/2)
	for w := range n / 2 {
		x, low := f.planes[w]
		y, high := f.planes[w+n/2]
		if !low && !high {
			continue
		}
		p := e.a.VV("planes")
		e.pairs[f.index][w] = p
		if low {
			e.plane[x] = hvx.Lo(p)
		}
		if high {
			e.plane[y] = hvx.Hi(p)
		}
	}
}

// weight is the next weight word.
func (e *spatialCode) weight() codegen.Reg {
	n := e.used
	e.used++
	if n%2 == 0 {
		e.pair = e.a.RR("weights")
		e.a.Op(hexagon.L2_loadrd_io, e.pair, e.weights, 4*n).Loads(hvx.AliasConst)
	}
	return hvx.Half(e.pair, n%2)
}

// begin makes the accumulators of a quad its biases.
func (e *spatialCode) begin(q int) {
	for j := range 4 {
		if ch := e.Channel(q, j); ch >= 0 {
			if e.nextBlock(q) && !e.rq.Halfword {
				e.acc[q][j] = e.ready[q][j]
			} else {
				e.acc[q][j] = e.a.V("acc")
			}
			e.records.Load(e.acc[q][j], q*e.header()+j)
		}
	}
}

// multiply adds the products of planes and quads.
func (e *spatialCode) multiply(planes, quads []int) {
	a := e.a
	a.SetPhase(hvx.PhaseProducts)
	op := hexagon.V6_vrmpybus_acc
	if e.Unsigned {
		op = hexagon.V6_vrmpyub_acc
	}
	e.Order(planes, quads, func(ch, n, part int) {
		switch {
		case ch >= 0:
			a.Op(op, e.acc[ch/4][hvx.LanePhase[ch%4]], e.plane[n], e.weight())
		case n == 0:
			a.Op(hexagon.V6_vrmpyub, e.zeroShare, e.plane[n], e.weight())
		default:
			a.Op(hexagon.V6_vrmpyub_acc, e.zeroShare, e.plane[n], e.weight())
		}
	})
}

// finishSums subtracts the share of the zero point from the sums of a quad, for requantization.
func (e *spatialCode) finishSums(q int) {
	a := e.a
	a.SetPhase(hvx.PhaseRequantize)
	acc := e.acc[q]
	for j := range acc {
		if e.Channel(q, j) < 0 { // a lane of no consequence
			if acc[j] = a.V("copy"); e.nextBlock(q) && !e.rq.Halfword {
				acc[j] = e.ready[q][j]
			}
			a.Op(hexagon.V6_vassign, acc[j], acc[0])
		} else if e.Unsigned {
			a.Op(hexagon.V6_vsubw, acc[j], acc[j], e.zeroShare)
		}
	}
	if !e.rq.Halfword {
		e.ready[q] = acc[:]
		return
	}
	if !e.nextBlock(q) {
		e.ready[q] = []codegen.Reg{a.VV("half"), a.VV("half")}
	}
	e.rq.ToHalfwords(acc, []codegen.Reg{hvx.Lo(e.ready[q][0]), hvx.Lo(e.ready[q][1])})
}

// finish requantizes a quad.
func (e *spatialCode) finish(q int) {
	a := e.a
	a.SetPhase(hvx.PhaseRequantize)
	var out codegen.Reg
	switch x := e.ready[q]; {
	case e.rq.ByteFactor:
		if !e.Carried || e.nextBlock(q) {
			e.result[q] = a.V("result")
		}
		e.rq.Bytes(e.result[q], [2]codegen.Reg(x))
		return
	case e.rq.Halfword:
		out = e.rq.ScaleHalfwords([]codegen.Reg{hvx.Lo(x[0]), hvx.Lo(x[1])}, true)
	default:
		out = e.rq.Pack([4]codegen.Reg(x), func(j int) hvx.ChannelVectors { return e.channelVectors(q, j) }, true)
	}
	if e.Carried && !e.nextBlock(q) {
		a.Op(hexagon.V6_vassign, e.result[q], out)
	} else {
		e.result[q] = out
	}
}

// ChannelVectors loads the multipliers of an output of a quad.
func (e *spatialCode) channelVectors(q, j int) hvx.ChannelVectors {
	if !e.Spatial.Rq.PerChannel {
		return hvx.ChannelVectors{}
	}
	l := hvx.ChannelVectors{Mult: e.a.V("mult"), Shift: e.a.V("shift")}
	at := q*e.header() + j
	e.records.Load(l.Mult, at+4)
	e.records.Load(l.Shift, at+8)
	if e.Spatial.Rq.Left {
		l.Left = e.a.V("left")
		e.records.Load(l.Left, at+12)
	}
	return l
}

// passQuads multiplies all planes quad by quad; each is requantized beside the products
// of the next one, the last beside those of the next block or the fetches for it.
func (e *spatialCode) passQuads(list []spatialFetch) {
	planes, quads := e.Passes()
	last := e.Quads() - 1
	for q := range e.Quads() {
		products := func() {
			e.begin(q)
			e.multiply(planes[q], quads[q])
		}
		switch {
		case q > 0:
			e.a.Func.Weave(products, func() { e.finish(q - 1) })
		case e.Carried:
			e.a.Func.Weave(products, e.complete)
		default:
			products()
		}
		e.finishSums(q)
	}
	fetch := func() { e.fetch(list, 4*e.EntryWords()) }
	if e.Carried {
		fetch()
		return
	}
	e.a.Func.Weave(fetch, func() { e.finish(last) })
}

// passPlanes fetches planes and multiplies them beside each other, then requantizes.
func (e *spatialCode) passPlanes(list []spatialFetch) {
	planes, quads := e.Passes()
	products := func() {
		for q := range e.Quads() {
			e.begin(q)
		}
		for i := range list {
			multiply := func() { e.multiply(planes[i], quads[i]) }
			if i+1 < len(list) {
				e.a.Func.Weave(multiply, func() { e.fetch(list[i+1:i+2], 0) })
			} else {
				multiply()
			}
		}
	}
	if e.Carried {
		e.a.Func.Weave(products, e.complete)
	} else {
		products()
	}
	for q := range e.Quads() {
		e.finishSums(q)
	}
	e.a.Func.Weave(func() { e.fetch(list[:1], 4*e.EntryWords()) }, func() {
		for q := range e.Quads() {
			if !e.Carried {
				e.finish(q)
			}
		}
	})
}
