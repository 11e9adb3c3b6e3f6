package dram

import "math/bits"

// plan is the calendar of a channel: which commands its banks and buses have, past and future. A request is planned
// when it enters the queue of the scheduler; its result is then final. A later one fits in between where the scheduler
// would have preferred it.
type plan struct {
	t     *timing
	cfg   *Config
	count *[numEvents]int64
	use   *[MaxMasters]clockedUse
	clock *clock
	meter *meter

	reads, writes calendar  // clocks of column commands, each a burst long
	tail          columnRun // the last of them
	lastRead      int64     // latest column command of each kind
	lastWrite     int64
	last          int64 // of both
	acts          activates
	banks         []bank
	moved         [maxPushed]pushedRun // room for push

	group      int64 // bursts planned as one, at most
	depth      int64 // of the queue of the scheduler, in bursts
	firstReady bool  // the scheduler is FRFCFS and rows are left open
	woken      int64 // last end of a self-refresh
	selfClocks int64 // spent in self-refresh
}

// columnRun is column commands of a kind without a gap. The calendar has those before
// marked.
type columnRun struct {
	start, marked, end int64
	write              bool
}

// reset empties the calendar: clocks begin at 0.
func (p *plan) reset() {
	p.reads.clear()
	p.writes.clear()
	p.tail = columnRun{start: longAgo, marked: longAgo, end: longAgo}
	p.lastRead, p.lastWrite, p.last, p.woken, p.selfClocks = longAgo, longAgo, longAgo, 0, 0
	p.acts.clear()
	for i := range p.banks {
		due := int64(never)
		switch p.cfg.Refresh {
		case RefreshAllBanks:
			due = p.t.refi
		case RefreshPerBank:
			due = p.t.refi * int64(i+1) / int64(len(p.banks))
		}
		p.banks[i].reset(due)
	}
}

// noteLast notes the last column command of a run.
func (p *plan) noteLast(x int64, write bool) {
	p.last = max(p.last, x)
	if write {
		p.lastWrite = max(p.lastWrite, x)
	} else {
		p.lastRead = max(p.lastRead, x)
	}
}

// calendar is the one of a kind of command.
func (p *plan) calendar(write bool) *calendar {
	if write {
		return &p.writes
	}
	return &p.reads
}

// stream plans n bursts of an open row after all others of the data bus, and
// returns the first column command; ok is false when something has to be decided.
func (p *plan) stream(r *Request, n int64) (x int64, ok bool) {
	t := p.t
	b := &p.banks[r.Bank]
	a := b.newest()
	if a.Row != r.Row || a.close != never || !p.firstReady {
		return 0, false
	}
	x = max(r.Enter, a.At+t.rcd)
	if x < p.tail.end {
		if x < p.tail.start || r.Write != p.tail.write {
			return 0, false
		}
		x = p.tail.end
	}
	turned := p.lastWrite + t.writeRead
	if r.Write {
		turned = p.lastRead + t.readWrite
	}
	end := x + n*t.burst
	if x < p.last+t.burst || x < turned || end > b.due || p.inSelfRefresh(r.Enter) {
		return 0, false
	}
	p.append(x, end, r)
	a.use(x, n, t.burst, r)
	p.count[RowHit] += n
	return x, true
}

// append plans column commands that follow all others.
func (p *plan) append(x, end int64, r *Request) {
	p.noteLast(end-p.t.burst, r.Write)
	if x == p.tail.end && r.Write == p.tail.write {
		p.tail.end = end
		return
	}
	p.markTail(r.Enter)
	p.tail = columnRun{x, x, end, r.Write}
}

// markTail puts the last column commands into the calendar, if requests that enter
// from clock now on have to know of them.
func (p *plan) markTail(now int64) {
	if t := &p.tail; t.marked < t.end {
		if t.end+max(p.t.readWrite, p.t.writeRead) > now {
			p.calendar(t.write).mark(t.marked, t.end-t.marked)
		}
		t.marked = t.end
	}
}

// nthLast is the column command that has n-1 after it, longAgo if it is long before k.
func (p *plan) nthLast(k, n int64) int64 {
	need := n * p.t.burst
	if p.tail.end-p.tail.start >= need {
		return p.tail.end - need
	}
	p.markTail(k)
	first := max(k, p.reads.oldest(), p.writes.oldest()) >> 6
	for w := (p.last + p.t.burst - 1) >> 6; w >= first; w-- {
		v := p.reads.word(w) | p.writes.word(w)
		ones := int64(bits.OnesCount64(v))
		if ones < need {
			need -= ones
			continue
		}
		for ; ones > need; ones-- {
			v &= v - 1
		}
		return w<<6 + int64(bits.TrailingZeros64(v))
	}
	return longAgo
}

// slot is the first clock from x on for n column commands: those that begin before, or with them, have left the data bus
// and turned it around. Those that begin later have not been ready before, so they give way (push): a scheduler issues
// what is ready first. Only reads stay where they are before writes, because their results are known.
func (p *plan) slot(x, n int64, write bool) int64 {
	own, other := &p.reads, &p.writes
	before, last := p.t.writeRead, p.lastWrite
	if write {
		own, other = other, own
		before, last = p.t.readWrite, p.lastRead
	}
	x = max(x, own.oldest(), other.oldest()+before)
	for {
		x = own.free(x)
		if last+before <= x {
			return x
		}
		end, taken := other.last(x-before+p.t.burst, x)
		switch {
		case taken && end == x: // in a run, whose commands are older
			end = other.free(x)
		case taken:
			end++
		case !write:
			return x
		default:
			next := other.next(x + 1)
			if next >= x+(n-1)*p.t.burst+p.t.writeRead {
				return x
			}
			end = other.free(next)
		}
		x = max(x, end-p.t.burst+before)
	}
}

