package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// Lookahead prefetches constants (packed weights, tables, arguments) for later jobs.
// Constants lie in memory in the order of their use, so that the next jobs need one
// contiguous range. A kernel that can prefetch gets an l2fetch box for that range, and DRAM
// transfers it while the kernel computes.

const (
	// prefetchRate is the planned bytes that the boxes of all threads fetch in an issue slot of
	// every thread: the bytes that boxes of eight lines can have in flight during the latency
	// of DRAM.
	prefetchRate = 32
	// minLookahead is how many bytes of constants are prefetched even when activations fill L2.
	minLookahead = 64 << 10
)

// constUse is the first job that reads a range of the constants.
type constUse struct {
	job     int
	due     int // first job that reads these or any behind them
	off, to uint32
	how     constWay
	lines   int // that a thread reads of them
}

// constWay is the path of constants to their readers.
type constWay uint8

const (
	once   constWay = iota + 1 // from L2, each a few times
	warmed                     // into L2, by a job that does nothing else
	toVTCM                     // by a fetch job
	byDMA                      // to VTCM beside L2
)

// claim records a job as the first to read the constants up to an offset that no
// job has claimed.
func (l *planner) claim(job, to int, how constWay, args [][]uint32) {
	if to > l.claimed {
		l.constUses = append(l.constUses, constUse{job, job, uint32(l.claimed), uint32(to), how, l.linesRead(to, args)})
		l.claimed = to
	}
}

// claimFor records a job as the one that fetches constants made since the last launch.
func (l *planner) claimFor(job int, src uint32, bytes int, how constWay) {
	if src >= layout.ArenaBase { // records that the program packs
		return
	}
	l.claim(len(l.jobs), int(src-layout.ConstBase), once, nil)
	l.claim(job, int(src-layout.ConstBase)+bytes, how, nil)
}

// lookahead fills in the prefetch arguments of all jobs where they are unused.
func (l *planner) lookahead() {
	uses, prefetched := l.constUses, uint32(0)
	for i := len(uses) - 2; i >= 0; i-- { // a fetch job brings constants behind later jobs' tables
		uses[i].due = min(uses[i].due, uses[i+1].due)
	}
	code := l.requestCode()
	l.markConstantBound()
	for j := range l.jobs {
		for len(uses) > 0 && (uses[0].job < j || uses[0].how == byDMA) {
			uses = uses[1:]
		}
		args := l.freePrefetchArgs(j)
		threads := len(args)
		if !l.jobs[j].ConstantBound {
			args, code = l.assignRequests(j, args, code)
		}
		args, l.requests = l.assignRequests(j, args, l.requests)
		if len(uses) == 0 || len(args) == 0 {
			l.chargeConstants(j, uses, prefetched, 0, 0)
			continue
		}
		from, to := max(uses[0].off, prefetched), l.lookaheadReach(j, uses)
		for _, u := range uses { // its own, read as they come
			if u.job > j || u.how != once {
				break
			}
			to = max(to, u.to)
		}
		if int(max(to, prefetched)+l.arena) > l.l2.size { // what has been requested may have left L2 again
			from = uses[0].off
		}
		from -= from % layout.VectorBytes
		to = uint32(layout.RoundUp(int(to), layout.VectorBytes))
		own := l.chargeConstants(j, uses, prefetched, from, to)
		if from >= to {
			continue
		}
		l.setPrefetch(args, l.jobs[j].PrefetchArg, layout.ConstBase+from, to-from)
		comes := min(to, from+uint32(layout.RoundUp(l.jobs[j].Cost.Slots*prefetchRate*len(args)/threads, layout.VectorBytes)))
		l.jobs[j].Cost.Ahead += int(comes - min(max(from, own), comes))
		prefetched = max(prefetched, comes)
	}
	l.requests = append(l.requests, code...) // those that nobody serves
}

// markConstantBound marks the jobs that wait for their own constants longer than they compute.
// All threads of such a job prefetch its own constants.
func (l *planner) markConstantBound() {
	own := make([]int, len(l.jobs))
	for _, u := range l.constUses {
		if u.how == once {
			own[u.job] += int(u.to - u.off)
		}
	}
	for i := range l.jobs {
		j := l.jobs[i]
		j.ConstantBound = j.PrefetchArg > 0 && own[i] > j.Cost.Slots*prefetchRate
	}
}

// lookaheadReach returns the offset up to which job j can prefetch constants so that L2 still
// holds them when they are used: everything touched until then must fit. Constants for VTCM
// count twice, once for those that come before them and once for those that are prefetched
// before they are used; constants that are used once leave faster than others come.
func (l *planner) lookaheadReach(j int, uses []constUse) uint32 {
	room := l.l2.size*7/8 - l.jobs[j].Traffic.Reads
	to, k := uses[0].off, j
	for _, u := range uses {
		for ; k <= u.due; k++ {
			room -= l.jobs[k].Traffic.Writes
		}
		times := 1
		if u.how == byDMA {
			break
		} else if u.how == toVTCM {
			times = 2
		}
		n := max(min(int(u.to)-int(to), room/times), 0)
		to += uint32(n)
		if room -= times * n; room < layout.VectorBytes {
			break
		}
	}
	return max(to, uses[0].off+min(uses[0].to-uses[0].off, minLookahead))
}

// setPrefetch divides a range line by line between the threads of a job, which prefetch it in
// order.
func (l *planner) setPrefetch(args [][]uint32, at int, src, bytes uint32) {
	for t, a := range args {
		if lines := int(bytes/layout.VectorBytes) - t; lines > 0 {
			a[at], a[at+1] = src+uint32(t)*layout.VectorBytes, step.Box(uint32(layout.CeilDiv(lines, len(args))*layout.VectorBytes))
			a[at+2] = uint32(len(args)) * layout.VectorBytes
		}
	}
}
