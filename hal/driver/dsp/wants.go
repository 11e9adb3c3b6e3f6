package dsp

import "slices"

// Beside constants, jobs find two things cold: the code of a kernel that runs for
// the first time, and rows of inputs that come from the client or that an earlier
// band has used. The last job before them that can prefetch leaves threads to them.

// want is memory that a job reads and that is likely not in L2 then.
type want struct {
	job        int // that reads it
	made       int // job that writes it last, before the threads can ask for it; -1 for none
	src, bytes uint32
	code       bool
}

const (
	// maxWant bounds how much is asked for at once.
	maxWant = 96 << 10
	// maxWhole bounds inputs of convolutions and pools that come as a whole.
	maxWhole = 48 << 10
	// wantShare is how much of it one thread asks for.
	wantShare = 8 << 10
)

// wantRows says that the job launched next reads rows of a tensor that have left L2.
func (l *lowering) wantRows(t *tensor, first, to int) {
	if t.dense {
		first = max(first, 0)
	} else {
		first = max(first, -t.top)
	}
	if to = min(to, t.shape.h); first >= to {
		return
	}
	src := t.at(0, first, 0)
	if !t.dense {
		src -= uint32(t.lead())
	}
	made := t.made - 1
	if l.hot[t] {
		made = -1 // by an earlier band
	}
	l.wants = append(l.wants, want{len(l.jobs), made, src, uint32(min((to-first)*t.rowBytes(), maxWant)), false})
}

// streams reports whether a kernel that can is to fetch its input itself, part by part:
// it is likely not in L2, and more than one that comes as a whole before.
func (l *lowering) streams(t *tensor) bool {
	return l.cold(t) && (t.bytes() > maxWhole || t.shape.n > 1)
}

// wantCode are the wants of code, in order of the jobs.
func (l *lowering) wantCode() (list []want) {
	seen := map[*kernel]bool{}
	for j, k := range l.kernels {
		if !seen[k] {
			seen[k] = true
			last := &k.packets[len(k.packets)-1]
			list = append(list, want{j, -1, k.entry, last.Addr + 4*uint32(last.Words) - k.entry, true})
		}
	}
	return list
}

// freeArgs are the arguments of a job's threads whose prefetch nobody uses.
func (l *lowering) freeArgs(j int) [][]uint32 {
	at := l.prefetchers[j]
	if at == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.jobs[j].Args), func(a []uint32) bool { return a[at+1] != 0 })
}

// nextFree is the next job after j that can prefetch for others, the last job if none can.
func (l *lowering) nextFree(j int) int {
	next := j + 1
	for next < len(l.jobs)-1 && (l.starved[next] || len(l.freeArgs(next)) < 2) {
		next++
	}
	return next
}

// askWants lets the last threads of job j, but not its first one, ask for what it
// and the jobs up to the next one that can prefetch want. It answers the arguments
// of the other threads, and the wants that are left.
func (l *lowering) askWants(j int, args [][]uint32, wants []want) ([][]uint32, []want) {
	if len(args) == 0 {
		return args, wants
	}
	next := l.nextFree(j)
	var later []want
	for len(wants) > 0 && wants[0].job <= next {
		w := wants[0]
		wants = wants[1:]
		for len(wants) > 0 && wants[0].src-w.src <= w.bytes+vecBytes && wants[0].job <= next { // close behind
			w.bytes = max(w.bytes, wants[0].src-w.src+wants[0].bytes)
			wants = wants[1:]
		}
		n := min(ceilDiv(int(w.bytes), wantShare), len(args)-1)
		switch {
		case w.job < j && (w.code || l.jobStep[w.job] != l.jobStep[j]): // too late
		case n == 0 || w.job > j && w.made >= j:
			later = append(later, w)
		default:
			src := w.src &^ (vecBytes - 1)
			l.ask(args[len(args)-n:], l.prefetchers[j], src, uint32(roundUp(int(w.src+w.bytes-src), vecBytes)))
			args = args[:len(args)-n]
		}
	}
	return args, append(later, wants...)
}
