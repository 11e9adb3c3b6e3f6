package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
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
// chunk the next block's, first instructions fill: its biases minus the
// zero-point correction, whose window sums are computed strip by strip (kernel_zeropoint.go).
type convKernel struct {
	positions  int // per block
	words      int // per run
	runs       int
	pairs      bool // runs start on 8 bytes: load pairs of words
	flat       bool // few words: one block of code
	zeroPoint  bool // the filter has a zero point
	stream     bool // inputs are likely not in L2: fetch those of the next strip there
	full       bool // has full chunks of four groups, interleaved
	single     bool // one chunk in all
	tail       int  // groups of the last chunk, which are stored one behind the other; 0 none
	cluster    int  // output positions that share a vector in the tail
	span       int  // output positions that share an address: a cluster's, or all of a block
	pitch      int  // and their distance
	near       int  // input distance of the positions of a cluster; 0 when they have addresses of their own
	step       int  // and that of their sums
	rq         hvx.RequantKind
	correction zeroPointKernel
	// pipelined selects the software-pipelined kernel, of chunks full chunks and the tail.
	pipelined bool
	chunks    int
	// across and down are the distances of runs in a row of the window and of its
	// rows, which have so many runs.
	across, down, perRow int
}

func (c *convKernel) name() string {
	sums := ""
	if c.zeroPoint {
		sums = "_" + c.correction.name()
	}
	if c.pipelined {
		return fmt.Sprintf("pipelined_p%d_w%dx%d_%s%d+%dc%d+%d+%d_%s%s", c.positions, c.runs, c.words, hvx.Flag(c.pairs, "d")+hvx.Flag(c.stream, "a"),
			c.chunks, c.tail, c.cluster, c.near, c.step, c.rq.Tag(), sums) + c.runTag() + c.spanTag()
	}
	return fmt.Sprintf("conv_p%d_w%dx%d_%s%st%dc%d+%d+%d_%s%s", c.positions, c.runs, c.words, hvx.Flag(c.pairs, "d")+hvx.Flag(c.flat, "u"),
		hvx.Flag(c.full, "f")+hvx.Flag(c.single, "1")+hvx.Flag(c.stream, "a"), c.tail, c.cluster, c.near, c.step, c.rq.Tag(), sums)
}

func (c *convKernel) runTag() string {
	if c.runs == 1 {
		return ""
	}
	return fmt.Sprintf("_%dx%d+%d", c.perRow, c.across, c.down)
}

func (c *convKernel) spanTag() string {
	if c.span == c.cluster {
		return ""
	}
	return fmt.Sprintf("_r%d", c.pitch)
}

// distance is how far run r begins behind the first.
func (c *convKernel) distance(r int) int { return r%c.perRow*c.across + r/c.perRow*c.down }

// Words of a conv thread's argument block.
const (
	convBumps  = iota // table of address steps between runs
	convFull          // records of the full chunks
	convChunks        // number of full chunks
	convOffset        // of the first full chunk within a position
	convTail          // record of the tail chunk, 0 when the thread has none
	convTailOffset
	convZeroPoint // the arguments of the zero-point correction
	convArgs      = convZeroPoint + zeroPointArgs
)

// table entry: input addresses, of each position or each cluster, where each
// finds its sum behind the thread's scratch, output address of each cluster.
func (c *convKernel) outputs() int { return c.positions / c.span }
func (c *convKernel) inputs() int {
	if c.near > 0 {
		return c.outputs()
	}
	return c.positions
}
func (c *convKernel) firstOutput() int {
	if c.zeroPoint {
		return 2 * c.inputs()
	}
	return c.inputs()
}
func (c *convKernel) entryWords() int { return c.firstOutput() + c.outputs() }

// input is which input address position p has, and the how manieth behind it it is.
func (c *convKernel) input(p int) (int, int) {
	if c.near > 0 {
		return p / c.span, p % c.span
	}
	return p, 0
}

// header is the number of vectors before the weights of a chunk of n groups.
func (c *convKernel) header(n int) int { return n * (1 + c.rq.Vectors()) }

// record is the size of a chunk of n groups in bytes.
func (c *convKernel) record(n int) int { return (c.header(n) + n*c.words*c.runs) * vecBytes }

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

// convPrefetch is the index of the prefetch arguments.
const convPrefetch = 5

// convCode is the state of the generator of a GEMM convolution kernel.
type convCode struct {
	*convKernel
	a                   *hvx.Builder
	rq                  *hvx.Requantizer
	table, args, params codegen.Reg
	scratch             codegen.Reg // of the sums, where it is kept
}

