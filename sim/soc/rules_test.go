package soc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/thermal"
)

func preset(t *testing.T, name string) *Config {
	t.Helper()
	c := require.V(Load(name))(t)
	return c
}

// TestDRAMConfig: each key of [dram] goes to its field of the controller, in its unit.
func TestDRAMConfig(t *testing.T) {
	d := preset(t, "pixel4").DRAM
	spans := []*float64{&d.RLNs, &d.WLNs, &d.TRCDNs, &d.TRPpbNs, &d.TRPabNs, &d.TRASNs, &d.TRCNs, &d.TRRDNs, &d.TFAWNs, &d.TWRNs, &d.TWTRNs, &d.TRTPNs, &d.TRTWNs,
		&d.TRFCabNs, &d.TRFCpbNs, &d.TREFINs, &d.TXSRNs, &d.RequestNs, &d.ResponseNs}
	for i, ns := range spans {
		*ns = float64(i + 1)
	}
	c := d.Config()
	for i, got := range []sim.Time{c.ReadLatency, c.WriteLatency, c.TRCD, c.TRPpb, c.TRPab, c.TRAS, c.TRC, c.TRRD, c.TFAW, c.TWR, c.TWTR, c.TRTP, c.TRTW,
		c.TRFCab, c.TRFCpb, c.TREFI, c.TXSR, c.RequestLatency, c.ResponseLatency} {
		if want := sim.Time(i+1) * sim.Nanosecond; got != want {
			t.Errorf("span %d is %d, want %d", i, got, want)
		}
	}
	counts := [...]int64{int64(c.Channels), int64(c.Banks), int64(c.RowBytes), int64(c.BusBits), int64(c.BurstLength), c.TransfersPerSec, int64(c.InterleaveBytes), int64(c.QueueDepth), int64(c.WriteQueue), int64(c.WriteIdle), int64(c.TransfersPerClock)}
	if want := [...]int64{4, 8, 2048, 16, 16, 4266e6, 128, 32, 32, 8, 2}; counts != want || c.SelfRefreshAfter != 100*sim.Microsecond || c.SwitchTime != sim.Microsecond || !c.XORBanks {
		t.Errorf("%v, want %v; %+v", counts, want, c)
	}
	for _, x := range []struct {
		edit func(*DRAM)
		want string // scheduler, row policy and refresh
	}{
		{func(*DRAM) {}, fmt.Sprintf("%#v %#v %v", dram.FRFCFS{RowHitCap: 16, AgeLimit: 4266}, nil, dram.RefreshAllBanks)},
		{func(d *DRAM) { d.Scheduler, d.RowPolicy, d.Refresh = "fcfs", "closed", "per_bank" }, fmt.Sprintf("%#v %#v %v", dram.FCFS{}, dram.ClosedRows{}, dram.RefreshPerBank)},
		{func(d *DRAM) { d.RowPolicy, d.RowTimeoutNs, d.TransfersPerClock = "timeout", 100, 4 }, fmt.Sprintf("%#v %#v %v", dram.FRFCFS{RowHitCap: 16, AgeLimit: 2133}, dram.TimeoutRows{Clocks: 106}, dram.RefreshAllBanks)},
	} {
		e := d
		x.edit(&e)
		c := e.Config()
		require.Same(t, x.want, fmt.Sprintf("%#v %#v %v", c.Scheduler, c.RowPolicy, c.Refresh))
	}
	d.Energy.PJ = map[string]float64{"dram_activate": 2048, "dram_read_burst": 320, "dram_write_burst": 640, "dram_refresh": 78}
	d.Energy.StaticMW = 5
	read, write := d.StreamPJPerByte() // bursts of 32 bytes, rows of 2 KiB
	if e := d.Config().Energy; read != 11 || write != 21 || e.ActivatePJ != 2048 || e.ReadBurstPJ != 320 || e.WriteBurstPJ != 640 || e.BackgroundMW != 5+4*78./16 || d.RefreshMW() != 4*78./16 {
		t.Errorf("%v and %v pJ a byte, %+v", read, write, e)
	}
	if d.Refresh = "none"; d.RefreshMW() != 0 || d.BackgroundMW() != 5 {
		t.Errorf("%v mW without refresh", d.RefreshMW())
	}
	bare := "[dram]\nchannels = 4\n"
	for text, want := range map[string]string{
		bare: "dram.type", bare + "chanels = 2\n": "chanels", "[dram]\nchannels = x": "f.toml:2", strings.Repeat("#", maxFile+1): "larger than", "[gpu]\nlanes = 32\n": "gpu",
	} {
		if _, err := ParseDRAM("f.toml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "soc: f.toml:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	data := require.V(presets.ReadFile("pixel4.toml"))(t)
	_, text, _ := strings.Cut(string(data), "\n[dram]\n")
	text, _, _ = strings.Cut(text, "\n[interconnect]")
	text, _, _ = strings.Cut("[dram]\n"+text, "\n[system_cache")
	got, err := ParseDRAM("f.toml", []byte(text))
	if want := preset(t, "pixel4").DRAM; err != nil || got.MTPerS != want.MTPerS || got.TRFCabNs != want.TRFCabNs || got.Energy.PJ["dram_refresh"] != want.Energy.PJ["dram_refresh"] {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestCacheSets: the sets of a cache are a power of two, one included.
func TestCacheSets(t *testing.T) {
	for _, c := range []struct {
		kib        float64
		ways, line int
		want       string
	}{
		{4, 64, 64, ""}, {8, 64, 64, ""}, {12, 64, 64, "x.kib: 3 sets, want a power of two"}, {0, 64, 64, "x.kib: 0 sets, want a power of two"},
		{12, 3, 64, ""}, {4, 64, 48, "x.line_bytes: 48 is not a power of two"}, {5, 64, 64, "x.kib: 5120 bytes are not a multiple of 64 ways of 64-byte lines"},
	} {
		k := checker{file: "f"}
		k.cache("x", &Cache{KiB: c.kib, Ways: c.ways, LineBytes: c.line})
		got := ""
		if err := k.err(); err != nil {
			_, got, _ = strings.Cut(err.Error(), ": x.")
			got = "x." + got
		}
		if got != c.want {
			t.Errorf("%v KiB of %d ways: %q, want %q", c.kib, c.ways, got, c.want)
		}
	}
}

// TestBandwidthGovernorErrors: zones rise and are below the highest vote, decisions cover a sample at least.
func TestBandwidthGovernorErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Governor)
		want   string
	}{
		{func(*Governor) {}, ""},
		{func(g *Governor) { g.MaxMBps = 5931 }, "5931 takes no effect: it is not below max_mbps"},
		{func(g *Governor) { g.MaxMBps = 5931.5 }, ""},
		{func(g *Governor) { g.MBpsZones = []float64{1720, 1700} }, "[1720 1700] do not rise"},
		{func(g *Governor) { g.MBpsZones = nil }, ""},
		{func(g *Governor) { g.DecisionUs = g.SampleUs }, ""},
		{func(g *Governor) { g.DecisionUs = g.SampleUs - 1 }, "is less than sample_us"},
		{func(g *Governor) { g.Kind = governorAdrenoTZ; g.UpShare, g.DownShare = .5, .5 }, "down_share: 0.5 is not below up_share"},
	} {
		g := *preset(t, "pixel4").DRAM.Clock.Governor
		c.change(&g)
		k := checker{file: "f", pos: map[string]position{}}
		for _, x := range governorKeys {
			for _, key := range x.keys {
				if x.kind == g.Kind {
					k.pos["x."+key] = position{}
				}
			}
		}
		k.governor("x", &g, governorBandwidth, governorAdrenoTZ)
		got := ""
		if err := k.err(); err != nil {
			got = err.Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestGoverned: the GPU of a Pixel 4 follows its load; the clocks of its DSP and NPU are votes of drivers. The CPU, whose
// clusters follow theirs, has no clock that is one.
func TestGoverned(t *testing.T) {
	c := preset(t, "pixel4")
	for e, want := range map[Engine]bool{EngineCPU: false, EngineGPU: true, EngineDSP: false, EngineNPU: false, NumEngines: false} {
		require.Same(t, want, c.Governed(e), e)
	}
	if c.CPU.Clusters[0].Clock.Governor == nil {
		t.Error("the CPU of a Pixel 4 has no governor")
	}
	c.GPU = nil
	if c.Governed(EngineGPU) {
		t.Error("an absent GPU is governed")
	}
}

// TestThermalRules: the rules of a file as its network has them; the GPU's of a Pixel 4 that compares it with the CPU.
func TestThermalRules(t *testing.T) {
	x := preset(t, "pixel4").Thermal
	const cpu, gpu, skin = 0, 1, 5
	for i, want := range map[int]thermal.Rule{
		0: {Sensor: skin, Minus: thermal.None, Gate: thermal.None, Every: 2 * sim.Second,
			Steps: []thermal.Step{{Reach: 40, Clear: 39, Hz: 2131e6}, {Reach: 42, Clear: 41, Hz: 1804e6}, {Reach: 44, Clear: 43, Hz: 1401e6}}},
		3: {Sensor: gpu, Minus: cpu, Gate: skin, GateCelsius: 41, Every: sim.Second, Steps: []thermal.Step{{Reach: 8, Clear: 2, Hz: 427e6}}},
	} {
		require.Equal(t, &want, x.Rule(&x.Rules[i]), "rule", i)
	}
	status := x.Status()
	if status.Sensor != skin || status.Minus != thermal.None || status.Gate != thermal.None || status.Every != sim.Second || len(status.Steps) != 6 {
		t.Errorf("status: %+v", status)
	}
	for i, reach := range []float64{40, 44, 46, 48, 52, 56} {
		if s := status.Steps[i]; s.Reach != reach || !(math.Abs(s.Clear-(reach-1.9)) <= 1e-9) || s.Hz != 0 {
			t.Errorf("status %d: %+v", i, s)
		}
	}
}

// TestMemoryRates: rates equal those of other random lines and streams, to the variation of 1024 of them.
func TestMemoryRates(t *testing.T) {
	c := preset(t, "pixel4")
	const line, n = 64, 4096
	r := rand.New(rand.NewPCG(5, 6))
	var d *dram.DRAM
	var port mem.Level
	var now, last sim.Time
	var flight []sim.Time
	start := func(inFlight int) {
		s, bus := require.V2(c.NewFabric())(t)
		d, port, now, last, flight = s, bus.Port("cpu"), 0, 0, make([]sim.Time, inFlight)
	}
	access := func(number uint64, k mem.Kind) {
		now = max(now, flight[0])
		done, _ := port.Access(now, number*line, line, k)
		flight, last = append(flight[1:], done), max(last, done)
	}
	near := func(what string, inFlight int, got, want, share float64) {
		if !(math.Abs(got-want) <= share*want) {
			t.Errorf("%s with %d in flight: %v, want %v", what, inFlight, got, want)
		}
	}
	for _, inFlight := range []int{1, 16, 64} {
		rates := require.V(c.MemoryRates(line, inFlight))(t)
		start(inFlight)
		for i := range uint64(n) {
			access(r.Uint64N(1<<20), mem.Read)
			access(2<<20+i, mem.Write)
		}
		near("random lines", inFlight, rates.Random.Seconds(), max(last, d.Flush(last)).Seconds()/n, .05)
		start(inFlight)
		for i := uint64(0); i < n; i += 16 { // a chunk of 1 KiB of each
			for k := range uint64(48) {
				access(k/16*(1<<20+128)+i+k%16, []mem.Kind{mem.Read, mem.Read, mem.Write}[k/16])
			}
		}
		near("streams", inFlight, rates.StreamPerSecond, 3*n*line/max(last, d.Flush(last)).Seconds(), .05)
		start(1)
		sum := sim.Time(0)
		for i := range sim.Time(n) {
			at := i * sim.Microsecond
			done, _ := port.Access(at, r.Uint64N(1<<20)*line, line, mem.Read)
			sum += done - at
		}
		near("alone", inFlight, rates.Alone.Seconds(), sum.Seconds()/n, .02)
	}
}
