package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A woven convolution has all products of a block in one piece of code, cut into
// parts: two or four positions by the groups of one chunk. The requantization of a
// part goes where the next part's products leave slots, that of the last part
// into the next round of the loop. What the weights of a single chunk leave of the
// vector registers holds weights for good.

// wovenUnit is two accumulators that requantization makes one vector of halves.
type wovenUnit struct {
	acc    [2]build.Reg
	group  [2]int
	halves build.Reg // both, with the requantization by halves
	scaled build.Reg
	waits  bool // scaled is used together with that of a later part
}

// wovenVector is a result: two units, rotated by some bytes.
type wovenVector struct {
	unit    [2]*wovenUnit
	swapped bool // the second one's sides
	rotate  int
	to      int // output address
}

// wovenPart is what is multiplied together.
type wovenPart struct {
	first, count int // positions
	groups       int
	rec, out     int // bytes from the first record, and within a position
	full         bool
	acc          [][]build.Reg // by position and group
	units        []*wovenUnit
	vectors      []wovenVector // those that its units complete
	to           []build.Reg   // their addresses
}

// parts are the parts of a block, at least two.
func (c *convKernel) parts() []*wovenPart {
	step := 2
	if c.cluster == 4 && c.positions == 8 {
		step = 4
	}
	var list []*wovenPart
	for p := 0; p < c.positions; p += step {
		rec := 0
		for k := range c.chunks {
			list = append(list, &wovenPart{first: p, count: step, groups: 4, rec: rec, out: k * vecBytes, full: true})
			rec += c.record(4)
		}
		if c.tail > 0 {
			list = append(list, &wovenPart{first: p, count: step, groups: c.tail, rec: rec, out: c.chunks * vecBytes})
		}
	}
	return list
}

// wovenCode is a woven kernel being written.
type wovenCode struct {
	*convCode
	parts   []*wovenPart
	rec     build.Reg
	ptr     []build.Reg // input addresses
	scratch build.Reg   // the sums
	steps   []build.Reg // from run to run
	kept    []build.Reg // weights in registers, others not valid
	by      map[int]build.Reg
}

func (e *convCode) woven(blocks build.Reg) {
	a := e.a
	w := &wovenCode{convCode: e, parts: e.convKernel.parts(), rec: a.word(e.args, convFull, "record")}
	w.setup()
	fetches := e.fetches()
	a.repeat(blocks, func() {
		last := len(w.parts) - 1
		for k, p := range w.parts {
			before := w.parts[(k+last)%(last+1)]
			streams := []func(){func() { w.multiply(p) }, func() { w.requantize(before) }}
			if share := fetches[k*len(fetches)/(last+1) : (k+1)*len(fetches)/(last+1)]; len(share) > 0 {
				streams = append(streams, func() {
					for _, f := range share {
						f()
					}
				})
			}
			a.f.Weave(streams...)
		}
		a.bump(e.table, 4*e.entryWords())
		w.pointers()
	})
	w.requantize(w.parts[len(w.parts)-1])
}

// setup defines what the loop keeps in registers, among it the results of a part
// before the first, which are overwritten soon.
func (w *wovenCode) setup() {
	a, e := w.a, w.convCode
	for range e.inputs() {
		w.ptr = append(w.ptr, a.r("in"))
	}
	w.pointers()
	if e.convKernel.sum {
		w.scratch = a.word(e.args, convSums+sumsScratch, "scratch")
	}
	if e.runs > 1 {
		bumps := a.word(e.args, convBumps, "bumps")
		for r := range e.runs - 1 {
			w.steps = append(w.steps, a.word(bumps, r, "step"))
		}
	}
	if e.rq.half {
		w.rq.fifteen = a.imm8(15)
	}
	w.by = map[int]build.Reg{}
	for _, p := range w.parts {
		w.plan(p)
		for i := range p.vectors {
			if v := &p.vectors[i]; v.rotate > 0 {
				w.distance(v.rotate)
			}
			if p.vectors[i].swapped {
				w.distance(vecBytes / 2)
			}
		}
	}
	last := w.parts[len(w.parts)-1]
	w.addresses(last)
	set := func(r build.Reg) { a.op(hexagon.V6_lvsplatw, r, w.rec) }
	for _, u := range last.units {
		if e.rq.half {
			set(u.halves)
		} else {
			set(u.acc[0])
			set(u.acc[1])
		}
	}
	for i := range last.vectors {
		for _, u := range last.vectors[i].unit {
			if !last.has(u) {
				set(u.scaled)
			}
		}
	}
	w.keep()
}

func (p *wovenPart) has(u *wovenUnit) bool {
	for _, x := range p.units {
		if x == u {
			return true
		}
	}
	return false
}

// distance is a register that holds n.
func (w *wovenCode) distance(n int) {
	if _, ok := w.by[n]; !ok {
		w.by[n] = w.a.imm(n)
	}
}

