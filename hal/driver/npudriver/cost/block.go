// Package cost estimates the cycles of kernels on an NPU, for the choice of blocks and
// for reports, without encoding weights or running anything.
package cost

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/npu"
)

// Limits of the block registers.
const (
	maxBlockH, maxBlockW, maxBlockD = 32, 64, 128
)

func roundUp(n, m int) int  { return (n + m - 1) / m * m }
func divideUp(n, m int) int { return (n + m - 1) / m }

// granules are the units in banks in which buffers of inputs and accumulators
// are allocated, by the number of SHRAM banks (Arm's machines).
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

// Candidate is a block that fits, the estimated cycles of the kernel with it, and the bytes that
// the kernel moves through the buffers.
type Candidate struct {
	Block  kernel.Block
	Cycles int64
	Bytes  int64
}

// nearBest is the ratio to the least estimate within which blocks are compared by their bytes: the estimate
// models what a kernel waits for, but little of the cost of each block (assumed, D-690).
const nearBest = 1.1

// Name is the name of a candidate: the height, width and depth of its block.
func (c *Candidate) Name() string {
	return fmt.Sprintf("block %dx%dx%d", c.Block.H, c.Block.W, c.Block.D)
}

// ChooseBlock picks the block that moves the fewest bytes of those within alike of the fewest cycles, the
// larger of equal ones: weights are read again for every block of pixels, the input for every block of
// channels. The block that Kernel.Wanted names has priority.
func ChooseBlock(s *npu.Spec, k *kernel.Kernel) kernel.Block {
	if k.Wanted != "" {
		for c := range candidates(s, k) {
			if c.Name() == k.Wanted {
				return c.Block
			}
		}
	}
	q := newSearch(s, k)
	q.rows = leastSides(q.rows)
	if !q.bricks() { // whose runs are longer in wider blocks
		q.columns = leastSides(q.columns)
	}
	type candidate struct {
		row, column, depth *side
		cycles             int64
	}
	list := make([]candidate, 0, 64) // without those that are slower for sure
	least := int64(math.MaxInt64)
	for at, d := range q.all {
		if cycles := d.at(at.row, at.column).Cycles(); !slower(cycles, least) {
			least = min(least, cycles)
			list = append(list, candidate{at.row, at.column, d.depth, cycles})
		}
	}
	var best Candidate
	for i := range list {
		if c := &list[i]; !slower(c.cycles, least) {
			x := Candidate{kernel.Block{H: c.row.size, W: c.column.size, D: c.depth.size}, c.cycles, q.moved(c.row, c.column, c.depth)}
			if best.Block.D == 0 || byBytes(x, best) < 0 {
				best = x
				best.Block = q.block(c.row, c.column, c.depth)
			}
		}
	}
	return best.Block
}

// AnyBlock is a block that fits, without an estimate of its own.
func AnyBlock(s *npu.Spec, k *kernel.Kernel) kernel.Block {
	for c := range candidates(s, k) {
		return c.Block
	}
	return kernel.Block{}
}

// Blocks are the best candidates, at most so many, the best first.
func Blocks(s *npu.Spec, k *kernel.Kernel, most int) []Candidate {
	list := slices.Collect(candidates(s, k))
	slices.SortStableFunc(list, preference(list))
	return list[:min(most, len(list))]
}

// slower reports whether cycles are not alike to the least ones.
func slower(cycles, least int64) bool { return float64(cycles) > nearBest*float64(least) }

// byBytes compares candidates by bytes, the larger of equal ones first.
func byBytes(x, y Candidate) int {
	return cmp.Or(cmp.Compare(x.Bytes, y.Bytes), y.Block.H*y.Block.W*y.Block.D-x.Block.H*x.Block.W*x.Block.D)
}

// preference compares two candidates of a list: those alike to the one of the fewest cycles first, then by bytes.
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
	return func(x, y Candidate) int { return cmp.Or(order(x)-order(y), byBytes(x, y)) }
}

// search is the blocks of a kernel whose buffers fit in SHRAM.
type search struct {
	estimator
	banks, tables, inputs int
	inGranule, accGranule int
	rows, columns, depths []side
}

