package plan

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
)

// Besides constants, two things are not in L2 when a job needs them: the code of a kernel
// that runs for the first time, and input rows that come from the client or that an earlier
// band has used. Each is a prefetch request, which threads of the last earlier job that can
// prefetch serve.

// prefetchRequest is a range of memory that a job reads and that is likely not in L2 by then.
type prefetchRequest struct {
	job        int // the job that reads the range
	made       int // job that writes it last, before the threads can request it; -1 for none
	src, bytes uint32
	code       bool
	lines      int // of code that other kernels have not brought
}

const (
	// maxRequest bounds the bytes of one request.
	maxRequest = 96 << 10
	// maxWhole bounds inputs of convolutions and pools that come as a whole.
	maxWhole = 48 << 10
	// requestShare is how many bytes of a request one thread prefetches.
	requestShare = 8 << 10
	// fetchAhead is how many bytes behind a kernel its last instructions bring: the next line of L1.
	fetchAhead = 64
)

// requestRows requests rows of a tensor that have left L2 for the job launched next, and returns
// the bytes of the request.
func (l *planner) requestRows(t *layout.Tensor, first, to int) int {
	if t.Dense {
		first = max(first, 0)
	} else {
		first = max(first, -t.Top)
	}
	if to = min(to, t.Shape.H); first >= to {
		return 0
	}
	src := t.At(0, first, 0)
	if !t.Dense {
		src -= uint32(t.Lead())
	}
	made := l.made[t] - 1
	if l.l2.hot[t] {
		made = -1 // by an earlier band
	}
	bytes := min((to-first)*t.RowBytes(), maxRequest)
	l.requests = append(l.requests, prefetchRequest{job: len(l.jobs), made: made, src: src, bytes: uint32(bytes)})
	return bytes
}

// requestCode returns the requests for the code of kernels, in order of the jobs.
func (l *planner) requestCode() (list []prefetchRequest) {
	seen, lines := map[*hvx.Linked]bool{}, map[uint32]bool{}
	for j := range l.jobs {
		k := l.jobs[j].Kernel
		if !seen[k] {
			seen[k] = true
			last := &k.Packets[len(k.Packets)-1]
			r := prefetchRequest{job: j, made: -1, src: k.Entry, bytes: last.Addr + 4*uint32(last.Words) - k.Entry, code: true}
			for at := r.src &^ (layout.VectorBytes - 1); at < r.src+r.bytes+fetchAhead; at += layout.VectorBytes {
				if !lines[at] && at < r.src+r.bytes {
					r.lines++
				}
				lines[at] = true
			}
			list = append(list, r)
		}
	}
	return list
}

// freePrefetchArgs returns the arguments of those threads of a job whose prefetch is unused.
func (l *planner) freePrefetchArgs(j int) [][]uint32 {
	at := l.jobs[j].PrefetchArg
	if at == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.jobs[j].Args), func(a []uint32) bool { return a[at+1] != 0 })
}

// nextPrefetcher returns the next job after j that can prefetch for others, the last job if none can.
func (l *planner) nextPrefetcher(j int) int {
	next := j + 1
	for next < len(l.jobs)-1 && (l.jobs[next].ConstantBound || len(l.freePrefetchArgs(next)) < 2) {
		next++
	}
	return next
}

// assignRequests lets the last threads of job j, but not its first one, prefetch the requests
// of job j and of the jobs up to the next one that can prefetch. It returns the arguments of
// the other threads, and the requests that are left.
func (l *planner) assignRequests(j int, args [][]uint32, requests []prefetchRequest) ([][]uint32, []prefetchRequest) {
	if len(args) == 0 {
		return args, requests
	}
	next := l.nextPrefetcher(j)
	var left []prefetchRequest
	for len(requests) > 0 && requests[0].job <= next {
		w := requests[0]
		requests = requests[1:]
		switch {
		case w.job < j && (w.code || l.jobs[w.job].Step != l.jobs[j].Step): // too late
			l.missed(&w)
			continue
		case len(args) == 1 || w.job > j && w.made >= j:
			left = append(left, w)
			continue
		}
		l.served(j, &w)
		for len(requests) > 0 && requests[0].src-w.src <= w.bytes+layout.VectorBytes && requests[0].job <= next && (requests[0].job <= j || requests[0].made < j) { // close behind
			l.served(j, &requests[0])
			w.bytes = max(w.bytes, requests[0].src-w.src+requests[0].bytes)
			requests = requests[1:]
		}
		n := min(layout.CeilDiv(int(w.bytes), requestShare), len(args)-1)
		src := w.src &^ (layout.VectorBytes - 1)
		l.setPrefetch(args[len(args)-n:], l.jobs[j].PrefetchArg, src, uint32(layout.RoundUp(int(w.src+w.bytes-src), layout.VectorBytes)))
		args = args[:len(args)-n]
	}
	return args, append(left, requests...)
}
