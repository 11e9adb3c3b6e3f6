package dram

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
)

// Events a DRAM counts, in the order of Counters.
const (
	Activate = iota // rows opened
	ReadBurst
	WriteBurst
	RefreshCommand // refresh commands: one bank or all of a channel
	RowHit         // bursts that found their row open
	RowMiss        // bank was closed
	RowConflict
	Drain            // batches of posted writes
	Forward          // reads answered from the write buffer
	Merge            // writes to a burst that was in the write buffer, and reads of one that was on its way
	SelfRefreshEntry // times a channel entered self-refresh
	ClockChange      // of all channels
	numEvents
)

var events = [numEvents]string{
	"dram_activate", "dram_read_burst", "dram_write_burst", "dram_refresh",
	"dram_row_hit", "dram_row_miss", "dram_row_conflict", "dram_drain", "dram_forward", "dram_merge", "dram_self_refresh", "dram_clock_change",
}

// DRAM is a DRAM behind its controller, one queue per channel. It implements
// Level. See doc.go for how requests are planned.
type DRAM struct {
	// Master is the number of the master of the next accesses: the level in front of the DRAM sets it, an interconnect
	// before each access.
	Master int

	cfg     Config
	t       timing
	clock   clock
	mapping Mapping
	plain   *interleaved // mapping, when it is that
	ch      []channel
	count   [numEvents]int64
	use     [MaxMasters]clockedUse

	meter           meter
	clocking        Clocking
	stated          int64                // bytes of Elapse
	due             sim.Time             // when that is asked next
	selfRefreshTime sim.Time             // in self-refresh at earlier clocks, of all channels together
	waited          [MaxMasters]sim.Time // Use.Wait at earlier clocks

	burstShift uint
	chunkMask  uint64 // ChunkBytes - 1
}

// New builds a DRAM; the error names each value out of range.
func New(cfg Config) (*DRAM, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &DRAM{cfg: cfg.withDefaults(), due: sim.Never, burstShift: model.Log2(cfg.BurstBytes())}
	d.plain = newInterleaved(&d.cfg)
	d.mapping = d.plain
	if m := d.cfg.Mapping; m != nil {
		d.mapping = m
		d.plain, _ = m.(*interleaved)
	}
	d.chunkMask = uint64(d.mapping.ChunkBytes() - 1)
	d.ch = make([]channel, cfg.Channels)
	banks := make([]bank, cfg.Channels*cfg.Banks)
	for i := range d.ch {
		d.ch[i] = channel{
			plan: plan{
				t: &d.t, cfg: &d.cfg, count: &d.count, use: &d.use, clock: &d.clock, meter: &d.meter, banks: banks[i*cfg.Banks:][:cfg.Banks],
				group:      int64(max(1, min(groupClocks*d.cfg.TransfersPerClock/d.cfg.BurstLength, d.cfg.QueueDepth))),
				depth:      int64(d.cfg.QueueDepth),
				firstReady: isFirstReady(&d.cfg),
			},
			movedReads: newMoveLog(d.cfg.QueueDepth), movedWrites: newMoveLog(d.cfg.WriteQueue),
			buffer: newWriteBuffer(&d.cfg),
		}
	}
	d.Reset()
	return d, nil
}

// isFirstReady reports policies that decide nothing about a request for an open row.
func isFirstReady(c *Config) bool {
	_, scheduler := c.Scheduler.(FRFCFS)
	_, policy := c.RowPolicy.(OpenRows)
	return scheduler && policy
}

// Config is the configuration the DRAM was built with, defaults filled in.
func (d *DRAM) Config() Config { return d.cfg }

// Reset closes every row, empties the queues and clears the counters.
func (d *DRAM) Reset() {
	d.t = d.cfg.timing()
	d.clock = newClock(0, d.cfg.ClockHz())
	for i := range d.ch {
		d.ch[i].reset()
	}
	d.count, d.stated = [numEvents]int64{}, 0
	d.use = [MaxMasters]clockedUse{}
	d.selfRefreshTime, d.waited = 0, [MaxMasters]sim.Time{}
	d.meter.reset()
}

