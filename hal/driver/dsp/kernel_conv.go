package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// convKernel are the parameters that the code of a convolution depends on.
//
// A block is a few output positions, a group 32 output channels; one
// accumulator holds one group of one position. Weights are vectors of 32
// channels by 4 inputs, activations scalar words of 4 inputs, so one vrmpy
// makes 128 products. Inputs are read in runs of contiguous words: one run per
// filter row where the channels fill their pitch, otherwise one per tap.
type convKernel struct {
	positions int // per block
	words     int // per run
	runs      int
	wide      bool // runs start on 8 bytes and have an even number of words: load pairs
	sum       bool // filter zero point: add -zw * (sum of the inputs) of a position
	stream    bool // inputs are likely not in L2: fetch those of a later block there
	// keep: the sums of all blocks are kept, because several jobs need them; the
	// table says where.
	keep bool
	// merged: there is only a tail, and its record has one more group, of weights
	// that sum the inputs, instead of a pass of its own.
	merged  bool
	even    bool // every input byte of a run counts, so the weights that sum them are all one
	full    bool // has full chunks of four groups, interleaved
	tail    int  // groups of the last chunk, which are stored one behind the other; 0 none
	cluster int  // output positions that share a vector in the tail
	rq      requantKind
}

func (c *convKernel) name() string {
	return fmt.Sprintf("conv_p%d_w%dx%d_%s%s%st%dc%d_%s", c.positions, c.runs, c.words,
		flag(c.wide, "d"), flag(c.sum, "s")+flag(c.sum && c.even, "e")+flag(c.keep, "k")+flag(c.merged, "m"), flag(c.full, "f")+flag(c.stream, "a"), c.tail, c.cluster, c.rq.tag())
}

func flag(on bool, s string) string {
	if on {
		return s
	}
	return ""
}

// Words of a conv thread's argument block.
const (
	convBumps   = iota // table of address steps between runs
	convOnes           // weights that sum the inputs
	convScratch        // room for one vector per position
	convFull           // records of the full chunks
	convChunks         // number of full chunks
	convOffset         // of the first full chunk within a position
	convTail           // record of the tail chunk, 0 when the thread has none
	convTailOffset
	convSum // not 0 when the job works out the sums
	convArgs
)

// table entry: input address of each position, output address of each cluster,
// and, where they are kept, the address of the sums.
func (c *convKernel) outputs() int { return c.positions / c.cluster }
func (c *convKernel) entryWords() int {
	if c.keep {
		return c.positions + c.outputs() + 1
	}
	return c.positions + c.outputs()
}

// sums is the address of the block's sums.
func (c *convKernel) sums(a *asm, table, args build.Reg) build.Reg {
	if c.keep {
		return a.word(table, c.positions+c.outputs(), "sums")
	}
	return a.word(args, convScratch, "scratch")
}

// header is the number of vectors before the weights of a chunk of n groups.
func (c *convKernel) header(n int) int { return n * (1 + c.rq.vectors()) }

// record is the size of a chunk of n groups in bytes.
func (c *convKernel) record(n int) int { return (c.header(n) + c.groups(n)*c.words*c.runs) * vecBytes }

// groups is how many groups the weights of a chunk of n groups hold.
func (c *convKernel) groups(n int) int {
	if c.merged {
		return n + 1
	}
	return n
}

// convAhead is how many blocks ahead inputs are fetched.
const convAhead = 4

// box loads the shape of the inputs that are fetched ahead.
func (a *asm) box(params build.Reg) build.Reg {
	box := a.rr("box")
	a.op(hexagon.L2_loadri_io, lo(box), params, 4*parBox).Loads(aliasConst)
	a.op(hexagon.L2_loadri_io, hi(box), params, 4*parStride).Loads(aliasConst)
	return box
}

// convPrefetch is the index of the prefetch arguments.
const convPrefetch = 4

// generate writes the kernel. Arguments: table, blocks, argument block,
// parameter block, prefetch.
func (c *convKernel) generate(a *asm) {
	in := a.args("table", "blocks", "args", "params", "address", "box")
	table, blocks, args, params := in[0], in[1], in[2], in[3]
	a.prefetch(in[4], in[5])
	rq := a.requantSetup(c.rq, params)
	a.skipIfZero(blocks, func() {
		a.repeat(blocks, func() {
			if c.stream {
				a.op(hexagon.Y5_l2fetch, a.word(table, convAhead*c.entryWords(), "ahead"), a.box(params))
			}
			switch {
			case c.keep:
				a.skipIfZero(a.word(args, convSum, "sum"), func() { c.correction(a, table, args, params) })
			case c.sum && !c.merged:
				c.correction(a, table, args, params)
			}
			if c.full {
				c.fullChunks(a, rq, table, args)
			}
			if c.tail > 0 {
				c.tailChunk(a, rq, table, args, params)
			}
			a.bump(table, 4*c.entryWords())
		})
	})
	a.ret()
}

