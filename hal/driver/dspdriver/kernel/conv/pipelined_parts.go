package conv

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// maxPipelinedAddresses bounds the input addresses and the output addresses of a block that
// stay in registers.
const maxPipelinedAddresses = 1

// pointers loads the addresses of the block whose table entry is at offset from, and keeps
// the output addresses of the block before.
func (w *pipelinedCode) pointers(from int) {
	a := w.a
	load := func(r codegen.Reg, word int) {
		a.Op(hexagon.L2_loadri_io, r, w.table, from+4*word).Loads(hvx.AliasConst)
	}
	for i, r := range w.before {
		if r.Valid() {
			a.Op(hexagon.L2_loadri_io, r, w.table, 4*(w.FirstOutput()+i)).Loads(hvx.AliasConst)
		}
	}
	for i, r := range w.ptr {
		load(r, i)
	}
	for i, r := range w.windowSumAt {
		load(r, w.Inputs()+i)
		a.Op(hexagon.A2_add, r, r, w.scratch)
	}
	for i, r := range w.to {
		load(r, w.FirstOutput()+i)
	}
}

// windowSumAddress returns where the window sums of an input address lie.
func (w *pipelinedCode) windowSumAddress(i, from int) codegen.Reg {
	if from == 0 && w.windowSumAt != nil {
		return w.windowSumAt[i]
	}
	at := w.a.R("sums")
	w.a.Op(hexagon.L2_loadri_io, at, w.table, from+4*(w.Inputs()+i)).Loads(hvx.AliasConst)
	w.a.Op(hexagon.A2_add, at, at, w.scratch)
	return at
}

// address is where position p of this block or the one before goes.
func (w *pipelinedCode) address(p int, previous bool) (codegen.Reg, int) {
	i, off := p/w.PerAddress, p%w.PerAddress*w.Pitch
	switch {
	case previous:
		return w.before[i], off
	case w.to != nil:
		return w.to[i], off
	}
	return w.a.Word(w.table, w.FirstOutput()+i, "to"), off
}

// corrections loads the window sums of the positions of a part, each splat to a vector.
func (w *pipelinedCode) corrections(p *pipelinedPart, from int) []codegen.Reg {
	a := w.a
	list := make([]codegen.Reg, p.count)
	if !w.GEMM.ZeroPoint {
		return list
	}
	bases := map[int]codegen.Reg{}
	for i := range list {
		n, k := w.input(p.first + i)
		at, ok := bases[n]
		if !ok {
			at = w.windowSumAddress(n, from)
			bases[n] = at
		}
		s := a.R("sum")
		a.Op(hexagon.L2_loadri_io, s, at, 4*k*w.SumStep).Loads(hvx.AliasScratch)
		list[i] = a.Splat(s, "correction")
	}
	return list
}

// start initializes the accumulators of a part of the block whose entry is at offset
// from: biases minus window sums.
func (w *pipelinedCode) start(p *pipelinedPart, from int) {
	a := w.a
	corr := w.corrections(p, from)
	rec := w.rec
	if p.rec > 0 {
		rec = a.Add(rec, p.rec)
	}
	for j := range p.groups {
		bias := a.Load(rec, j*hvx.VectorBytes, hvx.AliasConst, "bias")
		for i := range p.acc {
			if corr[i].Valid() {
				a.Op(hexagon.V6_vsubw, p.acc[i][j], bias, corr[i])
			} else {
				a.Op(hexagon.V6_vassign, p.acc[i][j], bias)
			}
		}
	}
}

// loadResident loads the weights that stay in registers.
func (w *pipelinedCode) loadResident() {
	p := w.parts[0]
	if several := w.Chunks > 1 || w.Chunks > 0 && w.Tail > 0; several || p.groups == 4 {
		return
	}
	n := w.Words * w.Runs * p.groups
	w.kept = make([]codegen.Reg, n)
	room := min(w.weightRegisters(p), n)
	at := w.a.Add(w.rec, w.Header(p.groups)*hvx.VectorBytes)
	for i := range n {
		if (i+1)*room/n > i*room/n {
			w.kept[i] = w.a.V("kept")
			w.a.LoadTo(w.kept[i], at, i*hvx.VectorBytes, hvx.AliasConst)
		}
	}
}

// weightRegisters returns how many vector registers the work of the parts leaves for weights.
func (w *pipelinedCode) weightRegisters(p *pipelinedPart) int {
	n := 32 - 9
	for _, x := range [...]struct {
		on   bool
		cost int
	}{{true, p.count * p.groups}, {w.early, p.count * p.groups}, {w.rq.Halfword, len(p.units)}, {!w.rq.Halfword, 2 * len(p.units)}, {w.rq.Zero.Valid(), 1},
		{w.rq.Clamp, 2}, {w.rq.Mult.Valid(), 1}, {w.rq.PerChannel, 5}, {w.rq.Unshifted && w.rq.PerChannel, 4}} {
		if x.on {
			n -= x.cost
		}
	}
	return max(n, 0)
}

// halve makes halves of the accumulators of a part.
func (w *pipelinedCode) halve(p *pipelinedPart) {
	if !w.rq.Halfword {
		return
	}
	w.a.SetPhase(hvx.PhaseRequantize)
	for _, u := range p.units {
		w.a.Op(hexagon.V6_vsatwh, u.halves, u.acc[1], u.acc[0])
	}
	w.a.SetPhase(hvx.PhaseNone)
}

