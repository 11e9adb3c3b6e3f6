package conv

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// GEMM is the parameters of the code of a convolution.
//
// A block is a few output positions, a group 32 output channels; one
// accumulator holds one group of one position. Weights are vectors of 32
// channels by 4 inputs, activations scalar words of 4 inputs, so one vrmpy
// makes 128 products. Inputs are read in runs of contiguous words: one run per
// filter row where the channels fill their pitch, otherwise one per tap.
//
// Slots that requantization leaves free are filled by the first instructions of the
// next chunk, or of the next block if there is only one chunk: its biases minus the
// zero-point correction, whose window sums are computed strip by strip (zeropoint.go).
type GEMM struct {
	Positions  int // per block
	Words      int // per run
	Runs       int
	WordPairs  bool // runs start on 8 bytes: load pairs of words
	Unrolled   bool // few words: one block of code
	ZeroPoint  bool // the filter has a zero point
	Stream     bool // inputs are likely not in L2: fetch those of the next strip there
	Full       bool // has full chunks of four groups, interleaved
	OneChunk   bool // one chunk in all
	Tail       int  // groups of the last chunk, which are stored one behind the other; 0 none
	Slice      bool // the only chunk is a slice of Tail groups of the 128 channels of a vector
	PerVector  int  // output positions that share a vector in the tail
	PerAddress int  // output positions that share an address: a cluster's, or all of a block
	Pitch      int  // and their distance
	InStep     int  // input distance of the positions of a cluster; 0 when they have addresses of their own
	SumStep    int  // and that of their sums
	Rq         hvx.RequantKind
	Correction ZeroPoint
	// Window selects products by the Z window, which holds Words of four positions at a time (window.go): weights are
	// signed bytes, 128 less than they are elsewhere, and so is the filter's zero point, which Raises where it is negative.
	Window  bool
	Raises  bool
	Aligned bool // inputs of Window begin on vectors
	// pipelined selects the software-pipelined kernel, of chunks full chunks and the tail.
	Pipelined bool
	Chunks    int
	// across and down are the distances of runs in a row of the window and of its
	// rows, which have so many runs.
	Across, Down, PerRow int
}

func (c GEMM) Name() string {
	sums := ""
	if c.ZeroPoint {
		sums = "_" + c.Correction.Name()
	}
	if c.Pipelined {
		return fmt.Sprintf("pipelined_p%d_w%dx%d_%s%d+%dc%d+%d+%d_%s%s", c.Positions, c.Runs, c.Words, hvx.Flag(c.WordPairs, "d")+hvx.Flag(c.Stream, "a"),
			c.Chunks, c.Tail, c.PerVector, c.InStep, c.SumStep, c.Rq.Tag(), sums) + c.runTag() + c.spanTag()
	}
	kind := "conv"
	if c.Slice {
		kind = "slice"
	}
	if c.Window {
		kind = hvx.Flag(c.Slice, "slice_") + "window" + hvx.Flag(c.Aligned, "v") + hvx.Flag(c.Raises, "n")
	}
	return fmt.Sprintf("%s_p%d_w%dx%d_%s%st%dc%d+%d+%d_%s%s", kind, c.Positions, c.Runs, c.Words, hvx.Flag(c.WordPairs, "d")+hvx.Flag(c.Unrolled, "u"),
		hvx.Flag(c.Full, "f")+hvx.Flag(c.OneChunk, "1")+hvx.Flag(c.Stream, "a"), c.Tail, c.PerVector, c.InStep, c.SumStep, c.Rq.Tag(), sums)
}

func (c GEMM) runTag() string {
	if c.Runs == 1 {
		return ""
	}
	return fmt.Sprintf("_%dx%d+%d", c.PerRow, c.Across, c.Down)
}

func (c GEMM) spanTag() string {
	if c.PerAddress == c.PerVector {
		return ""
	}
	return fmt.Sprintf("_r%d", c.Pitch)
}

// Key is c without what its code does not read, so that convolutions share kernels.
func (c GEMM) Key() GEMM {
	if !c.Pipelined {
		c.Chunks = 0
	}
	if !c.Pipelined || c.Runs == 1 {
		c.PerRow, c.Across, c.Down = 0, 0, 0
	}
	if c.PerAddress == c.PerVector {
		c.Pitch = 0
	}
	return c
}

// distance is how far run r begins behind the first.
func (c GEMM) distance(r int) int {
	if r == 0 {
		return 0
	}
	return r%c.PerRow*c.Across + r/c.PerRow*c.Down
}