// correction leaves -zw * sum of the inputs of each position in scratch memory.
func (c *convKernel) correction(a *asm, table, args, params build.Reg) {
	a.phase(phaseSums)
	acc := make([][]build.Reg, c.positions)
	zero := a.zero()
	for p := range acc {
		acc[p] = []build.Reg{a.v("sum")}
		a.op(hexagon.V6_vassign, acc[p][0], zero)
	}
	w := weights{a: a}
	if c.even {
		w.same = a.splat(a.imm(0x01010101), "ones")
	} else {
		w.at = a.word(args, convOnes, "ones")
	}
	c.products(a, acc, table, args, w)
	neg := a.word(params, parNegZero, "negzw")
	to := c.sums(a, table, args)
	for p := range acc {
		v := a.v("correction")
		a.op(hexagon.V6_vmpyiwh, v, acc[p][0], neg)
		a.vstore(to, p*vecBytes, v, aliasScratch)
	}
	a.phase(phaseOther)
}

func (c *convKernel) fullChunks(a *asm, rq *requantRegs, table, args build.Reg) {
	count := a.word(args, convChunks, "chunks")
	rec := a.word(args, convFull, "record")
	off := a.word(args, convOffset, "offset")
	a.skipIfZero(count, func() {
		a.repeat(count, func() {
			acc := c.chunk(a, 4, table, args, rec)
			a.phase(phaseRequantize)
			l := rq.keepLanes(4, func(j int) lanes { return rq.lanesAt(rec, 4*vecBytes, j, 4) })
			for p := range acc {
				v := rq.pack([4]build.Reg(acc[p]), l, true)
				to := a.r("to")
				a.op(hexagon.A2_add, to, a.word(table, c.positions+p, "out"), off)
				a.vstore(to, 0, v, aliasOut)
			}
			a.phase(phaseOther)
			a.bump(off, vecBytes)
			a.bump(rec, c.record(4))
		})
	})
}

func (c *convKernel) tailChunk(a *asm, rq *requantRegs, table, args, params build.Reg) {
	rec := a.word(args, convTail, "record")
	a.skipIfZero(rec, func() {
		acc := c.chunk(a, c.tail, table, args, rec)
		a.phase(phaseRequantize)
		if c.merged {
			neg := a.word(params, parNegZero, "negzw")
			for p := range acc {
				a.op(hexagon.V6_vmpyiwh, acc[p][c.tail], acc[p][c.tail], neg)
				for j := range c.tail {
					a.op(hexagon.V6_vaddw, acc[p][j], acc[p][j], acc[p][c.tail])
				}
			}
		}
		l := rq.keepLanes(c.tail, func(j int) lanes { return rq.lanesAt(rec, c.tail*vecBytes, j, c.tail) })
		off := a.word(args, convTailOffset, "offset")
		for o := range c.outputs() {
			// Four cells of 32 bytes: groups of a position, then positions. A
			// position with fewer groups than a vector repeats its last one.
			var x [4]build.Reg
			var group [4]int
			for n := range x {
				p, j := n/c.tail, n%c.tail
				if c.cluster == 1 {
					p, j = 0, min(n, c.tail-1)
				}
				x[n], group[n] = acc[o*c.cluster+p][j], j
				for k := range n {
					if x[k] == x[n] {
						x[n] = a.v("copy")
						a.op(hexagon.V6_vassign, x[n], x[k])
						break
					}
				}
			}
			v := rq.pack(x, func(n int) lanes { return l(group[n]) }, false)
			to := a.r("to")
			a.op(hexagon.A2_add, to, a.word(table, c.positions+o, "out"), off)
			a.vstore(to, 0, v, aliasOut)
		}
		a.phase(phaseOther)
	})
}

// chunk accumulates n groups of every position.
func (c *convKernel) chunk(a *asm, n int, table, args, rec build.Reg) [][]build.Reg {
	acc := make([][]build.Reg, c.positions)
	var zero build.Reg
	if c.merged {
		zero = a.zero()
	}
	bias := make([]build.Reg, n)
	for j := range bias {
		bias[j] = a.vload(rec, j*vecBytes, aliasConst, "bias")
	}
	scratch := rec
	if c.sum && !c.merged {
		scratch = c.sums(a, table, args)
	}
	for p := range acc {
		acc[p] = make([]build.Reg, n, n+1)
		var corr build.Reg
		if c.sum && !c.merged {
			corr = a.vload(scratch, p*vecBytes, aliasScratch, "correction")
		}
		for j := range acc[p] {
			acc[p][j] = a.v(fmt.Sprintf("acc%d.%d", p, j))
			if corr.Valid() {
				a.op(hexagon.V6_vaddw, acc[p][j], bias[j], corr)
			} else {
				a.op(hexagon.V6_vassign, acc[p][j], bias[j])
			}
		}
		if c.merged {
			acc[p] = append(acc[p], a.v("sum"))
			a.op(hexagon.V6_vassign, acc[p][n], zero)
		}
	}
	a.phase(phaseProducts)
	c.products(a, acc, table, args, weights{a: a, at: a.add(rec, c.header(n)*vecBytes)})
	return acc
}

