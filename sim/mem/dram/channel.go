package dram

import "math/bits"

// channel is one channel of a DRAM with its controller. Requests move one per
// clock from the read queue, or in batches from the write buffer, to the queue of
// the scheduler, and leave that with their column command.
type channel struct {
	plan
	next        int64   // no request moves before
	movedReads  moveLog // when the last bursts moved
	movedWrites moveLog
	buffer      writeBuffer
	flying      issueTable // reads whose commands are to come
	leaving     issueTable // writes that have left the buffer
}

// moveLog is when the last bursts moved, in rising order, as runs of one per clock.
type moveLog struct {
	runs []moveRun // ring, a power of two
	end  uint      // after the last, modulo the size
}

type moveRun struct{ at, n int64 }

func newMoveLog(n int) moveLog { return moveLog{runs: make([]moveRun, 1<<bits.Len(uint(n)))} }

func (l *moveLog) clear() {
	for i := range l.runs {
		l.runs[i] = moveRun{at: longAgo, n: 1}
	}
}

func (l *moveLog) add(at, n int64) {
	mask := uint(len(l.runs) - 1)
	if r := &l.runs[(l.end-1)&mask]; r.at+r.n == at {
		r.n += n
		return
	}
	l.runs[l.end&mask] = moveRun{at, n}
	l.end++
}

// nth is when the n-th last burst moved; 1 is the last.
func (l *moveLog) nth(n int64) int64 {
	mask := uint(len(l.runs) - 1)
	i := (l.end - 1) & mask
	for ; l.runs[i].n < n; i = (i - 1) & mask {
		n -= l.runs[i].n
	}
	return l.runs[i].at + l.runs[i].n - n
}

// reset makes the channel cold; its clocks begin at 0.
func (c *channel) reset() {
	c.plan.reset()
	c.next = 0
	c.movedReads.clear()
	c.movedWrites.clear()
	c.buffer.clear()
	c.flying.clear()
	c.leaving.clear()
}

// read plans n consecutive bursts of a row that arrive at clock k, and returns the clock after their data.
func (c *channel) read(k int64, burst uint64, n int64, r *Request) int64 {
	done := k + 1
	if c.buffer.waiting > 0 || c.lastWrite >= k {
		c.idle(k)
		for ; n > 0 && (c.buffer.has(burst) || c.leaving.until(burst, k) != never); n-- {
			burst++
			c.count[Forward]++
		}
		if n == 0 {
			return done
		}
	}
	if c.lastRead >= k {
		for at := c.flying.until(burst, k); n > 0 && at != never; at = c.flying.until(burst, k) {
			done = max(done, at+c.t.rl+c.t.burst)
			burst++
			n--
			c.count[Merge]++
		}
		if n == 0 {
			return done
		}
	}
	c.count[ReadBurst] += n
	last := c.enter(k+1, n, r, &c.movedReads)
	c.flying.add(burst, n, last, c.t.burst)
	return max(done, last+c.t.rl+c.t.burst)
}

// readAccept is the first clock from k on at which the read queue accepts a burst.
func (c *channel) readAccept(k int64) int64 {
	return max(k, c.movedReads.nth(int64(c.cfg.QueueDepth)))
}

// writeAccept is the same of the write buffer.
func (c *channel) writeAccept(k int64) int64 {
	return max(k, c.movedWrites.nth(c.buffer.free()))
}

// write accepts n consecutive bursts of a row that arrive at clock k, and returns the clock at which they are in the
// buffer.
func (c *channel) write(k int64, burst uint64, n int64, r *Request) int64 {
	b := &c.buffer
	if b.waiting > b.idle {
		c.idle(k)
	}
	for ; n > 0 && (b.has(burst) || c.lastWrite >= k && c.leaving.until(burst, k) != never); n-- {
		burst++
		c.count[Merge]++
	}
	for n > 0 {
		m := min(n, b.free())
		k = max(k, c.movedWrites.nth(b.free()-m+1))
		b.add(k, burst, m, r)
		if b.free() == 0 {
			c.drain(k + 1)
		}
		burst += uint64(m)
		n -= m
	}
	return k
}

// idle writes the contents of the buffer if the scheduler had nothing else to do before clock k.
func (c *channel) idle(k int64) {
	if b := &c.buffer; b.waiting > b.idle {
		if at := max(c.last, c.next-1, b.at) + 1; at <= k {
			c.drain(at)
		}
	}
}

// drain writes the contents of the buffer at clock k: no read moves meanwhile.
func (c *channel) drain(k int64) {
	b := &c.buffer
	for i := range b.writes {
		w := &b.writes[i]
		last := c.enter(k, w.n, &w.Request, &c.movedWrites)
		c.leaving.add(w.burst, w.n, last, c.t.burst)
	}
	c.count[WriteBurst] += int64(b.waiting)
	c.count[Drain]++
	b.clear()
}

// groupClocks bounds the clocks of column commands that are planned as one.
const groupClocks = 64

// enter moves n bursts of a row to the queue of the scheduler from clock k on, one
// per clock, plans them and returns the latest column command.
func (c *channel) enter(k, n int64, r *Request, log *moveLog) int64 {
	if n > c.group {
		return max(c.enter(k, c.group, r, log), c.enter(k, n-c.group, r, log))
	}
	at := max(k, c.next)
	if c.last-at >= (c.depth-n)*c.t.burst {
		at = max(at, c.nthLast(at, c.depth-n+1)+1)
	}
	r.Enter = at
	u := &c.use[r.Master&(MaxMasters-1)]
	x, ok := c.stream(r, n)
	if ok {
		u.hits += n
	} else {
		hits, activates := c.count[RowHit], c.count[Activate]
		x = c.place(r, n)
		u.hits += c.count[RowHit] - hits
		u.activates += c.count[Activate] - activates
	}
	last := x + (n-1)*c.t.burst
	if c.meter.span > 0 {
		c.measure(x, n, r)
	}
	if r.Write {
		u.writes += n
	} else {
		u.reads += n
		u.wait += n*(x-k) + n*(n-1)/2*c.t.burst
	}
	log.add(at, n)
	c.next = at + n
	return last
}

// measure counts n bursts of a column command on the data bus.
//
//go:noinline
func (c *channel) measure(x, n int64, r *Request) {
	x += c.t.rl
	if r.Write {
		x += c.t.wl - c.t.rl
	}
	c.meter.add(r.Master, c.clock.at(x), c.clock.at(x+n*c.t.burst), n*int64(c.cfg.BurstBytes()))
}
