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
//
// Requantization leaves slots that the next chunk's, or where there is only one
// chunk the next block's, first instructions fill: its biases, and with a filter
// zero point zw the -zw * (sum of the inputs) of each position.
type convKernel struct {
	positions int // per block
	words     int // per run
	runs      int
	pairs     bool // runs start on 8 bytes: load pairs of words
	flat      bool // few words: one block of code
	sum       bool // the filter has a zero point
	stream    bool // inputs are likely not in L2: fetch those of a later block there
	// keep: the sums of all blocks are kept, because several jobs need them; the
	// table says where.
	keep    bool
	even    bool // the same bytes of every word count for the sums
	full    bool // has full chunks of four groups, interleaved
	single  bool // one chunk in all
	tail    int  // groups of the last chunk, which are stored one behind the other; 0 none
	cluster int  // output positions that share a vector in the tail
	near    int  // input distance of the positions of a cluster; 0 when they have addresses of their own
	rq      requantKind
}

func (c *convKernel) name() string {
	return fmt.Sprintf("conv_p%d_w%dx%d_%s%st%dc%d+%d_%s", c.positions, c.runs, c.words,
		flag(c.pairs, "d")+flag(c.flat, "u")+flag(c.sum, "s")+flag(c.sum && c.even, "e")+flag(c.keep, "k"),
		flag(c.full, "f")+flag(c.single, "1")+flag(c.stream, "a"), c.tail, c.cluster, c.near, c.rq.tag())
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
	convMasks          // the zero point where an input byte counts
	convScratch        // room for one word per position
	convFull           // records of the full chunks
	convChunks         // number of full chunks
	convOffset         // of the first full chunk within a position
	convTail           // record of the tail chunk, 0 when the thread has none
	convTailOffset
	convSum // not 0 when the job works out the sums
	convArgs
)

// table entry: input addresses, of each position or each cluster, output address
// of each cluster, and, where they are kept, the address of the sums.
func (c *convKernel) outputs() int { return c.positions / c.cluster }
func (c *convKernel) inputs() int {
	if c.near > 0 {
		return c.outputs()
	}
	return c.positions
}
func (c *convKernel) entryWords() int {
	if c.keep {
		return c.inputs() + c.outputs() + 1
	}
	return c.inputs() + c.outputs()
}

// input is which input address position p has, and how far behind it lies.
func (c *convKernel) input(p int) (int, int) {
	if c.near > 0 {
		return p / c.cluster, p % c.cluster * c.near
	}
	return p, 0
}

// header is the number of vectors before the weights of a chunk of n groups.
func (c *convKernel) header(n int) int { return n * (1 + c.rq.vectors()) }

// record is the size of a chunk of n groups in bytes.
func (c *convKernel) record(n int) int { return (c.header(n) + n*c.words*c.runs) * vecBytes }

// convAhead is how many blocks ahead inputs are fetched.
const convAhead = 4

// consumed is how far the products of a run move the pointers.
func (c *convKernel) consumed() int {
	switch {
	case c.flat:
		return 0
	case c.pairs:
		return 4*c.words + 8
	}
	return 4 * c.words
}

// box loads the shape of the inputs that are fetched ahead.
func (a *asm) box(params build.Reg) build.Reg {
	box := a.rr("box")
	a.op(hexagon.L2_loadri_io, lo(box), params, 4*parBox).Loads(aliasConst)
	a.op(hexagon.L2_loadri_io, hi(box), params, 4*parStride).Loads(aliasConst)
	return box
}

// convPrefetch is the index of the prefetch arguments.
const convPrefetch = 4

// convCode is a convolution kernel being written.
type convCode struct {
	*convKernel
	a                   *asm
	rq                  *requantRegs
	table, args, params build.Reg
	zero                build.Reg // pair: the filter's zero point in every byte
}

