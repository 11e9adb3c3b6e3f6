package conv

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// The software-pipelined GEMM convolution unrolls all products of a block into one loop
// body, cut into parts: two or four positions by the groups of one chunk. The
// requantization of a part fills the slots that the products of the following parts leave;
// that of the last parts moves to the next iteration. Vector registers that the parts
// leave free keep weights across iterations when there is a single chunk.

// pipelinedUnit is two accumulators that requantization narrows to one vector of 16-bit values.
type pipelinedUnit struct {
	part      *pipelinedPart
	acc       [2]codegen.Reg
	group     [2]int
	halves    codegen.Reg // both, with the requantization by halves
	scaled    codegen.Reg
	nextRound bool               // is requantized in the next iteration
	waits     bool               // scaled is used an iteration later
	results   []*pipelinedVector // those that it completes
}

// pipelinedVector is a result: two units, rotated by some bytes.
type pipelinedVector struct {
	part    *pipelinedPart
	unit    [2]*pipelinedUnit
	swapped bool // the second one's sides
	rotate  int
	first   int // position
}

// pipelinedPart is the part of a block whose products are emitted together.
type pipelinedPart struct {
	first, count int // positions
	groups       int
	rec, out     int // bytes from the first record, and within a position
	full         bool
	acc          [][]codegen.Reg // by position and group
	units        []*pipelinedUnit
	serves       []*pipelinedUnit // those that are requantized meanwhile
}

// maxEightProducts bounds the products of a block of eight positions: a block of four with as
// many needs hardly more cycles per position, and less time to compile.
const maxEightProducts = 300

// Blocks are how many positions a block may have, so that it has two parts at least.
func (c GEMM) Blocks() []int {
	switch {
	case c.PerVector == 4 && 8*c.Tail*c.Words*c.Runs <= maxEightProducts:
		return []int{8}
	case c.PerVector == 4:
		return []int{4}
	case c.PerVector == 2 || c.Chunks == 0 || c.Chunks == 1 && c.Tail == 0:
		return []int{4}
	}
	return []int{2, 4}
}

// parts are the parts of a block, at least two.
func (c GEMM) parts() []*pipelinedPart {
	var list []*pipelinedPart
	add := func(first, count, chunk, groups int) {
		list = append(list, &pipelinedPart{first: first, count: count, groups: groups, rec: chunk * c.Record(4), out: chunk * hvx.VectorBytes, full: chunk < c.Chunks})
	}
	tail := 2 // positions of a part of the last chunk
	if c.Tail == 1 && c.Positions%4 == 0 && (c.Positions == 8 || c.Chunks > 0) {
		tail = 4
	}
	for p := 0; p < c.Positions; p += 2 {
		for k := range c.Chunks {
			add(p, 2, k, 4)
		}
		if c.Tail > 0 && (p+2)%tail == 0 {
			add(p+2-tail, tail, c.Chunks, c.Tail)
		}
	}
	return list
}

// pipelinedCode is the state of the generator of a software-pipelined kernel.
type pipelinedCode struct {
	*convCode
	parts       []*pipelinedPart
	rec         codegen.Reg
	ptr         []codegen.Reg // input addresses
	windowSumAt []codegen.Reg // where those of each input address are
	to          []codegen.Reg // output addresses
	before      []codegen.Reg // those of the block before
	kept        []codegen.Reg // weights in registers, others not valid
	by          map[int]codegen.Reg
	units       []*pipelinedUnit
	vectors     []*pipelinedVector
	early       bool // accumulators begin in the part before theirs
}

// pipelined writes the loop over blocks; aside are registers that it need not keep.
func (e *convCode) pipelined(blocks codegen.Reg, aside ...codegen.Reg) {
	a := e.a
	w := &pipelinedCode{convCode: e, parts: e.GEMM.parts(), rec: a.Word(e.args, ArgFull, "record")}
	w.early = e.rq.Halfword && w.parts[0].count*w.parts[0].groups <= 4
	w.setup()
	for i, r := range aside {
		if e.ZeroPoint {
			a.Op(hexagon.S2_storeri_io, w.scratch, 4*i-PipelinedSaveBytes, r).Stores(hvx.AliasScratch)
		}
	}
	entry, fetches := 4*e.EntryWords(), e.fetches()
	a.Repeat(blocks, func() {
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
			streams := []codegen.Stream{{Emit: multiply}, {Emit: func() { w.requantize(p.serves) }}}
			if w.early {
				streams = append(streams, codegen.Stream{Emit: func() { w.start(w.parts[next], from) }, From: 0.6})
			}
			if share := fetches[k*len(fetches)/len(w.parts) : (k+1)*len(fetches)/len(w.parts)]; len(share) > 0 {
				streams = append(streams, codegen.Stream{Emit: func() {
					for _, f := range share {
						f()
					}
				}})
			}
			a.Func.WeaveStreams(streams...)
			w.halve(p)
		}
		w.pointers(entry)
		a.Bump(e.table, entry)
	})
	w.requantize(w.nextRoundUnits())
	for i, r := range aside {
		if e.ZeroPoint {
			a.Op(hexagon.L2_loadri_io, r, w.scratch, 4*i-PipelinedSaveBytes).Loads(hvx.AliasScratch)
		}
	}
}

