package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// runForm runs a model on a device as the command does and returns the entry
// of its report, by way of JSON, and the text.
func runForm(t *testing.T, m *nn.Model, device string) (e map[string]any, text string) {
	t.Helper()
	a := &cli.App{SoC: "pixel4", Err: io.Discard}
	f := &runFlags{pace: measure.Pace{Pace: session.Pace{Invocations: 1}}}
	mach := require.V(machine.OpenLive(a, hal.FastSingleAnswer))(t)
	form := require.V(input.NewForm(m, &f.Flags))(t)
	require.NoError(t, input.Reference(form))
	r := &report{machine: mach, data: *session.NewReport(mach.Phone, form.Model)}
	r.data.Add(require.V(runDevice(a, mach, form, require.V(f.options(form, device))(t)))(t))
	var b bytes.Buffer
	require.NoError(t, cli.PrintJSON(&b, r.object()))
	var object struct{ Runs []map[string]any }
	require.NoError(t, json.Unmarshal(b.Bytes(), &object))
	var w strings.Builder
	require.NoError(t, r.print(&w))
	return object.Runs[0], w.String()
}

// TestReportAddsUp reads the JSON object as a user would: the rows of each
// device are its whole cost, and so are its stalls.
func TestReportAddsUp(t *testing.T) {
	gemm := require.V(bench.Gemm("f32", 64))(t)
	for _, c := range []struct {
		device string
		model  *nn.Model
	}{
		{"cpu", zoo.MustBuild("mobilenet_v1_0.25_224_quant")}, {"dsp", zoo.MustBuild("mobilenet_v1_0.25_224_quant")}, {"npu", zoo.MustBuild("mobilenet_v1_0.25_224_quant")}, {"gpu", gemm},
		{session.Auto, mixedModel()},
	} {
		e, text := runForm(t, c.model, c.device)
		number := func(o any, key string) float64 { return o.(map[string]any)[key].(float64) }
		total := func(o any) float64 {
			sum := 0.
			for n := range maps.Values(o.(map[string]any)["stall_cycles"].(map[string]any)) {
				sum += n.(float64)
			}
			return sum
		}
		var us, uj float64
		devices := e["devices"].([]any)
		for _, d := range devices {
			us, uj = us+number(d, "time_us"), uj+number(d, "energy_uj")
			var cycles, rowUS, rowUJ, launches float64
			for _, o := range e["operations"].([]any) {
				row := o.(map[string]any)
				if row["device"] != d.(map[string]any)["device"] {
					continue
				}
				if total(o) != number(o, "cycles") {
					t.Errorf("%s: stalls of %v in %v", c.device, total(o), o)
				}
				if row["type"] == "LAUNCH" {
					launches++
				}
				cycles, rowUS, rowUJ = cycles+number(o, "cycles"), rowUS+number(o, "time_us"), rowUJ+number(o, "energy_uj")
			}
			host := d.(map[string]any)["stall_cycles"].(map[string]any)["launch"].(float64)
			if engine := number(d, "engine_cycles"); engine != cycles-host || engine <= 0 || engine >= cycles || !strings.Contains(text, fmt.Sprintf(" %.0f ", engine)) {
				t.Errorf("%s: %v cycles of the engine, of %v and the host's %v:\n%s", c.device, engine, cycles, host, text)
			}
			if cycles != number(d, "total_cycles") || total(d) != cycles || !close(rowUS, number(d, "time_us")) || !close(rowUJ, number(d, "energy_uj")) || launches != 1 {
				t.Errorf("%s: rows of %v cycles, %v us, %v uJ, %v launches; the device has %v", c.device, cycles, rowUS, rowUJ, launches, d)
			}
		}
		if !close(us, e["latency_us"].(float64)) || !close(uj, e["energy_uj"].(float64)) {
			t.Errorf("%s: devices of %v us, %v uJ, the run has %v, %v", c.device, us, uj, e["latency_us"], e["energy_uj"])
		}
		_, cycles := e["total_cycles"]
		_, stalls := e["stall_cycles"]
		if one := len(devices) == 1; cycles != one || stalls != one || one != (c.device != session.Auto) {
			t.Errorf("%s: %d devices, cycles %v, stalls %v", c.device, len(devices), cycles, stalls)
		}
		if c.device == session.Auto && (!strings.Contains(text, "on cpu") || !strings.Contains(text, "on gpu")) {
			t.Errorf("no rows of the devices of a mixed run:\n%s", text)
		}
	}
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// mixedModel has an operation for the NPU and one that it declines.
func mixedModel() *nn.Model {
	m, err := bench.Gemm("u8", 1024)
	if err != nil {
		panic(err)
	}
	g := &m.Main
	last := g.Outputs[0]
	g.Operands[last].Lifetime = nn.TemporaryVariable
	shape := g.Operands[last].Dimensions
	axis := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{1, 0, 0, 0}}
	index := nn.Operand{Type: nn.TensorInt32, Dimensions: shape[:1], Lifetime: nn.SubgraphOutput}
	n := uint32(len(g.Operands))
	g.Operands = append(g.Operands, axis, index)
	g.Operations = append(g.Operations, nn.Operation{Type: nn.OpArgmax, Inputs: []uint32{last, n}, Outputs: []uint32{n + 1}})
	g.Outputs = []uint32{n + 1}
	return m
}

