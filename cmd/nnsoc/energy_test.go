package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/run"
	"github.com/nnsoc/nnsoc/internal/require"
)

// energyRun is the energy of one device's run in run --json.
type energyRun struct {
	LatencyUS        float64            `json:"latency_us"`
	EnergyUJ         float64            `json:"energy_uj"`
	EnergyParts      map[string]float64 `json:"energy_parts_uj"`
	EnergyComponents map[string]float64 `json:"energy_components_uj"`
	Devices          []struct {
		EnergyUJ float64 `json:"energy_uj"`
	}
	Operations []struct {
		EnergyUJ float64 `json:"energy_uj"`
	}
	Invocations struct {
		FirstUS float64 `json:"first_us"`
		Count   int
		Course  struct {
			EnergyJ float64 `json:"energy_j"`
		}
	}
}

// commandJSON runs a command and reads its object.
func commandJSON(t *testing.T, object any, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if code := execute(append(args, "--json", "--quiet"), &out, io.Discard); code != cli.ExitOK {
		t.Fatalf("%s: exit code %d", strings.Join(args, " "), code)
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), object))
}

// TestRowsOf: operations and devices belong to one invocation of many, whose time may differ from the mean: they add
// up to it, and the text names it where the mean differs.
func TestRowsOf(t *testing.T) {
	type row struct {
		TimeUS   float64 `json:"time_us"`
		EnergyUJ float64 `json:"energy_uj"`
	}
	for device, args := range map[string][]string{
		"gpu": {"run", "mobilenet_v1_0.25_128_float", "--device", "gpu", "--invocations", "9"},
		"cpu": {"run", "mobilenet_v1_1.0_224_quant", "--device", "cpu", "--duration", "10m"},
	} {
		var out struct {
			Runs []struct {
				LatencyUS float64 `json:"latency_us"`
				RowsOf    struct {
					LatencyUS float64 `json:"latency_us"`
					EnergyUJ  float64 `json:"energy_uj"`
				} `json:"detailed_invocation"`
				Devices, Operations []row
			}
		}
		commandJSON(t, &out, args...)
		r := &out.Runs[0]
		for what, rows := range map[string][]row{"devices": r.Devices, "operations": r.Operations} {
			var us, uj float64
			for _, x := range rows {
				us, uj = us+x.TimeUS, uj+x.EnergyUJ
			}
			if !(math.Abs(us/r.RowsOf.LatencyUS-1) <= 1e-9) || !(math.Abs(uj/r.RowsOf.EnergyUJ-1) <= 1e-9) {
				t.Errorf("%s: %s add up to %v us, %v uJ, not to %+v", device, what, us, uj, r.RowsOf)
			}
		}
		_, text, _ := command(nil, append(args, "-q", "--all")...)
		if named, other := strings.Count(text, " invocation ("), math.Abs(r.RowsOf.LatencyUS-r.LatencyUS) >= 0.05; named != map[bool]int{true: 2}[other] {
			t.Errorf("%s: an invocation of %v us, the mean is %v: named %d times in\n%s", device, r.RowsOf.LatencyUS, r.LatencyUS, named, text)
		}
	}
}

func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

func sumOf(m map[string]float64) (sum float64) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		sum += m[k]
	}
	return sum
}

// area is the area under a counter until an instant in us: W x us = uJ.
func area(samples [][2]float64, until float64) (sum float64) {
	for i, s := range samples {
		end := until
		if i+1 < len(samples) {
			end = min(end, samples[i+1][0])
		}
		sum += s[1] * max(0, end-s[0])
	}
	return sum
}

// TestEnergyIsOneNumber: the energy of an invocation is that supplied by the rails of the phone in its time: its parts,
// components, devices and operations add up to it, the area under the rails of its timeline equals it, and a loop of it
// over a duration has spent as much for each.
func TestEnergyIsOneNumber(t *testing.T) {
	const network = "mobilenet_v1_0.25_128_quant"
	for device, network := range map[string]string{"cpu": network, "dsp": network, "npu": network, "gpu": "mobilenet_v1_0.25_128_float"} {
		path := filepath.Join(t.TempDir(), "t.json")
		var once, long struct{ Runs []energyRun }
		commandJSON(t, &once, "run", network, "--device", device, "--invocations", "1", "--trace", path)
		r := &once.Runs[0]
		devices, operations := 0.0, 0.0
		for _, d := range r.Devices {
			devices += d.EnergyUJ
		}
		for _, o := range r.Operations {
			operations += o.EnergyUJ
		}
		for what, uj := range map[string]float64{"parts": sumOf(r.EnergyParts), "components": sumOf(r.EnergyComponents), "devices": devices, "operations": operations} {
			require.Check(t, alike(uj, r.EnergyUJ), "%s: %s of %v uJ, the invocation has %v", device, what, uj, r.EnergyUJ)
		}
		events, _ := readTimeline(t, path)
		rails := map[string][][2]float64{}
		var engine [][2]float64
		for _, e := range events {
			if rail, ok := strings.CutSuffix(e.Name, " power (W)"); ok && e.Ph == "C" && e.process == device+": phone" {
				rails[rail] = append(rails[rail], [2]float64{e.Ts, e.Args["value"].(float64)})
			}
			if e.Name == "power (W)" && e.process == device {
				engine = append(engine, [2]float64{e.Ts, e.Args["value"].(float64)})
			}
		}
		for rail, samples := range rails {
			if uj := area(samples, r.LatencyUS); !(math.Abs(uj-r.EnergyComponents[rail]) <= 1e-6*r.EnergyUJ) {
				t.Errorf("%s: %v uJ under the power of %s, the table has %v", device, uj, rail, r.EnergyComponents[rail])
			}
		}
		if len(rails) != 6 || !alike(area(engine, r.LatencyUS), r.EnergyUJ) {
			t.Errorf("%s: %d rails; %v uJ under the counter of the device, the invocation has %v", device, len(rails), area(engine, r.LatencyUS), r.EnergyUJ)
		}
		commandJSON(t, &long, "run", network, "--device", device, "--duration", "300ms")
		l := &long.Runs[0]
		if each := l.Invocations.Course.EnergyJ * 1e6 / float64(l.Invocations.Count); !alike(each, l.EnergyUJ) || !alike(sumOf(l.EnergyComponents), l.EnergyUJ) {
			t.Errorf("%s: the rails supply %v uJ for an invocation of the loop, the table has %v of components %v", device, each, l.EnergyUJ, l.EnergyComponents)
		}
	}
}

