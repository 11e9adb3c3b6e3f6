// Package cost estimates what kernels take on an NPU: one estimator for the choice of
// blocks, and cycles for reports, without encoding weights or running anything.
package cost

import (
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

// Candidate is a block that fits, and the bytes that it moves through the buffers.
type Candidate struct {
	Block kernel.Block
	Bytes int64
}

// ChooseBlock picks the block that moves the fewest bytes, the largest of equal ones: weights are read
// again for every block of pixels, the input for every block of channels.
func ChooseBlock(s *core.Spec, k *kernel.Kernel) kernel.Block {
	var best Candidate
	eachBlock(s, k, func(c Candidate) {
		if best.Block.D == 0 || better(c, best) {
			best = c
		}
	})
	return best.Block
}

// Blocks are the best candidates, at most so many, the chosen one first.
func Blocks(s *core.Spec, k *kernel.Kernel, most int) []Candidate {
	var list []Candidate
	eachBlock(s, k, func(c Candidate) {
		at := len(list)
		for at > 0 && better(c, list[at-1]) {
			at--
		}
		if list = slices.Insert(list, at, c); len(list) > most {
			list = list[:most]
		}
	})
	return list
}

// better reports whether x is preferred to y, which has been found before.
func better(x, y Candidate) bool {
	if x.Bytes != y.Bytes {
		return x.Bytes < y.Bytes
	}
	return x.Block.H*x.Block.W*x.Block.D > y.Block.H*y.Block.W*y.Block.D
}

// eachBlock visits the blocks whose buffers fit in SHRAM.
func eachBlock(s *core.Spec, k *kernel.Kernel, visit func(Candidate)) {
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
				c := Candidate{kernel.Block{H: h, W: bw, D: d, IBEnd: 2 + inputs*ibBanks, ABStart: abStart, IB2Start: 2 + ibBanks}, movedBytes(k, h, bw, d, ib, depth)}
				visit(c)
			}
		}
	}
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
