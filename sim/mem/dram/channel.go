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
	buffer      []bufferedWrite
	waiting     int    // bursts in the buffer
	filter      uint64 // bit per hash of theirs
}

// bufferedWrite is posted bursts that follow each other in a row.
type bufferedWrite struct {
	burst           uint64 // the first
	row             int64
	bank, n, master int32
	at              int64 // accepted
}

// moveLog is when the last bursts moved, in rising order, as runs of one per clock.
type moveLog struct {
	runs []moveRun // ring, a power of two
	end  uint      // behind the last, modulo the size
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

// reset makes the channel cold at clock now.
func (c *channel) reset(now int64) {
	c.plan.reset(now)
	c.next = now
	c.movedReads.clear()
	c.movedWrites.clear()
	c.buffer, c.waiting, c.filter = c.buffer[:0], 0, 0
}

// read plans n consecutive bursts of a row that come at clock k, and returns the
// clock behind their data.
func (c *channel) read(k int64, burst uint64, n int, r *Request) int64 {
	done := k + 1
	if len(c.buffer) > 0 {
		c.idle(k)
		for ; n > 0 && c.buffered(burst); n-- {
			burst++
			c.count[Forward]++
		}
		if n == 0 {
			return done
		}
	}
	c.count[ReadBurst] += int64(n)
	return max(done, c.enter(k+1, n, r, &c.movedReads)+c.t.rl+c.t.burst)
}

// readRoom is the first clock from k on at which the read queue takes a burst.
func (c *channel) readRoom(k int64) int64 {
	return max(k, c.movedReads.nth(int64(c.cfg.QueueDepth)))
}

// writeRoom is the same of the write buffer.
func (c *channel) writeRoom(k int64) int64 {
	return max(k, c.movedWrites.nth(int64(c.cfg.WriteQueue-c.waiting)))
}

// write takes n consecutive bursts of a row that come at clock k, and returns the
// clock at which they are in the buffer.
func (c *channel) write(k int64, burst uint64, n int, r *Request) int64 {
	c.idle(k)
	for ; n > 0 && c.waiting > 0 && c.buffered(burst); n-- {
		burst++
		c.count[Merge]++
	}
	for n > 0 {
		m := min(n, c.cfg.WriteQueue-c.waiting)
		c.waiting += m
		k = max(k, c.movedWrites.nth(int64(c.cfg.WriteQueue-c.waiting+1)))
		c.buffer = append(c.buffer, bufferedWrite{burst: burst, row: r.Row, bank: int32(r.Bank), n: int32(m), master: int32(r.Master), at: k})
		for g := burst >> 3; g <= (burst+uint64(m)-1)>>3; g++ {
			c.filter |= 1 << (g & 63)
		}
		if c.waiting == c.cfg.WriteQueue {
			c.drain(k + 1)
		}
		burst += uint64(m)
		n -= m
	}
	return k
}

// buffered reports whether the write buffer holds a burst.
func (c *channel) buffered(burst uint64) bool {
	if c.filter>>(burst>>3&63)&1 == 0 {
		return false
	}
	for i := range c.buffer {
		if w := &c.buffer[i]; burst-w.burst < uint64(w.n) {
			return true
		}
	}
	return false
}

// idle writes what the buffer holds if the scheduler had nothing else to do before
// clock k.
func (c *channel) idle(k int64) {
	if c.waiting > c.cfg.WriteIdle {
		if at := max(c.last(), c.next-1, c.buffer[len(c.buffer)-1].at) + 1; at <= k {
			c.drain(at)
		}
	}
}

// drain writes what the buffer holds at clock k: no read moves meanwhile.
func (c *channel) drain(k int64) {
	for i := range c.buffer {
		w := &c.buffer[i]
		r := Request{Bank: int(w.bank), Row: w.row, Master: int(w.master), Write: true}
		c.enter(k, int(w.n), &r, &c.movedWrites)
	}
	c.count[WriteBurst] += int64(c.waiting)
	c.count[Drain]++
	c.buffer, c.waiting, c.filter = c.buffer[:0], 0, 0
}

// groupClocks bounds the clocks of column commands that are planned as one.
const groupClocks = 64

// enter moves n bursts of a row to the queue of the scheduler from clock k on, one
// per clock, plans them and returns the latest column command.
func (c *channel) enter(k int64, n int, r *Request, log *moveLog) int64 {
	last := int64(longAgo)
	for n > 0 {
		m := int64(min(n, c.group))
		r.Enter = c.room(max(k, c.next), m)
		hits, activates := c.count[RowHit], c.count[Activate]
		x, ok := c.stream(r, m)
		if !ok {
			x = c.place(r, m)
		}
		c.account(r, k, x, m, hits, activates)
		log.add(r.Enter, m)
		c.next = r.Enter + m
		last = max(last, x+(m-1)*c.t.burst)
		n -= int(m)
	}
	return last
}

// room is the first clock from k on at which the queue of the scheduler, which has
// taken all requests before, takes n bursts one after the other.
func (c *channel) room(k, n int64) int64 {
	if c.last()-k >= (int64(c.cfg.QueueDepth)-n)*c.t.burst {
		k = max(k, c.nthLast(k, int64(c.cfg.QueueDepth)-n+1)+1)
	}
	return k
}