// plan makes the accumulators of a part, pairs them and says what results they make.
func (w *wovenCode) plan(p *wovenPart) {
	a := w.a
	for i := range p.count {
		acc := make([]build.Reg, p.groups)
		for j := range acc {
			acc[j] = a.v(fmt.Sprintf("acc%d.%d", i, j))
		}
		p.acc = append(p.acc, acc)
	}
	unit := func(p0, j0, p1, j1 int) *wovenUnit {
		u := &wovenUnit{acc: [2]build.Reg{p.acc[p0][j0], p.acc[p1][j1]}, group: [2]int{j0, j1}}
		if w.rq.half {
			u.halves = a.v("halves")
		}
		p.units = append(p.units, u)
		return u
	}
	vector := func(x, y *wovenUnit, swapped bool, rotate, to int) {
		p.vectors = append(p.vectors, wovenVector{[2]*wovenUnit{x, y}, swapped, rotate, to})
	}
	switch {
	case p.full:
		x, y := unit(0, 0, 0, 1), unit(1, 0, 1, 1)
		vector(x, unit(0, 2, 0, 3), false, 0, p.first)
		vector(y, unit(1, 2, 1, 3), false, 0, p.first+1)
	case w.cluster == 4 && p.count == 4:
		vector(unit(0, 0, 1, 0), unit(2, 0, 3, 0), false, 0, p.first/4)
	case w.cluster == 4: // a half of a result; the other half's part comes before
		u := unit(0, 0, 1, 0)
		u.waits, u.scaled = true, a.v("scaled")
		if p.first%4 == 2 {
			vector(w.parts[p.first/2-1].units[0], u, false, 0, p.first/4)
		}
	case w.cluster == 2:
		vector(unit(0, 0, 0, 1), unit(1, 0, 1, 1), false, 0, p.first/2)
	case p.groups == 1:
		u := unit(0, 0, 1, 0)
		vector(u, u, false, 0, p.first)
		vector(u, u, false, 32, p.first+1)
	case p.groups == 2:
		x, y := unit(0, 0, 0, 1), unit(1, 0, 1, 1)
		vector(x, y, false, 0, p.first)
		vector(x, y, false, 64, p.first+1)
	default:
		x, y, z := unit(0, 0, 0, 1), unit(1, 0, 1, 1), unit(0, 2, 1, 2)
		vector(x, z, false, 0, p.first)
		vector(y, z, true, 0, p.first+1)
	}
	for range p.vectors {
		p.to = append(p.to, a.r("to"))
	}
}

// pointers loads the input addresses of the block.
func (w *wovenCode) pointers() {
	for i, r := range w.ptr {
		w.a.op(hexagon.L2_loadri_io, r, w.table, 4*i).Loads(aliasConst)
	}
}

// addresses loads where the results of a part go.
func (w *wovenCode) addresses(p *wovenPart) {
	for i := range p.vectors {
		w.a.op(hexagon.L2_loadri_io, p.to[i], w.table, 4*(w.firstOutput()+p.vectors[i].to)).Loads(aliasConst)
	}
}

// corrections loads the sums of the positions of a part into vectors.
func (w *wovenCode) corrections(p *wovenPart) []build.Reg {
	a := w.a
	list := make([]build.Reg, p.count)
	if !w.convKernel.sum {
		return list
	}
	bases := map[int]build.Reg{}
	for i := range list {
		n, k := w.input(p.first + i)
		at, ok := bases[n]
		if !ok {
			at = a.r("sums")
			a.op(hexagon.A2_add, at, a.word(w.table, w.inputs()+n, "sums"), w.scratch)
			bases[n] = at
		}
		s := a.r("sum")
		a.op(hexagon.L2_loadri_io, s, at, 4*k*w.step).Loads(aliasScratch)
		list[i] = a.splat(s, "correction")
	}
	return list
}

// keep loads the weights that stay in registers.
func (w *wovenCode) keep() {
	if len(w.parts)*2 != w.positions && len(w.parts)*4 != w.positions { // several chunks
		return
	}
	p := w.parts[0]
	n := w.words * w.runs * p.groups
	w.kept = make([]build.Reg, n)
	room := min(w.wovenRoom(p), n)
	at := w.a.add(w.rec, w.header(p.groups)*vecBytes)
	for i := range n {
		if (i+1)*room/n > i*room/n {
			w.kept[i] = w.a.v("kept")
			w.a.vloadTo(w.kept[i], at, i*vecBytes, aliasConst)
		}
	}
}

// wovenRoom is how many vector registers the parts' own work leaves.
func (w *wovenCode) wovenRoom(p *wovenPart) int {
	n := 32 - 9
	for _, x := range [...]struct {
		on   bool
		cost int
	}{{true, p.count * p.groups}, {w.rq.half, len(p.units)}, {!w.rq.half, 2 * len(p.units)}, {w.rq.zero.Valid(), 1},
		{w.rq.clamp, 2}, {w.rq.mult.Valid(), 1}, {w.rq.perChannel, 5}, {w.rq.whole && w.rq.perChannel, 4}} {
		if x.on {
			n -= x.cost
		}
	}
	return max(n, 0)
}

