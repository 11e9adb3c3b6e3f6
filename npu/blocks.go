package npu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func roundUp(a, b int) int { return ceilDiv(a, b) * b }

// reduces reports whether every output channel needs all input channels.
func (o *op) reduces() bool {
	return o.kind == opConv || o.kind == opPool && o.mode == ethosu.PoolReduceSum
}

// ifmBlockDepth is the input channels the array takes at a time.
func (o *op) ifmBlockDepth(s *Spec) int {
	if !o.reduces() {
		return o.blockD
	}
	if o.ifm.esz == 2 {
		return roundUp(min(o.ifm.c, 16), 4)
	}
	most := 32
	if o.k.partKernel && o.kind == opConv {
		most = 16
	}
	return roundUp(min(o.ifm.c, max(most, s.UBlock.IFM)), 8)
}

// macCycles is how long the MAC arrays work on a block of h x w x d outputs, all
// input channels and taps included. Two cores take half of its channels each.
// Elementwise operations do not use it.
func (s *Spec) macCycles(o *op, h, w, d int) int64 {
	return s.coreCycles(o, h, w, ceilDiv(d, o.cores))
}

// coreCycles is how long the MAC array of one core works on h x w x d outputs.
func (s *Spec) coreCycles(o *op, h, w, d int) int64 {
	u := s.UBlock
	if u.H == 2 && u.W == 2 && o.kind <= opDepthwise && o.ofm.h == 1 && o.ofm.w%2 == 0 && o.k.h == 1 {
		u.H, u.W, h = 1, 4, 1 // one-dimensional: the micro-block is a row
	}
	xy, nz := ceilDiv(w, u.W)*ceilDiv(h, u.H), ceilDiv(d, u.D)
	if s.PackTaps && o.reduces() {
		return s.arrayCycles(o, xy, nz)
	}
	wide := 1
	if o.ifm.esz == 2 {
		wide = 2
	}
	const step = 4 // cycles: 32 products of a micro-block's element
	weights := step * 8 * u.D / s.WeightsPerCycle
	delay := s.PipelineDelay
	if o.acc40 {
		delay = s.PipelineDelay40
	}
	ibd := min(o.ifmBlockDepth(s), o.ifm.c)
	var total int64
	for y := 0; y < o.k.h; y += 8 {
		for x := 0; x < o.k.w; x += 8 {
			e := min(o.k.h-y, 8) * min(o.k.w-x, 8)
			steps, cycles, groups := e, 0, 1
			switch {
			case o.kind == opPool && !o.reduces():
				steps = 1
				cycles = max(4, e) * xy * nz * wide
			case o.kind == opDepthwise:
				steps = ceilDiv(e, s.DepthwiseTaps)
				cycles = max(weights, step*xy*wide) * steps * nz
			case o.kind == opConv && o.k.partKernel:
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
	if o.reduces() {
		total *= int64(ceilDiv(o.ifm.c, ibd))
	}
	return total
}

// arrayCycles is macCycles of a weight-stationary array whose rows hold any
// mix of taps and groups of 8 input channels: per tile of weights the pixels
// stream through, no faster than the next tile is loaded.
func (s *Spec) arrayCycles(o *op, pixels, nz int) int64 {
	rows := s.UBlock.IFM
	tiles := ceilDiv(o.k.h*o.k.w*roundUp(o.ifm.c, 8), rows) * nz
	if o.ifm.esz == 2 {
		pixels *= 2
	}
	load := ceilDiv(rows*s.UBlock.D, s.WeightsPerCycle)
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
func (s *Spec) cyclesPerElement(o *op) float64 {
	i := OutOther
	switch {
	case o.kind == opElementwise && o.ifm.esz == 4:
		i = OutBinary32
		if o.mode == ethosu.EltLRelu || o.mode == ethosu.EltAbs || o.mode == ethosu.EltClz {
			i = OutUnary32
		}
	case o.kind == opElementwise && o.mode == ethosu.EltMul && o.ofm.esz == 4:
		i = OutMul32
	case o.kind == opElementwise && o.mode == ethosu.EltMul, o.kind != opElementwise && o.acc40:
		i = OutMul
	case o.kind == opElementwise && (o.mode == ethosu.EltAdd || o.mode == ethosu.EltSub):
		i = OutAdd
		if o.opa == 1 && o.opaShift == 0 && o.opb == 1 && o.scaleMode == ethosu.ScaleBoth16 {
			i = OutAddSimple
		}
	case o.kind == opPool && o.mode == ethosu.PoolMax:
		i = OutMaxPool
	}
	c := s.OutputCycles[i]
	if o.out.act != ethosu.ActNone {
		c = max(c, s.TableCycles)
	}
	return c
}

// outputCycles is how long the output unit works on a block.
func (s *Spec) outputCycles(o *op, elements int) int64 {
	// The table is for all cores; an operation may use one.
	return int64(math.Ceil(s.cyclesPerElement(o) * float64(elements) * float64(s.Cores/o.cores)))
}

// scaleCycles is how long it takes to read the scale records of a block: they
// come in order, 256 bytes per latency of their memory, to each core its own.
func (s *Spec) scaleCycles(o *op, depth int) int64 {
	latency := s.Memories[s.RegionMemory[o.scaleReg]].ReadLatency
	return int64(ceilDiv(ethosu.ScaleRecordSize*ceilDiv(depth, o.cores)*latency, 256))
}

// blockCount is the number of block jobs of an operation.
func (o *op) blockCount() int64 {
	return int64(ceilDiv(o.ofm.h, o.blockH)) * int64(ceilDiv(o.ofm.w, o.blockW)) * int64(ceilDiv(o.ofm.c, o.blockD))
}

// ifmBlock is the input rows and columns that a full block needs at a time:
// kernels larger than 8x8 are taken in parts.
func (o *op) ifmBlock(s *Spec) (h, w int) {
	k, up, near := &o.k, 1, 0
	if k.upscale != 0 {
		up, near = 2, k.upscale&1
	}
	h = roundUp(ceilDiv((o.blockH-1)*k.sy+min(k.hd, 8)+near, up), s.UBlock.H)
	w = roundUp(ceilDiv((o.blockW-1)*k.sx+min(k.wd, 8)+near, up), s.UBlock.W)
	return h, w
}

// outputBanks are the banks from 0 that the output unit uses.
const outputBanks = 2

// accumulatorRows is the rows of a block that have accumulators. Machines whose
// micro-block has two rows take one row of four columns instead where output
// and kernel have one row, although OFM_BLK_HEIGHT stays a multiple of two
// (Vela's fit_block_for_ofm).
func (o *op) accumulatorRows(s *Spec) int {
	if s.UBlock.H == 2 && o.ofm.h == 1 && o.k.h == 1 {
		return 1
	}
	return o.blockH
}

// checkShram makes sure that the buffers of an operation fit where its
// registers put them: two input blocks from bank 2 to IB_END, two accumulator
// blocks from AB_START to the tables, which the smallest parts do not keep.
func (o *op) checkShram(s *Spec) error {
	if o.kind == opElementwise {
		return nil
	}
	end := s.ShramBytes / s.ShramBank
	if s.ShramBytes > 16<<10 {
		end -= ceilDiv(lutBytes, s.ShramBank)
	}
	bytes := 4
	if o.acc40 {
		bytes = 5
	}
	rows := o.accumulatorRows(s)
	if need := 2 * ceilDiv(rows*o.blockW*roundUp(o.blockD, 8)*bytes, s.ShramBank); need > end-o.ab {
		return fmt.Errorf("accumulators of a %dx%dx%d block take %d banks, from AB_START %d there are %d",
			rows, o.blockW, o.blockD, need, o.ab, max(0, end-o.ab))
	}
	h, w := o.ifmBlock(s)
	if need := 2 * ceilDiv(h*w*roundUp(o.ifmBlockDepth(s)*o.ifm.esz, 8), s.ShramBank); need > o.ibEnd-outputBanks {
		return fmt.Errorf("input of a %dx%dx%d block takes %d banks, up to IB_END %d there are %d",
			o.blockH, o.blockW, o.blockD, need, o.ibEnd, max(0, o.ibEnd-outputBanks))
	}
	if o.ibEnd > o.ab {
		return fmt.Errorf("IB_END %d lies beyond AB_START %d", o.ibEnd, o.ab)
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