// commit plans n column commands from x on.
func (p *plan) commit(x, n int64, a *activation, r *Request) int64 {
	end := x + n*p.t.burst
	if x >= p.last+p.t.burst {
		p.append(x, end, r)
	} else {
		p.push(x, end, r.Write)
		p.calendar(r.Write).mark(x, end-x)
		p.noteLast(end-p.t.burst, r.Write)
	}
	a.use(x, n, p.t.burst, r)
	return x
}

// place plans the commands of n bursts of a row and returns the first column
// command.
func (p *plan) place(r *Request, n int64) int64 {
	p.markTail(r.Enter)
	p.wake(r.Enter)
	t, b, start := p.t, &p.banks[r.Bank], r.Enter
	span := (n - 1) * t.burst
	if !p.firstReady {
		start = max(start, p.cfg.Scheduler.Earliest(*r, p.last))
	}
	for {
		for start >= b.due {
			p.refresh(b, start)
		}
		a := b.newest()
		if a.close == never && !p.firstReady {
			if end := p.cfg.RowPolicy.Close(a.Activation); end < start {
				a.close = max(end, a.precharge(t))
			}
		}
		if a.close == never && a.Row == r.Row {
			if x := p.slot(max(start, a.At+t.rcd), n, r.Write); x+span < b.due {
				p.count[RowHit] += n
				return p.commit(x, n, a, r)
			}
			p.refresh(b, b.due)
			continue
		}
		if x, a := p.pass(b, start, n, r); a != nil {
			p.count[RowHit] += n
			a.Passed += int(n)
			return p.commit(x, n, a, r)
		}
		// The row before is closed, if it is not, and the row is opened.
		closed := a.close
		if closed == never {
			closed = max(start, a.precharge(t))
		}
		act, after := p.acts.first(max(start, closed+t.rpPB, a.At+t.rc, b.ready), t)
		if act >= b.due {
			p.refresh(b, b.due)
			continue
		}
		if a.close == never {
			a.close, a.Waits = closed, r.Enter
			p.count[RowConflict]++
		} else {
			p.count[RowMiss]++
		}
		p.acts.insert(act, after, t)
		p.count[Activate]++
		a = b.open(r.Row, act)
		if x := p.slot(act+t.rcd, n, r.Write); x+span < b.due {
			p.count[RowHit] += n - 1
			return p.commit(x, n, a, r)
		}
		p.refresh(b, b.due) // it is due before the row is used
	}
}

// pass finds an activation whose end is planned but not reached, and which accepts n bursts before the older requests
// that wait for its end. If the row has to stay open for longer, the plans behind it are delayed; results that were
// returned stand.
func (p *plan) pass(b *bank, start, n int64, r *Request) (int64, *activation) {
	for i := uint32(0); i < b.n; i++ {
		a := b.nth(i)
		if a.close <= start {
			break
		}
		if a.Row != r.Row || !p.cfg.Scheduler.MayPass(*r, a.Activation) {
			continue
		}
		x := p.slot(max(start, a.At+p.t.rcd), n, r.Write)
		last := x + (n-1)*p.t.burst
		if a.fits(last, p.t, r.Write) || p.extend(b, i, last, r.Write) {
			return x, a
		}
	}
	return 0, nil
}

// extend lets the i-th newest activation of a bank have a column command at x, unless a refresh forbids it.
func (p *plan) extend(b *bank, i uint32, x int64, write bool) bool {
	a := b.nth(i)
	if a.until != never {
		return false
	}
	by := x + p.t.recovery(write) - a.close
	newest := b.newest()
	if newest.Last+by >= min(b.due, newest.until) {
		return false
	}
	a.close += by
	for ; i > 0 && by > 0; i-- {
		next := b.nth(i - 1)
		by = max(a.close+p.t.rpPB, a.At+p.t.rc) - next.At
		if by > 0 {
			p.delay(next, by)
		}
		a = next
	}
	return true
}

// delay moves an activation that has not begun, and its column commands.
func (p *plan) delay(a *activation, by int64) {
	p.tail.start = p.tail.end // it may get gaps
	columns := a.columns[:a.kept]
	for _, g := range columns {
		p.calendar(g.write).unmark(a.At+int64(g.after), int64(g.n)*p.t.burst)
		a.Columns -= int(g.n)
	}
	a.At, a.Last, a.read, a.write, a.kept = a.At+by, a.Last+by, a.read+by, a.write+by, 0
	for _, g := range columns { // commit puts each where it was
		r := Request{Enter: a.At - by - 1, Write: g.write}
		p.commit(p.slot(a.At+int64(g.after), int64(g.n), g.write), int64(g.n), a, &r)
		p.markTail(r.Enter)
	}
	if a.close != never {
		a.close = max(a.close+by, a.precharge(p.t))
	}
}