// multiply starts the accumulators of a part, adds its products and makes halves
// of them.
func (w *wovenCode) multiply(p *wovenPart) {
	a := w.a
	w.addresses(p)
	corr := w.corrections(p)
	for j := range p.groups {
		b, n := a.near(w.rec, p.rec+j*vecBytes)
		bias := a.v("bias")
		a.op(hexagon.V6_vL32b_ai, bias, b, n).Loads(aliasConst)
		for i := range p.acc {
			if corr[i].Valid() {
				a.op(hexagon.V6_vsubw, p.acc[i][j], bias, corr[i])
			} else {
				a.op(hexagon.V6_vassign, p.acc[i][j], bias)
			}
		}
	}
	a.phase(phaseProducts)
	w.products(p)
	a.phase(phaseRequantize)
	if w.rq.half {
		for _, u := range p.units {
			a.op(hexagon.V6_vsatwh, u.halves, u.acc[1], u.acc[0])
		}
	}
	a.phase(phaseOther)
}

// products adds the products of a part.
func (w *wovenCode) products(p *wovenPart) {
	a := w.a
	weights := a.add(w.rec, p.rec+w.header(p.groups)*vecBytes)
	ptr := append([]build.Reg(nil), w.ptr...)
	x := make([]build.Reg, p.count)
	next := 0 // weight vector
	for r := range w.runs {
		if r > 0 {
			seen := map[int]bool{}
			for i := range p.count {
				if n, _ := w.input(p.first + i); !seen[n] {
					seen[n] = true
					to := a.r("in")
					a.op(hexagon.A2_add, to, ptr[n], w.steps[r-1])
					ptr[n] = to
				}
			}
		}
		for k := range w.words {
			for i := range x {
				n, off := w.input(p.first + i)
				off *= w.near
				switch {
				case w.pairs && k%2 == 0 && k+1 < w.words:
					x[i] = a.rr("x")
					a.op(hexagon.L2_loadrd_io, x[i], ptr[n], off+4*k).Loads(aliasIn)
				case !w.pairs || k%2 == 0:
					x[i] = a.r("x")
					a.op(hexagon.L2_loadri_io, x[i], ptr[n], off+4*k).Loads(aliasIn)
				}
			}
			for j := range p.groups {
				var wv build.Reg
				if next < len(w.kept) {
					wv = w.kept[next]
				}
				if !wv.Valid() {
					wv = a.v("w")
					if len(w.kept) > 0 {
						a.vloadTo(wv, weights, next*vecBytes, aliasConst)
					} else {
						a.op(hexagon.V6_vL32b_pi, wv, weights, 1).Loads(aliasConst)
					}
				}
				next++
				for i := range x {
					xw := x[i]
					if xw.Class() == clsRR {
						xw = half(xw, k%2)
					}
					a.op(hexagon.V6_vrmpyub_acc, p.acc[i][j], wv, xw)
				}
			}
		}
	}
}

// requantize makes and stores the results of a part whose products are done.
func (w *wovenCode) requantize(p *wovenPart) {
	a, rq := w.a, w.rq
	a.phase(phaseRequantize)
	defer a.phase(phaseOther)
	var l [2]lanes
	at := [2]int{-1, -1}
	for _, u := range p.units {
		var h build.Reg
		if rq.half {
			h = rq.scaleHalf(u.halves)
		} else {
			for i, j := range u.group {
				if at[i] != j && rq.perChannel {
					l[i], at[i] = w.lanes(p, j), j
				}
			}
			h = rq.narrow(rq.scale(u.acc[0], l[0]), rq.scale(u.acc[1], l[1]), l[0], l[1])
		}
		rq.settle(h, p.full)
		if u.waits {
			a.op(hexagon.V6_vassign, u.scaled, h)
		} else {
			u.scaled = h
		}
	}
	done := map[[2]*wovenUnit]build.Reg{}
	for i := range p.vectors {
		v := &p.vectors[i]
		out, ok := done[v.unit]
		if !ok || v.swapped {
			y := v.unit[1].scaled
			if v.swapped {
				t := a.v("swapped")
				a.op(hexagon.V6_vror, t, y, w.by[vecBytes/2])
				y = t
			}
			out = rq.join(v.unit[0].scaled, y, p.full)
			done[v.unit] = out
		}
		if v.rotate > 0 {
			t := a.v("rotated")
			a.op(hexagon.V6_vror, t, out, w.by[v.rotate])
			out = t
		}
		a.vstore(p.to[i], p.out, out, aliasOut)
	}
}

// lanes loads the per-channel vectors of group j.
func (w *wovenCode) lanes(p *wovenPart, j int) lanes {
	return w.rq.lanesAt(w.rec, p.rec+p.groups*vecBytes, j, p.groups)
}