// PipelinedSaveBytes is the bytes before the sums in which registers are saved.
const PipelinedSaveBytes = hvx.VectorBytes

// setup defines what the loop keeps in registers, among it the results of a part
// before the first, which are overwritten soon.
func (w *pipelinedCode) setup() {
	a, e := w.a, w.convCode
	regs := func(n int, name string) []codegen.Reg {
		list := make([]codegen.Reg, n)
		for i := range list {
			list[i] = a.R(name)
		}
		return list
	}
	w.ptr, w.before = regs(e.Inputs(), "in"), make([]codegen.Reg, e.Outputs())
	if e.Outputs() <= maxPipelinedAddresses {
		w.to = regs(e.Outputs(), "to")
	}
	if e.GEMM.ZeroPoint {
		w.scratch = a.Word(e.args, ArgZeroPoint+ZeroPointScratch, "scratch")
		if e.Inputs() <= maxPipelinedAddresses {
			w.windowSumAt = regs(e.Inputs(), "sums")
		}
	}
	if e.rq.Halfword {
		w.rq.Fifteen = a.Imm8(15)
	}
	w.by = map[int]codegen.Reg{}
	for _, p := range w.parts {
		w.plan(p)
	}
	w.serve()
	for _, v := range w.vectors {
		if v.unit[1].nextRound {
			w.before[v.first/w.PerAddress] = a.R("before")
		}
	}
	w.pointers(0)
	set := func(r codegen.Reg) { a.Op(hexagon.V6_lvsplatw, r, w.rec) }
	for _, u := range w.nextRoundUnits() {
		if e.rq.Halfword {
			set(u.halves)
		} else {
			set(u.acc[0])
			set(u.acc[1])
		}
	}
	for _, u := range w.units {
		if u.waits {
			u.scaled = a.V("scaled")
			set(u.scaled)
		}
	}
	w.loadResident()
	if w.early {
		w.start(w.parts[0], 0)
	}
}

// nextRoundUnits returns the units that the next iteration requantizes.
func (w *pipelinedCode) nextRoundUnits() []*pipelinedUnit {
	var list []*pipelinedUnit
	for _, u := range w.units {
		if u.nextRound {
			list = append(list, u)
		}
	}
	return list
}

// serve assigns each unit to the part beside whose products it is requantized. Units of
// accumulators must free their registers for the next round, so they go to the next
// part; those that are halves already are spread evenly, as early as that allows.
func (w *pipelinedCode) serve() {
	n, total := len(w.units), 0
	for _, p := range w.parts {
		total += p.count * p.groups
	}
	made, work, lag := 0, 0, 0
	until := make([]int, len(w.parts)) // units that are done at the end of each part, lag apart
	for k, p := range w.parts {
		work += p.count * p.groups
		if w.rq.Halfword {
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
			u.nextRound = from < 0
			p.serves = append(p.serves, u)
		}
	}
	for _, v := range w.vectors {
		x, y := v.unit[0], v.unit[1]
		if y.nextRound && !x.nextRound {
			x.waits = true
		}
		y.results = append(y.results, v)
	}
}

// rotation is a register that holds n.
func (w *pipelinedCode) rotation(n int) {
	if _, ok := w.by[n]; !ok {
		w.by[n] = w.a.Imm(n)
	}
}

// plan makes the accumulators of a part, pairs them and assigns their results.
func (w *pipelinedCode) plan(p *pipelinedPart) {
	a := w.a
	for i := range p.count {
		acc := make([]codegen.Reg, p.groups)
		for j := range acc {
			acc[j] = a.V(fmt.Sprintf("acc%d.%d", i, j))
		}
		p.acc = append(p.acc, acc)
	}
	unit := func(p0, j0, p1, j1 int) *pipelinedUnit {
		u := &pipelinedUnit{part: p, acc: [2]codegen.Reg{p.acc[p0][j0], p.acc[p1][j1]}, group: [2]int{j0, j1}}
		if w.rq.Halfword {
			u.halves = a.V("halves")
		}
		p.units = append(p.units, u)
		w.units = append(w.units, u)
		return u
	}
	vector := func(x, y *pipelinedUnit, swapped bool, rotate, first int) {
		w.vectors = append(w.vectors, &pipelinedVector{part: p, unit: [2]*pipelinedUnit{x, y}, swapped: swapped, rotate: rotate, first: p.first + first})
		if swapped {
			w.rotation(hvx.VectorBytes / 2)
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
	case w.PerVector == 4 && p.count == 4:
		vector(unit(0, 0, 1, 0), unit(2, 0, 3, 0), false, 0, 0)
	case w.PerVector == 4: // a half of a result; the other half's part comes before
		u := unit(0, 0, 1, 0)
		if p.first%4 == 2 {
			vector(w.parts[p.first/2-1].units[0], u, false, 0, -2)
		}
	case w.PerVector == 2:
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