// TestLabels: class names are text, one per class of some output.
func TestLabels(t *testing.T) {
	for in, want := range map[string][]string{
		"a\nb c\n":         {"a", "b c"},
		"\ufeffa\r\nb\r\n": {"a", "b"},
		"zwölf\n\n x \n\n": {"zwölf", "", "x"},
	} {
		got, err := input.ParseLabels([]byte(in))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", in, err, diff)
		}
	}
	for in, want := range map[string]string{
		"":            "no class names",
		"\n\n":        "no class names",
		"a\nb\x00c":   "line 2, byte 2: not text",
		"\x89PNG\r\n": "line 1, byte 1: not text",
	} {
		require.ErrorContains(t, require.Err(input.ParseLabels([]byte(in))), want, in)
	}
	m := zoo.MustBuild("mobilenet_v1_0.25_224_quant")
	for n, ok := range map[int]bool{1001: true, 1000: false, 1002: false} {
		if err := input.CheckLabels("l.txt", make([]string, n), m); (err == nil) != ok {
			t.Errorf("%d labels for 1001 classes: %v", n, err)
		}
	}
}

// TestSampledText: sampling is reported with the differences that were measured, and only with those.
func TestSampledText(t *testing.T) {
	s := devices.Sampling{Executions: 8, Simulated: 4, Measured: 2, Latency: 0.001, Energy: 0.002, Counter: 0.03, CounterName: "l2_read"}
	want := "gpu, sampled: 4 of 8 executions that no state repeats were simulated; 2 of them measured how far what was taken lies from a simulation: " +
		"latency 0.10 %, energy 0.20 %, counters 3.00 % (l2_read) at most."
	if got := sampledText("gpu", &s); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	s = devices.Sampling{Executions: 2, Simulated: 2, Parts: &devices.PartSampling{Instructions: 200, Simulated: 50}}
	want = "gpu, sampled: 2 of 2 executions that no state repeats were simulated, none was taken for another.\n" +
		"gpu, sampled inside executions: 25 % of the instructions were simulated in time"
	if got := sampledText("gpu", &s); got != want+"." {
		t.Errorf("%s\nwant %s.", got, want)
	}
	s.Parts.Measured, s.Parts.Latency = 3, 0.01
	want += "; 3 comparisons of what was taken for the rest with a simulation: latency 1.00 %, energy 0.00 % in sum."
	if got := sampledText("gpu", &s); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
