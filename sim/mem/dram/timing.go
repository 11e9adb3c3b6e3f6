package dram

import (
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// timing is a DRAM's timing in clocks of its command bus.
type timing struct {
	rl, wl, burst      int64
	rcd, rpPB, rpAB    int64
	ras, rc, rrd, faw  int64
	wr, rtp            int64
	readWrite          int64 // read command to write command
	writeRead          int64 // write command to read command
	rfcAB, rfcPB, refi int64
	selfAfter, xsr     int64
}

func (c *Config) timing() timing {
	hz := float64(c.ClockHz())
	n := func(t sim.Time) int64 {
		// A thousandth of a clock is the rounding of the file's number.
		return int64(math.Ceil(t.Seconds()*hz - 1e-3))
	}
	t := timing{
		rl: n(c.ReadLatency), wl: n(c.WriteLatency), burst: int64(c.BurstLength / c.TransfersPerClock),
		rcd: n(c.TRCD), rpPB: n(c.TRPpb), rpAB: n(c.TRPab), ras: n(c.TRAS), rc: n(c.TRC), rrd: n(c.TRRD), faw: n(c.TFAW),
		wr: n(c.TWR), rtp: n(c.TRTP), rfcAB: n(c.TRFCab), rfcPB: n(c.TRFCpb), refi: n(c.TREFI),
		selfAfter: n(c.SelfRefreshAfter), xsr: n(c.TXSR),
	}
	t.writeRead = t.wl + t.burst + n(c.TWTR)
	t.readWrite = max(t.rl+t.burst+n(c.TRTW)-t.wl, t.burst)
	return t
}

// clock converts between instants and clocks from an origin on.
type clock struct {
	origin sim.Time
	period uint64  // 2^periodShift fs
	rate   float64 // clocks per fs
}

// After k clocks an instant is up to k / 2^periodShift fs too early: 1 fs in two
// seconds of LPDDR4X.
const periodShift = 32

func newClock(origin sim.Time, hz int64) clock {
	second := uint64(sim.Second)
	period, _ := bits.Div64(second>>(64-periodShift), second<<periodShift, uint64(hz))
	return clock{origin: origin, period: period, rate: float64(hz) / float64(sim.Second)}
}

// at is when clock k begins.
func (c *clock) at(k int64) sim.Time { return c.origin + c.span(k) }

func (c *clock) span(k int64) sim.Time {
	hi, lo := bits.Mul64(uint64(k), c.period)
	return sim.Time(hi<<(64-periodShift) | lo>>periodShift)
}

// clock is the first that begins at or after t; 0 before the origin.
func (c *clock) clock(t sim.Time) int64 {
	t -= c.origin
	if t <= 0 {
		return 0
	}
	k := int64(float64(t) * c.rate)
	if c.span(k) < t {
		k++
		if c.span(k) < t {
			k++
		}
	} else if k > 0 && c.span(k-1) >= t {
		k--
	}
	return k
}

// Clocking changes the clock of a DRAM as time passes.
type Clocking interface {
	// Clock is called at each instant that it has named before, in rising order, before the first request at it or
	// later. bytes are those moved so far. It returns the configuration from that instant on, nil when it stays, and
	// the next instant.
	Clock(at sim.Time, bytes int64) (c *Config, next sim.Time)
}

// Start begins again at time 0, as Reset does, with a configuration that differs from the
// present one in clock only.
func (d *DRAM) Start(c *Config) {
	d.cfg = c.withDefaults()
	d.clocking, d.due = nil, sim.Never
	d.Reset()
}

// SetClocking lets the clock change from now on; it is asked first for an instant.
func (d *DRAM) SetClocking(c Clocking, first sim.Time) { d.clocking, d.due = c, first }

// Due lets Clocking be asked for an instant, unless it is asked sooner.
func (d *DRAM) Due(at sim.Time) { d.due = min(d.due, at) }

// Bytes are those that the DRAM has moved since Reset.
func (d *DRAM) Bytes() int64 {
	return d.stated + (d.count[ReadBurst]+d.count[WriteBurst])*int64(d.cfg.BurstBytes())
}

// Elapse is time in which bytes move, evenly, that are not accessed one by one: Clocking sees
// them. They are of a master.
func (d *DRAM) Elapse(master int, from, to sim.Time, bytes int64) {
	if d.meter.span > 0 {
		d.meter.add(master, from, to, bytes)
	}
	for d.due <= to {
		if at := d.due; at > from {
			part := int64(float64(bytes) * float64(at-from) / float64(to-from))
			d.stated += part
			from, bytes = at, bytes-part
		}
		d.reclock(d.due)
	}
	d.stated += bytes
}

// reclock queries the clocks that have become due at t. It is called seldom.
//
//go:noinline
func (d *DRAM) reclock(t sim.Time) {
	for t >= d.due {
		at := d.due
		c, next := d.clocking.Clock(at, d.Bytes())
		d.due = max(next, at+1)
		if c != nil && c.TransfersPerSec != d.cfg.TransfersPerSec {
			d.change(at, c)
		}
	}
}

// change sets another clock: all that is planned and the contents of the write buffers end at the present one, the
// memory refreshes itself while the clock changes, and requests that arrive meanwhile wait. Rows are closed and
// refreshes begin anew then.
func (d *DRAM) change(at sim.Time, to *Config) {
	end := max(d.Flush(at), at)
	k := d.clock.clock(end)
	for i := range d.ch {
		c := &d.ch[i]
		c.wake(k)
		if last := c.last; last > longAgo {
			end = max(end, d.clock.at(last+max(c.t.rl, c.t.wl)+c.t.burst))
		}
		d.selfRefreshTime += d.clock.span(c.selfClocks)
	}
	for i := range d.use {
		d.waited[i] += d.clock.span(d.use[i].wait)
		d.use[i].wait = 0
	}
	d.cfg = to.withDefaults()
	d.t = d.cfg.timing()
	d.clock = newClock(end+d.cfg.SwitchTime, d.cfg.ClockHz())
	for i := range d.ch {
		d.ch[i].reset()
	}
	d.count[ClockChange]++
}
