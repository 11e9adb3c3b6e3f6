package capability

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

const how = "run make capabilities"

// openApp returns a meter on a separate phone.
func openApp(c *soc.Config, p hal.Preference, progress func(format string, args ...any)) (*App, error) {
	m, err := devices.NewMachine(c, p)
	if err != nil {
		return nil, err
	}
	list := m.Devices()
	r, err := registry.New(list[0], list[1:]...)
	if err != nil {
		return nil, err
	}
	r.SetMachine(m)
	return NewApp(r, m, progress), nil
}

// TestShippedCapabilities: the reported figures of the devices of presets equal their measurements. make sweep measures
// all presets, otherwise the smallest is.
func TestShippedCapabilities(t *testing.T) {
	sweep := os.Getenv("NNSOC_SWEEP") != ""
	for _, name := range soc.Names() {
		c := require.V(soc.Load(name))(t)
		if !devices.Measured(c) {
			t.Errorf("%s: the SoC file changed after its devices were measured: %s", name, how)
			continue
		}
		if name != "ethos-u55-32" && !sweep {
			continue
		}
		list := require.V(devices.Open(c, hal.FastSingleAnswer, devices.Cold()))(t)
		x := Meter{Store: cost.NewStore("", name), Options: hal.PrepareOptions{Preference: hal.FastSingleAnswer}}
		for _, d := range list[1:] {
			f := require.V(x.Measure(d, list[0]))(t)
			require.Equal(t, f.Capabilities(), d.Capabilities(), name, d.Name(), "-measured +reported", how)
		}
	}
}

// TestCPUIsOne: the CPU relates to itself as 1 in everything, control flow too,
// and runs all of the suite.
func TestCPUIsOne(t *testing.T) {
	c := require.V(soc.Load("ethos-u55-32"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer, devices.Cold()))(t)
	x := Meter{Store: cost.NewStore("", "")}
	f := require.V(x.Measure(list[0], list[0]))(t)
	require.Equal(t, list[0].Capabilities(), f.Capabilities(), "(-reported +measured)")
	for operand, x := range f.Operand {
		require.Check(t, len(x.MeasuredOn) != 0, "%v was measured on nothing", operand)
	}
}

// TestSuiteIsValid: every workload obeys the rules of the HAL.
func TestSuiteIsValid(t *testing.T) {
	var models []*nn.Model
	for _, s := range suites {
		list := require.V(workloads(s.operand, false))(t)
		weight := 0.0
		for _, w := range list {
			models = append(models, w.Model)
			weight += w.Weight
		}
		require.Same(t, operations, weight, s.operand, "weights add up to")
	}
	for _, op := range []nn.OperationType{nn.OpIf, nn.OpWhile} {
		whole, body := control(op)
		models = append(models, whole, body)
	}
	for _, m := range models {
		require.Report(t, validate.Model(m), m.Name)
	}
}

// TestNetworks: figures of the benchmark's networks are the geometric mean of those that a
// device supports whole; where it supports none, single operations count.
func TestNetworks(t *testing.T) {
	micro := Figure{PerformanceInfo: hal.PerformanceInfo{ExecTime: 0.5, PowerUsage: 0.25}, MeasuredOn: []string{"ADD"}, Suite: SuiteMicro}
	ratios := []Ratio{{Network: "a", ExecTime: 0.2, PowerUsage: 0.1}, {Network: "b", Skipped: "one operation is left"}, {Network: "c", ExecTime: 0.8, PowerUsage: 0.9}}
	f := byNetworks(micro, ratios)
	if f.ExecTime != 0.4 || f.PowerUsage != 0.3 || f.Suite != SuiteMLTS || !slices.Equal(f.MeasuredOn, []string{"a", "c"}) || f.Micro != micro.PerformanceInfo {
		t.Errorf("got %+v, want the geometric means 0.4 and 0.3 of a and c", f)
	}
	f = byNetworks(micro, ratios[1:2])
	if f.PerformanceInfo != micro.PerformanceInfo || f.Suite != SuiteMicro || !slices.Equal(f.MeasuredOn, micro.MeasuredOn) {
		t.Errorf("got %+v, want the figures of single operations", f)
	}
}

// TestNetworksOfApp: an NPU for 8-bit types has figures of both quantized networks and
// refuses float32; the ratios follow from the benchmark's own results.
func TestNetworksOfApp(t *testing.T) {
	c := require.V(soc.Load("ethos-u55-32"))(t)
	app := require.V(openApp(c, hal.FastSingleAnswer, nil))(t)
	const network = "mobilenet_v1_0.25_128_quant_topk_aosp"
	list := require.V(app.Ratios("npu", []string{network, "tts_float"}, false))(t)
	if len(list) != 2 || list[0].Skipped != "" || !strings.Contains(list[1].Skipped, "npu supports 0 of 6 operations") {
		t.Fatalf("got %+v, want a ratio and a network that the NPU does not take", list)
	}
	l := require.V(mlts.Named([]string{network}))(t)
	bench := *app.bench
	bench.List, bench.Accelerators = l, []string{"npu"}
	results := require.V(bench.Run())(t)
	mean := map[string]float64{}
	for _, r := range results {
		if r.Inference != nil {
			mean[r.Device] = r.Inference.MeanSec
		}
	}
	if got, want := list[0].ExecTime, mean["npu"]/mean["cpu"]; !(math.Abs(got/want-1) < 1e-9) {
		t.Errorf("exec time %v, the benchmark has %v", got, want)
	}
}

const page = "../../docs/Capabilities.md"

// TestPredictions: docs has how well one number predicts networks that it was not measured on. make capabilities
// measures pixel4, otherwise an Ethos-U is measured.
func TestPredictions(t *testing.T) {
	for name, networks := range map[string][]string{
		"ethos-u55-256": {"mobilenet_v1_0.25_128_quant", "mobilenet_v1_0.5_160_quant", "mobilenet_v2_0.35_128_quant", "inception_v1_quant", "squeezenet_quant", "efficientnet_lite0_quant"},
		"pixel4": {
			"mobilenet_v1_0.25_128_float", "mobilenet_v1_0.5_160_float", "mobilenet_v2_0.35_128_float", "squeezenet_float", "efficientnet_lite0_float",
			"mobilenet_v1_0.25_128_quant", "mobilenet_v1_0.5_160_quant", "mobilenet_v2_0.35_128_quant", "inception_v1_quant", "squeezenet_quant", "efficientnet_lite0_quant",
		},
	} {
		if name == "pixel4" && os.Getenv("NNSOC_SWEEP") == "" {
			continue
		}
		c := require.V(soc.Load(name))(t)
		app := require.V(openApp(c, hal.FastSingleAnswer, nil))(t)
		list := require.V(app.Predict(networks))(t)
		var rows []string
		for i := range list {
			if p := &list[i]; p.Comparable() {
				rows = append(rows, fmt.Sprintf("| %s | %s | %.2g / %.2g | %.2g / %.2g | %.2f |", p.Network, p.Device,
					p.Reported.ExecTime, p.Reported.PowerUsage, p.Ratio.ExecTime, p.Ratio.PowerUsage, p.Off()))
			}
		}
		off, n := GeometricError(list)
		require.Check(t, n >= len(networks), "%s: %d rows of %d networks", name, n, len(networks))
		rows = append(rows, fmt.Sprintf("| all | | | | off by %.0f %% |", 100*off))
		doctable.Check(t, page, fmt.Sprintf("| network, %s | device | reported time / energy | measured | measured / reported time |", name), rows)
	}
}
