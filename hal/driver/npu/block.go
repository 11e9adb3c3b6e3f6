package npu

import (
	core "github.com/nnsoc/nnsoc/npu"
)

// block is how a kernel is cut for the MAC array and the output unit, and
// where its buffers lie in SHRAM.
type block struct {
	h, w, d        int
	ibEnd, abStart int
	ib2Start       int
}

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

// chooseBlock picks the block that moves the fewest bytes: weights are read
// again for every block of pixels, the input for every block of channels.
func chooseBlock(s *core.Spec, w *work) block {
	banks := min(s.ShramBytes/s.ShramBank, 63)
	tables := max(1, 2048/s.ShramBank)
	inGranule, accGranule := granules(s.ShramBytes / s.ShramBank)
	u := s.UBlock
	var best block
	bestCost := int64(-1)
	ofm := &w.ofm.fm
	for d := u.D; d <= maxBlockD && d < ofm.c+u.D; d += u.D {
		for h := u.H; h <= maxBlockH && h < ofm.h+u.H; h += u.H {
			for bw := u.W; bw <= maxBlockW && bw < ofm.w+u.W; bw += u.W {
				ib, depth := inputBlock(s, w, h, bw, d)
				ibBanks := roundUp(2*divideUp(ib, s.ShramBank), inGranule)
				accBanks := roundUp(2*divideUp(h*bw*roundUp(d, 8)*4, s.ShramBank), accGranule)
				inputs := 1
				if w.ifm2 != nil {
					inputs = 2
				}
				if w.kind == kindElementwise {
					accBanks = 0
				}
				abStart := banks - tables - accBanks
				if 2+inputs*ibBanks > abStart {
					continue
				}
				cost := movedBytes(w, h, bw, d, ib, depth)
				if bestCost < 0 || cost < bestCost || cost == bestCost && h*bw*d > best.h*best.w*best.d {
					bestCost = cost
					best = block{h, bw, d, 2 + ibBanks, abStart, 2 + ibBanks}
					if w.ifm2 != nil {
						best.ibEnd += ibBanks
					}
				}
			}
		}
	}
	return best
}

// inputBlock is the bytes of input that one block needs at a time, and its
// depth.
func inputBlock(s *core.Spec, w *work, h, bw, d int) (bytes, depth int) {
	depth = d
	if w.kind == kindConv || w.kind == kindPool && w.mode == poolReduceSum {
		limit := 32
		if w.partKernel {
			limit = 16
		}
		depth = min(roundUp(w.ifm.c, 8), max(limit, s.UBlock.IFM))
	}
	kh, kw := min((w.kh-1)*w.dy+1, 8), min((w.kw-1)*w.dx+1, 8)
	ih, iw := roundUp((h-1)*w.sy+kh, s.UBlock.H), roundUp((bw-1)*w.sx+kw, s.UBlock.W)
	if w.kind == kindElementwise {
		ih, iw = h, bw
	}
	return ih * iw * roundUp(depth*w.ifm.bytes, 8), depth
}

// movedBytes estimates what a block size costs in buffer traffic.
func movedBytes(w *work, h, bw, d, ib, depth int) int64 {
	ofm := &w.ofm.fm
	blocksXY := int64(divideUp(ofm.h, h)) * int64(divideUp(ofm.w, bw))
	blocksD := int64(divideUp(ofm.c, d))
	input := int64(ib) * blocksXY * blocksD
	if w.kind == kindConv {
		input *= int64(divideUp(w.ifm.c, depth))
	}
	padded := blocksXY * int64(h*bw) * blocksD * int64(d)
	var filter int64
	if w.weights != nil {
		filter = int64(w.kh*w.kw) * int64(w.weights.i) * int64(ofm.c) * blocksXY
	}
	return input + filter + padded
}
