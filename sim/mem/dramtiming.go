package mem

import (
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/sim"
)

// dramTiming is a DRAM's timing in clocks of its command bus.
type dramTiming struct {
	rl, wl, burst      int64
	rcd, rpPB, rpAB    int64
	ras, rc, rrd, faw  int64
	wr, rtp            int64
	readWrite          int64 // read command to write command
	writeRead          int64 // write command to read command
	rfcAB, rfcPB, refi int64
	selfAfter, xsr     int64
}

func (c *DRAMConfig) timing() dramTiming {
	hz := float64(c.ClockHz())
	n := func(t sim.Time) int64 {
		// A thousandth of a clock is the rounding of the file's number.
		return int64(math.Ceil(t.Seconds()*hz - 1e-3))
	}
	t := dramTiming{
		rl: n(c.ReadLatency), wl: n(c.WriteLatency), burst: int64(c.BurstLength / c.TransfersPerClock),
		rcd: n(c.TRCD), rpPB: n(c.TRPpb), rpAB: n(c.TRPab), ras: n(c.TRAS), rc: n(c.TRC), rrd: n(c.TRRD), faw: n(c.TFAW),
		wr: n(c.TWR), rtp: n(c.TRTP), rfcAB: n(c.TRFCab), rfcPB: n(c.TRFCpb), refi: n(c.TREFI),
		selfAfter: n(c.SelfRefreshAfter), xsr: n(c.TXSR),
	}
	t.writeRead = t.wl + t.burst + n(c.TWTR)
	t.readWrite = max(t.rl+t.burst+n(c.TRTW)-t.wl, t.burst)
	return t
}

// dramClock converts between instants and clocks from an origin on.
type dramClock struct {
	origin sim.Time
	period uint64  // 2^periodShift fs
	rate   float64 // clocks per fs
}

// After k clocks an instant is up to k / 2^periodShift fs too early: 1 fs in two
// seconds of LPDDR4X.
const periodShift = 32

func newDRAMClock(origin sim.Time, hz int64) dramClock {
	second := uint64(sim.Second)
	period, _ := bits.Div64(second>>(64-periodShift), second<<periodShift, uint64(hz))
	return dramClock{origin: origin, period: period, rate: float64(hz) / float64(sim.Second)}
}

// at is when clock k begins.
func (c *dramClock) at(k int64) sim.Time { return c.origin + c.span(k) }

func (c *dramClock) span(k int64) sim.Time {
	hi, lo := bits.Mul64(uint64(k), c.period)
	return sim.Time(hi<<(64-periodShift) | lo>>periodShift)
}

// clock is the first that begins at or after t; 0 before the origin.
func (c *dramClock) clock(t sim.Time) int64 {
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