// generate writes the kernel. Arguments: table, strips, their number, argument
// block, parameter block, prefetch.
func (c *convKernel) generate(a *hvx.Builder) {
	in := a.Args("table", "strip", "strips", "args", "params", "address", "box", "stride")
	e := &convCode{convKernel: c, a: a, table: in[0], args: in[3], params: in[4]}
	strip := in[1]
	for _, p := range []codegen.Reg{e.args, strip, e.table, e.params} { // all at once
		a.Op(hexagon.Y2_dcfetchbo, p, 0)
	}
	a.Prefetch(in[convPrefetch:])
	e.rq = a.RequantSetup(c.rq, e.params)
	if !c.pipelined {
		e.rq.FactorsInVectors()
	}
	a.Repeat(in[2], func() {
		if c.zeroPoint {
			a.Func.Seldom(func() { c.correction.emit(a, strip, a.Add(e.args, 4*convZeroPoint)) })
		}
		if c.stream {
			box := a.RR("box")
			a.Op(hexagon.L2_loadrd_io, box, strip, 4*stripBox).Loads(hvx.AliasConst)
			a.Op(hexagon.Y5_l2fetch, a.Word(strip, stripPrefetch, "ahead"), box)
		}
		blocks := a.Word(strip, stripBlocks, "blocks")
		a.Bump(strip, 4*stripWords)
		if c.pipelined {
			e.pipelined(blocks, strip, in[2], e.args)
		} else if c.single {
			e.oneChunk(blocks)
		} else {
			e.manyChunks(blocks)
		}
	})
	a.Ret()
}

// line is that of L1D, which holds up to mostLines of the inputs of a block.
const line, mostLines = 64, 32

// inputLines are the lines that a run of a block reads behind an input address, and
// whether all of the next block come to L1D while one is at work.
func (e *convCode) inputLines() (lines []int, all bool) {
	for p := range e.positions / e.inputs() {
		for off := range ceilDiv(4*e.words, line) {
			if at := (p*e.near + off*line) &^ (line - 1); len(lines) == 0 || at > lines[len(lines)-1] {
				lines = append(lines, at)
			}
		}
	}
	if n := e.positions / e.inputs(); e.runs > 1 || n*e.near%line != 0 { // may not begin with a line
		if last := ((n-1)*e.near + 4*e.words - 1) &^ 7; last > lines[len(lines)-1] {
			lines = append(lines, last)
		}
	}
	// The way to another run is known with sums only, unless the kernel is software-pipelined.
	reached := e.runs == 1 || e.convKernel.pipelined || e.zeroPoint && e.correction.rows == e.runs
	return lines, reached && e.runs*len(lines)*e.inputs() <= mostLines
}

// fetches bring the entry of a later block and the inputs of the next one to L1D:
// they come from DRAM and from L2. They may stand anywhere in a block.
func (e *convCode) fetches() (list []func()) {
	const ahead = 8
	add := func(base codegen.Reg, off int) {
		list = append(list, func() { e.a.Op(hexagon.Y2_dcfetchbo, base, off) })
	}
	bytes := 4 * e.entryWords()
	for off := 0; off < bytes; off += line {
		add(e.table, (ahead*bytes+off)&^7)
	}
	lines, all := e.inputLines()
	if e.zeroPoint && (e.flat || e.convKernel.pipelined) { // those of a block mostly lie together
		at := e.a.R("sums")
		list = append(list, func() {
			e.a.Op(hexagon.L2_loadri_io, at, e.table, 4*(e.entryWords()+e.inputs())).Loads(hvx.AliasConst)
		}, func() {
			scratch := e.scratch
			if !scratch.Valid() {
				scratch = e.a.Word(e.args, convZeroPoint+zeroPointScratch, "scratch")
			}
			e.a.Op(hexagon.A2_add, at, at, scratch)
		})
		add(at, 4*(e.positions-1)&^7)
	}
	if !all {
		return list
	}
	for i := range e.inputs() {
		p := e.a.R("next")
		list = append(list, func() { e.a.Op(hexagon.L2_loadri_io, p, e.table, 4*(e.entryWords()+i)).Loads(hvx.AliasConst) })
		for r := range e.runs {
			if r > 0 {
				list = append(list, func() {
					if e.convKernel.pipelined {
						e.a.Bump(p, e.distance(r)-e.distance(r-1))
					} else {
						e.a.Op(hexagon.A2_add, p, p, e.a.Word(e.args, convZeroPoint+zeroPointRowStep, "row step"))
					}
				})
			}
			for _, off := range lines {
				add(p, off)
			}
		}
	}
	return list
}

// fetchAhead writes all fetches of a block.
func (e *convCode) fetchAhead() {
	for _, f := range e.fetches() {
		f()
	}
}

func (e *convCode) oneChunk(blocks codegen.Reg) {
	a, at, offset, n := e.a, convFull, convOffset, 4
	if !e.full {
		at, offset, n = convTail, convTailOffset, e.tail
	}
	rec, off := a.Word(e.args, at, "record"), a.Word(e.args, offset, "offset")
	b := e.newChunk(n)
	e.begin(b, rec)
	a.Repeat(blocks, func() {
		e.fetchAhead()
		e.products(b, rec)
		out := e.outAddresses(off)
		a.Bump(e.table, 4*e.entryWords())
		e.finish(b, rec, out)
		e.begin(b, rec) // of the next block; behind a strip's last one in vain
	})
}

