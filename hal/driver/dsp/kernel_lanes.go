package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A convolution with few outputs leaves most lanes idle where these are channels
// (kernel_conv.go). Here a lane is a position: a plane is a vector with one word, of four
// inputs, of each of laneCount positions, weights are scalar words, and one vrmpy adds
// four products of one channel to all positions. Vectors of positions are dealt to planes
// as they come, and results, which requantization leaves as planes of four channels,
// shuffled to positions.
//
// Weights are multiplied without their zero point where few of them do not fit in a
// signed byte; those take a second part. Otherwise the zero point's share, a sum over all
// planes, is taken from every channel.
type lanesKernel struct {
	kh, kw           int
	stride, dilation int // positions between windows, and between columns of a window
	pitch, out       int // bytes between positions of input and result
	words            int // of a position that are used
	k                int // outputs
	sum              bool
	second           []uint64 // a bit for each weight word that has a second part
	aligned          bool     // vectors of column 0 lie on vectors
	streamed         bool     // all outputs' sums wait while planes pass, not the planes
	carried          bool     // results wait for the next block, beside which they are stored
	rq               requantKind
	cost             int // of the kernel
}

// laneCount is the positions of a block.
const laneCount = vecBytes / 4

// Table entries are addresses: of the first window of each granule, positions of a row
// that follow each other, and of each vector of results. Vectors that lie behind a row's
// end have the address of another one that is stored later.
func (d *lanesKernel) granule() int    { return max(vecBytes/(d.stride*d.pitch), vecBytes/d.out) }
func (d *lanesKernel) granules() int   { return laneCount / d.granule() }
func (d *lanesKernel) outputs() int    { return d.out / 4 }
func (d *lanesKernel) entryWords() int { return d.granules() + d.outputs() }

// planes is the number of input words of an output.
func (d *lanesKernel) planes() int { return d.kh * d.kw * d.words }

// quads is the number of planes of results.
func (d *lanesKernel) quads() int { return ceilDiv(d.k, 4) }

// header is the number of vectors of a quad's biases and multipliers.
func (d *lanesKernel) header() int { return 4 * (1 + d.rq.vectors()) }

func (d *lanesKernel) name() string {
	s := fmt.Sprintf("lanes_%dx%dx%d_k%d_s%d_d%d_p%d.%d_m%s%s%s%s_%s", d.kh, d.kw, d.words, d.k, d.stride, d.dilation, d.pitch, d.out,
		flag(d.sum, "z"), flag(d.aligned, "a"), flag(d.streamed, "s"), flag(d.carried, "c"), d.rq.tag())
	if !d.sum {
		s += fmt.Sprintf("_%x", d.second)
	}
	return symbol(s)
}

// channel is output j of a quad, -1 for none.
func (d *lanesKernel) channel(quad, j int) int {
	if ch := 4*quad + lanePhase[j]; ch < d.k {
		return ch
	}
	return -1
}

// hasSecond reports whether the weights of a word need two signed bytes.
func (d *lanesKernel) hasSecond(ch, plane int) bool {
	n := ch*d.planes() + plane
	return !d.sum && d.second[n/64]>>(n%64)&1 != 0
}

// laneFetch is what the window of a position takes of the input in one go: in a row of
// the window, the words of as many neighbouring positions as the stride.
type laneFetch struct {
	row, at int         // at: strides from the window's first column
	planes  map[int]int // word of those positions: number of the plane
}

// fetches lists them; planes are numbered in this order.
func (d *lanesKernel) fetches() (list []laneFetch) {
	for y := range d.kh {
		for x := range d.kw {
			at, pos := x*d.dilation/d.stride, x*d.dilation%d.stride
			n := len(list)
			if n == 0 || list[n-1].row != y || list[n-1].at != at {
				list = append(list, laneFetch{y, at, map[int]int{}})
				n++
			}
			for w := range d.words {
				list[n-1].planes[pos*d.pitch/4+w] = (y*d.kw+x)*d.words + w
			}
		}
	}
	return list
}

