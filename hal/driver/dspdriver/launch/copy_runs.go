package launch

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// CopyRun is a copy of n bytes.
type CopyRun struct{ Dst, Src, N uint32 }

// runList collects copies of contiguous bytes that do not overlap.
type runList struct{ list []CopyRun }

// longRun is the length in bytes from which the copy kernel copies a run; the byte permutation
// kernel gathers shorter runs into vectors.
const longRun = 192

// fewRuns is how many short runs are left to the copy kernel, because patterns do not pay.
const fewRuns = 8

// add appends a copy of n bytes.
func (r *runList) add(dst, src uint32, n int) {
	if n <= 0 {
		return
	}
	if k := len(r.list); k > 0 {
		if p := &r.list[k-1]; dst == p.Dst+p.N && src == p.Src+p.N {
			p.N += uint32(n)
			return
		}
	}
	r.list = append(r.list, CopyRun{dst, src, uint32(n)})
}

// launch emits the copies.
func (r *runList) launch(l *step.Launcher, flip bool) {
	least := uint32(longRun)
	if r.ragged() {
		least = layout.VectorBytes
	}
	short := 0
	for i := range r.list {
		if r.list[i].N < least {
			short++
		}
	}
	if short <= fewRuns {
		launchCopyRuns(l, r.list, flip)
		return
	}
	if !slices.IsSortedFunc(r.list, byDst) {
		slices.SortFunc(r.list, byDst)
	}
	if short == len(r.list) {
		launchPermutation(l, r.list, flip)
		return
	}
	var parts [2][]CopyRun
	for _, p := range r.list {
		if p.N < least {
			parts[0] = append(parts[0], p)
		} else {
			parts[1] = append(parts[1], p)
		}
	}
	launchPermutation(l, parts[0], flip)
	launchCopyRuns(l, parts[1], flip)
}

// patternUses is how many vectors share a pattern where permutations pay for runs of a vector and more: its controls come
// from memory.
const patternUses = 40

// ragged reports whether the vectors of runs of at least a vector are so different that the copy kernel is faster.
func (r *runList) ragged() bool {
	if !slices.ContainsFunc(r.list, func(p CopyRun) bool { return p.N >= layout.VectorBytes && p.N < longRun }) {
		return false
	}
	vectors, patterns := 0, map[string]bool{}
	eachVector(r.list, func(v *vectorMove) bool {
		vectors++
		if !patterns[string(v.key)] {
			patterns[string(v.key)] = true
		}
		return true
	})
	return vectors < patternUses*len(patterns)
}

func byDst(a, b CopyRun) int { return cmp.Compare(a.Dst, b.Dst) }

// launchCopyRuns launches the copy kernel: regular sequences of runs are entries,
// and threads share the bytes.
func launchCopyRuns(l *step.Launcher, runs []CopyRun, flip bool) {
	k := datamove.Copy{Flip: flip}
	var entries []copyEntry
	var costs []int
	total := 0
	for _, p := range runs {
		k.Full = k.Full || p.N >= layout.VectorBytes
		k.Rest = k.Rest || p.N%layout.VectorBytes != 0
		total += copyCost(p.N)
		if n := len(entries); n > 0 && entries[n-1].extend(p) {
			continue
		}
		entries = append(entries, copyEntry{datamove.CopySrc: p.Src, datamove.CopyDst: p.Dst, datamove.CopyBytes: p.N, datamove.CopyCount: 1})
	}
	share := layout.CeilDiv(total, l.Threads)
	cold := slices.ContainsFunc(l.Step.Reads, l.Cold)
	var table []uint32
	for _, e := range entries {
		// Parts of no more than half a thread's share can be distributed evenly.
		n := max(share/2/copyCost(e[datamove.CopyBytes]), 1)
		for _, e := range e.split(n, max(share*copyRate/2, layout.VectorBytes)&^(layout.VectorBytes-1)) {
			if cold {
				e[datamove.CopyWidth], e[datamove.CopyStride] = sourceBox(int(e[datamove.CopyBytes]), int(e[datamove.CopyCount]), int(e[datamove.CopySrcStep]))
			}
			table = append(table, e[:]...)
			costs = append(costs, int(e[datamove.CopyCount])*copyCost(e[datamove.CopyBytes]))
		}
	}
	l.LaunchShares(l.Kernel(k), table, datamove.CopyWords, costs)
}

// copyRate is the bytes that the copy kernel moves per packet of its loop.
const copyRate = 64

// copyCost is the approximate packets of a run.
func copyCost(n uint32) int { return 16 + int(n)/copyRate }

// copyEntry is an entry of the copy kernel's table.
type copyEntry [datamove.CopyWords]uint32

// extend appends a run if it continues the sequence.
func (e *copyEntry) extend(p CopyRun) bool {
	if e[datamove.CopyBytes] != p.N {
		return false
	}
	k := e[datamove.CopyCount]
	if k == 1 {
		e[datamove.CopySrcStep], e[datamove.CopyDstStep] = p.Src-e[datamove.CopySrc], p.Dst-e[datamove.CopyDst]
	}
	if p.Src != e[datamove.CopySrc]+k*e[datamove.CopySrcStep] || p.Dst != e[datamove.CopyDst]+k*e[datamove.CopyDstStep] {
		return false
	}
	e[datamove.CopyCount]++
	return true
}

// split divides an entry into ones of at most count runs; a single run is cut after
// each most bytes.
func (e copyEntry) split(count, most int) []copyEntry {
	var out []copyEntry
	for left := e[datamove.CopyCount]; left > 0; left -= e[datamove.CopyCount] {
		e[datamove.CopyCount] = min(left, uint32(count))
		if e[datamove.CopyCount] > 1 {
			out = append(out, e)
		} else {
			one := e
			for rest := e[datamove.CopyBytes]; rest > 0; rest -= one[datamove.CopyBytes] {
				one[datamove.CopyBytes] = min(rest, uint32(most))
				out = append(out, one)
				one[datamove.CopySrc] += one[datamove.CopyBytes]
				one[datamove.CopyDst] += one[datamove.CopyBytes]
			}
		}
		e[datamove.CopySrc] += e[datamove.CopyCount] * e[datamove.CopySrcStep]
		e[datamove.CopyDst] += e[datamove.CopyCount] * e[datamove.CopyDstStep]
	}
	return out
}

// CopyRuns copies runs of bytes, at offsets into both tensors.
type CopyRuns struct {
	Dst, Src *layout.Tensor
	Runs     []CopyRun
}

// Launch implements step.Work.
func (w CopyRuns) Launch(l *step.Launcher, _ step.Rows) {
	r := new(runList)
	for _, x := range w.Runs {
		r.add(w.Dst.Addr+x.Dst, w.Src.Addr+x.Src, int(x.N))
	}
	r.launch(l, false)
}

// sourceBox is the l2fetch box of count runs of n bytes, stride apart: as it is,
// or as lines when the runs follow each other; empty when it fits neither.
func sourceBox(n, count, stride int) (low, high uint32) {
	if count == 1 || stride >= 0 && stride <= n+layout.VectorBytes {
		span := n
		if count > 1 {
			span = stride*(count-1) + n
		}
		return step.Box(uint32(span) + layout.VectorBytes - 1), layout.VectorBytes
	}
	if n < 1<<16 && count < 1<<16 && stride > 0 && stride < 1<<16 {
		return uint32(n)<<16 | uint32(count), uint32(stride)
	}
	return 0, 0
}
