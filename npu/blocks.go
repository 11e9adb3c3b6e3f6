package npu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, b int) int { return ceilDiv(a, b) * b }

// ifmBlockDepth is the number of input channels that the array processes at a time.
func (s *Spec) ifmBlockDepth(o *state.Op) int {
	if !o.Reduces() {
		return o.BlockD
	}
	if o.IFM.ElemSize == 2 {
		return roundUp(min(o.IFM.C, 16), 4)
	}
	most := 32
	if o.Window.PartKernel && o.Kind == state.Conv {
		most = 16
	}
	return roundUp(min(o.IFM.C, max(most, s.UBlock.IFM)), 8)
}

// macCycles is how long the MAC arrays work on a block of h x w x d outputs, all input channels and taps included. Two
// cores process half of its channels each. Elementwise operations do not use it.
//
// products is the part of it that the multipliers need: the rest waits for decoded weights.
func (s *Spec) macCycles(o *state.Op, h, w, d int) (cycles, products int64) {
	d = ceilDiv(d, o.Cores)
	cycles = s.coreCycles(o, h, w, d, s.WeightsPerCycle)
	if products = cycles; s.decodes(o, h, w) {
		products = s.coreCycles(o, h, w, d, math.MaxInt32)
	}
	return cycles, products
}

// decodes reports whether h x w outputs of a channel may need less time than decoding its weights.
func (s *Spec) decodes(o *state.Op, h, w int) bool {
	u := s.UBlock
	if s.PackTaps {
		return ceilDiv(h, u.H)*ceilDiv(w, u.W) < ceilDiv(u.IFM*u.D, s.WeightsPerCycle)
	}
	return o.Kind <= state.Depthwise && ceilDiv(h*w, u.H*u.W) < 8*u.D/s.WeightsPerCycle
}

// coreCycles is how long the MAC array of one core works on h x w x d outputs, with a decoder of so many
// weights per cycle.
func (s *Spec) coreCycles(o *state.Op, h, w, d, decoder int) int64 {
	u := s.UBlock
	if u.H == 2 && u.W == 2 && o.Kind <= state.Depthwise && o.OFM.H == 1 && o.OFM.W%2 == 0 && o.Window.H == 1 {
		u.H, u.W, h = 1, 4, 1 // one-dimensional: the micro-block is a row
	}
	xy, nz := ceilDiv(w, u.W)*ceilDiv(h, u.H), ceilDiv(d, u.D)
	if s.PackTaps && o.Kind != state.Elementwise {
		return s.arrayCycles(o, xy, d, decoder)
	}
	wide := 1
	if o.IFM.ElemSize == 2 {
		wide = 2
	}
	const step = 4 // cycles: 32 products of a micro-block's element
	weights := step * 8 * u.D / decoder
	delay := s.PipelineDelay
	if o.Acc40 {
		delay = s.PipelineDelay40
	}
	ibd := min(s.ifmBlockDepth(o), o.IFM.C)
	var total int64
	for y := 0; y < o.Window.H; y += 8 {
		for x := 0; x < o.Window.W; x += 8 {
			e := min(o.Window.H-y, 8) * min(o.Window.W-x, 8)
			steps, cycles, groups := e, 0, 1
			switch {
			case o.Kind == state.Pool && !o.Reduces():
				steps = 1
				cycles = max(4, e) * xy * nz * wide
			case o.Kind == state.Depthwise:
				steps = ceilDiv(e, s.DepthwiseTaps)
				cycles = max(weights, step*xy*wide) * steps * nz
			case o.Kind == state.Conv && o.Window.PartKernel:
				steps = ceilDiv(e, 4/wide)
				groups = ceilDiv(ibd, 8)
				cycles = max(weights, step*xy) * steps * groups * nz
			default:
				cycles = max(weights, step*xy) * steps * nz
			}
			if xy == 1 {
				if nz == 1 {
					cycles += delay * steps * groups
				} else if steps > 1 {
					cycles += delay * (steps - 1) * nz * groups
				}
			}
			total += int64(cycles)
		}
	}
	if o.Reduces() {
		total *= int64(ceilDiv(o.IFM.C, ibd))
	}
	return total
}

// arrayCycles is macCycles of a weight-stationary array for d output channels: per tile of
// weights the pixels stream through, no faster than the next tile is loaded.
//
// A row of the array receives one input, a tap of an input channel, and broadcasts it to all columns; a column sums one
// output channel. A convolution fills rows with taps x channels. In a depthwise kernel, and in a pool, an input is of
// use to one column only, whose row has weights of zero in the others: rows are taps of a channel and then those of the
// next one, whose sums may span two tiles.
//
// With a micro-block of several pixels there is such an array for each of them, which all have the
// same weights: the tiles of a grid that divide a plane among them.
func (s *Spec) arrayCycles(o *state.Op, pixels, d, decoder int) int64 {
	rows, taps := s.UBlock.IFM, o.Window.H*o.Window.W
	tiles := ceilDiv(taps*o.IFM.C, rows) * ceilDiv(d, s.UBlock.D)
	if !o.Reduces() {
		tiles = max(ceilDiv(taps*d, rows), ceilDiv(d, s.UBlock.D))
	}
	if o.IFM.ElemSize == 2 {
		pixels *= 2
	}
	load := 0
	if o.Kind <= state.Depthwise {
		load = ceilDiv(rows*s.UBlock.D, decoder)
	}
	return int64(tiles) * int64(max(pixels, load))
}

// fill is the cycles until a weight-stationary array delivers its first sum.
func (s *Spec) fill() int64 {
	if s.PackTaps {
		return int64(s.UBlock.IFM + s.UBlock.D - 2)
	}
	return 0
}

