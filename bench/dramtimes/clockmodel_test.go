package dramtimes

import "slices"

// The clock-by-clock model of a memory controller against which TestRandomPatterns holds the one that plans ahead. It
// follows the description of DRAMsim3's controller beside the golden rows: every clock each channel looks at its queue
// and issues at most one command. TestClockModel compares it with that simulator's rows.

// Spans in clocks of 0.46875 ns, those of lpddr4x-4266.toml.
const (
	mRL, mWL, mBurst     = 36, 18, 8
	mRCD, mRP, mRAS      = 39, 39, 90
	mRRD, mFAW           = 22, 86
	mRTP, mWR, mWTR      = 16, 39, 22
	mRTW                 = mRL + mBurst - mWL + 4
	mPPD                 = 4
	mREFI, mRFC          = 8320, 598
	mQueue, mWriteBuffer = 32, 32
	mIdleWrites          = 8
	mHitCap              = 4 // column commands that a row has before another may close it
	mBanks, mChannels    = 8, 4
)

// entry is a burst that waits in a queue of a channel.
type entry struct {
	addr  uint64
	bank  int
	row   int64
	write bool
}

// modelBank is a bank: the row that is open, -1 for none, and the first clock of each command.
type modelBank struct {
	row                     int64
	hits                    int
	act, pre, read, written int64 // the last for a WRITE
}

// modelChannel is a channel with its queues.
type modelChannel struct {
	reads    []entry
	writes   []entry
	queue    []entry
	draining int
	banks    [mBanks]modelBank
	acts     [4]int64 // the last four, oldest first
	refresh  bool     // one is due
	pending  map[uint64]int
	posted   map[uint64]bool
}

func newModelChannel() *modelChannel {
	c := &modelChannel{pending: map[uint64]int{}, posted: map[uint64]bool{}}
	for i := range c.banks {
		c.banks[i].row = -1
	}
	for i := range c.acts {
		c.acts[i] = -mFAW
	}
	return c
}

type modelCommand byte

const (
	modelNone modelCommand = iota
	modelPrecharge
	modelActivate
	modelColumn
)

// next is the command that an entry needs, modelNone when it cannot issue at clock k.
func (c *modelChannel) next(e *entry, k int64) modelCommand {
	b := &c.banks[e.bank]
	switch {
	case b.row == e.row:
		first := b.read
		if e.write {
			first = b.written
		}
		if k >= first {
			return modelColumn
		}
	case b.row >= 0:
		if k >= b.pre {
			return modelPrecharge
		}
	case k >= b.act && k >= c.acts[0]+mFAW:
		return modelActivate
	}
	return modelNone
}

// mayClose reports whether the i-th entry may close the row of its bank.
func (c *modelChannel) mayClose(i int) bool {
	e := &c.queue[i]
	for j := range c.queue[:i] {
		if c.queue[j].bank == e.bank {
			return false
		}
	}
	b := &c.banks[e.bank]
	if b.hits >= mHitCap {
		return true
	}
	return !slices.ContainsFunc(c.queue[i:], func(o entry) bool { return o.bank == e.bank && o.row == b.row })
}

// precharge closes the row of a bank.
func (c *modelChannel) precharge(bank int, k int64) {
	for i := range c.banks {
		c.banks[i].pre = max(c.banks[i].pre, k+mPPD)
	}
	b := &c.banks[bank]
	b.row, b.act = -1, max(b.act, k+mRP)
}

// column issues a READ or WRITE.
func (c *modelChannel) column(e *entry, k int64) {
	for i := range c.banks {
		b := &c.banks[i]
		if e.write {
			b.written, b.read = max(b.written, k+mBurst), max(b.read, k+mWL+mBurst+mWTR)
		} else {
			b.read, b.written = max(b.read, k+mBurst), max(b.written, k+mRTW)
		}
	}
	b := &c.banks[e.bank]
	if e.write {
		b.pre = max(b.pre, k+mWL+mBurst+mWR)
	} else {
		b.pre = max(b.pre, k+mRTP)
	}
	b.hits++
}

// activate opens a row.
func (c *modelChannel) activate(e *entry, k int64) {
	for i := range c.banks {
		c.banks[i].act = max(c.banks[i].act, k+mRRD)
	}
	b := &c.banks[e.bank]
	b.row, b.hits, b.pre = e.row, 0, max(b.pre, k+mRAS)
	b.act = max(b.act, k+mRAS+mRP)
	b.read, b.written = max(b.read, k+mRCD), max(b.written, k+mRCD)
	copy(c.acts[:], c.acts[1:])
	c.acts[3] = k
}

// refreshing closes a row for the refresh that is due, or issues it.
func (c *modelChannel) refreshing(k int64) {
	ready := true
	for i := range c.banks {
		b := &c.banks[i]
		switch {
		case b.row >= 0 && k >= b.pre:
			c.precharge(i, k)
			return
		case b.row >= 0 || k < b.act:
			ready = false
		}
	}
	if !ready {
		return
	}
	for i := range c.banks {
		c.banks[i].act = k + mRFC
	}
	c.refresh = false
}

// tick is clock k of the channel. It returns the entry that was read, if one was.
func (c *modelChannel) tick(k int64) (read entry, ok bool) {
	if k > 0 && k%mREFI == 0 {
		c.refresh = true
	}
	if c.refresh {
		c.refreshing(k)
	} else {
		read, ok = c.issue(k)
	}
	c.move()
	return read, ok
}

