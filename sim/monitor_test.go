package sim

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestMonitorSamples: the state of the bandwidth monitor after each sample, by hand. Its domain has votes for 400 to
// 4000 MB/s, of which traffic may use 80 %.
func TestMonitorSamples(t *testing.T) {
	g := BandwidthMonitor{
		Sample: 4 * Millisecond, Decision: 40 * Millisecond, BytesPerClock: 1.048576 * 4, IOPercent: 80, Zones: []float64{400, 800, 1200, 2000, 2800, 3600},
		UpThres: 10, UpScale: 250, DownThres: 30, DownCount: 3, HistMemory: 20, HystTrigger: 3, HystLength: 10, IdleMBps: 1000, DecayPercent: 90,
	}
	l := &Load{OPPs: make([]OPP, 10), High: 9}
	for i := range l.OPPs {
		l.OPPs[i].Hz = int64(i+1) * 100e6
	}
	type memory = bandwidthMemory
	for i, c := range []struct {
		before  *memory // nil: that after the row above
		mbps    float64
		ms      Time
		decides bool
		after   memory
	}{
		// 250 % of the rise more, but within the vote of the zone: 1000 of 80 % is in that up to 2000.
		{nil, 1000, 4, true, memory{up: 1760, down: 300, request: 1600, vote: 1600, histPeak: 1000, histLeft: 20, hystPeak: 1000, hystCount: 1, hystOpen: 9}},
		{nil, 200, 4, false, memory{window: 4 * Millisecond, peak: 200, low: 1, up: 1760, down: 300, request: 1600, vote: 1600, histPeak: 1000, histLeft: 20, hystPeak: 1000, hystCount: 1, hystOpen: 9}},
		{nil, 300, 4, false, memory{window: 8 * Millisecond, peak: 300, low: 1, up: 1760, down: 300, request: 1600, vote: 1600, histPeak: 1000, histLeft: 20, hystPeak: 1000, hystCount: 1, hystOpen: 9}},
		{nil, 0, 4, false, memory{window: 12 * Millisecond, peak: 300, low: 2, up: 1760, down: 300, request: 1600, vote: 1600, histPeak: 1000, histLeft: 20, hystPeak: 1000, hystCount: 1, hystOpen: 9}},
		// The third below 30 %: 90 % of 300 and 10 % of 1600; 10 % above 500 wakes it, nothing is below.
		{nil, 0, 4, true, memory{up: 550, request: 300, vote: 430, histPeak: 1000, histLeft: 19, hystPeak: 1000, hystCount: 1, hystOpen: 8}},
		// Below the remembered peak, a rise requests no more than the peak.
		{nil, 980, 4, true, memory{up: 1100, down: 294, request: 1000, vote: 1000, histPeak: 1000, histLeft: 20, hystPeak: 1000, hystCount: 2, hystOpen: 7}},
		// No rise, no fall: 40 ms. A higher peak starts a new count.
		{nil, 1050, 36, false, memory{window: 36 * Millisecond, peak: 1050, up: 1100, down: 294, request: 1000, vote: 1000, histPeak: 1000, histLeft: 20, hystPeak: 1000, hystCount: 2, hystOpen: 7}},
		{nil, 900, 4, true, memory{up: 1155, down: 315, request: 1050, vote: 1050, histPeak: 1050, histLeft: 20, hystPeak: 1050, hystCount: 1, hystOpen: 9}},
		{nil, 630, 40, true, memory{up: 693, down: 189, request: 630, vote: 672, histPeak: 1050, histLeft: 20, hystPeak: 1050, hystCount: 2, hystOpen: 8}},
		// The third peak holds the request for ten decisions, while there is traffic above 1000.
		{nil, 690, 40, true, memory{up: 759, down: 207, request: 690, vote: 690, histPeak: 1050, histLeft: 20, hystPeak: 1050, hystCount: 3, hystOpen: 7, hystLeft: 9}},
		{nil, 1001, 40, true, memory{up: 1155, down: 300.3, request: 1050, vote: 1050, histPeak: 1050, histLeft: 20, hystPeak: 1050, hystCount: 4, hystOpen: 6, hystLeft: 9}},
		{nil, 1000, 40, true, memory{up: 1100, down: 300, request: 1000, vote: 1005, histPeak: 1050, histLeft: 20, hystPeak: 1050, hystCount: 5, hystOpen: 5, hystLeft: 9}},
		{nil, 450, 40, true, memory{up: 550, request: 450, vote: 505.5, histPeak: 1050, histLeft: 19, hystPeak: 1050, hystCount: 5, hystOpen: 4, hystLeft: 8}},
		// The end of the peaks' time, of that of the hold, and of the memory of the highest.
		{&memory{hystPeak: 1050, hystCount: 2, hystOpen: 1, histPeak: 1050, histLeft: 1}, 0, 40, true, memory{up: 550, histPeak: 1050}},
		{&memory{hystPeak: 1050, hystCount: 3, hystLeft: 1, histPeak: 1050, histLeft: 1}, 0, 40, true, memory{up: 550, histPeak: 1050}},
		{&memory{hystPeak: 1050, hystCount: 3, hystLeft: 2, hystOpen: 1, histPeak: 1050, histLeft: 0}, 100, 40, true,
			memory{up: 550, request: 100, vote: 100, histPeak: 100, histLeft: 20, hystPeak: 1050, hystCount: 3, hystLeft: 1}},
		// Peaks are above 500 MB/s, as is a rise.
		{&memory{}, 500, 40, true, memory{up: 550, down: 150, request: 500, vote: 500, histPeak: 500, histLeft: 20}},
		{&memory{}, 501, 4, true, memory{up: 704, down: 150.3, request: 640, vote: 640, histPeak: 501, histLeft: 20, hystPeak: 501, hystCount: 1, hystOpen: 9}},
		// Beyond the last zone the vote of the highest point counts, 80 % of 4000; traffic above it all.
		{&memory{}, 3000, 4, true, memory{up: 3520, down: 900, request: 3200, vote: 3200, histPeak: 3000, histLeft: 20, hystPeak: 3000, hystCount: 1, hystOpen: 9}},
		{&memory{}, 3500, 4, true, memory{up: 3850, down: 1050, request: 3500, vote: 3500, histPeak: 3500, histLeft: 20, hystPeak: 3500, hystCount: 1, hystOpen: 9}},
	} {
		if c.before != nil {
			l.bandwidth = *c.before
		}
		require.Same(t, c.decides, g.sample(l, c.mbps, c.ms*Millisecond), "row", i, "decides")
		if l.bandwidth != c.after {
			t.Errorf("row %d:\n%+v, want\n%+v", i, l.bandwidth, c.after)
		}
	}
}
