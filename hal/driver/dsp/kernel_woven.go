package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A woven convolution has all products of a block in one piece of code, cut into
// parts: two or four positions by the groups of one chunk. The requantization of a
// part goes where the products of the parts behind it leave slots, that of the
// last parts into the next round of the loop. What the weights of a single chunk
// leave of the vector registers holds weights for good.

// wovenUnit is two accumulators that requantization makes one vector of halves.
type wovenUnit struct {
	part    *wovenPart
	acc     [2]build.Reg
	group   [2]int
	halves  build.Reg // both, with the requantization by halves
	scaled  build.Reg
	late    bool           // comes in the next round
	waits   bool           // scaled is used a round later
	results []*wovenVector // those that it completes
}

// wovenVector is a result: two units, rotated by some bytes.
type wovenVector struct {
	part    *wovenPart
	unit    [2]*wovenUnit
	swapped bool // the second one's sides
	rotate  int
	first   int // position
}

// wovenPart is what is multiplied together.
type wovenPart struct {
	first, count int // positions
	groups       int
	rec, out     int // bytes from the first record, and within a position
	full         bool
	acc          [][]build.Reg // by position and group
	units        []*wovenUnit
	serves       []*wovenUnit // those that are requantized meanwhile
}

// parts are the parts of a block, at least two.
func (c *convKernel) parts() []*wovenPart {
	var list []*wovenPart
	add := func(first, count, chunk, groups int) {
		list = append(list, &wovenPart{first: first, count: count, groups: groups, rec: chunk * c.record(4), out: chunk * vecBytes, full: chunk < c.chunks})
	}
	tail := 2 // positions of a part of the last chunk
	if c.tail == 1 && (c.positions == 8 || c.chunks > 0) {
		tail = 4
	}
	for p := 0; p < c.positions; p += 2 {
		for k := range c.chunks {
			add(p, 2, k, 4)
		}
		if c.tail > 0 && (p+2)%tail == 0 {
			add(p+2-tail, tail, c.chunks, c.tail)
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
	sums    []build.Reg // where those of each input address are
	to      []build.Reg // output addresses
	before  []build.Reg // those of the block before
	steps   []build.Reg // from run to run
	kept    []build.Reg // weights in registers, others not valid
	by      map[int]build.Reg
	units   []*wovenUnit
	vectors []*wovenVector
	early   bool // accumulators begin in the part before theirs
}

// woven writes the loop over blocks; aside are registers that it need not keep.
func (e *convCode) woven(blocks build.Reg, aside ...build.Reg) {
	a := e.a
	w := &wovenCode{convCode: e, parts: e.convKernel.parts(), rec: a.word(e.args, convFull, "record")}
	w.early = e.rq.half && w.parts[0].count*w.parts[0].groups <= 4
	w.setup()
	for i, r := range aside {
		if e.sum {
			a.op(hexagon.S2_storeri_io, w.scratch, 4*i-wovenAside, r).Stores(aliasScratch)
		}
	}
	entry, fetches := 4*e.entryWords(), e.fetches()
	a.repeat(blocks, func() {
		for k, p := range w.parts {
			next, from := (k+1)%len(w.parts), 0
			if next == 0 {
				from = entry
			}
			multiply := func() {
				if !w.early {
					w.start(p, 0)
				}
				w.products(p)
			}
			streams := []build.Stream{{Emit: multiply}, {Emit: func() { w.requantize(p.serves) }}}
			if w.early {
				streams = append(streams, build.Stream{Emit: func() { w.start(w.parts[next], from) }, From: 0.6})
			}
			if share := fetches[k*len(fetches)/len(w.parts) : (k+1)*len(fetches)/len(w.parts)]; len(share) > 0 {
				streams = append(streams, build.Stream{Emit: func() {
					for _, f := range share {
						f()
					}
				}})
			}
			a.f.WeaveStreams(streams...)
			w.halve(p)
		}
		w.pointers(entry)
		a.bump(e.table, entry)
	})
	w.requantize(w.late())
	for i, r := range aside {
		if e.sum {
			a.op(hexagon.L2_loadri_io, r, w.scratch, 4*i-wovenAside).Loads(aliasScratch)
		}
	}
}

// wovenAside is room before the sums for registers set aside.
const wovenAside = vecBytes

// setup defines what the loop keeps in registers, among it the results of a part
// before the first, which are overwritten soon.
func (w *wovenCode) setup() {
	a, e := w.a, w.convCode
	regs := func(n int, name string) []build.Reg {
		list := make([]build.Reg, n)
		for i := range list {
			list[i] = a.r(name)
		}
		return list
	}
	w.ptr, w.before = regs(e.inputs(), "in"), make([]build.Reg, e.outputs())
	if e.outputs() <= maxWovenAddresses {
		w.to = regs(e.outputs(), "to")
	}
	if e.convKernel.sum {
		w.scratch = a.word(e.args, convSums+sumsScratch, "scratch")
		if e.inputs() <= maxWovenAddresses {
			w.sums = regs(e.inputs(), "sums")
		}
	}
	if e.rq.half {
		w.rq.fifteen = a.imm8(15)
	}
	w.by = map[int]build.Reg{}
	for _, p := range w.parts {
		w.plan(p)
	}
	w.serve()
	for _, v := range w.vectors {
		if v.unit[1].late {
			w.before[v.first/w.span] = a.r("before")
		}
	}
	w.pointers(0)
	set := func(r build.Reg) { a.op(hexagon.V6_lvsplatw, r, w.rec) }
	for _, u := range w.late() {
		if e.rq.half {
			set(u.halves)
		} else {
			set(u.acc[0])
			set(u.acc[1])
		}
	}
	for _, u := range w.units {
		if u.waits {
			u.scaled = a.v("scaled")
			set(u.scaled)
		}
	}
	w.keep()
	if w.early {
		w.start(w.parts[0], 0)
	}
}

// late are the units that are requantized in the next round.
func (w *wovenCode) late() []*wovenUnit {
	var list []*wovenUnit
	for _, u := range w.units {
		if u.late {
			list = append(list, u)
		}
	}
	return list
}

// serve says beside which part's products each unit is requantized. Units of
// accumulators must make room for the next round's, so they come beside the next
// part; those that are halves already are spread evenly, as early as that allows.
func (w *wovenCode) serve() {
	n, total := len(w.units), 0
	for _, p := range w.parts {
		total += p.count * p.groups
	}
	made, work, lag := 0, 0, 0
	until := make([]int, len(w.parts)) // units that are done at the end of each part, lag apart
	for k, p := range w.parts {
		work += p.count * p.groups
		if w.rq.half {
			until[k] = n * work / total
			lag = max(lag, until[k]-made)
		} else {
			lag = len(w.parts[len(w.parts)-1].units)
			until[k] = made + lag
		}
		made += len(p.units)
	}
	from := -lag
	for k, p := range w.parts {
		for ; from < until[k]-lag; from++ {
			u := w.units[(from+n)%n]
			u.late = from < 0
			p.serves = append(p.serves, u)
		}
	}
	for _, v := range w.vectors {
		x, y := v.unit[0], v.unit[1]
		if y.late && !x.late {
			x.waits = true
		}
		y.results = append(y.results, v)
	}
}

// rotation is a register that holds n.
func (w *wovenCode) rotation(n int) {
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
		u := &wovenUnit{part: p, acc: [2]build.Reg{p.acc[p0][j0], p.acc[p1][j1]}, group: [2]int{j0, j1}}
		if w.rq.half {
			u.halves = a.v("halves")
		}
		p.units = append(p.units, u)
		w.units = append(w.units, u)
		return u
	}
	vector := func(x, y *wovenUnit, swapped bool, rotate, first int) {
		w.vectors = append(w.vectors, &wovenVector{part: p, unit: [2]*wovenUnit{x, y}, swapped: swapped, rotate: rotate, first: p.first + first})
		if swapped {
			w.rotation(vecBytes / 2)
		}
		if rotate > 0 {
			w.rotation(rotate)
		}
	}
	switch {
	case p.full:
		for i := range 2 {
			vector(unit(i, 0, i, 1), unit(i, 2, i, 3), false, 0, i)
		}
	case w.cluster == 4 && p.count == 4:
		vector(unit(0, 0, 1, 0), unit(2, 0, 3, 0), false, 0, 0)
	case w.cluster == 4: // a half of a result; the other half's part comes before
		u := unit(0, 0, 1, 0)
		if p.first%4 == 2 {
			vector(w.parts[p.first/2-1].units[0], u, false, 0, -2)
		}
	case w.cluster == 2:
		vector(unit(0, 0, 0, 1), unit(1, 0, 1, 1), false, 0, 0)
	case p.count == 4:
		x, y := unit(0, 0, 1, 0), unit(2, 0, 3, 0)
		for i := range 4 {
			vector(x, y, false, 32*i, i)
		}
	case p.groups == 1:
		u := unit(0, 0, 1, 0)
		vector(u, u, false, 0, 0)
		vector(u, u, false, 32, 1)
	case p.groups == 2:
		x, y := unit(0, 0, 0, 1), unit(1, 0, 1, 1)
		vector(x, y, false, 0, 0)
		vector(x, y, false, 64, 1)
	default:
		x, y, z := unit(0, 0, 0, 1), unit(1, 0, 1, 1), unit(0, 2, 1, 2)
		vector(x, z, false, 0, 0)
		vector(y, z, true, 0, 1)
	}
}

// maxWovenAddresses is how many addresses of a kind registers hold for a block.
const maxWovenAddresses = 1

// pointers loads the addresses of the block whose entry lies that far behind, and
// keeps the output addresses of the block before.
func (w *wovenCode) pointers(from int) {
	a := w.a
	load := func(r build.Reg, word int) {
		a.op(hexagon.L2_loadri_io, r, w.table, from+4*word).Loads(aliasConst)
	}
	for i, r := range w.before {
		if r.Valid() {
			a.op(hexagon.L2_loadri_io, r, w.table, 4*(w.firstOutput()+i)).Loads(aliasConst)
		}
	}
	for i, r := range w.ptr {
		load(r, i)
	}
	for i, r := range w.sums {
		load(r, w.inputs()+i)
		a.op(hexagon.A2_add, r, r, w.scratch)
	}
	for i, r := range w.to {
		load(r, w.firstOutput()+i)
	}
}

// sumAddress is where the sums of an input address are.
func (w *wovenCode) sumAddress(i, from int) build.Reg {
	if from == 0 && w.sums != nil {
		return w.sums[i]
	}
	at := w.a.r("sums")
	w.a.op(hexagon.L2_loadri_io, at, w.table, from+4*(w.inputs()+i)).Loads(aliasConst)
	w.a.op(hexagon.A2_add, at, at, w.scratch)
	return at
}

// address is where position p of this block or the one before goes.
func (w *wovenCode) address(p int, late bool) (build.Reg, int) {
	i, off := p/w.span, p%w.span*w.pitch
	switch {
	case late:
		return w.before[i], off
	case w.to != nil:
		return w.to[i], off
	}
	return w.a.word(w.table, w.firstOutput()+i, "to"), off
}

// corrections loads the sums of the positions of a part into vectors.
func (w *wovenCode) corrections(p *wovenPart, from int) []build.Reg {
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
			at = w.sumAddress(n, from)
			bases[n] = at
		}
		s := a.r("sum")
		a.op(hexagon.L2_loadri_io, s, at, 4*k*w.step).Loads(aliasScratch)
		list[i] = a.splat(s, "correction")
	}
	return list
}