// order calls use for every weight word in the order of their use: channel -1 is the
// zero point in all inputs of a plane, part 1 the rest of what does not fit in a byte.
func (d *lanesKernel) order(planes []int, quads []int, use func(ch, plane, part int)) {
	for _, n := range planes {
		if d.sum && quads[0] == 0 {
			use(-1, n, 0)
		}
		for _, q := range quads {
			for j := range 4 {
				if ch := d.channel(q, j); ch >= 0 {
					use(ch, n, 0)
					if d.hasSecond(ch, n) {
						use(ch, n, 1)
					}
				}
			}
		}
	}
}

// passes are the steps of a block's products: which planes meet which quads.
func (d *lanesKernel) passes() (planes, quads [][]int) {
	all := make([]int, d.quads())
	for q := range all {
		all[q] = q
	}
	if d.streamed {
		for _, f := range d.fetches() {
			var list []int
			for w := range d.stride * d.pitch / 4 {
				if n, ok := f.planes[w]; ok {
					list = append(list, n)
				}
			}
			planes, quads = append(planes, list), append(quads, all)
		}
		return planes, quads
	}
	every := make([]int, d.planes())
	for n := range every {
		every[n] = n
	}
	for q := range all {
		planes, quads = append(planes, every), append(quads, all[q:q+1])
	}
	return planes, quads
}

// lanesPrefetch is the index of the prefetch arguments.
const lanesPrefetch = 5

// lanesCode is such a kernel being written.
type lanesCode struct {
	*lanesKernel
	a         *asm
	rq        *requantRegs
	table     build.Reg
	records   bases
	weights   build.Reg
	used      int // weight words so far
	pair      build.Reg
	rowStep   build.Reg
	words     build.Reg   // how vectors are dealt and shuffled by words
	plane     []build.Reg // by number
	pairs     [][]build.Reg
	zeroShare build.Reg
	acc       [][4]build.Reg // by quad
	ready     [][]build.Reg  // what is requantized, by quad: sums, or halves of them
	result    []build.Reg    // planes of results
	to        []build.Reg    // where they go
}

// generate writes the kernel. Arguments: table, entries, parameter block, biases and
// multipliers, weights, prefetch.
func (d *lanesKernel) generate(a *asm) {
	in := a.args("table", "entries", "params", "records", "weights", "address", "box", "stride")
	e := &lanesCode{lanesKernel: d, a: a, table: in[0], weights: in[4]}
	a.prefetch(in[lanesPrefetch:])
	params := in[2]
	e.rq = a.requantSetup(d.rq, params)
	if e.rq.half && !e.rq.short {
		e.rq.fifteen = a.imm8(15)
	}
	e.records = a.bases(in[3], d.quads()*d.header()*vecBytes)
	if d.kh > 1 {
		e.rowStep = a.word(params, parRowStep, "row step")
	}
	e.words = a.imm8(-4)
	list := d.fetches()
	e.plane = make([]build.Reg, d.planes())
	e.pairs = make([][]build.Reg, len(list))
	for i := range list {
		e.home(&list[i], i)
	}
	e.acc, e.ready, e.result = make([][4]build.Reg, d.quads()), make([][]build.Reg, d.quads()), make([]build.Reg, d.quads())
	for range d.outputs() {
		e.to = append(e.to, a.r("to"))
	}
	if d.carried {
		e.carry()
	}
	if d.sum {
		e.zeroShare = a.v("zero share")
	}
	first := list
	if d.streamed {
		first = list[:1]
	}
	e.fetch(first, 0)
	a.loop0(in[1], func() {
		e.used = 0
		a.op(hexagon.Y2_dcfetchbo, e.table, 8*4*d.entryWords()&^7)
		if !d.carried {
			e.place()
		}
		if d.streamed {
			e.passPlanes(list)
		} else {
			e.passQuads(list)
		}
		if d.carried {
			e.place()
		} else {
			e.store()
		}
		a.bump(e.table, 4*d.entryWords())
	})
	if d.carried {
		e.complete()
	}
	a.ret()
}