// issue issues the command of the oldest entry that can have one.
func (c *modelChannel) issue(k int64) (entry, bool) {
	for i := range c.queue {
		e := c.queue[i]
		switch c.next(&e, k) {
		case modelNone:
			continue
		case modelPrecharge:
			if !c.mayClose(i) {
				continue
			}
			c.precharge(e.bank, k)
		case modelActivate:
			c.activate(&e, k)
		case modelColumn:
			if e.write && slices.ContainsFunc(c.queue[:i], func(o entry) bool { return !o.write && o.addr == e.addr }) {
				continue
			}
			c.column(&e, k)
			c.queue = slices.Delete(c.queue, i, i+1)
			if e.write {
				delete(c.posted, e.addr)
			}
			return e, !e.write
		}
		return entry{}, false
	}
	return entry{}, false
}

// move moves a burst to the queue of the scheduler.
func (c *modelChannel) move() {
	if n := len(c.writes); c.draining == 0 && (n >= mWriteBuffer || n > mIdleWrites && len(c.queue) == 0) {
		c.draining = n
	}
	from := &c.reads
	if c.draining > 0 {
		from = &c.writes
	}
	if len(c.queue) >= mQueue {
		return
	}
	if c.draining > 0 && c.pending[c.writes[0].addr] > 0 {
		c.draining, from = 0, &c.reads // DRAMsim3 tries again, for ever if the buffer stays full
	}
	if len(*from) == 0 {
		return
	}
	e := (*from)[0]
	if e.write {
		c.draining--
	}
	c.queue = append(c.queue, e)
	*from = slices.Delete(*from, 0, 1)
}

// accepts reports whether a burst has room in its channel.
func (c *modelChannel) accepts(write bool) bool {
	if write {
		return len(c.writes) < mWriteBuffer
	}
	return len(c.reads) < mQueue
}

// add accepts a burst; done says that it has been served at once.
func (c *modelChannel) add(e entry) (done bool) {
	switch {
	case e.write:
		if !c.posted[e.addr] {
			c.posted[e.addr] = true
			c.writes = append(c.writes, e)
		}
		return true
	case c.posted[e.addr]:
		return true
	}
	c.pending[e.addr]++
	if c.pending[e.addr] == 1 {
		c.reads = append(c.reads, e)
	}
	return false
}

// place is the channel of an address, and what its burst needs there.
func place(addr uint64, layout string, write bool) (channel int, e entry) {
	bank := addr >> 13 & 7
	channel = int(addr >> 8 & 3)
	if layout == "L" {
		channel = int(addr >> 6 & 3)
	} else {
		bank ^= addr >> 16 & 7
	}
	return channel, entry{addr: addr / burstBytes, bank: int(bank), row: int64(addr >> 16), write: write}
}

// modelRequest is a request on its way.
type modelRequest struct {
	request
	next, end uint64 // bytes that are not handed over yet
	waits     int    // bursts that are not done
}

// modelFinish is a burst that is done at a clock.
type modelFinish struct {
	at int64
	r  *modelRequest
}

// modelRun drives the channels with a pattern, as Run does.
type modelRun struct {
	channels [mChannels]*modelChannel
	finishes []modelFinish
	waiting  []*modelRequest // admitted, not handed over
	readers  map[uint64][]*modelRequest
	flying   int
	done     int64
	last     int64
}

// runModel is the clock at which the last request of a pattern is done.
func runModel(p Pattern, inFlight int) int64 {
	m := &modelRun{readers: map[uint64][]*modelRequest{}}
	for i := range m.channels {
		m.channels[i] = newModelChannel()
	}
	gen := p.requests()
	for k := int64(0); m.done < p.N; k++ {
		m.finish(k)
		for i := gen.i; i < p.N; i = gen.i {
			if p.Period > 0 && k < p.Off+i/p.Burst*p.Period || p.Period == 0 && m.flying >= inFlight {
				break
			}
			r := &modelRequest{request: gen.next()}
			r.next, r.end = r.addr&^(burstBytes-1), r.addr+uint64(p.Size)
			r.waits = int((r.end - r.next + burstBytes - 1) / burstBytes)
			m.waiting = append(m.waiting, r)
			m.flying++
		}
		m.handOver(k, p.Map)
		for _, c := range m.channels {
			if e, ok := c.tick(k); ok {
				for _, r := range m.readers[e.addr] {
					m.finishes = append(m.finishes, modelFinish{k + mRL + mBurst, r})
				}
				delete(m.readers, e.addr)
				delete(c.pending, e.addr)
			}
		}
	}
	return m.last
}

// finish ends the requests whose last burst was done before clock k.
func (m *modelRun) finish(k int64) {
	m.finishes = slices.DeleteFunc(m.finishes, func(f modelFinish) bool {
		if f.at >= k {
			return false
		}
		if f.r.waits--; f.r.waits == 0 {
			m.flying--
			m.done++
			m.last = max(m.last, f.at)
		}
		return true
	})
}

// handOver passes the next burst on, if its channel has room.
func (m *modelRun) handOver(k int64, layout string) {
	if len(m.waiting) == 0 {
		return
	}
	r := m.waiting[0]
	n, e := place(r.next&(addresses-1), layout, r.write)
	c := m.channels[n]
	if !c.accepts(r.write) {
		return
	}
	if c.add(e) {
		m.finishes = append(m.finishes, modelFinish{k + 1, r})
	} else {
		m.readers[e.addr] = append(m.readers[e.addr], r)
	}
	if r.next += burstBytes; r.next >= r.end {
		m.waiting = m.waiting[1:]
	}
}