// TestEnergyOfConcurrent: concurrent networks have spent together the energy supplied by the rails, but for the
// executions that are drawn in part at both ends.
func TestEnergyOfConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	var r run.ConcurrentReport
	commandJSON(t, &r, "run", "mobilenet_v1_1.0_224_quant", "mobilenet_v2_1.0_224_quant", "--concurrent", "--device", "dsp,npu", "--invocations", "10", "--trace", path)
	watts := 0.0
	for _, n := range r.Networks {
		for _, s := range []run.ShareEntry{n.Alone, n.Together} {
			if !alike(sumOf(s.EnergyComponents), s.EnergyUJ) {
				t.Errorf("%s: components of %v uJ, %v in all", n.Model, sumOf(s.EnergyComponents), s.EnergyUJ)
			}
		}
		watts += n.Together.EnergyUJ / n.Together.LatencyUS
	}
	events, _ := readTimeline(t, path)
	rails := map[string][][2]float64{}
	for _, e := range events {
		if rail, ok := strings.CutSuffix(e.Name, " power (W)"); ok && e.Ph == "C" && e.process == "phone" {
			rails[rail] = append(rails[rail], [2]float64{e.Ts, e.Args["value"].(float64)})
		}
	}
	supplied := 0.0
	for _, samples := range rails {
		supplied += area(samples, r.TogetherUS) / r.TogetherUS
	}
	require.Check(t, math.Abs(watts/supplied-1) < 0.03, "networks spend %v W, the rails supply %v", watts, supplied)
	t.Logf("networks spend %v W, the rails supply %v", watts, supplied)
}

// TestEnergyOfTables: rows of sweep and of partition have the energy of the invocations of run, whose rails TestEnergyIsOneNumber holds:
// their components, and parts, add up to it.
func TestEnergyOfTables(t *testing.T) {
	t.Setenv(machine.CacheVariable, t.TempDir())
	const network = "mlperf_tiny_kws_quant"
	var runs struct{ Runs []energyRun }
	commandJSON(t, &runs, "run", network, "--device", "cpu,gpu,dsp,npu")
	var plans struct {
		Strategies []struct {
			Name             string             `json:"name"`
			Simulated        bool               `json:"simulated"`
			EnergyUJ         float64            `json:"energy_uj"`
			EnergyComponents map[string]float64 `json:"energy_components_uj"`
		} `json:"strategies"`
	}
	commandJSON(t, &plans, "partition", network)
	rows := map[string]float64{}
	for _, s := range plans.Strategies {
		if rows[s.Name] = s.EnergyUJ; !s.Simulated || !alike(sumOf(s.EnergyComponents), s.EnergyUJ) {
			t.Errorf("%s: components %v of %v uJ", s.Name, s.EnergyComponents, s.EnergyUJ)
		}
	}
	out := t.TempDir()
	commandJSON(t, new(any), "sweep", "--models", network, "--devices", "cpu,gpu,dsp,npu", "--vary", "dram.mt_per_s=4266", "--out", out)
	file := require.V(os.Open(filepath.Join(out, "results.csv")))(t)
	defer file.Close()
	table := require.V(csv.NewReader(file).ReadAll())(t)
	for i, device := range []string{"cpu", "gpu", "dsp", "npu"} {
		want := runs.Runs[i].EnergyUJ
		name := "single:" + device
		if device == "cpu" {
			name = device
		}
		require.Check(t, alike(rows[name], want), "%s: %v uJ in partition, %v in run", device, rows[name], want)
		sums := map[string]float64{}
		for k, x := range table[i+1] {
			column := table[0][k]
			group, _, _ := strings.Cut(column, ".")
			if uj, err := strconv.ParseFloat(x, 64); err == nil && (column == "energy_uj" || strings.HasSuffix(column, "_uj") && group != column) {
				sums[group] += uj
			}
		}
		for _, group := range []string{"energy_uj", "component", "part"} {
			require.Check(t, alike(sums[group], want), "%s: %s of a point is %v uJ, run has %v", device, group, sums[group], want)
		}
	}
}