func (e *convCode) manyChunks(blocks codegen.Reg) {
	a := e.a
	a.Repeat(blocks, func() {
		e.fetchAhead()
		if e.full {
			count, rec, off := a.Word(e.args, convChunks, "chunks"), a.Word(e.args, convFull, "record"), a.Word(e.args, convOffset, "offset")
			b := e.newChunk(4)
			a.SkipIfZero(count, func() {
				e.begin(b, rec)
				a.Repeat(count, func() {
					e.products(b, rec)
					e.finish(b, rec, e.outAddresses(off))
					a.Bump(off, vecBytes)
					a.Bump(rec, e.record(4))
					e.begin(b, rec)
				})
			})
		}
		if e.tail > 0 {
			rec := a.Word(e.args, convTail, "record")
			a.SkipIfZero(rec, func() {
				b := e.newChunk(e.tail)
				e.begin(b, rec)
				e.products(b, rec)
				e.finish(b, rec, e.outAddresses(a.Word(e.args, convTailOffset, "offset")))
			})
		}
		a.Bump(e.table, 4*e.entryWords())
	})
}

// convChunk are the registers of the chunk at hand.
type convChunk struct {
	groups int
	acc    [][]codegen.Reg // by position and group
	ptr    []codegen.Reg   // the input addresses
	in     []convInput     // where each position reads
}

// convInput is an input address of a position.
type convInput struct {
	ptr codegen.Reg
	off int
}

func (e *convCode) newChunk(groups int) *convChunk {
	b := &convChunk{groups: groups}
	for range e.inputs() {
		b.ptr = append(b.ptr, e.a.R("in"))
	}
	for p := range e.positions {
		i, n := e.input(p)
		b.in = append(b.in, convInput{b.ptr[i], n * e.near})
		acc := make([]codegen.Reg, groups)
		for j := range acc {
			acc[j] = e.a.V(fmt.Sprintf("acc%d.%d", p, j))
		}
		b.acc = append(b.acc, acc)
	}
	return b
}

// outAddresses loads where the block's results go.
func (e *convCode) outAddresses(off codegen.Reg) []codegen.Reg {
	out := make([]codegen.Reg, e.outputs())
	for o := range out {
		out[o] = e.a.R("to")
		e.a.Op(hexagon.A2_add, out[o], e.a.Word(e.table, e.firstOutput()+o, "out"), off)
	}
	return out
}

// begin loads the addresses of a chunk and begins its accumulators: biases, less
// the sums of the inputs that a filter zero point asks for.
func (e *convCode) begin(b *convChunk, rec codegen.Reg) {
	a := e.a
	for i, r := range b.ptr {
		a.Op(hexagon.L2_loadri_io, r, e.table, 4*i).Loads(hvx.AliasConst)
	}
	bias := make([]codegen.Reg, b.groups)
	for j := range bias {
		bias[j] = a.Load(rec, j*vecBytes, hvx.AliasConst, "bias")
	}
	var scratch, at codegen.Reg
	if e.zeroPoint {
		scratch = a.Word(e.args, convZeroPoint+zeroPointScratch, "scratch")
	}
	for p, acc := range b.acc {
		var less codegen.Reg
		if e.zeroPoint {
			i, n := e.input(p)
			if n == 0 {
				at = a.Word(e.table, e.inputs()+i, "offset")
				a.Op(hexagon.A2_add, at, at, scratch)
			}
			sum := a.R("sum")
			a.Op(hexagon.L2_loadri_io, sum, at, 4*n*e.step).Loads(hvx.AliasScratch)
			less = a.Splat(sum, "less")
		}
		for j := range acc {
			if e.zeroPoint {
				a.Op(hexagon.V6_vsubw, acc[j], bias[j], less)
			} else {
				a.Op(hexagon.V6_vassign, acc[j], bias[j])
			}
		}
	}
}

// finish requantizes and stores the chunk.
func (e *convCode) finish(b *convChunk, rec codegen.Reg, out []codegen.Reg) {
	a, rq, n := e.a, e.rq, b.groups
	a.SetPhase(hvx.PhaseRequantize)
	l := rq.KeepChannelVectors(n, func(j int) hvx.ChannelVectors { return rq.ChannelVectorsAt(rec, n*vecBytes, j, n) })
	interleaved := n == 4
	for o, to := range out {
		if interleaved {
			a.Store(to, 0, rq.Pack([4]codegen.Reg(b.acc[o]), l, true), hvx.AliasOut)
			continue
		}
		// Four cells of 32 bytes: groups of a position, then positions. A
		// position with fewer groups than a vector repeats its last one.
		var x [4]codegen.Reg
		var group [4]int
		for i := range x {
			p, j := i/n, i%n
			if e.cluster == 1 {
				p, j = 0, min(i, n-1)
			}
			x[i], group[i] = b.acc[o*e.cluster+p][j], j
			for k := range i {
				if x[k] == x[i] {
					x[i] = a.V("copy")
					a.Op(hexagon.V6_vassign, x[i], x[k])
					break
				}
			}
		}
		a.Store(to, 0, rq.Pack(x, func(i int) hvx.ChannelVectors { return l(group[i]) }, false), hvx.AliasOut)
	}
	a.SetPhase(hvx.PhaseOther)
}