// products adds the products of a part.
func (w *pipelinedCode) products(p *pipelinedPart) {
	a := w.a
	a.SetPhase(hvx.PhaseProducts)
	defer a.SetPhase(hvx.PhaseNone)
	weights := w.weights(p)
	x := make([]codegen.Reg, p.count)
	next := 0 // weight vector
	for r := range w.Runs {
		base := w.ptr
		far := w.distance(r)
		if far+4*w.Words+3*w.InStep >= MaxLoadDistance {
			base, far = w.moved(p, far), 0
		}
		for k := range w.Words {
			for i := range x {
				n, off := w.input(p.first + i)
				off = far + off*w.InStep
				switch {
				case w.WordPairs && k%2 == 0 && k+1 < w.Words:
					x[i] = a.RR("x")
					a.Op(hexagon.L2_loadrd_io, x[i], base[n], off+4*k).Loads(hvx.AliasIn)
				case !w.WordPairs || k%2 == 0:
					x[i] = a.R("x")
					a.Op(hexagon.L2_loadri_io, x[i], base[n], off+4*k).Loads(hvx.AliasIn)
				}
			}
			for j := range p.groups {
				var wv codegen.Reg
				if next < len(w.kept) {
					wv = w.kept[next]
				}
				if !wv.Valid() {
					wv = weights(next)
				}
				next++
				for i := range x {
					xw := x[i]
					if xw.Class() == hvx.ClassRR {
						xw = hvx.Half(xw, k%2)
					}
					a.Op(hexagon.V6_vrmpyub_acc, p.acc[i][j], wv, xw)
				}
			}
		}
	}
}

// weights returns a function that loads weight vector n of a part, n rising. One
// address serves sixteen: none is worked out long before its use, and loads do not
// wait for each other's addresses.
func (w *pipelinedCode) weights(p *pipelinedPart) func(n int) codegen.Reg {
	at := -16
	ptr := w.a.Add(w.rec, p.rec+(w.Header(p.groups)+at)*hvx.VectorBytes)
	return func(n int) codegen.Reg {
		if n-at >= 8 {
			ptr = w.a.Add(ptr, (n+8-at)*hvx.VectorBytes)
			at = n + 8
		}
		return w.a.Load(ptr, (n-at)*hvx.VectorBytes, hvx.AliasConst, "w")
	}
}

// MaxLoadDistance is up to where a load of a word reaches.
const MaxLoadDistance = 4096

// moved are the input addresses of a part moved by some bytes.
func (w *pipelinedCode) moved(p *pipelinedPart, by int) []codegen.Reg {
	list := make([]codegen.Reg, len(w.ptr))
	for i := range p.count {
		if n, _ := w.input(p.first + i); !list[n].Valid() {
			list[n] = w.a.Add(w.ptr[n], by)
		}
	}
	return list
}

// requantize makes halves of units, and stores the results that these complete.
func (w *pipelinedCode) requantize(units []*pipelinedUnit) {
	a, rq := w.a, w.rq
	a.SetPhase(hvx.PhaseRequantize)
	defer a.SetPhase(hvx.PhaseNone)
	type group struct {
		part *pipelinedPart
		j    int
	}
	var l [2]hvx.ChannelVectors
	var at [2]group // the groups whose lanes are at hand
	for _, u := range units {
		var h codegen.Reg
		if rq.Halfword {
			h = rq.ScaleHalfword(u.halves)
		} else {
			for i, j := range u.group {
				if g := (group{u.part, j}); rq.PerChannel && at[i] != g {
					l[i], at[i] = w.channelVectors(u.part, j), g
				}
			}
			h = rq.Narrow(rq.Scale(u.acc[0], l[0]), rq.Scale(u.acc[1], l[1]), l[0], l[1])
		}
		rq.AddZeroPoint(h, u.part.full)
		if u.waits {
			a.Op(hexagon.V6_vassign, u.scaled, h)
		} else {
			u.scaled = h
		}
		w.store(u)
	}
}

// store stores the results that a unit completes.
func (w *pipelinedCode) store(u *pipelinedUnit) {
	a := w.a
	done := map[*pipelinedUnit]codegen.Reg{}
	for _, v := range u.results {
		y := u.scaled
		if v.swapped {
			y = a.V("swapped")
			a.Op(hexagon.V6_vror, y, u.scaled, w.by[hvx.VectorBytes/2])
		}
		out, ok := done[v.unit[0]]
		if !ok {
			out = w.rq.Join(v.unit[0].scaled, y, v.part.full)
			done[v.unit[0]] = out
		}
		if v.rotate > 0 {
			t := a.V("rotated")
			a.Op(hexagon.V6_vror, t, out, w.by[v.rotate])
			out = t
		}
		to, off := w.address(v.first, u.nextRound)
		a.Store(to, v.part.out+off, out, hvx.AliasOut)
	}
}

// ChannelVectors loads the per-channel vectors of group j.
func (w *pipelinedCode) channelVectors(p *pipelinedPart, j int) hvx.ChannelVectors {
	return w.rq.ChannelVectorsAt(w.a.Add(w.rec, p.rec+p.groups*hvx.VectorBytes), 0, j, p.groups)
}
