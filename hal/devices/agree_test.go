package devices_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// One network has one latency and one energy: on a device of Open, on that of a machine after a
// warm-up, and on a driver from outside in the place of either. The networks are small, so that
// governors find their engines busy for a part of the time.
func TestOneNetworkOneCost(t *testing.T) {
	for _, x := range []struct {
		preset   string
		networks []string
	}{
		{"pixel4", []string{"mlperf_tiny_ad_quant", "mlperf_tiny_kws_quant", "mlperf_tiny_ic_quant", "mlperf_tiny_kws_float", "mobilenet_v1_0.25_128_quant"}},
		{"sd888", []string{"mlperf_tiny_kws_quant"}},
		{"xclipse920", []string{"mlperf_tiny_ad_quant", "mlperf_tiny_kws_float"}},
	} {
		c := require.V(soc.Load(x.preset))(t)
		ran := map[string]bool{}
		for _, name := range x.networks {
			for _, device := range []string{"gpu", "dsp", "npu"} {
				ran[device] = agree(t, c, name, device) || ran[device]
			}
		}
		for _, device := range []string{"gpu", "dsp", "npu"} {
			require.Check(t, x.preset != "pixel4" || ran[device], "no network ran on the %s", device)
		}
	}
}

// agree compares the costs of a network on the devices of a SoC, and reports whether the device supports it.
func agree(t *testing.T, c *soc.Config, name, device string) bool {
	t.Helper()
	model := require.V(zoo.Build(name))(t)
	options := hal.PrepareOptions{Preference: hal.FastSingleAnswer}
	find := func(list []hal.Device, err error) hal.Device {
		t.Helper()
		require.NoError(t, err)
		if i := slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == device }); i >= 0 {
			return list[i]
		}
		return nil
	}
	opened := find(devices.Open(c, hal.FastSingleAnswer))
	if opened == nil {
		return false
	}
	if s, err := opened.SupportedOperations(model); err != nil || slices.ContainsFunc(s, func(s hal.Support) bool { return !s.OK }) {
		return false
	}
	served, stop := require.V2(service.Loopback(opened))(t)
	defer stop()
	open := func(o ...devices.Option) *hal.Result {
		t.Helper()
		p := require.V(find(devices.Open(c, hal.FastSingleAnswer, o...)).PrepareModel(model, options))(t)
		res := require.V(hal.Execute(p, buffersOf(model)))(t)
		return res
	}
	// The first execution after a warm-up, and the means of a loop for some time.
	machine := func(loop sim.Time, o ...devices.Option) (res *hal.Result, latency, energy float64) {
		t.Helper()
		m := require.V(devices.NewMachine(c, hal.FastSingleAnswer, o...))(t)
		p := require.V(find(m.Devices(), nil).PrepareModel(model, options))(t)
		f := func() (err error) { res, err = hal.Execute(p, buffersOf(model)); return err }
		require.NoError(t, m.Warm(f))
		first, n := res, 0.0
		for end := m.SoC().Now() + loop; m.SoC().Now() < end; n++ {
			require.NoError(t, f())
			latency += float64(res.Stats.LatencyFs)
			energy += res.Stats.EnergyPJ
		}
		return first, latency / n, energy / n
	}
	outside := devices.Attach(served, devices.PlaceOf(c, served))
	want, latency, energy := machine(200 * sim.Millisecond)
	fromOutside, _, _ := machine(0, outside)
	mean := &hal.Result{}
	mean.Stats.LatencyFs, mean.Stats.EnergyPJ = int64(latency), energy
	for _, x := range []struct {
		way       string
		got, want *hal.Result
		within    float64
	}{
		{"Open", open(), want, 0.001}, {"Open, attached", open(outside), fromOutside, 0.001},
		{"Machine, in a loop", mean, want, 0.03},      // where a governor goes up and down
		{"Machine, attached", fromOutside, want, 0.1}, // whose memory is cold (D-1201)
	} {
		latency := float64(x.got.Stats.LatencyFs) / float64(x.want.Stats.LatencyFs)
		energy := x.got.Stats.EnergyPJ / x.want.Stats.EnergyPJ
		t.Logf("%s on the %s of %s, %s: latency %.4f, energy %.4f", name, device, c.SoC.Name, x.way, latency, energy)
		if !(math.Abs(latency-1) <= x.within) || !(math.Abs(energy-1) <= x.within) {
			t.Errorf("%s on the %s of %s, %s: %.4f of the latency and %.4f of the energy", name, device, c.SoC.Name, x.way, latency, energy)
		}
	}
	return true
}