// Words of a conv thread's argument block.
const (
	ArgBumps  = iota // table of address steps between runs
	ArgFull          // records of the full chunks
	ArgChunks        // number of full chunks
	ArgOffset        // of the first full chunk within a position
	ArgTail          // record of the tail chunk, 0 when the thread has none
	ArgTailOffset
	ArgZeroPoint // the arguments of the zero-point correction
	Args         = ArgZeroPoint + ZeroPointArgs
	// A slice stores the bytes of its vectors from a first one up to another.
	ArgSliceFrom = Args
	ArgSliceTo   = Args + 1
	SliceArgs    = Args + 2
	// A kernel with the window has memory for the inputs of a block.
	ArgWindow  = SliceArgs
	WindowArgs = SliceArgs + 1
)

// table entry: input addresses, of each position or each cluster, where each
// finds its sum behind the thread's scratch, output address of each cluster.
func (c GEMM) Outputs() int { return c.Positions / c.PerAddress }
func (c GEMM) Inputs() int {
	if c.InStep > 0 {
		return c.Outputs()
	}
	return c.Positions
}
func (c GEMM) FirstOutput() int {
	if c.ZeroPoint {
		return 2 * c.Inputs()
	}
	return c.Inputs()
}
func (c GEMM) EntryWords() int { return c.FirstOutput() + c.Outputs() }

// input is which input address position p has, and the how manieth behind it it is.
func (c GEMM) input(p int) (int, int) {
	if c.InStep > 0 {
		return p / c.PerAddress, p % c.PerAddress
	}
	return p, 0
}

// Header is the number of vectors before the weights of a chunk of n groups.
func (c GEMM) Header(n int) int { return n * (1 + c.Rq.Vectors()) }

// Record is the size of a chunk of n groups in bytes.
func (c GEMM) Record(n int) int { return (c.Header(n) + n*c.Words*c.Runs) * hvx.VectorBytes }

// Consumed is how far the products of a run move the pointers.
func (c GEMM) Consumed() int {
	switch {
	case c.Window:
		return hvx.CeilDiv(4*c.Words, hvx.VectorBytes) * hvx.VectorBytes
	case c.Unrolled:
		return 0
	case c.WordPairs:
		return 4*c.Words + 8
	}
	return 4 * c.Words
}

// PrefetchArg is the index of the prefetch arguments.
const PrefetchArg = 5

// convCode is the state of the generator of a GEMM convolution kernel.
type convCode struct {
	*GEMM
	a                   *hvx.Builder
	rq                  *hvx.Requantizer
	table, args, params codegen.Reg
	scratch             codegen.Reg // of the sums, where it is kept
	slice               codegen.Reg // bytes of a vector that a slice stores
	window              codegen.Reg // memory of the window's inputs
}

// Emit writes the kernel. Arguments: table, strips, their number, argument
// block, parameter block, prefetch.
func (c GEMM) Emit(a *hvx.Builder) {
	in := a.Args("table", "strip", "strips", "args", "params", "address", "box", "stride")
	e := &convCode{GEMM: &c, a: a, table: in[0], args: in[3], params: in[4]}
	strip := in[1]
	for _, p := range []codegen.Reg{e.args, strip, e.table, e.params} { // all at once
		a.Op(hexagon.Y2_dcfetchbo, p, 0)
	}
	a.Prefetch(in[PrefetchArg:])
	e.rq = a.RequantSetup(c.Rq, e.params)
	if !c.Pipelined {
		e.rq.FactorsInVectors()
	}
	if c.Slice {
		e.slice = e.sliceBytes()
	}
	if c.Window {
		e.window = a.Word(e.args, ArgWindow, "window")
	}
	a.Repeat(in[2], func() {
		if c.ZeroPoint {
			a.Func.Unlikely(func() { c.Correction.emit(a, strip, a.Add(e.args, 4*ArgZeroPoint)) })
		}
		if c.Stream {
			box := a.RR("box")
			a.Op(hexagon.L2_loadrd_io, box, strip, 4*StripBox).Loads(hvx.AliasConst)
			a.Op(hexagon.Y5_l2fetch, a.Word(strip, StripPrefetch, "ahead"), box)
		}
		blocks := a.Word(strip, StripBlocks, "blocks")
		a.Bump(strip, 4*StripWords)
		if c.Pipelined {
			e.pipelined(blocks, strip, in[2], e.args)
		} else if c.OneChunk {
			e.oneChunk(blocks)
		} else {
			e.manyChunks(blocks)
		}
	})
	a.Ret()
}

// lineBytes is the line size of L1D, which holds up to mostLines of the inputs of a block.
const lineBytes, mostLines = 64, 32