// generate writes the kernel. Arguments: table, blocks, argument block,
// parameter block, prefetch.
func (c *convKernel) generate(a *asm) {
	in := a.args("table", "blocks", "args", "params", "address", "box")
	e := &convCode{convKernel: c, a: a, table: in[0], args: in[2], params: in[3]}
	blocks := in[1]
	a.prefetch(in[4], in[5])
	e.rq = a.requantSetup(c.rq, e.params)
	e.rq.factorsInVectors()
	if c.sum && c.even {
		e.zero = a.rr("zero point")
		for i := range 2 {
			a.op(hexagon.L2_loadri_io, half(e.zero, i), e.params, 4*parFilterZero).Loads(aliasConst)
		}
	}
	a.skipIfZero(blocks, func() {
		if c.single {
			e.oneChunk(blocks)
		} else {
			e.manyChunks(blocks)
		}
	})
	a.ret()
}

// fetchAhead fetches the inputs of a later block into L2.
func (e *convCode) fetchAhead() {
	if e.stream {
		e.a.op(hexagon.Y5_l2fetch, e.a.word(e.table, convAhead*e.entryWords(), "ahead"), e.a.box(e.params))
	}
}

func (e *convCode) oneChunk(blocks build.Reg) {
	a, at, offset, n := e.a, convFull, convOffset, 4
	if !e.full {
		at, offset, n = convTail, convTailOffset, e.tail
	}
	rec, off := a.word(e.args, at, "record"), a.word(e.args, offset, "offset")
	b := e.newChunk(n)
	begin := func() {
		defer e.pointers(b)
		bias := e.biases(b, rec)
		switch {
		case !e.sum:
			for p := range b.acc {
				e.start(b, p, bias, build.Reg{})
			}
		case e.flat: // one position after the other: there are not registers for all at once
			for p := range b.acc {
				i, off := e.input(p)
				e.start(b, p, bias, e.sums([]convInput{{a.word(e.table, i, "in"), off}})[0])
			}
		default:
			e.pointers(b)
			for p, s := range e.sums(b.in) {
				e.start(b, p, bias, s)
			}
		}
	}
	begin()
	a.repeat(blocks, func() {
		e.fetchAhead()
		e.products(b, rec)
		out := e.outAddresses(off)
		a.bump(e.table, 4*e.entryWords())
		e.finish(b, rec, out)
		begin()
	})
}

func (e *convCode) manyChunks(blocks build.Reg) {
	a := e.a
	a.repeat(blocks, func() {
		e.fetchAhead()
		var at build.Reg // of the sums
		if e.sum {
			sum := func() {
				b := e.newChunk(0)
				e.pointers(b)
				a.phase(phaseSums)
				for p, s := range e.sums(b.in) {
					a.op(hexagon.S2_storeri_io, at, 4*p, s).Stores(aliasScratch)
				}
				a.phase(phaseOther)
			}
			if e.keep {
				at = a.word(e.table, e.inputs()+e.outputs(), "sums")
				a.skipIfZero(a.word(e.args, convSum, "sum"), sum)
			} else {
				at = a.word(e.args, convScratch, "scratch")
				sum()
			}
		}
		begin := func(b *convChunk, rec build.Reg) {
			e.pointers(b)
			bias := e.biases(b, rec)
			for p := range b.acc {
				var s build.Reg
				if e.sum {
					s = a.r("sum")
					a.op(hexagon.L2_loadri_io, s, at, 4*p).Loads(aliasScratch)
				}
				e.start(b, p, bias, s)
			}
		}
		if e.full {
			count, rec, off := a.word(e.args, convChunks, "chunks"), a.word(e.args, convFull, "record"), a.word(e.args, convOffset, "offset")
			b := e.newChunk(4)
			a.skipIfZero(count, func() {
				begin(b, rec)
				a.repeat(count, func() {
					e.products(b, rec)
					e.finish(b, rec, e.outAddresses(off))
					a.bump(off, vecBytes)
					a.bump(rec, e.record(4))
					begin(b, rec)
				})
			})
		}
		if e.tail > 0 {
			rec := a.word(e.args, convTail, "record")
			a.skipIfZero(rec, func() {
				b := e.newChunk(e.tail)
				begin(b, rec)
				e.products(b, rec)
				e.finish(b, rec, e.outAddresses(a.word(e.args, convTailOffset, "offset")))
			})
		}
		a.bump(e.table, 4*e.entryWords())
	})
}