// start begins the accumulators of a part of the block whose entry lies that far
// behind: biases less sums.
func (w *wovenCode) start(p *wovenPart, from int) {
	a := w.a
	corr := w.corrections(p, from)
	rec := w.rec
	if p.rec > 0 {
		rec = a.add(rec, p.rec)
	}
	for j := range p.groups {
		bias := a.vload(rec, j*vecBytes, aliasConst, "bias")
		for i := range p.acc {
			if corr[i].Valid() {
				a.op(hexagon.V6_vsubw, p.acc[i][j], bias, corr[i])
			} else {
				a.op(hexagon.V6_vassign, p.acc[i][j], bias)
			}
		}
	}
}

// keep loads the weights that stay in registers.
func (w *wovenCode) keep() {
	p := w.parts[0]
	if several := w.chunks > 1 || w.chunks > 0 && w.tail > 0; several || p.groups == 4 {
		return
	}
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
	}{{true, p.count * p.groups}, {w.early, p.count * p.groups}, {w.rq.half, len(p.units)}, {!w.rq.half, 2 * len(p.units)}, {w.rq.zero.Valid(), 1},
		{w.rq.clamp, 2}, {w.rq.mult.Valid(), 1}, {w.rq.perChannel, 5}, {w.rq.whole && w.rq.perChannel, 4}} {
		if x.on {
			n -= x.cost
		}
	}
	return max(n, 0)
}

