package soc

import (
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/sim"
)

// Governor chooses a clock's point by load. Each kind has its own keys.
type Governor struct {
	Kind      string  `toml:"kind"`                                           // schedutil, msm-adreno-tz or bw_hwmon
	UpUs      float64 `toml:"up_us" range:"1..1e7" soc:"optional"`            // schedutil: least time before a rise
	DownUs    float64 `toml:"down_us" range:"1..1e7" soc:"optional"`          // and before a fall
	SampleUs  float64 `toml:"sample_us" range:"1..1e7" soc:"optional"`        // msm-adreno-tz: between decisions; bw_hwmon: a sample
	MinBusyUs float64 `toml:"min_busy_us" range:"0..1e7" soc:"optional"`      // msm-adreno-tz: least work before one
	CeilingUs float64 `toml:"ceiling_us" range:"1..1e9" soc:"optional"`       // work after which the clock is set to its highest point
	UpShare   float64 `toml:"up_share" range:"0.01..1" soc:"optional"`        // load above which it goes one point up
	DownShare float64 `toml:"down_share" range:"0.0001..0.99" soc:"optional"` // load below which it goes one point down

	// bw_hwmon, of the DRAM: see sim.BandwidthMonitor. The names are those of the kernel.
	DecisionUs       float64   `toml:"decision_us" range:"1..1e7" soc:"optional"`
	BytesPerClock    float64   `toml:"bytes_per_clock" range:"0.1..1024" soc:"optional"`     // a point is a vote for its clock times this
	MBpsZones        []float64 `toml:"mbps_zones" len:"1..16" range:"1..1e6" soc:"optional"` // rising, below max_mbps
	MaxMBps          float64   `toml:"max_mbps" range:"1..1e6" soc:"optional"`               // highest vote
	IOPercent        float64   `toml:"io_percent" range:"1..100" soc:"optional"`
	UpThres          float64   `toml:"up_thres" range:"0..100" soc:"optional"`
	UpScale          float64   `toml:"up_scale" range:"0..500" soc:"optional"`
	DownThres        float64   `toml:"down_thres" range:"0..90" soc:"optional"`
	DownCount        int       `toml:"down_count" range:"1..90" soc:"optional"`
	HistMemory       int       `toml:"hist_memory" range:"0..90" soc:"optional"`
	HystTriggerCount int       `toml:"hyst_trigger_count" range:"1..90" soc:"optional"`
	HystLength       int       `toml:"hyst_length" range:"0..90" soc:"optional"`
	IdleMBps         float64   `toml:"idle_mbps" range:"0..2000" soc:"optional"`
	DecayRate        float64   `toml:"decay_rate" range:"0..100" soc:"optional"`
}

// Governor kinds.
const (
	governorSchedutil = "schedutil"
	governorAdrenoTZ  = "msm-adreno-tz"
	governorBandwidth = "bw_hwmon"
)

// governorKeys are those that each kind has, all of them and no other.
var governorKeys = []struct {
	kind string
	keys []string
}{
	{governorSchedutil, []string{"up_us", "down_us"}},
	{governorAdrenoTZ, []string{"sample_us", "min_busy_us", "ceiling_us", "up_share", "down_share"}},
	{governorBandwidth, []string{
		"sample_us", "decision_us", "bytes_per_clock", "mbps_zones", "max_mbps", "io_percent", "up_thres", "up_scale", "down_thres", "down_count",
		"hist_memory", "hyst_trigger_count", "hyst_length", "idle_mbps", "decay_rate",
	}},
}

// governor is the policy that a clock names; no policy is the vote of a driver.
func (c *Clock) governor() sim.Governor {
	g := c.Governor
	switch {
	case g == nil:
		return sim.Fixed{}
	case g.Kind == governorSchedutil:
		return sim.Schedutil{Up: sim.Microseconds(g.UpUs), Down: sim.Microseconds(g.DownUs)}
	}
	return sim.AdrenoTZ{Sample: sim.Microseconds(g.SampleUs), MinBusy: sim.Microseconds(g.MinBusyUs), Ceiling: sim.Microseconds(g.CeilingUs), UpShare: g.UpShare, DownShare: g.DownShare}
}

// bandwidthMonitor is the policy of a memory's clock.
func (g *Governor) bandwidthMonitor() sim.BandwidthMonitor {
	return sim.BandwidthMonitor{
		Sample: sim.Microseconds(g.SampleUs), Decision: sim.Microseconds(g.DecisionUs), BytesPerClock: g.BytesPerClock, IOPercent: g.IOPercent,
		Zones: g.MBpsZones, UpThres: g.UpThres, UpScale: g.UpScale, DownThres: g.DownThres, DownCount: g.DownCount, HistMemory: g.HistMemory,
		HystTrigger: g.HystTriggerCount, HystLength: g.HystLength, IdleMBps: g.IdleMBps, DecayPercent: g.DecayRate,
	}
}

// governor demands the keys of its kind, which is one of some, and refuses the others.
func (k *checker) governor(p string, g *Governor, kinds ...string) {
	if !slices.Contains(kinds, g.Kind) {
		k.fail(p+".kind", "%q, want %s", g.Kind, strings.Join(kinds, " or "))
		return
	}
	users := map[string][]string{}
	for _, x := range governorKeys {
		for _, key := range x.keys {
			users[key] = append(users[key], x.kind)
		}
	}
	seen := map[string]bool{}
	for _, x := range governorKeys {
		for _, key := range x.keys {
			if !seen[key] {
				k.only(p+"."+key, slices.Contains(users[key], g.Kind), "kind = \""+strings.Join(users[key], "\" or \"")+"\"")
			}
			seen[key] = true
		}
	}
	if g.Kind == governorAdrenoTZ && g.DownShare >= g.UpShare {
		k.fail(p+".down_share", "%v is not below up_share", g.DownShare)
	}
	if !slices.IsSorted(g.MBpsZones) {
		k.fail(p+".mbps_zones", "%v do not rise", g.MBpsZones)
	}
	if n := len(g.MBpsZones); n > 0 && g.Kind == governorBandwidth && g.MBpsZones[n-1] >= g.MaxMBps {
		k.fail(p+".mbps_zones", "%v takes no effect: it is not below max_mbps", g.MBpsZones[n-1])
	}
	if g.Kind == governorBandwidth && g.DecisionUs < g.SampleUs {
		k.fail(p+".decision_us", "%v is less than sample_us", g.DecisionUs)
	}
}
