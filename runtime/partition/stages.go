package partition

import (
	"math"
	"sort"
)

// stages splits the execution order into intervals, at most one per device, so
// that the longest is shortest: the classic pipeline. Transfers and the fixed
// cost of each interval count. ok is false when no such split supports every
// operation.
func (t *table) stages(g *Graph, device []int) (ok bool) {
	n, D := len(g.Operations), min(t.devices, maxStages)
	s := splitter{table: t, n: n, sum: make([][]float64, D), refused: make([][]int, D), cut: edges(g)}
	most := 0.0
	for d := range D {
		s.sum[d], s.refused[d] = make([]float64, n+1), make([]int, n+1)
		s.refused[d][n] = n
		for i := range n {
			x := t.op[i*t.devices+d]
			if math.IsInf(x, 1) {
				x = 0
			}
			s.sum[d][i+1] = s.sum[d][i] + x + t.perByte[d]*float64(s.cut[i].ends)
		}
		for i := n - 1; i >= 0; i-- {
			s.refused[d][i] = s.refused[d][i+1]
			if math.IsInf(t.op[i*t.devices+d], 1) {
				s.refused[d][i] = i
			}
		}
		most = max(most, s.sum[d][n]+t.fixed[d]+t.perByte[d]*2*float64(s.widest()))
	}
	low, high := 0.0, most
	for range stageRounds {
		middle := (low + high) / 2
		if s.fits(middle, device) {
			high, ok = middle, true
		} else {
			low = middle
		}
	}
	return s.fits(high, device)
}

const (
	maxStages   = 8  // devices that share a pipeline
	stageRounds = 40 // halvings of the range of the longest stage
)

// splitter knows what any interval of operations costs on a device.
type splitter struct {
	*table
	n       int
	sum     [][]float64 // by device: cost of the operations before
	refused [][]int     // by device: first operation from here on that it does not support
	cut     []edge
}

func (s *splitter) widest() (bytes int64) {
	for _, e := range s.cut {
		bytes = max(bytes, e.cut)
	}
	return bytes
}

// reach is the end of the longest interval from an operation on that a device
// runs within a limit.
func (s *splitter) reach(from, d int, limit float64) int {
	if from == s.n {
		return from
	}
	limit -= s.fixed[d] + s.perByte[d]*float64(s.cut[from].cut) - s.sum[d][from]
	last := s.refused[d][from]
	end := from + sort.Search(last-from, func(k int) bool { return s.sum[d][from+k+1] > limit })
	for end > from && end < s.n && s.sum[d][end]+s.perByte[d]*float64(s.cut[end].cut) > limit {
		end-- // what leaves it does not fit
	}
	return end
}

// fits fills device with a split in which no interval exceeds limit.
func (s *splitter) fits(limit float64, device []int) bool {
	D := len(s.sum)
	far, last := make([]int, 1<<D), make([]int, 1<<D)
	for set := 1; set < 1<<D; set++ {
		for d := range D {
			if set>>d&1 == 0 {
				continue
			}
			if end := s.reach(far[set&^(1<<d)], d, limit); end > far[set] || last[set] == 0 {
				far[set], last[set] = end, d+1
			}
		}
	}
	set := 1<<D - 1
	if far[set] < s.n {
		return false
	}
	for set != 0 {
		d := last[set] - 1
		set &^= 1 << d
		for i := far[set]; i < far[set|1<<d]; i++ {
			device[i] = d
		}
	}
	return true
}