// cyclesPerElement is the rate of the output unit for an operation.
func (s *Spec) cyclesPerElement(o *state.Op) float64 {
	i := OutOther
	switch {
	case o.Kind == state.Elementwise && o.IFM.ElemSize == 4:
		i = OutBinary32
		if o.Mode == ethosu.EltLRelu || o.Mode == ethosu.EltAbs || o.Mode == ethosu.EltClz {
			i = OutUnary32
		}
	case o.Kind == state.Elementwise && o.Mode == ethosu.EltMul && o.OFM.ElemSize == 4:
		i = OutMul32
	case o.Kind == state.Elementwise && o.Mode == ethosu.EltMul, o.Kind != state.Elementwise && o.Acc40:
		i = OutMul
	case o.Kind == state.Elementwise && (o.Mode == ethosu.EltAdd || o.Mode == ethosu.EltSub):
		i = OutAdd
		if o.OPAScale == 1 && o.OPAShift == 0 && o.OPBScale == 1 && o.ScaleMode == ethosu.ScaleBoth16 {
			i = OutAddSimple
		}
	case o.Kind == state.Pool && o.Mode == ethosu.PoolMax:
		i = OutMaxPool
	}
	c := s.OutputCycles[i]
	if o.Output.Activation != ethosu.ActNone {
		c = max(c, s.TableCycles)
	}
	return c
}

// outputCycles is how long the output unit works on a block.
func (s *Spec) outputCycles(o *state.Op, elements int) int64 {
	// The table is for all cores; an operation may use one.
	return int64(math.Ceil(s.cyclesPerElement(o) * float64(elements) * float64(s.Cores/o.Cores)))
}

// scaleCycles is how long it takes to read the scale records of a block: in order, 256 bytes per latency of their
// memory, each core its own.
func (s *Spec) scaleCycles(o *state.Op, depth int) int64 {
	latency := s.Memories[s.RegionMemory[o.ScaleRegion]].ReadLatency
	return int64(ceilDiv(ethosu.ScaleRecordSize*ceilDiv(depth, o.Cores)*latency, 256))
}

// blockCount is the number of block jobs of an operation.
func blockCount(o *state.Op) int64 {
	return int64(ceilDiv(o.OFM.H, o.BlockH)) * int64(ceilDiv(o.OFM.W, o.BlockW)) * int64(ceilDiv(o.OFM.C, o.BlockD))
}

// ifmBlock is the input rows and columns that a full block needs at a time: kernels larger than 8x8 are processed in
// parts.
func (s *Spec) ifmBlock(o *state.Op) (h, w int) {
	k, up, near := &o.Window, 1, 0
	if k.Upscale != 0 {
		up, near = 2, k.Upscale&1
	}
	h = roundUp(ceilDiv((o.BlockH-1)*k.StrideY+min(k.ExtentH, 8)+near, up), s.UBlock.H)
	w = roundUp(ceilDiv((o.BlockW-1)*k.StrideX+min(k.ExtentW, 8)+near, up), s.UBlock.W)
	return h, w
}

// outputBanks are the banks from 0 that the output unit uses.
const outputBanks = 2

// accumulatorRows is the rows of a block that have accumulators. Machines whose micro-block has two rows use one row of
// four columns instead where output and kernel have one row, although OFM_BLK_HEIGHT stays a multiple of two (Vela's
// fit_block_for_ofm).
func (s *Spec) accumulatorRows(o *state.Op) int {
	if s.UBlock.H == 2 && o.OFM.H == 1 && o.Window.H == 1 {
		return 1
	}
	return o.BlockH
}

// checkShram makes sure that the buffers of an operation fit where its
// registers put them: two input blocks from bank 2 to IB_END, two accumulator
// blocks from AB_START to the tables, which the smallest parts do not keep.
func (s *Spec) checkShram(o *state.Op) error {
	if o.Kind == state.Elementwise {
		return nil
	}
	end := s.ShramBytes / s.ShramBank
	if s.ShramBytes > 16<<10 {
		end -= ceilDiv(state.LUTBytes, s.ShramBank)
	}
	bytes := 4
	if o.Acc40 {
		bytes = 5
	}
	rows := s.accumulatorRows(o)
	if need := 2 * ceilDiv(rows*o.BlockW*roundUp(o.BlockD, 8)*bytes, s.ShramBank); need > end-o.ABStart {
		return fmt.Errorf("accumulators of a %dx%dx%d block need %d banks, from AB_START %d there are %d",
			rows, o.BlockW, o.BlockD, need, o.ABStart, max(0, end-o.ABStart))
	}
	h, w := s.ifmBlock(o)
	if need := 2 * ceilDiv(h*w*roundUp(s.ifmBlockDepth(o)*o.IFM.ElemSize, 8), s.ShramBank); need > o.IBEnd-outputBanks {
		return fmt.Errorf("input of a %dx%dx%d block needs %d banks, up to IB_END %d there are %d",
			o.BlockH, o.BlockW, o.BlockD, need, o.IBEnd, max(0, o.IBEnd-outputBanks))
	}
	if o.IBEnd > o.ABStart {
		return fmt.Errorf("IB_END %d is beyond AB_START %d", o.IBEnd, o.ABStart)
	}
	return nil
}

// extent is the input rows or columns [lo, hi) that outputs [o0, o1) need.
func extent(o0, o1, stride, kernel, pad, in, upscale int) (lo, hi int) {
	lo = max(0, o0*stride-pad)
	hi = min(in, (o1-1)*stride+kernel-pad)
	if upscale != 0 {
		lo, hi = lo/2, (hi+1)/2
	}
	return lo, max(lo, hi)
}