// Counters are the events since Reset; in the order of Activate and those after it.
func (d *DRAM) Counters() []sim.Counter { return model.Counters(events[:], d.count[:]) }

// Access implements Level. The reason is always StallDRAM.
func (d *DRAM) Access(t sim.Time, addr uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	done := t
	for bytes > 0 {
		n := min(bytes, int(d.chunkMask-addr&d.chunkMask)+1)
		if k == mem.Write {
			done = max(done, d.Write(t, addr, n))
		} else {
			done = max(done, d.Read(t, addr, n))
		}
		addr += uint64(n)
		bytes -= n
	}
	return done, sim.StallDRAM
}

// IsChunk reports an access that one row of one channel serves.
func (d *DRAM) IsChunk(addr uint64, bytes int) bool {
	return uint64(bytes-1) <= d.chunkMask-addr&d.chunkMask
}

// ChunkBytes is the size of the aligned pieces of memory that are each in one row.
func (d *DRAM) ChunkBytes() int { return int(d.chunkMask) + 1 }

func (d *DRAM) locate(addr uint64) Location {
	if d.plain != nil {
		return d.plain.Locate(addr)
	}
	return d.mapping.Locate(addr)
}

// Read is Access for a chunk.
func (d *DRAM) Read(t sim.Time, addr uint64, n int) sim.Time {
	if t >= d.due {
		d.reclock(t)
	}
	k := d.clock.clock(t + d.cfg.RequestLatency)
	l := d.locate(addr)
	c := &d.ch[l.Channel]
	first := addr >> (d.burstShift & 63)
	bursts := int64((addr+uint64(n)-1)>>(d.burstShift&63)-first) + 1
	r := Request{Bank: l.Bank, Row: l.Row, Master: min(d.Master, MaxMasters-1)}
	return d.clock.at(c.read(k, first, bursts, &r)) + d.cfg.ResponseLatency
}

// Write is Access for a chunk; it is done when the write buffer has accepted it.
func (d *DRAM) Write(t sim.Time, addr uint64, n int) sim.Time {
	done, _ := d.WriteEach(t, addr, n, 1)
	return done
}

// WriteEach is Write for so many consecutive chunks of n bytes that together are one chunk. The last has waited for
// space in the buffer.
func (d *DRAM) WriteEach(t sim.Time, addr uint64, n int, chunks uint64) (done, waited sim.Time) {
	if t >= d.due {
		d.reclock(t)
	}
	k := d.clock.clock(t + d.cfg.RequestLatency)
	l := d.locate(addr)
	c := &d.ch[l.Channel]
	r := Request{Bank: l.Bank, Row: l.Row, Master: min(d.Master, MaxMasters-1), Write: true}
	taken := k
	for range chunks {
		first := addr >> (d.burstShift & 63)
		addr += uint64(n)
		taken = c.write(k, first, int64((addr-1)>>(d.burstShift&63)-first)+1, &r)
	}
	if taken > k {
		waited = d.clock.span(taken - k)
	}
	return d.clock.at(taken), waited
}

// AcceptTime is when the controller accepts a burst that arrives at t: at t, unless the read queue or the write buffer of its
// channel is full.
func (d *DRAM) AcceptTime(t sim.Time, addr uint64, k mem.Kind) sim.Time {
	n := d.clock.clock(t + d.cfg.RequestLatency)
	c := &d.ch[d.locate(addr).Channel]
	c.idle(n)
	room := c.readAccept(n)
	if k == mem.Write {
		room = c.writeAccept(n)
	}
	if room == n {
		return t
	}
	return d.clock.at(room) - d.cfg.RequestLatency
}

// Flush writes the contents of the buffers and returns when the last write is in its row.
func (d *DRAM) Flush(t sim.Time) sim.Time {
	k := d.clock.clock(t)
	last := k
	for i := range d.ch {
		c := &d.ch[i]
		c.idle(k)
		if c.buffer.waiting > 0 {
			c.drain(k)
		}
		last = max(last, c.lastWrite+c.t.wl+c.t.burst)
	}
	if last == k {
		return t
	}
	return d.clock.at(last)
}
