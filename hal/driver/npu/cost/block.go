// Package cost estimates what kernels take on an NPU: one estimator for the choice of
// blocks, and cycles for reports, without encoding weights or running anything.
package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	core "github.com/nnsoc/nnsoc/npu"
)

// Limits of the block registers.
const (
	maxBlockH, maxBlockW, maxBlockD = 32, 64, 128
)

func roundUp(n, m int) int  { return (n + m - 1) / m * m }
func divideUp(n, m int) int { return (n + m - 1) / m }

// granules are the units in banks in which buffers of inputs and accumulators
// are given out, by the number of SHRAM banks (Arm's machines).
func granules(banks int) (input, acc int) {
	switch banks {
	case 16:
		return 2, 4
	case 24:
		return 4, 8
	case 48:
		return 8, 16
	}
	return 2, 2
}

// Candidate is a block that fits, what the kernel is estimated to take with it, and the bytes that it
// moves through the buffers.
type Candidate struct {
	Block  kernel.Block
	Cycles int64
	Bytes  int64
}

// alike is how many times the least estimate blocks may take that are told apart by their bytes: the
// estimate knows what a kernel waits for, but little of what each of its blocks costs (assumed, D-690).
const alike = 1.1

// Name is the name of a candidate: the height, width and depth of its block.
func (c *Candidate) Name() string {
	return fmt.Sprintf("block %dx%dx%d", c.Block.H, c.Block.W, c.Block.D)
}

// ChooseBlock picks the block that moves the fewest bytes of those that take about the fewest cycles:
// weights are read again for every block of pixels, the input for every block of channels. The one
// that the kernel wants comes first.
func ChooseBlock(s *core.Spec, k *kernel.Kernel) kernel.Block {
	list := candidates(s, k)
	if len(list) == 0 {
		return kernel.Block{}
	}
	if k.Wanted != "" {
		for i := range list {
			if list[i].Name() == k.Wanted {
				return list[i].Block
			}
		}
	}
	return slices.MinFunc(list, preference(list)).Block
}

// Blocks are the best candidates, at most so many, the best first.
func Blocks(s *core.Spec, k *kernel.Kernel, most int) []Candidate {
	list := candidates(s, k)
	slices.SortStableFunc(list, preference(list))
	return list[:min(most, len(list))]
}

// preference compares two candidates of a list: those alike to the one of the fewest cycles first, then by
// bytes, the larger of equal ones first.
func preference(list []Candidate) func(x, y Candidate) int {
	least := int64(math.MaxInt64)
	for _, c := range list {
		least = min(least, c.Cycles)
	}
	slower := func(c Candidate) int {
		if float64(c.Cycles) > alike*float64(least) {
			return 1
		}
		return 0
	}
	return func(x, y Candidate) int {
		return cmp.Or(slower(x)-slower(y), cmp.Compare(x.Bytes, y.Bytes), y.Block.H*y.Block.W*y.Block.D-x.Block.H*x.Block.W*x.Block.D)
	}
}

// candidates are the blocks whose buffers fit in SHRAM.
func candidates(s *core.Spec, k *kernel.Kernel) (list []Candidate) {
	own := *k
	banks := min(s.ShramBytes/s.ShramBank, 63)
	tables := max(1, 2048/s.ShramBank)
	inGranule, accGranule := granules(s.ShramBytes / s.ShramBank)
	u := s.UBlock
	ofm := &k.OFM.FeatureMap
	for d := u.D; d <= maxBlockD && d < ofm.C+u.D; d += u.D {
		for h := u.H; h <= maxBlockH && h < ofm.H+u.H; h += u.H {
			for bw := u.W; bw <= maxBlockW && bw < ofm.W+u.W; bw += u.W {
				ib, depth := inputBlock(s, k, h, bw, d)
				ibBanks := roundUp(2*divideUp(ib, s.ShramBank), inGranule)
				accBanks := roundUp(2*divideUp(h*bw*roundUp(d, 8)*4, s.ShramBank), accGranule)
				inputs := 1
				if k.IFM2 != nil {
					inputs = 2
				}
				if k.Kind == kernel.Elementwise {
					accBanks = 0
				}
				abStart := banks - tables - accBanks
				if 2+inputs*ibBanks > abStart {
					continue
				}
				own.Block = kernel.Block{H: h, W: bw, D: d, IBEnd: 2 + inputs*ibBanks, ABStart: abStart, IB2Start: 2 + ibBanks}
				list = append(list, Candidate{own.Block, Estimate(s, &own).Cycles(), movedBytes(k, h, bw, d, ib, depth)})
			}
		}
	}
	return list
}

// inputBlock is the bytes of input that one block needs at a time, and its
// depth.
func inputBlock(s *core.Spec, k *kernel.Kernel, h, bw, d int) (bytes, depth int) {
	depth = d
	if k.Reduces() {
		limit := 32
		if k.PartKernel {
			limit = 16
		}
		depth = min(roundUp(k.IFM.C, 8), max(limit, s.UBlock.IFM))
	}
	kh, kw := min((k.KH-1)*k.DY+1, 8), min((k.KW-1)*k.DX+1, 8)
	ih, iw := roundUp((h-1)*k.SY+kh, s.UBlock.H), roundUp((bw-1)*k.SX+kw, s.UBlock.W)
	if k.Kind == kernel.Elementwise {
		ih, iw = h, bw
	}
	return ih * iw * roundUp(depth*k.IFM.Bytes, 8), depth
}

// movedBytes estimates what a block size costs in buffer traffic.
func movedBytes(k *kernel.Kernel, h, bw, d, ib, depth int) int64 {
	ofm := &k.OFM.FeatureMap
	blocksXY := int64(divideUp(ofm.H, h)) * int64(divideUp(ofm.W, bw))
	blocksD := int64(divideUp(ofm.C, d))
	input := int64(ib) * blocksXY * blocksD
	if k.Kind == kernel.Conv {
		input *= int64(divideUp(k.IFM.C, depth))
	}
	padded := blocksXY * int64(h*bw) * blocksD * int64(d)
	var filter int64
	if k.Weights != nil {
		filter = int64(k.KH*k.KW) * int64(k.Weights.PerInput()) * int64(ofm.C) * blocksXY
	}
	return input + filter + padded
}