// products adds all products of the block's inputs and the weights from w on.
func (c *convKernel) products(a *asm, acc [][]build.Reg, table, args build.Reg, w weights) {
	ptr := make([]build.Reg, c.positions)
	for p := range ptr {
		ptr[p] = a.word(table, p, "in")
	}
	var bumps build.Reg
	if c.runs > 1 {
		bumps = a.word(args, convBumps, "bumps")
	}
	nextRun := func() {
		if c.runs == 1 {
			return
		}
		step := a.r("step")
		a.op(hexagon.L2_loadri_pi, step, bumps, 4).Loads(aliasConst)
		for p := range ptr {
			a.op(hexagon.A2_add, ptr[p], ptr[p], step)
		}
	}
	if c.wide {
		c.wideRuns(a, acc, ptr, w, nextRun)
	} else {
		c.narrowRuns(a, acc, ptr, w, nextRun)
	}
}

// narrowRuns reads one word at a time.
func (c *convKernel) narrowRuns(a *asm, acc [][]build.Reg, ptr []build.Reg, w weights, nextRun func()) {
	groups := len(acc[0])
	step := func(n int) {
		for k := range n {
			wv := make([]build.Reg, groups)
			for j := range wv {
				wv[j] = w.next()
			}
			for p := range ptr {
				x := a.r("x")
				a.op(hexagon.L2_loadri_io, x, ptr[p], 4*k).Loads(aliasIn)
				for j := range wv {
					a.op(hexagon.V6_vrmpyub_acc, acc[p][j], wv[j], x)
				}
			}
		}
		for p := range ptr {
			a.bump(ptr[p], 4*n)
		}
	}
	a.loop1(c.runs, func() {
		if c.words <= 8 {
			step(c.words)
		} else {
			for k := 4; k > 0; k /= 2 {
				if c.words%k == 0 {
					a.loop0(c.words/k, func() { step(k) })
					break
				}
			}
		}
		nextRun()
	})
}

// wideRuns reads pairs of words, always ahead: a weight vector is replaced by
// the next word's as soon as all positions have used it, an input pair when all
// groups have. What the last step reads ahead lies behind the run; the records
// and regions have room for that.
func (c *convKernel) wideRuns(a *asm, acc [][]build.Reg, ptr []build.Reg, w weights, nextRun func()) {
	groups := len(acc[0])
	// The loads of the inputs leave no slot at the end of a step for the last
	// vector; where its first use is late enough, it is loaded at the beginning.
	late := -1
	if groups > 2 {
		late = groups - 1
	}
	wv := make([]build.Reg, groups)
	for j := range wv {
		wv[j] = w.reg("w")
		if j != late {
			w.load(wv[j], j)
		}
	}
	w.advance(2 * groups)
	x := make([]build.Reg, len(ptr))
	for p := range x {
		x[p] = a.rr("x")
	}
	load := func(p int) {
		a.op(hexagon.L2_loadrd_pi, x[p], ptr[p], 8).Loads(aliasIn)
	}
	a.loop1(c.runs, func() {
		for p := range x {
			load(p)
		}
		a.loop0(c.words/2, func() {
			if late >= 0 {
				w.load(wv[late], late-2*groups)
			}
			for word := range 2 {
				for j := range wv {
					for p := range x {
						a.op(hexagon.V6_vrmpyub_acc, acc[p][j], wv[j], half(x[p], word))
						if word == 1 && j == groups-1 {
							load(p)
						}
					}
					if word == 0 || j != late {
						w.load(wv[j], j+(word-1)*groups)
					}
				}
			}
			w.advance(2 * groups)
		})
		nextRun()
	})
}

// weights is a stream of weight vectors, or one vector over and over.
type weights struct {
	a    *asm
	at   build.Reg
	same build.Reg
}

// next reads the next vector.
func (w *weights) next() build.Reg {
	if w.same.Valid() {
		return w.same
	}
	v := w.a.v("w")
	w.a.op(hexagon.V6_vL32b_pi, v, w.at, 1).Loads(aliasConst)
	return v
}

// reg is a register for vectors that load reads.
func (w *weights) reg(name string) build.Reg {
	if w.same.Valid() {
		return w.same
	}
	return w.a.v(name)
}

// load reads the vector n behind the current place.
func (w *weights) load(v build.Reg, n int) {
	if !w.same.Valid() {
		w.a.vloadTo(v, w.at, n*vecBytes, aliasConst)
	}
}

// advance moves the current place.
func (w *weights) advance(n int) {
	if !w.same.Valid() {
		w.a.bump(w.at, n*vecBytes)
	}
}