// place loads where the results of a block go.
func (e *lanesCode) place() {
	for i, to := range e.to {
		e.a.op(hexagon.L2_loadri_io, to, e.table, 4*(e.granules()+i)).Loads(aliasConst)
	}
}

// carry gives what is carried its registers. The first block of all finds zeros, whose
// results it stores where its own will be.
func (e *lanesCode) carry() {
	e.place()
	zero := e.a.zero()
	vector := func(name string) build.Reg {
		v := e.a.v(name)
		e.a.op(hexagon.V6_vassign, v, zero)
		return v
	}
	for q := range e.result {
		if !e.late(q) {
			e.result[q] = vector("result")
			continue
		}
		if !e.rq.half {
			for range 4 {
				e.ready[q] = append(e.ready[q], vector("ready"))
			}
			continue
		}
		for range 2 {
			v := e.a.vv("ready")
			e.ready[q] = append(e.ready[q], v)
			e.a.op(hexagon.V6_vassign, lo(v), zero)
		}
	}
}

// late reports whether a quad is requantized beside the next block's products.
func (e *lanesCode) late(q int) bool { return e.carried && (e.streamed || q == e.quads()-1) }

// complete requantizes and stores what is carried.
func (e *lanesCode) complete() {
	for q := range e.result {
		if e.late(q) {
			e.finish(q)
		}
	}
	e.store()
}

// home gives the planes of a fetch their registers.
func (e *lanesCode) home(f *laneFetch, i int) {
	n := e.stride * e.pitch / 4
	if n == 1 {
		e.plane[f.planes[0]] = e.a.v("plane")
		return
	}
	e.pairs[i] = make([]build.Reg, n/2)
	for w := range n / 2 {
		x, low := f.planes[w]
		y, high := f.planes[w+n/2]
		if !low && !high {
			continue
		}
		p := e.a.vv("planes")
		e.pairs[i][w] = p
		if low {
			e.plane[x] = lo(p)
		}
		if high {
			e.plane[y] = hi(p)
		}
	}
}

// fetch makes the planes of fetches of the entry so many bytes ahead.
func (e *lanesCode) fetch(list []laneFetch, ahead int) {
	a := e.a
	a.phase(phaseOther)
	all := e.fetches()
	in := make([]build.Reg, e.granules())
	for g := range in {
		in[g] = a.word(e.table, ahead/4+g, "in")
	}
	row := 0
	if f := list[0]; e.streamed && f.row > 0 {
		for g := range in {
			in[g] = e.rowAt(in[g], f.row)
		}
		row = f.row
	}
	for _, f := range list {
		for ; row < f.row; row++ {
			for g := range in {
				next := a.r("in")
				a.op(hexagon.A2_add, next, in[g], e.rowStep)
				in[g] = next
			}
		}
		i := 0
		for all[i].row != f.row || all[i].at != f.at {
			i++
		}
		n := e.stride * e.pitch / 4
		x := make([]build.Reg, n)
		for v := range x {
			lane := v * laneCount / n
			off := f.at*e.stride*e.pitch + lane%e.granule()*e.stride*e.pitch
			if n == 1 {
				x[v] = e.plane[f.planes[0]]
			} else {
				x[v] = a.v("x")
			}
			op := hexagon.V6_vL32Ub_ai
			if e.aligned && off%vecBytes == 0 {
				op = hexagon.V6_vL32b_ai
			}
			b, at := a.near(in[lane/e.granule()], off)
			a.op(op, x[v], b, at).Loads(aliasIn)
		}
		if n > 1 {
			e.deal(x, e.pairs[i], 0, 1)
		}
	}
}

