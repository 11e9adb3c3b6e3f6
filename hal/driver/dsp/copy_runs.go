package dsp

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// copyRun is a copy of n bytes.
type copyRun struct{ dst, src, n uint32 }

// copyRuns collects copies of contiguous bytes that do not overlap.
type copyRuns struct{ list []copyRun }

// longRun is the length in bytes from which the copy kernel copies a run; the byte permutation
// kernel gathers shorter runs into vectors.
const longRun = 192

// fewRuns is how many short runs are left to the copy kernel, because patterns do not pay.
const fewRuns = 8

// add appends a copy of n bytes.
func (r *copyRuns) add(dst, src uint32, n int) {
	if n <= 0 {
		return
	}
	if k := len(r.list); k > 0 {
		if p := &r.list[k-1]; dst == p.dst+p.n && src == p.src+p.n {
			p.n += uint32(n)
			return
		}
	}
	r.list = append(r.list, copyRun{dst, src, uint32(n)})
}

// launch emits the copies.
func (r *copyRuns) launch(l *launcher, flip bool) error {
	short := 0
	for i := range r.list {
		if r.list[i].n < longRun {
			short++
		}
	}
	if short <= fewRuns {
		return l.launchCopyRuns(r.list, flip)
	}
	if !slices.IsSortedFunc(r.list, byDst) {
		slices.SortFunc(r.list, byDst)
	}
	if short == len(r.list) {
		return l.launchPermutation(r.list, flip)
	}
	var parts [2][]copyRun
	for _, p := range r.list {
		if p.n < longRun {
			parts[0] = append(parts[0], p)
		} else {
			parts[1] = append(parts[1], p)
		}
	}
	if err := l.launchPermutation(parts[0], flip); err != nil {
		return err
	}
	return l.launchCopyRuns(parts[1], flip)
}

func byDst(a, b copyRun) int { return cmp.Compare(a.dst, b.dst) }

// launchCopyRuns launches the copy kernel: regular sequences of runs are entries,
// and threads share the bytes.
func (l *launcher) launchCopyRuns(runs []copyRun, flip bool) error {
	k := datamove.Copy{Flip: flip}
	var entries []copyEntry
	var costs []int
	total := 0
	for _, p := range runs {
		k.Full = k.Full || p.n >= vecBytes
		k.Rest = k.Rest || p.n%vecBytes != 0
		total += copyCost(p.n)
		if n := len(entries); n > 0 && entries[n-1].extend(p) {
			continue
		}
		entries = append(entries, copyEntry{datamove.CopySrc: p.src, datamove.CopyDst: p.dst, datamove.CopyBytes: p.n, datamove.CopyCount: 1})
	}
	share := ceilDiv(total, l.threads)
	cold := slices.ContainsFunc(l.step.reads, l.Cold)
	var table []uint32
	for _, e := range entries {
		// Parts of no more than half a thread's share can be dealt evenly.
		n := max(share/2/copyCost(e[datamove.CopyBytes]), 1)
		for _, e := range e.split(n, max(share*copyRate/2, vecBytes)&^(vecBytes-1)) {
			if cold {
				e[datamove.CopyWidth], e[datamove.CopyStride] = sourceBox(int(e[datamove.CopyBytes]), int(e[datamove.CopyCount]), int(e[datamove.CopySrcStep]))
			}
			table = append(table, e[:]...)
			costs = append(costs, int(e[datamove.CopyCount])*copyCost(e[datamove.CopyBytes]))
		}
	}
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	l.launchShares(kern, table, datamove.CopyWords, costs)
	return nil
}

// copyRate is the bytes that the copy kernel moves per packet of its loop.
const copyRate = 64

// copyCost is about how many packets a run takes.
func copyCost(n uint32) int { return 16 + int(n)/copyRate }

// copyEntry is an entry of the copy kernel's table.
type copyEntry [datamove.CopyWords]uint32

// extend takes a run that continues the sequence.
func (e *copyEntry) extend(p copyRun) bool {
	if e[datamove.CopyBytes] != p.n {
		return false
	}
	k := e[datamove.CopyCount]
	if k == 1 {
		e[datamove.CopySrcStep], e[datamove.CopyDstStep] = p.src-e[datamove.CopySrc], p.dst-e[datamove.CopyDst]
	}
	if p.src != e[datamove.CopySrc]+k*e[datamove.CopySrcStep] || p.dst != e[datamove.CopyDst]+k*e[datamove.CopyDstStep] {
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

// launchShares is launchTable for entries of different costs: each thread gets
// consecutive ones of about the same sum.
func (l *launcher) launchShares(k *hvx.Linked, table []uint32, entryWords int, costs []int, rest ...uint32) {
	addr := l.constWords(table)
	var args [][]uint32
	for _, r := range shares(costs, l.threads) {
		args = append(args, append([]uint32{addr + uint32(4*entryWords*r[0]), uint32(r[1] - r[0])}, rest...))
	}
	if len(args) > 0 {
		l.launch(k, args)
	}
}

// shares cuts a list of costs into at most n consecutive parts of about equal sums.
func shares(costs []int, n int) [][2]int {
	total := 0
	for _, c := range costs {
		total += c
	}
	var out [][2]int
	from, sum := 0, 0
	for i, c := range costs {
		sum += c
		// A part ends where the next entry would take it further from its share.
		if i+1 == len(costs) || sum+costs[i+1]/2 >= total*(len(out)+1)/n && len(out) < n-1 {
			out = append(out, [2]int{from, i + 1})
			from = i + 1
		}
	}
	return out
}
