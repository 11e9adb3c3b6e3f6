package sim_test

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// bandwidthDomain has points of 100 to 1000 MHz, votes for 400 to 4000 MB/s.
func bandwidthDomain(t *testing.T, change func(*sim.BandwidthMonitor)) *sim.Domain {
	t.Helper()
	g := sim.BandwidthMonitor{
		Sample: 4 * sim.Millisecond, Decision: 40 * sim.Millisecond, BytesPerClock: 1.048576 * 4, IOPercent: 80, Zones: []float64{400, 800, 1200, 2000, 2800, 3600},
		UpThres: 10, UpScale: 250, DownThres: 30, DownCount: 3, HistMemory: 20, HystTrigger: 3, HystLength: 10, IdleMBps: 1600, DecayPercent: 90,
	}
	if change != nil {
		change(&g)
	}
	c := sim.DomainConfig{Name: "ddr", Governor: g}
	for mhz := int64(100); mhz <= 1000; mhz += 100 {
		c.OPPs = append(c.OPPs, sim.OPP{Hz: mhz * 1e6, Volts: 1})
	}
	for p := range c.Points {
		c.Points[p] = len(c.OPPs) - 1
	}
	d := require.V(sim.NewDomain(c))(t)
	return d
}

// TestBandwidthMonitor: points in MHz at the end of spans of constant traffic.
func TestBandwidthMonitor(t *testing.T) {
	type span struct{ ms, mbps int }
	noHysteresis := func(g *sim.BandwidthMonitor) { g.HystTrigger = 1000 }
	for _, c := range []struct {
		name   string
		change func(*sim.BandwidthMonitor)
		spans  []span
		want   string
	}{
		// A rise shows in the sample that sees it; the request is 250 % of it higher, up to 80 %
		// of the zone of 2000.
		{"rise", nil, []span{{4, 0}, {4, 1000}}, "[100 500]"},
		{"below a sample", nil, []span{{3, 1000}, {1, 0}}, "[100 300]"},
		// 250 % of the rise more, but no more than the zone of the traffic: 1520 MB/s are in that up to 2000, 1700 in
		// that up to 2800.
		{"zone", nil, []span{{4, 1520}}, "[500]"},
		{"next zone", nil, []span{{4, 1700}}, "[700]"},
		// 10 % more do not wake it before 40 ms have passed.
		{"threshold", nil, []span{{4, 1600}, {32, 1700}, {8, 1700}}, "[500 500 600]"},
		// Three samples below 30 % wake it; the vote falls to 90 % new and 10 % old.
		{"fall", noHysteresis, []span{{4, 1600}, {8, 0}, {4, 0}, {40, 0}, {40, 0}}, "[500 500 100 100 100]"},
		{"decay", noHysteresis, []span{{4, 3200}, {12, 800}, {12, 800}, {40, 800}}, "[1000 400 400 300]"},
		// Recurring peaks hold the vote while traffic is above 1600.
		{"hysteresis", nil, []span{{4, 3200}, {40, 3200}, {40, 3200}, {40, 1700}, {40, 1700}, {400, 1700}}, "[1000 1000 1000 1000 1000 600]"},
		{"no hysteresis", noHysteresis, []span{{4, 3200}, {40, 3200}, {40, 3200}, {40, 1700}, {40, 1700}}, "[1000 1000 1000 600 600]"},
	} {
		d := bandwidthDomain(t, c.change)
		now, got := sim.Time(0), []int64(nil)
		for _, s := range c.spans {
			now += sim.Time(s.ms) * sim.Millisecond
			d.AdvanceLoad(now, float64(s.mbps)/4000)
			o, _ := d.Point()
			got = append(got, o.Hz/1e6)
		}
		require.Same(t, c.want, fmt.Sprint(got), c.name, "MHz")
	}
}

// TestBandwidthMonitorIdles: a peak of 1050 MB/s is remembered for 20 decisions, 800 ms, also by a domain that idles.
// Until then it limits the request after a rise to 1000 MB/s.
func TestBandwidthMonitorIdles(t *testing.T) {
	for pause, want := range map[sim.Time]int64{60: 400, 400: 400, 780: 400, 880: 500, 5000: 500, 60000: 500} {
		for _, step := range []sim.Time{4, 20, pause} {
			d := bandwidthDomain(t, nil)
			now := sim.Time(0)
			spend := func(ms sim.Time, mbps float64) {
				now += ms * sim.Millisecond
				d.AdvanceLoad(now, mbps/4000)
			}
			spend(8, 1050)
			for range pause / step {
				spend(step, 0)
			}
			spend(4, 1000)
			if o, _ := d.Point(); o.Hz != want*1e6 {
				t.Errorf("after %d ms in steps of %d: %d MHz, want %d", pause, step, o.Hz/1e6, want)
			}
		}
	}
}

// TestBandwidthMonitorKeys: each number of the governor shows somewhere.
func TestBandwidthMonitorKeys(t *testing.T) {
	course := func(change func(*sim.BandwidthMonitor)) (text string) {
		d := bandwidthDomain(t, change)
		now, random := sim.Time(0), uint64(1)
		for i := range 4000 {
			random = random*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
			now += sim.Time(1+random>>61) * sim.Millisecond
			d.AdvanceLoad(now, float64(random>>40&0xff)/256*[4]float64{1, 0.5, 0.1, 0.25}[i/40%4])
			_, p := d.Point()
			text += fmt.Sprint(p)
		}
		return text
	}
	base := course(nil)
	for name, change := range map[string]func(*sim.BandwidthMonitor){
		"Sample": func(g *sim.BandwidthMonitor) { g.Sample *= 2 }, "Decision": func(g *sim.BandwidthMonitor) { g.Decision *= 2 },
		"Zones":         func(g *sim.BandwidthMonitor) { g.Zones = g.Zones[:1] },
		"BytesPerClock": func(g *sim.BandwidthMonitor) { g.BytesPerClock = 2 }, "IOPercent": func(g *sim.BandwidthMonitor) { g.IOPercent = 50 },
		"UpThres": func(g *sim.BandwidthMonitor) { g.UpThres = 60 }, "UpScale": func(g *sim.BandwidthMonitor) { g.UpScale = 0 },
		"DownThres": func(g *sim.BandwidthMonitor) { g.DownThres = 60 }, "DownCount": func(g *sim.BandwidthMonitor) { g.DownCount = 1 },
		"HistMemory": func(g *sim.BandwidthMonitor) { g.HistMemory = 1 }, "HystTrigger": func(g *sim.BandwidthMonitor) { g.HystTrigger = 1 },
		"HystLength": func(g *sim.BandwidthMonitor) { g.HystLength = 3 }, "IdleMBps": func(g *sim.BandwidthMonitor) { g.IdleMBps = 100 },
		"DecayPercent": func(g *sim.BandwidthMonitor) { g.DecayPercent = 50 },
	} {
		if course(change) == base {
			t.Errorf("%s changes nothing", name)
		}
	}
	if course(nil) != base {
		t.Error("a repetition differs")
	}
}
