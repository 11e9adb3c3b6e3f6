package cliffs

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// walker is one for a device of pixel4.
func walker(t *testing.T, name string) *Walker {
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer, devices.Cold()))(t)
	i := slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == name })
	return &Walker{Device: list[i], Store: cost.NewStore("", ""),
		Roof: map[Format]report.Roof{Quant8: session.Roofs(c, true)[name], Float32: session.Roofs(c, false)[name]}}
}

// TestNoCliff: whole-image pools on the GPU from 40 columns to 41, and weights of the DSP beyond L2, which have been
// 14 and 4 times the work's growth; resizes of the GPU to more columns, 18 times their roof, and of few channels, 6 times; copies of odd numbers of channels.
func TestNoCliff(t *testing.T) {
	for _, c := range []struct {
		device string
		family Family
	}{
		{"gpu", Family{Name: "AVERAGE_POOL_2D whole", From: Point{"plane": 40, "channels": 16, "batch": 1},
			Axes: []Axis{{"plane", []uint32{39, 40, 41, 56}}}, build: wholePool((*builder.Builder).AveragePool)}},
		{"dsp", Family{Name: "CONV_2D 3x3 deep", From: Point{"plane": 7, "in": 768, "out": 128, "batch": 1},
			Axes: []Axis{{"in", []uint32{768, 832, 896}}}, build: conv(3, 1)}},
		{"gpu", Family{Name: "RESIZE_BILINEAR", From: Point{"plane": 33, "channels": 21, "to": 128}, Axes: []Axis{{"to", []uint32{64, 128, 150}}}, build: resize(nn.OpResizeBilinear)}},
		{"gpu", Family{Name: "RESIZE_BILINEAR few", From: Point{"plane": 64, "channels": 3, "to": 256}, Axes: []Axis{{"channels", []uint32{1, 2, 3}}}, build: resize(nn.OpResizeBilinear)}},
		{"gpu", Family{Name: "CONCATENATION odd", From: Point{"plane": 28, "channels": 128, "batch": 1}, Axes: []Axis{{"channels", []uint32{127, 128, 129}}}, build: concatenation}},
	} {
		list, samples, err := walker(t, c.device).Walk(&c.family, Quant8)
		require.NoError(t, err)
		require.Check(t, samples >= 3, "%s: %d samples", c.family.Name, samples)
		for _, x := range list {
			if x.Kind == Slow && strings.HasPrefix(x.Family, "RESIZE") {
				t.Errorf("%s on %s takes %.1f us at %v, %.2f times its roof", c.family.Name, c.device, x.At.TimeUS, x.At.Point, x.Ratio)
			}
			if x.Kind == Step {
				t.Errorf("%s on %s: %s from %v (%.1f us) to %v (%.1f us) is a step of %.2f", c.family.Name, c.device, x.Parameter, x.From.Point, x.From.TimeUS, x.At.Point, x.At.TimeUS, x.Ratio)
			}
		}
	}
}

// TestFindsCliff: a step of time without one of work, and an operation far from its roof, are found.
func TestFindsCliff(t *testing.T) {
	w := walker(t, "cpu")
	w.Roof[Quant8] = report.Roof{MACsPerS: 1e15, BytesPerS: 1e15}
	f := Family{Name: "CONV_2D", From: Point{"plane": 8, "in": 16, "out": 16, "batch": 1}, Axes: []Axis{{"plane", []uint32{8, 9}}}, build: conv(1, 1)}
	list, samples, err := w.Walk(&f, Quant8)
	require.NoError(t, err)
	require.Check(t, samples == 2 && len(list) == 2 && list[0].Kind == Slow, "%d samples, %+v", samples, list)
	a, b := Sample{MACs: 100, Bytes: 10}, Sample{MACs: 150, Bytes: 40}
	require.Check(t, growth(&a, &b) == 4 && growth(&b, &a) == 1, "growths %v, %v", growth(&a, &b), growth(&b, &a))
}

// TestReasons: each cliff of a device has a reason in the table: those of a sample of families, of all with NNSOC_SWEEP, and of the operations
// of a network; a ratio beyond that of its row has none.
func TestReasons(t *testing.T) {
	sample := map[string][]string{"gpu": {"CONCATENATION"}, "dsp": {"CONCATENATION"}, "cpu": {"ADD", "MEAN"}, "npu": {"RELU"}}
	hit := map[string]int{}
	for device, names := range sample {
		w := walker(t, device)
		for _, f := range Families() {
			if os.Getenv("NNSOC_SWEEP") == "" && !slices.Contains(names, f.Name) {
				continue
			}
			for _, format := range Formats() {
				list, _, err := w.Walk(&f, format)
				require.NoError(t, err)
				for _, c := range list {
					hit[device]++
					require.Check(t, c.Why() != "", "%s %s on %s: %s of %.2f at %v, %.1f us: no reason", c.Family, format, device, c.Kind, c.Ratio, c.At.Point, c.At.TimeUS)
				}
			}
		}
		networks := []string{"mlperf_tiny_ad_quant"}
		if device == "gpu" {
			networks = append(networks, "mlperf_tiny_kws_quant")
		}
		for _, n := range networks {
			list, samples, err := w.Network(require.V(zoo.Build(n))(t), Quant8)
			require.NoError(t, err)
			require.Check(t, samples > 0, "%s has no operation of %s", device, n)
			for _, c := range list {
				require.Check(t, c.Why() != "", "operation %d (%s) of %s on %s: %.2f, %.1f us: no reason", c.Operation, c.Family, n, device, c.Ratio, c.At.TimeUS)
			}
		}
	}
	for device := range sample {
		require.Check(t, hit[device] > 0, "%s has no cliff", device)
	}
	c := Cliff{Device: "gpu", Family: "TRANSPOSE to NCHW", Kind: Slow, Ratio: 47, At: Sample{TimeUS: 100}}
	require.Check(t, c.Why() != "", "no reason within the ratio")
	c.Ratio = 48
	require.Same(t, c.Why(), "")
}

// TestElementwiseSteps: the time of operations on elements grows as they do on the DSP, whatever the number of channels.
func TestElementwiseSteps(t *testing.T) {
	w := walker(t, "dsp")
	for _, f := range Families() {
		if !slices.Contains([]string{"ADD", "LOGISTIC", "RELU"}, f.Name) {
			continue
		}
		f.Axes = []Axis{{"channels", []uint32{31, 32, 33, 128, 129, 256, 257}}}
		list, samples, err := w.Walk(&f, Quant8)
		require.NoError(t, err)
		require.Check(t, samples == 7, "%d samples of %s", samples, f.Name)
		for _, c := range list {
			require.Check(t, c.Kind != Step, "%s: %.2f at %v", f.Name, c.Ratio, c.At.Point)
		}
	}
}

// TestFamilies: all points can be built, in their order, without repetition.
func TestFamilies(t *testing.T) {
	for _, f := range Families() {
		for _, a := range f.Axes {
			require.Check(t, slices.IsSorted(a.Values) && len(slices.Compact(slices.Clone(a.Values))) == len(a.Values), "%s: %s of %v", f.Name, a.Parameter, a.Values)
			if _, ok := f.From[a.Parameter]; !ok {
				t.Errorf("%s: no parameter %s", f.Name, a.Parameter)
			}
		}
		for _, format := range Formats() {
			require.V(f.Model(f.From, format))(t, f.Name)
		}
	}
}