// rowAt points to a row of the window.
func (e *lanesCode) rowAt(in build.Reg, row int) build.Reg {
	a := e.a
	if row == 1 {
		next := a.r("in")
		a.op(hexagon.A2_add, next, in, e.rowStep)
		return next
	}
	next := a.r("in")
	a.op(hexagon.A2_tfr, next, in)
	a.op(hexagon.M2_macsip, next, e.rowStep, row)
	return next
}

// deal deals vectors, in which words first, first+step, .. of positions follow each other,
// to planes.
func (e *lanesCode) deal(x []build.Reg, homes []build.Reg, first, step int) {
	used := false
	for w := first; w < len(homes); w += step {
		used = used || homes[w].Valid()
	}
	if !used {
		return
	}
	a := e.a
	if len(x) == 2 {
		a.op(hexagon.V6_vdealvdd, homes[first], x[1], x[0], e.words)
		return
	}
	var even, odd []build.Reg
	for i := 0; i < len(x); i += 2 {
		p := a.vv("dealt")
		a.op(hexagon.V6_vdealvdd, p, x[i+1], x[i], e.words)
		even, odd = append(even, lo(p)), append(odd, hi(p))
	}
	e.deal(even, homes, first, 2*step)
	e.deal(odd, homes, first+step, 2*step)
}

// weight is the next weight word.
func (e *lanesCode) weight() build.Reg {
	n := e.used
	e.used++
	if n%2 == 0 {
		e.pair = e.a.rr("weights")
		e.a.op(hexagon.L2_loadrd_io, e.pair, e.weights, 4*n).Loads(aliasConst)
	}
	return half(e.pair, n%2)
}

// begin makes the accumulators of a quad its biases.
func (e *lanesCode) begin(q int) {
	for j := range 4 {
		if ch := e.channel(q, j); ch >= 0 {
			if e.late(q) && !e.rq.half {
				e.acc[q][j] = e.ready[q][j]
			} else {
				e.acc[q][j] = e.a.v("acc")
			}
			e.records.load(e.acc[q][j], q*e.header()+j)
		}
	}
}

// multiply adds the products of planes and quads.
func (e *lanesCode) multiply(planes, quads []int) {
	a := e.a
	a.phase(phaseProducts)
	op := hexagon.V6_vrmpybus_acc
	if e.sum {
		op = hexagon.V6_vrmpyub_acc
	}
	e.order(planes, quads, func(ch, n, part int) {
		switch {
		case ch >= 0:
			a.op(op, e.acc[ch/4][lanePhase[ch%4]], e.plane[n], e.weight())
		case n == 0:
			a.op(hexagon.V6_vrmpyub, e.zeroShare, e.plane[n], e.weight())
		default:
			a.op(hexagon.V6_vrmpyub_acc, e.zeroShare, e.plane[n], e.weight())
		}
	})
}

// settle ends the sums of a quad.
func (e *lanesCode) settle(q int) {
	a := e.a
	a.phase(phaseRequantize)
	acc := e.acc[q]
	for j := range acc {
		if e.channel(q, j) < 0 { // a lane of no consequence
			if acc[j] = a.v("copy"); e.late(q) && !e.rq.half {
				acc[j] = e.ready[q][j]
			}
			a.op(hexagon.V6_vassign, acc[j], acc[0])
		} else if e.sum {
			a.op(hexagon.V6_vsubw, acc[j], acc[j], e.zeroShare)
		}
	}
	if !e.rq.half {
		e.ready[q] = acc[:]
		return
	}
	if !e.late(q) {
		e.ready[q] = []build.Reg{a.vv("half"), a.vv("half")}
	}
	e.rq.halves(acc, []build.Reg{lo(e.ready[q][0]), lo(e.ready[q][1])})
}

