package dsp

// Constants - packed weights, tables, arguments - lie in memory in the order of
// their use, so that what the jobs to come need is one range: a kernel that can
// prefetch is given a box of l2fetch for it, and DRAM works while the kernel
// computes.

const (
	// askRate is how many bytes the boxes of all threads are taken to fetch in a
	// packet of every thread: what boxes of eight lines can have in flight in the
	// latency of DRAM.
	askRate = 32
	// minAhead is how far constants are asked for even when activations fill L2.
	minAhead = 64 << 10
)

// constUse is the first job that reads a range of the constants.
type constUse struct {
	job     int
	due     int // first job that reads these or any behind them
	off, to uint32
	how     constWay
}

// constWay is how constants get to whom they are for.
type constWay uint8

const (
	once   constWay = iota // from L2, each a few times
	toVTCM                 // by a fetch job
	byDMA                  // to VTCM beside L2
)

// claim says that a job is the first to read the constants up to an offset that
// nobody has claimed.
func (l *lowering) claim(job, to int, how constWay) {
	if to > l.claimed {
		l.constUses = append(l.constUses, constUse{job, job, uint32(l.claimed), uint32(to), how})
		l.claimed = to
	}
}

// claimFor says that a job fetches constants that were made since the last launch.
func (l *lowering) claimFor(job int, src uint32, bytes int, how constWay) {
	if src >= arenaBase { // records that the program packs
		return
	}
	l.claim(len(l.jobs), int(src-constBase), once)
	l.claim(job, int(src-constBase)+bytes, how)
}

// takes notes how many packets the longest thread of the last job issues, about.
func (l *lowering) takes(packets int) { l.packets[len(l.jobs)-1] = packets }

// lookAhead fills in the prefetch arguments of all jobs that have them free.
func (l *lowering) lookAhead() {
	uses, asked := l.constUses, uint32(0)
	for i := len(uses) - 2; i >= 0; i-- { // a fetch job brings what lies behind later jobs' tables
		uses[i].due = min(uses[i].due, uses[i+1].due)
	}
	code := l.wantCode()
	l.starved = l.starving()
	for j := range l.jobs {
		for len(uses) > 0 && (uses[0].job < j || uses[0].how == byDMA) {
			uses = uses[1:]
		}
		args := l.freeArgs(j)
		threads := len(args)
		if !l.starved[j] {
			args, code = l.askWants(j, args, code)
		}
		args, l.wants = l.askWants(j, args, l.wants)
		if len(uses) == 0 || len(args) == 0 {
			continue
		}
		from, to := max(uses[0].off, asked), l.reach(j, uses)
		for _, u := range uses { // its own, read as they come
			if u.job > j || u.how != once {
				break
			}
			to = max(to, u.to)
		}
		if int(max(to, asked)+l.arena) > l.vtcm.l2 { // what has been asked for may have left L2 again
			from = uses[0].off
		}
		from -= from % vecBytes
		if to = uint32(roundUp(int(to), vecBytes)); from >= to {
			continue
		}
		l.ask(args, l.prefetchers[j], constBase+from, to-from)
		asked = max(asked, min(to, from+uint32(roundUp(l.packets[j]*askRate*len(args)/threads, vecBytes))))
	}
}

// starving tells which jobs wait for constants of their own longer than they compute:
// all their threads had better ask for those.
func (l *lowering) starving() []bool {
	own := make([]int, len(l.jobs))
	for _, u := range l.constUses {
		if u.how == once {
			own[u.job] += int(u.to - u.off)
		}
	}
	list := make([]bool, len(l.jobs))
	for j := range list {
		list[j] = l.prefetchers[j] > 0 && own[j] > l.packets[j]*askRate
	}
	return list
}

// reach is how far job j can ask for constants that L2 still holds when they are
// used: what is touched until then must fit. Those for VTCM count twice, as those that
// come before them and as those that are asked for before they are used; those
// that are used once go by faster than others come.
func (l *lowering) reach(j int, uses []constUse) uint32 {
	room := l.vtcm.l2*7/8 - l.traffic[j].reads
	to, k := uses[0].off, j
	for _, u := range uses {
		for ; k <= u.due; k++ {
			room -= l.traffic[k].writes
		}
		times := 1
		if u.how == byDMA {
			break
		} else if u.how == toVTCM {
			times = 2
		}
		n := max(min(int(u.to)-int(to), room/times), 0)
		to += uint32(n)
		if room -= times * n; room < vecBytes {
			break
		}
	}
	return max(to, uses[0].off+min(uses[0].to-uses[0].off, minAhead))
}

// ask gives the threads of a job a range to prefetch, line by line in turn, so
// that it comes in order.
func (l *lowering) ask(args [][]uint32, at int, src, bytes uint32) {
	for t, a := range args {
		if lines := int(bytes/vecBytes) - t; lines > 0 {
			a[at], a[at+1] = src+uint32(t)*vecBytes, boxOf(uint32(ceilDiv(lines, len(args))*vecBytes))
			a[at+2] = uint32(len(args)) * vecBytes
		}
	}
}

// traffic is what the tensors of a job add to L2.
type traffic struct{ reads, writes int }

// trafficOf is that of the job launched next, for a step.
func (l *lowering) trafficOf(s *step) (t traffic) {
	for _, x := range s.reads {
		t.reads += x.bytes()
	}
	if n := len(l.jobs); n == 0 || l.jobStep[n-1] != s { // once for all jobs of a step
		for _, x := range s.writes {
			t.writes += x.bytes()
		}
	}
	return t
}

// cold reports whether a tensor is likely not in L2 when the step being emitted
// reads it: it comes from the client, or too much has passed since it was used.
func (l *lowering) cold(t *tensor) bool {
	return !l.hot[t] && (t.touched == 0 || l.passed+l.flow+t.bytes()-t.touched > l.vtcm.l2*3/4)
}

// pass counts what a step has brought into L2 by its jobs: tensors and so many
// bytes of constants.
func (l *lowering) pass(s *step, jobs, consts int) {
	now := l.passed
	l.passed += consts
	for i, list := range [2][]*tensor{s.reads, s.writes} {
		for _, t := range list {
			if i == 1 || l.cold(t) {
				l.passed += t.bytes()
			}
		}
	}
	for _, t := range s.writes {
		t.touched = max(now, 1)
	}
	for _, t := range s.reads { // by the last job, too
		t.touched = max(l.passed-(l.passed-now)/max(jobs, 1), 1)
	}
}

// fetchFirst lets thread t of the last job fetch a range of its inputs when it
// begins.
func (l *lowering) fetchFirst(at, t int, from, to uint32) {
	args := l.jobs[len(l.jobs)-1].Args[t]
	args[at], args[at+1], args[at+2] = from, boxOf(to-from+vecBytes-1), vecBytes
}