// halve makes halves of the accumulators of a part.
func (w *wovenCode) halve(p *wovenPart) {
	if !w.rq.half {
		return
	}
	w.a.phase(phaseRequantize)
	for _, u := range p.units {
		w.a.op(hexagon.V6_vsatwh, u.halves, u.acc[1], u.acc[0])
	}
	w.a.phase(phaseOther)
}

// products adds the products of a part.
func (w *wovenCode) products(p *wovenPart) {
	a := w.a
	a.phase(phaseProducts)
	defer a.phase(phaseOther)
	weights := w.weights(p)
	x := make([]build.Reg, p.count)
	next := 0 // weight vector
	for r := range w.runs {
		base := w.ptr
		far := w.distance(r)
		if far+4*w.words+3*w.near >= maxLoadDistance {
			base, far = w.moved(p, far), 0
		}
		for k := range w.words {
			for i := range x {
				n, off := w.input(p.first + i)
				off = far + off*w.near
				switch {
				case w.pairs && k%2 == 0 && k+1 < w.words:
					x[i] = a.rr("x")
					a.op(hexagon.L2_loadrd_io, x[i], base[n], off+4*k).Loads(aliasIn)
				case !w.pairs || k%2 == 0:
					x[i] = a.r("x")
					a.op(hexagon.L2_loadri_io, x[i], base[n], off+4*k).Loads(aliasIn)
				}
			}
			for j := range p.groups {
				var wv build.Reg
				if next < len(w.kept) {
					wv = w.kept[next]
				}
				if !wv.Valid() {
					wv = weights(next)
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

// weights returns a function that loads weight vector n of a part, n rising. One
// address serves sixteen: none is worked out long before its use, and loads do not
// wait for each other's addresses.
func (w *wovenCode) weights(p *wovenPart) func(n int) build.Reg {
	at := -16
	ptr := w.a.add(w.rec, p.rec+(w.header(p.groups)+at)*vecBytes)
	return func(n int) build.Reg {
		if n-at >= 8 {
			ptr = w.a.add(ptr, (n+8-at)*vecBytes)
			at = n + 8
		}
		return w.a.vload(ptr, (n-at)*vecBytes, aliasConst, "w")
	}
}

// maxLoadDistance is up to where a load of a word reaches.
const maxLoadDistance = 4096

// moved are the input addresses of a part moved by some bytes.
func (w *wovenCode) moved(p *wovenPart, by int) []build.Reg {
	list := make([]build.Reg, len(w.ptr))
	for i := range p.count {
		if n, _ := w.input(p.first + i); !list[n].Valid() {
			list[n] = w.a.add(w.ptr[n], by)
		}
	}
	return list
}

// requantize makes halves of units, and stores the results that these complete.
func (w *wovenCode) requantize(units []*wovenUnit) {
	a, rq := w.a, w.rq
	a.phase(phaseRequantize)
	defer a.phase(phaseOther)
	type group struct {
		part *wovenPart
		j    int
	}
	var l [2]lanes
	var at [2]group // the groups whose lanes are at hand
	for _, u := range units {
		var h build.Reg
		if rq.half {
			h = rq.scaleHalf(u.halves)
		} else {
			for i, j := range u.group {
				if g := (group{u.part, j}); rq.perChannel && at[i] != g {
					l[i], at[i] = w.lanes(u.part, j), g
				}
			}
			h = rq.narrow(rq.scale(u.acc[0], l[0]), rq.scale(u.acc[1], l[1]), l[0], l[1])
		}
		rq.settle(h, u.part.full)
		if u.waits {
			a.op(hexagon.V6_vassign, u.scaled, h)
		} else {
			u.scaled = h
		}
		w.store(u)
	}
}

// store stores the results that a unit completes.
func (w *wovenCode) store(u *wovenUnit) {
	a := w.a
	done := map[*wovenUnit]build.Reg{}
	for _, v := range u.results {
		y := u.scaled
		if v.swapped {
			y = a.v("swapped")
			a.op(hexagon.V6_vror, y, u.scaled, w.by[vecBytes/2])
		}
		out, ok := done[v.unit[0]]
		if !ok {
			out = w.rq.join(v.unit[0].scaled, y, v.part.full)
			done[v.unit[0]] = out
		}
		if v.rotate > 0 {
			t := a.v("rotated")
			a.op(hexagon.V6_vror, t, out, w.by[v.rotate])
			out = t
		}
		to, off := w.address(v.first, u.late)
		a.vstore(to, v.part.out+off, out, aliasOut)
	}
}

// lanes loads the per-channel vectors of group j.
func (w *wovenCode) lanes(p *wovenPart, j int) lanes {
	return w.rq.lanesAt(w.a.add(w.rec, p.rec+p.groups*vecBytes), 0, j, p.groups)
}
