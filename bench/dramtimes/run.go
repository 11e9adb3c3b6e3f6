package dramtimes

import (
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
)

const burstBytes = 32

// Result is the measurement of a pattern.
type Result struct {
	Cycles      int64   // clock of the last completion
	GBps        float64 // requested bytes per second
	Reads       int64   // requests; without any, latencies are 0
	LatMeanNs   float64
	LatP50Ns    float64
	LatP95Ns    float64
	LatMaxNs    float64
	RowHit      float64 // share of bursts that were not the first of an activation
	ReadBursts  int64
	WriteBursts int64
	Activates   int64
	Refreshes   int64
}

// window is the completions of the requests in flight: a binary heap, the first in
// front.
type window []int64

func (w *window) push(x int64) {
	h := append(*w, x)
	i := len(h) - 1
	for ; i > 0 && h[(i-1)/2] > x; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = x
	*w = h
}

func (w *window) pop() int64 {
	h := *w
	first, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for {
		c := 2*i + 1
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if c >= len(h) || h[c] >= x {
			break
		}
		h[i] = h[c]
		i = c
	}
	if len(h) > 0 {
		h[i] = x
	}
	*w = h
	return first
}

// Run drives a DRAM, which it resets, with a pattern: a number of requests in flight, or as many as arrive when the
// pattern has a period. A clock is one of the DRAM's command bus. Per clock at most one burst is passed on, in order;
// one that the controller has no space for blocks those behind it.
func Run(d *dram.DRAM, p Pattern, inFlight int) Result {
	d.Reset()
	cfg := d.Config()
	clock := sim.Clock{Hz: cfg.ClockHz()}
	gen := p.requests()
	flight := make(window, 0, inFlight)
	var handed, admitted, last int64
	var lat []int64
	for i := range p.N {
		r := gen.next()
		switch {
		case p.Period > 0:
			admitted = p.Off + i/p.Burst*p.Period
		case len(flight) == inFlight:
			admitted = max(admitted, flight.pop()+1)
		}
		kind := mem.Read
		if r.write {
			kind = mem.Write
		}
		var done int64
		for b := r.addr &^ (burstBytes - 1); b < r.addr+uint64(p.Size); b += burstBytes {
			a := b & (addresses - 1)
			k := clock.Cycle(d.AcceptTime(clock.At(max(handed, admitted)), a, kind))
			at, _ := d.Access(clock.At(k), a, burstBytes, kind)
			handed = k + 1
			if end := clock.Cycle(at); r.write {
				done = max(done, end+1)
			} else {
				done = max(done, end)
			}
		}
		if p.Period == 0 {
			flight.push(done)
		}
		last = max(last, done)
		if !r.write {
			lat = append(lat, done-admitted)
		}
	}
	return summarize(d, &p, clock, last, lat)
}

func summarize(d *dram.DRAM, p *Pattern, clock sim.Clock, last int64, lat []int64) Result {
	ns := func(clocks float64) float64 { return clocks / float64(clock.Hz) * 1e9 }
	count := d.Counters()
	r := Result{
		Cycles: last, GBps: float64(p.N*p.Size) / ns(float64(last)), Reads: int64(len(lat)),
		ReadBursts: count[dram.ReadBurst].Value, WriteBursts: count[dram.WriteBurst].Value,
		Activates: count[dram.Activate].Value, Refreshes: count[dram.RefreshCommand].Value,
	}
	if n := r.ReadBursts + r.WriteBursts; n > 0 {
		r.RowHit = float64(count[dram.RowHit].Value) / float64(n) // a refresh may close a row before its first
	}
	if n := len(lat); n > 0 {
		slices.Sort(lat)
		sum := int64(0)
		for _, v := range lat {
			sum += v
		}
		r.LatMeanNs, r.LatMaxNs = ns(float64(sum)/float64(n)), ns(float64(lat[n-1]))
		r.LatP50Ns, r.LatP95Ns = ns(float64(lat[n/2])), ns(float64(lat[95*n/100]))
	}
	return r
}