// inputLines are the lines that a run of a block reads behind an input address, and
// whether all of the next block come to L1D while one is at work.
func (e *convCode) inputLines() (lines []int, all bool) {
	for p := range e.Positions / e.Inputs() {
		for off := range hvx.CeilDiv(4*e.Words, lineBytes) {
			if at := (p*e.InStep + off*lineBytes) &^ (lineBytes - 1); len(lines) == 0 || at > lines[len(lines)-1] {
				lines = append(lines, at)
			}
		}
	}
	if n := e.Positions / e.Inputs(); e.Runs > 1 || n*e.InStep%lineBytes != 0 { // may not begin with a line
		if last := ((n-1)*e.InStep + 4*e.Words - 1) &^ 7; last > lines[len(lines)-1] {
			lines = append(lines, last)
		}
	}
	// The way to another run is known with sums only, unless the kernel is software-pipelined.
	reached := e.Runs == 1 || e.GEMM.Pipelined || e.ZeroPoint && e.Correction.Rows == e.Runs
	return lines, reached && e.Runs*len(lines)*e.Inputs() <= mostLines
}

// fetches bring the entry of a later block and the inputs of the next one to L1D:
// they come from DRAM and from L2. They may stand anywhere in a block.
func (e *convCode) fetches() (list []func()) {
	const ahead = 8
	add := func(base codegen.Reg, off int) {
		list = append(list, func() { e.a.Op(hexagon.Y2_dcfetchbo, base, off) })
	}
	bytes := 4 * e.EntryWords()
	for off := 0; off < bytes; off += lineBytes {
		add(e.table, (ahead*bytes+off)&^7)
	}
	if e.Window { // inputs are read as vectors, from L2
		return list
	}
	lines, all := e.inputLines()
	if e.ZeroPoint && (e.Unrolled || e.GEMM.Pipelined) { // those of a block mostly lie together
		at := e.a.R("sums")
		list = append(list, func() {
			e.a.Op(hexagon.L2_loadri_io, at, e.table, 4*(e.EntryWords()+e.Inputs())).Loads(hvx.AliasConst)
		}, func() {
			scratch := e.scratch
			if !scratch.Valid() {
				scratch = e.a.Word(e.args, ArgZeroPoint+ZeroPointScratch, "scratch")
			}
			e.a.Op(hexagon.A2_add, at, at, scratch)
		})
		add(at, 4*(e.Positions-1)&^7)
	}
	if !all {
		return list
	}
	for i := range e.Inputs() {
		p := e.a.R("next")
		list = append(list, func() { e.a.Op(hexagon.L2_loadri_io, p, e.table, 4*(e.EntryWords()+i)).Loads(hvx.AliasConst) })
		for r := range e.Runs {
			if r > 0 {
				list = append(list, func() {
					if e.GEMM.Pipelined {
						e.a.Bump(p, e.distance(r)-e.distance(r-1))
					} else {
						e.a.Op(hexagon.A2_add, p, p, e.a.Word(e.args, ArgZeroPoint+ZeroPointRowStep, "row step"))
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
	a, at, offset, n := e.a, ArgFull, ArgOffset, 4
	if !e.Full {
		at, offset, n = ArgTail, ArgTailOffset, e.Tail
	}
	rec, off := a.Word(e.args, at, "record"), a.Word(e.args, offset, "offset")
	b := e.newChunk(n)
	e.fillWindow(0)
	e.begin(b, rec)
	a.Repeat(blocks, func() {
		e.fetchAhead()
		e.products(b, rec)
		out := e.outAddresses(off)
		e.fillWindow(4 * e.EntryWords())
		a.Bump(e.table, 4*e.EntryWords())
		e.finish(b, rec, out)
		e.begin(b, rec) // of the next block; behind a strip's last one in vain
	})
}

func (e *convCode) manyChunks(blocks codegen.Reg) {
	a := e.a
	a.Repeat(blocks, func() {
		e.fetchAhead()
		e.fillWindow(0)
		if e.Full {
			count, rec, off := a.Word(e.args, ArgChunks, "chunks"), a.Word(e.args, ArgFull, "record"), a.Word(e.args, ArgOffset, "offset")
			b := e.newChunk(4)
			a.SkipIfZero(count, func() {
				e.begin(b, rec)
				a.Repeat(count, func() {
					e.products(b, rec)
					e.finish(b, rec, e.outAddresses(off))
					a.Bump(off, hvx.VectorBytes)
					a.Bump(rec, e.Record(4))
					e.begin(b, rec)
				})
			})
		}
		if e.Tail > 0 {
			rec := a.Word(e.args, ArgTail, "record")
			a.SkipIfZero(rec, func() {
				b := e.newChunk(e.Tail)
				e.begin(b, rec)
				e.products(b, rec)
				e.finish(b, rec, e.outAddresses(a.Word(e.args, ArgTailOffset, "offset")))
			})
		}
		a.Bump(e.table, 4*e.EntryWords())
	})
}

// convChunk are the registers of the chunk at hand.
type convChunk struct {
	groups int
	acc    [][]codegen.Reg // by position and group
	quads  []codegen.Reg   // by group: those of all positions, for products by the window
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
	if e.Window {
		e.windowAccumulators(b)
		return b
	}
	for range e.Inputs() {
		b.ptr = append(b.ptr, e.a.R("in"))
	}
	for p := range e.Positions {
		i, n := e.input(p)
		b.in = append(b.in, convInput{b.ptr[i], n * e.InStep})
		acc := make([]codegen.Reg, groups)
		for j := range acc {
			acc[j] = e.a.V(fmt.Sprintf("acc%d.%d", p, j))
		}
		b.acc = append(b.acc, acc)
	}
	return b
}

// sliceBytes is the predicate of the bytes that a slice stores.
func (e *convCode) sliceBytes() codegen.Reg {
	a := e.a
	q, below := a.Q("slice"), a.Q("below")
	a.Op(hexagon.V6_pred_scalar2v2, q, a.Word(e.args, ArgSliceTo, "to"))
	a.Op(hexagon.V6_pred_scalar2, below, a.Word(e.args, ArgSliceFrom, "from"))
	a.Op(hexagon.V6_pred_and_n, q, q, below)
	return q
}

// outAddresses loads where the block's results go.
func (e *convCode) outAddresses(off codegen.Reg) []codegen.Reg {
	out := make([]codegen.Reg, e.Outputs())
	for o := range out {
		out[o] = e.a.R("to")
		e.a.Op(hexagon.A2_add, out[o], e.a.Word(e.table, e.FirstOutput()+o, "out"), off)
	}
	return out
}

// begin loads the addresses of a chunk and begins its accumulators: biases, less
// the sums of the inputs that a filter zero point needs.
func (e *convCode) begin(b *convChunk, rec codegen.Reg) {
	a := e.a
	for i, r := range b.ptr {
		a.Op(hexagon.L2_loadri_io, r, e.table, 4*i).Loads(hvx.AliasConst)
	}
	bias := make([]codegen.Reg, b.groups)
	for j := range bias {
		bias[j] = a.Load(rec, j*hvx.VectorBytes, hvx.AliasConst, "bias")
	}
	var scratch, at codegen.Reg
	if e.ZeroPoint {
		scratch = a.Word(e.args, ArgZeroPoint+ZeroPointScratch, "scratch")
	}
	for p, acc := range b.acc {
		var less codegen.Reg
		if e.ZeroPoint {
			i, n := e.input(p)
			if n == 0 {
				at = a.Word(e.table, e.Inputs()+i, "offset")
				a.Op(hexagon.A2_add, at, at, scratch)
			}
			sum := a.R("sum")
			a.Op(hexagon.L2_loadri_io, sum, at, 4*n*e.SumStep).Loads(hvx.AliasScratch)
			less = a.Splat(sum, "less")
		}
		for j := range acc {
			switch {
			case e.ZeroPoint && e.Raises:
				a.Op(hexagon.V6_vaddw, acc[j], bias[j], less)
			case e.ZeroPoint:
				a.Op(hexagon.V6_vsubw, acc[j], bias[j], less)
			default:
				a.Op(hexagon.V6_vassign, acc[j], bias[j])
			}
		}
	}
}

// finish requantizes and stores the chunk.
func (e *convCode) finish(b *convChunk, rec codegen.Reg, out []codegen.Reg) {
	a, rq, n := e.a, e.rq, b.groups
	a.SetPhase(hvx.PhaseRequantize)
	l := rq.PreloadChannelVectors(n, func(j int) hvx.ChannelVectors { return rq.ChannelVectorsAt(rec, n*hvx.VectorBytes, j, n) })
	interleaved := n == 4
	for o, to := range out {
		if interleaved {
			a.Store(to, 0, rq.Pack([4]codegen.Reg(b.acc[o]), l, true), hvx.AliasOut)
			continue
		}
		// Four cells of 32 bytes: groups of a position, then positions. A
		// position with fewer groups than a vector repeats its last one, a slice
		// all of them, and stores those in its place.
		var x [4]codegen.Reg
		var group [4]int
		for i := range x {
			p, j := i/n, i%n
			if e.Slice {
				p, j = 0, i%n
			} else if e.PerVector == 1 {
				p, j = 0, min(i, n-1)
			}
			x[i], group[i] = b.acc[o*e.PerVector+p][j], j
			for k := range i {
				if x[k] == x[i] {
					x[i] = a.V("copy")
					a.Op(hexagon.V6_vassign, x[i], x[k])
					break
				}
			}
		}
		v := rq.Pack(x, func(i int) hvx.ChannelVectors { return l(group[i]) }, false)
		if e.Slice {
			a.Op(hexagon.V6_vS32b_qpred_ai, e.slice, to, 0, v).Stores(hvx.AliasOut)
			continue
		}
		a.Store(to, 0, v, hvx.AliasOut)
	}
	a.SetPhase(hvx.PhaseNone)
}