func newSearch(s *npu.Spec, k *kernel.Kernel) *search {
	q := &search{estimator: newEstimator(s, k), banks: min(s.ShramBytes/s.ShramBank, 63), tables: max(1, 2048/s.ShramBank), inputs: 1}
	q.inGranule, q.accGranule = granules(s.ShramBytes / s.ShramBank)
	if k.IFM2 != nil {
		q.inputs = 2
	}
	u, ofm := s.UBlock, &k.OFM.FeatureMap
	q.rows, q.columns = sides(q.row, u.H, min(maxBlockH, ofm.H+u.H-1)), sides(q.column, u.W, min(maxBlockW, ofm.W+u.W-1))
	q.depths = sides(q.depth, u.D, min(maxBlockD, ofm.C+u.D-1))
	return q
}

// block is a block with its buffers, which fit when IBEnd is not beyond ABStart.
func (q *search) block(h, w, d *side) kernel.Block {
	input := roundUp(2*divideUp(q.inputBytes(h.input, w.input, d.input), q.s.ShramBank), q.inGranule)
	sums := 0
	if q.k.Kind != kernel.Elementwise {
		sums = roundUp(2*divideUp(h.size*w.size*roundUp(d.size, 8)*4, q.s.ShramBank), q.accGranule)
	}
	return kernel.Block{H: h.size, W: w.size, D: d.size, IBEnd: 2 + q.inputs*input, ABStart: q.banks - q.tables - sums, IB2Start: 2 + input}
}

// plane is the height and width of a block.
type plane struct{ row, column *side }

// all yields the blocks with the estimate for their depth.
func (q *search) all(yield func(plane, *deep) bool) {
	depths := make([]deep, 1, len(q.columns)) // by widths, where those matter
	if q.bricks() {
		depths = depths[:len(q.columns)]
	}
	for i := range q.depths {
		for n := range depths {
			depths[n] = q.deep(&q.columns[n], &q.depths[i])
		}
		columns := q.columns
		for n := range q.rows {
			for len(columns) > 0 { // what is too wide here is so for higher ones
				if b := q.block(&q.rows[n], &columns[len(columns)-1], &q.depths[i]); b.IBEnd <= b.ABStart {
					break
				}
				columns = columns[:len(columns)-1]
			}
			for m := range columns {
				if !yield(plane{&q.rows[n], &columns[m]}, &depths[min(m, len(depths)-1)]) {
					return
				}
			}
		}
	}
}

// candidates are the blocks with their estimates.
func candidates(s *npu.Spec, k *kernel.Kernel) iter.Seq[Candidate] {
	return func(yield func(Candidate) bool) {
		q := newSearch(s, k)
		for at, d := range q.all {
			if !yield(Candidate{q.block(at.row, at.column, d.depth), d.at(at.row, at.column).Cycles(), q.moved(at.row, at.column, d.depth)}) {
				return
			}
		}
	}
}

// sides are the multiples of a unit up to a size.
func sides(of func(int) side, unit, most int) []side {
	list := make([]side, 0, max(most/unit, 0))
	for n := unit; n <= most; n += unit {
		list = append(list, of(n))
	}
	return list
}

// leastSides are those that no smaller one is better than: of the ones that divide the output into as many blocks,
// the least needs the least input, and moves the fewest bytes.
func leastSides(list []side) []side {
	return slices.CompactFunc(list, func(x, y side) bool { return x.blocks == y.blocks })
}

// moved estimates what a block costs in traffic of the buffers, in bytes.
func (e *estimator) moved(row, column, depth *side) int64 {
	k := e.k
	planes, blocks := int64(row.blocks*column.blocks), int64(depth.blocks)
	input := int64(e.inputBytes(row.input, column.input, depth.input)) * planes * blocks
	if k.Kind == kernel.Conv {
		input *= int64(divideUp(k.IFM.C, depth.input))
	}
	padded := planes * int64(row.size*column.size) * blocks * int64(depth.size)
	var filter int64
	if k.Weights != nil {
		filter = int64(k.KH*k.KW) * int64(k.Weights.PerInput()) * int64(k.OFM.C) * planes
	}
	return input + filter + padded
}