// finish requantizes a quad.
func (e *lanesCode) finish(q int) {
	a := e.a
	a.phase(phaseRequantize)
	var out build.Reg
	switch x := e.ready[q]; {
	case e.rq.short:
		if !e.carried || e.late(q) {
			e.result[q] = a.v("result")
		}
		e.rq.bytesShort(e.result[q], [2]build.Reg(x))
		return
	case e.rq.half:
		out = e.rq.scaleHalves([]build.Reg{lo(x[0]), lo(x[1])}, true)
	default:
		out = e.rq.pack([4]build.Reg(x), func(j int) lanes { return e.lanes(q, j) }, true)
	}
	if e.carried && !e.late(q) {
		a.op(hexagon.V6_vassign, e.result[q], out)
	} else {
		e.result[q] = out
	}
}

// lanes loads the multipliers of an output of a quad.
func (e *lanesCode) lanes(q, j int) lanes {
	if !e.lanesKernel.rq.perChannel {
		return lanes{}
	}
	l := lanes{mult: e.a.v("mult"), shift: e.a.v("shift")}
	at := q*e.header() + j
	e.records.load(l.mult, at+4)
	e.records.load(l.shift, at+8)
	if e.lanesKernel.rq.left {
		l.left = e.a.v("left")
		e.records.load(l.left, at+12)
	}
	return l
}

// passQuads multiplies all planes quad by quad; each is requantized beside the products
// of the next one, the last beside those of the next block or the fetches for it.
func (e *lanesCode) passQuads(list []laneFetch) {
	planes, quads := e.passes()
	last := e.quads() - 1
	for q := range e.quads() {
		products := func() {
			e.begin(q)
			e.multiply(planes[q], quads[q])
		}
		switch {
		case q > 0:
			e.a.f.Weave(products, func() { e.finish(q - 1) })
		case e.carried:
			e.a.f.Weave(products, e.complete)
		default:
			products()
		}
		e.settle(q)
	}
	fetch := func() { e.fetch(list, 4*e.entryWords()) }
	if e.carried {
		fetch()
		return
	}
	e.a.f.Weave(fetch, func() { e.finish(last) })
}

// passPlanes fetches planes and multiplies them beside each other, then requantizes.
func (e *lanesCode) passPlanes(list []laneFetch) {
	planes, quads := e.passes()
	products := func() {
		for q := range e.quads() {
			e.begin(q)
		}
		for i := range list {
			multiply := func() { e.multiply(planes[i], quads[i]) }
			if i+1 < len(list) {
				e.a.f.Weave(multiply, func() { e.fetch(list[i+1:i+2], 0) })
			} else {
				multiply()
			}
		}
	}
	if e.carried {
		e.a.f.Weave(products, e.complete)
	} else {
		products()
	}
	for q := range e.quads() {
		e.settle(q)
	}
	e.a.f.Weave(func() { e.fetch(list[:1], 4*e.entryWords()) }, func() {
		for q := range e.quads() {
			if !e.carried {
				e.finish(q)
			}
		}
	})
}

// store makes vectors of positions of the planes of results and stores them, the last
// one first.
func (e *lanesCode) store() {
	e.a.phase(phaseRequantize)
	planes := make([]build.Reg, e.outputs())
	for i := range planes {
		planes[i] = e.result[min(i, len(e.result)-1)]
	}
	list := e.shuffle(planes)
	for i := len(list) - 1; i >= 0; i-- {
		e.a.vstore(e.to[i], 0, list[i], aliasOut)
	}
	e.a.phase(phaseOther)
}

// shuffle is the inverse of deal.
func (e *lanesCode) shuffle(planes []build.Reg) []build.Reg {
	if len(planes) == 1 {
		return planes
	}
	var even, odd []build.Reg
	for i := 0; i < len(planes); i += 2 {
		even, odd = append(even, planes[i]), append(odd, planes[i+1])
	}
	even, odd = e.shuffle(even), e.shuffle(odd)
	var list []build.Reg
	for i := range even {
		p := e.a.vv("positions")
		e.a.op(hexagon.V6_vshuffvdd, p, odd[i], even[i], e.words)
		list = append(list, lo(p), hi(p))
	}
	return list
}