// convChunk are the registers of the chunk at hand.
type convChunk struct {
	groups int
	acc    [][]build.Reg // by position and group
	ptr    []build.Reg   // the input addresses
	in     []convInput   // where each position reads
}

// convInput is an input address of a position.
type convInput struct {
	ptr build.Reg
	off int
}

func (e *convCode) newChunk(groups int) *convChunk {
	b := &convChunk{groups: groups}
	for range e.inputs() {
		b.ptr = append(b.ptr, e.a.r("in"))
	}
	for p := range e.positions {
		i, off := e.input(p)
		b.in = append(b.in, convInput{b.ptr[i], off})
		acc := make([]build.Reg, groups)
		for j := range acc {
			acc[j] = e.a.v(fmt.Sprintf("acc%d.%d", p, j))
		}
		b.acc = append(b.acc, acc)
	}
	return b
}

// pointers loads the input addresses of the block.
func (e *convCode) pointers(b *convChunk) {
	for p, r := range b.ptr {
		e.a.op(hexagon.L2_loadri_io, r, e.table, 4*p).Loads(aliasConst)
	}
}

// outAddresses loads where the block's results go.
func (e *convCode) outAddresses(off build.Reg) []build.Reg {
	out := make([]build.Reg, e.outputs())
	for o := range out {
		out[o] = e.a.r("to")
		e.a.op(hexagon.A2_add, out[o], e.a.word(e.table, e.inputs()+o, "out"), off)
	}
	return out
}

// biases loads the biases of a chunk.
func (e *convCode) biases(b *convChunk, rec build.Reg) []build.Reg {
	bias := make([]build.Reg, b.groups)
	for j := range bias {
		bias[j] = e.a.vload(rec, j*vecBytes, aliasConst, "bias")
	}
	return bias
}

// start begins the accumulators of position p: biases and, with a filter zero
// point, what the sum of the inputs adds.
func (e *convCode) start(b *convChunk, p int, bias []build.Reg, sum build.Reg) {
	a := e.a
	var corr build.Reg
	if sum.Valid() {
		corr = a.splat(sum, "correction")
	}
	for j, acc := range b.acc[p] {
		if corr.Valid() {
			a.op(hexagon.V6_vaddw, acc, bias[j], corr)
		} else {
			a.op(hexagon.V6_vassign, acc, bias[j])
		}
	}
}

// finish requantizes and stores the chunk.
func (e *convCode) finish(b *convChunk, rec build.Reg, out []build.Reg) {
	a, rq, n := e.a, e.rq, b.groups
	a.phase(phaseRequantize)
	l := rq.keepLanes(n, func(j int) lanes { return rq.lanesAt(rec, n*vecBytes, j, n) })
	interleaved := n == 4
	for o, to := range out {
		if interleaved {
			a.vstore(to, 0, rq.pack([4]build.Reg(b.acc[o]), l, true), aliasOut)
			continue
		}
		// Four cells of 32 bytes: groups of a position, then positions. A
		// position with fewer groups than a vector repeats its last one.
		var x [4]build.Reg
		var group [4]int
		for i := range x {
			p, j := i/n, i%n
			if e.cluster == 1 {
				p, j = 0, min(i, n-1)
			}
			x[i], group[i] = b.acc[o*e.cluster+p][j], j
			for k := range i {
				if x[k] == x[i] {
					x[i] = a.v("copy")
					a.op(hexagon.V6_vassign, x[i], x[k])
					break
				}
			}
		}
		a.vstore(to, 0, rq.pack(x, func(i int) lanes { return l(group[i]) }, false), aliasOut)
	}
	a.phase(phaseOther)
}
