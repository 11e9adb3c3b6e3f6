package sim

import "slices"

// BandwidthMonitor is Linux's governor bw_hwmon of memory clocks. It measures the traffic in samples and decides after
// Decision, or with the sample that shows that the traffic has risen or fallen for long. Busy time of its domain is
// traffic as a share of the bandwidth that the highest point is a vote for. Bandwidths are in MB/s of 2^20 bytes, as in
// the kernel.
type BandwidthMonitor struct {
	Sample, Decision Time
	// BytesPerClock makes a point a vote for bandwidth: its clock times this.
	BytesPerClock float64
	IOPercent     float64 // of a vote that traffic may use
	// UpThres is the percentage above the last request at which a sample wakes the governor; the request is then higher
	// by UpScale per cent of the rise, at most the vote allowed by the zone of the traffic, and at most the remembered
	// peak while the traffic is below it.
	UpThres, UpScale float64
	Zones            []float64 // upper ends, rising
	// DownThres is the percentage of the last measurement below which DownCount samples wake
	// the governor.
	DownThres float64
	DownCount int
	// HistMemory is the decisions for which a peak is remembered.
	HistMemory int
	// HystTrigger peaks within HystLength decisions hold the request at their height for as
	// many decisions, while the traffic is above IdleMBps.
	HystTrigger, HystLength int
	IdleMBps                float64
	// DecayPercent is the new request's part of a vote that falls; the rest is the last vote.
	DecayPercent float64
}

// bandwidthMemory is the state of a BandwidthMonitor.
type bandwidthMemory struct {
	window   Time    // since the last decision
	peak     float64 // of the samples since then
	low      int     // samples below down
	up, down float64 // thresholds of samples
	request  float64 // of the last decision
	vote     float64

	histPeak float64
	histLeft int

	hystPeak  float64
	hystCount int // peaks
	hystOpen  int // decisions left for more of them
	hystLeft  int // decisions for which the request is held
}

// Constants of the kernel's governor.
const (
	megabyte      = 1 << 20
	minMBps       = 500
	peakTolerance = 0.6 // a peak counts when it is this close to the highest
)

// Interval implements Governor.
func (g BandwidthMonitor) Interval() Time { return g.Sample }

// mbps is the vote of a point.
func (g BandwidthMonitor) mbps(o OPP) float64 { return float64(o.Hz) * g.BytesPerClock / megabyte }

// point is the lowest that is a vote for a bandwidth, l.High when none is.
func (g BandwidthMonitor) point(l *Load, mbps float64) int {
	p := l.Low
	for p < l.High && g.mbps(l.OPPs[p]) < mbps {
		p++
	}
	return p
}

// Decide implements Governor. For a domain that idles at its lowest point one call covers many samples: all but the
// last of them have found no traffic.
func (g BandwidthMonitor) Decide(l *Load) (int, bool) {
	m := &l.bandwidth
	var last bandwidthMemory
	for idle := l.Span - g.Sample; idle > 0; idle -= g.Sample {
		if g.sample(l, 0, g.Sample) {
			if *m == last {
				idle %= g.Decision // more decisions change nothing
			}
			last = *m
		}
	}
	span := min(l.Span, g.Sample)
	if !g.sample(l, float64(l.Busy)/float64(span)*g.mbps(l.OPPs[len(l.OPPs)-1]), span) {
		return l.Point, true
	}
	return g.point(l, m.vote*100/g.IOPercent), true
}

// sample processes the traffic of a span and reports whether it led to a decision.
func (g BandwidthMonitor) sample(l *Load, mbps float64, span Time) bool {
	m := &l.bandwidth
	m.peak = max(m.peak, mbps)
	m.window += span
	rose := mbps > max(m.up, minMBps)
	if !rose && mbps < m.down {
		m.low++
	}
	if fell := m.low >= g.DownCount; m.window < g.Decision && !rose && !fell {
		return false
	}
	request := g.request(l, rose)
	m.up = max(minMBps, request) * (100 + g.UpThres) / 100
	m.down = 0
	if m.peak >= minMBps {
		m.down = m.peak * g.DownThres / 100
	}
	if request > m.vote {
		m.vote = request
	} else {
		m.vote = (request*g.DecayPercent + m.vote*(100-g.DecayPercent)) / 100
	}
	m.request, m.peak, m.window, m.low = request, 0, 0, 0
	return true
}

// request is the bandwidth to request after the traffic since the last decision.
func (g BandwidthMonitor) request(l *Load, rose bool) float64 {
	m := &l.bandwidth
	switch {
	case m.peak > m.histPeak || m.histLeft == 0:
		m.histPeak, m.histLeft = m.peak, g.HistMemory
	case m.peak >= peakTolerance*m.histPeak:
		m.histLeft = g.HistMemory
	default:
		m.histLeft--
	}
	request := m.peak
	if rose {
		request += (m.peak - m.request) * g.UpScale / 100
		if request > m.histPeak && m.peak < m.histPeak {
			request = m.histPeak
		}
		zone := g.mbps(l.OPPs[l.High])
		if i, _ := slices.BinarySearch(g.Zones, m.peak*100/g.IOPercent); i < len(g.Zones) {
			zone = g.Zones[i]
		}
		request = min(request, max(m.peak, zone*g.IOPercent/100))
	}
	near := peakTolerance * m.hystPeak
	if m.peak > m.hystPeak && m.peak > minMBps {
		near = peakTolerance * m.peak
		m.hystPeak, m.hystCount, m.hystOpen = m.peak, 0, g.HystLength
	}
	if m.peak >= near && m.peak > minMBps {
		if m.hystCount++; m.hystCount >= g.HystTrigger || m.hystLeft > 0 {
			m.hystLeft = g.HystLength
		}
	}
	m.hystOpen, m.hystLeft = max(m.hystOpen-1, 0), max(m.hystLeft-1, 0)
	if m.hystOpen == 0 && m.hystLeft == 0 {
		m.hystCount, m.hystPeak = 0, 0
	}
	if m.hystLeft > 0 && m.peak > g.IdleMBps {
		request = max(request, m.hystPeak)
	}
	return request
}
