package depthwise

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Kernel is the parameters that the code of a depthwise convolution
// depends on. A vector holds 128 channels of one position or, with a small
// pitch, all channels of several positions; each entry of the table is one
// row (and one chunk of channels).
//
// Up to three rows of a column of the window are interleaved to words, one per
// channel, so that one vrmpy multiplies them with the weights of 32 channels
// (filter zero point already out) and adds the products.
type Kernel struct {
	KH, KW    int
	RowStep   int       // bytes between the window's rows
	Stride    int       // positions between neighbouring windows
	Dilation  int       // positions between the window's columns
	Pitch     int       // bytes between positions
	Duplicate rowTable  // of each set: row that its words have twice, -1 none
	Parts     partTable // of each column and set
	Outputs   int       // vectors made per entry
	PerVector int       // positions per vector
	Skew      int       // bytes of a row's first vector before its first window
	Sliding   Sliding   // zero: not the sliding-window kernel
	Direct3x3 Taps3x3   // if on, this is the 3x3 kernel, whatever the form
	Rq        hvx.RequantKind
	// lookahead, when the input is likely not in L2: how many entries ahead inputs are
	// fetched, and how far behind that entry's address the new ones begin.
	Lookahead    int
	LookaheadOff int
}

// Key is d without what its code does not read, so that convolutions share kernels.
func (d Kernel) Key() Kernel {
	if d.Direct3x3.on() {
		d.Duplicate, d.Parts, d.Sliding = "", "", Sliding{}
	} else {
		d.Direct3x3 = Taps3x3{}
	}
	return d
}

// MaxTaps bounds the window of the depthwise kernel, whose taps are unrolled.
const MaxTaps = 128

// PrefetchArg is the index of the prefetch arguments.
const PrefetchArg = 3

func (d Kernel) Name() string {
	if d.Direct3x3.on() {
		return d.name3x3()
	}
	return fmt.Sprintf("dw_%dx%d_r%d_s%d_d%d_p%d_n%d_c%d+%d_f%d.%d_%s_a%d+%d_%s", d.KH, d.KW, d.RowStep, d.Stride, d.Dilation, d.Pitch,
		d.Outputs, d.PerVector, d.Skew, d.Sliding.Outputs, d.Sliding.Kept, d.Rq.Tag(), d.Lookahead, d.LookaheadOff, d.Duplicate+"."+rowTable(d.Parts))
}

// kernelCode is the state of the generator of a depthwise kernel.
type kernelCode struct {
	*Kernel
	a     *hvx.Builder
	rq    *hvx.Requantizer
	w     hvx.Record
	kept  []codegen.Reg // the weights that do
	below []codegen.Reg
}

// Emit writes the kernel. Arguments: table of (input, output, record),
// entries, parameter block, prefetch.
func (d Kernel) Emit(a *hvx.Builder) {
	in := a.Args("table", "entries", "params", "address", "box", "stride")
	table, entries, params := in[0], in[1], in[2]
	a.Prefetch(in[PrefetchArg:])
	e := &kernelCode{Kernel: &d, a: a, rq: a.RequantSetup(d.Rq, params)}
	var carry *slidingCarry
	if (d.Direct3x3.on() || d.Sliding.Outputs > 0) && e.rq.Halfword && !e.rq.ByteFactor {
		e.rq.Fifteen = a.Imm8(15)
	}
	switch {
	case d.Direct3x3.on():
		e.loop3x3(table, entries, params)
		a.Ret()
		return
	case d.Sliding.Outputs == 0:
		e.positionMasks()
	default:
		a.Func.Refined()
		carry = e.newCarry(a.Word(table, 1, "first out"))
	}
	a.Repeat(entries, func() {
		if d.Lookahead > 0 {
			a.Op(hexagon.Y5_l2fetch, a.Add(a.Word(table, 3*d.Lookahead, "ahead"), d.LookaheadOff), hvx.PrefetchBox(a, params))
		}
		src, dst, rec := a.Word(table, 0, "in"), a.Word(table, 1, "out"), a.Word(table, 2, "record")
		a.Bump(table, 12)
		e.w = hvx.NewRecord(a, rec, d.Record())
		if d.Sliding.Outputs > 0 {
			e.sliding(src, dst, carry)
			return
		}
		e.loadResident(windowWeights)
		a.Loop0(d.Outputs, func() {
			e.window(src, dst)
			a.Bump(src, d.Stride*d.Pitch*d.PerVector)
			a.Bump(dst, d.outStep())
		})
	})
	if carry != nil {
		e.finish(carry)
	}
	a.Ret()
}
