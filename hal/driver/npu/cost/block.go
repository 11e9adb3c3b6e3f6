// Package cost estimates what kernels take on an NPU: one estimator for the choice of
// blocks, and cycles for reports, without encoding weights or running anything.
package cost

import (
	"cmp"
	"fmt"
	"iter"
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
	var list []Candidate // without those that are slower for sure
	least := int64(math.MaxInt64)
	for c := range candidates(s, k) {
		if k.Wanted != "" && c.Name() == k.Wanted {
			return c.Block
		}
		if least = min(least, c.Cycles); !slower(c.Cycles, least) {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return kernel.Block{}
	}
	return slices.MinFunc(list, preference(list)).Block
}

// AnyBlock is a block that fits, without an estimate of its own.
func AnyBlock(s *core.Spec, k *kernel.Kernel) kernel.Block {
	for c := range candidates(s, k) {
		return c.Block
	}
	return kernel.Block{}
}

// Blocks are the best candidates, at most so many, the best first.
func Blocks(s *core.Spec, k *kernel.Kernel, most int) []Candidate {
	list := slices.Collect(candidates(s, k))
	slices.SortStableFunc(list, preference(list))
	return list[:min(most, len(list))]
}

// slower reports whether cycles are not alike to the least ones.
func slower(cycles, least int64) bool { return float64(cycles) > alike*float64(least) }

// preference compares two candidates of a list: those alike to the one of the fewest cycles first, then by
// bytes, the larger of equal ones first.
func preference(list []Candidate) func(x, y Candidate) int {
	least := int64(math.MaxInt64)
	for _, c := range list {
		least = min(least, c.Cycles)
	}
	order := func(c Candidate) int {
		if slower(c.Cycles, least) {
			return 1
		}
		return 0
	}
	return func(x, y Candidate) int {
		return cmp.Or(order(x)-order(y), cmp.Compare(x.Bytes, y.Bytes), y.Block.H*y.Block.W*y.Block.D-x.Block.H*x.Block.W*x.Block.D)
	}
}

// candidates are the blocks whose buffers fit in SHRAM.
func candidates(s *core.Spec, k *kernel.Kernel) iter.Seq[Candidate] {
	return func(yield func(Candidate) bool) {
		e := newEstimator(s, k)
		banks := min(s.ShramBytes/s.ShramBank, 63)
		tables := max(1, 2048/s.ShramBank)
		inGranule, accGranule := granules(s.ShramBytes / s.ShramBank)
		inputs := 1
		if k.IFM2 != nil {
			inputs = 2
		}
		u, ofm := s.UBlock, &k.OFM.FeatureMap
		rows, columns := sides(e.row, u.H, min(maxBlockH, ofm.H+u.H-1)), sides(e.column, u.W, min(maxBlockW, ofm.W+u.W-1))
		for _, d := range sides(e.depth, u.D, min(maxBlockD, ofm.C+u.D-1)) {
			for _, h := range rows {
				for _, w := range columns {
					ib := e.inputBytes(h.input, w.input, d.input)
					ibBanks := roundUp(2*divideUp(ib, s.ShramBank), inGranule)
					accBanks := 0
					if k.Kind != kernel.Elementwise {
						accBanks = roundUp(2*divideUp(h.size*w.size*roundUp(d.size, 8)*4, s.ShramBank), accGranule)
					}
					abStart := banks - tables - accBanks
					if 2+inputs*ibBanks > abStart {
						break // and so for wider ones
					}
					b := kernel.Block{H: h.size, W: w.size, D: d.size, IBEnd: 2 + inputs*ibBanks, ABStart: abStart, IB2Start: 2 + ibBanks}
					if !yield(Candidate{b, e.at(h, w, d).Cycles(), e.moved(h, w, d)}) {
						return
					}
				}
			}
		}
	}
}

// sides are those of so many units each up to a size.
func sides(of func(int) side, unit, most int) (list []side) {
	for n := unit; n <= most; n += unit {
		list = append(list, of(n))
	}
	return list
}

// moved estimates what a block costs in traffic of the buffers, in bytes.
func (e *estimator) moved(row, column, deep side) int64 {
	k := e.k
	planes, blocks := int64(row.blocks*column.blocks), int64(deep.blocks)
	input := int64(e.inputBytes(row.input, column.input, deep.input)) * planes * blocks
	if k.Kind == kernel.Conv {
		input *= int64(divideUp(k.IFM.C, deep.input))
	}
	padded := planes * int64(row.size*column.size) * blocks * int64(deep.size)
	var filter int64
	if k.Weights != nil {
		filter = int64(k.KH*k.KW) * int64(k.Weights.PerInput()) * int64(k.OFM.C) * planes
	}
	return input + filter + padded
}
