package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/build"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/partition"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// What TestStrategies demands.
const (
	autoSlack      = 0.02 // auto beside the best single device
	exactSlack     = 0    // branch-bound beside any other strategy, with whose plans it begins
	predictedSlack = 0.10 // prediction before a run beside the run
)

// TestStrategies: auto is as fast as the best single device, nothing beats branch-bound, predictions by measured costs
// hold, and no plan changes a result. make sweep uses every network that there is on several SoCs, the smallest first;
// otherwise small ones serve. With -v it prints the table of docs/Strategies.md. The results of a network are kept in
// the folder of measured costs, so that the same test continues where it ended.
func TestStrategies(t *testing.T) {
	networks, socs := []string{"mobilenet_v1_0.25_128_quant", "mobilenet_v1_0.25_128_float", bench.IslandsName}, []string{"pixel4"}
	if os.Getenv("NNSOC_SWEEP") != "" {
		networks, socs = everyNetwork(t), []string{"pixel4", "xclipse920", "sd888"}
	}
	for _, soc := range socs {
		t.Run(soc, func(t *testing.T) {
			done := 0
			var worst sweepRow // by each measure
			for _, network := range networks {
				t.Run(networkName(network), func(t *testing.T) {
					r := keptSweep(t, soc, network)
					t.Logf("| %s | %s | %s | %.0f | %.0f | %.2f | %+.1f %% | %+.1f %% | %.1f %% |",
						soc, r.Name, r.Best, r.Single, r.Auto, r.AOSP/r.Auto, 100*r.Slower, 100*r.Beaten, 100*r.Wrong)
					done++
					worst.Slower, worst.Beaten, worst.Wrong = max(worst.Slower, r.Slower), max(worst.Beaten, r.Beaten), max(worst.Wrong, r.Wrong)
					if !(r.Slower <= autoSlack) || !(r.Beaten <= exactSlack) || !(r.Wrong <= predictedSlack) || r.Mismatches > 0 {
						t.Errorf("%s on %s: auto %+.1f %% beside %s, branch-bound %+.1f %% beside the best, prediction off by %.1f %%, %d mismatches",
							r.Name, soc, 100*r.Slower, r.Best, 100*r.Beaten, 100*r.Wrong, r.Mismatches)
					}
				})
			}
			t.Logf("%s, %d networks, worst: auto %+.1f %%, branch-bound %+.1f %%, prediction %.1f %%", soc, done, 100*worst.Slower, 100*worst.Beaten, 100*worst.Wrong)
		})
	}
}

// measuredOf is a line of progress with the number of the plan being measured, or the clocks.
var measuredOf = regexp.MustCompile(`measure (plan \d+ of (at most )?\d+|[a-z]+ at \d+ MHz)`)

// TestKeptCosts: measurements are kept, and with them a plan is predicted as before and costs the same as when it was
// measured. Progress has totals.
func TestKeptCosts(t *testing.T) {
	t.Setenv(machine.CacheVariable, t.TempDir())
	var first partition.PartitionReport
	for _, kept := range []bool{false, true} {
		code, out, errs := command(nil, "partition", "mobilenet_v1_0.25_128_float", "--strategies", "single:gpu,pipeline", "--json")
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		require.Check(t, strings.Contains(errs, "measure plan") != kept, "kept costs: %v, progress:\n%s", kept, errs)
		if all := strings.Count(errs, "measure "); len(measuredOf.FindAllString(errs, -1)) != all {
			t.Errorf("progress without a total or a clock:\n%s", errs)
		}
		var p partition.PartitionReport
		require.NoError(t, json.Unmarshal([]byte(out), &p))
		if len(p.Strategies) != 2 {
			t.Fatalf("%d strategies", len(p.Strategies))
		}
		if !kept {
			first = p
		}
		for i, e := range p.Strategies {
			was := first.Strategies[i]
			if !(math.Abs(e.PredictedLatencyUS/was.PredictedLatencyUS-1) < 1e-9) || !(math.Abs(e.SimulatedLatencyUS/was.SimulatedLatencyUS-1) < 1e-9) {
				t.Errorf("%s: predicted %v us, simulated %v us; with kept costs %v and %v",
					e.Name, was.PredictedLatencyUS, was.SimulatedLatencyUS, e.PredictedLatencyUS, e.SimulatedLatencyUS)
			}
		}
	}
}

// everyNetwork lists the built-in networks and the shared files, the smallest first.
func everyNetwork(t *testing.T) []string {
	t.Helper()
	islands := require.V(bench.Islands())(t)
	size := map[string]int64{bench.IslandsName: opspec.MACs(islands)}
	for _, n := range zoo.Networks() {
		m, _ := require.V2(n.Outline())(t)
		size[n.Name] = opspec.MACs(m)
	}
	files := require.V(filepath.Glob(filepath.Join(shared.Dir(), "models", "*", "model.tflite")))(t)
	for _, path := range files {
		m := require.V(input.ReadModel(&cli.App{Err: t.Output()}, path, input.Choice{}))(t)
		size[path] = opspec.MACs(m)
	}
	return slices.SortedFunc(maps.Keys(size), func(a, b string) int {
		return cmp.Or(cmp.Compare(size[a], size[b]), cmp.Compare(a, b))
	})
}

// networkName is the name of a network, or of a file's folder with .tflite.
func networkName(network string) string {
	if filepath.Base(network) == "model.tflite" {
		return filepath.Base(filepath.Dir(network)) + ".tflite"
	}
	return network
}

// sweepRow is how the strategies did on a network.
type sweepRow struct {
	Name, Best            string // the best single device
	Single, Auto, AOSP    float64
	Slower, Beaten, Wrong float64 // relative; see the constants
	Mismatches            int
}

// sweepPackage is the package whose results a sweep keeps.
const sweepPackage = "github.com/nnsoc/nnsoc/cmd/nnsoc/internal/partition"

// sweepSource hashes the sources of a sweep's results: the files of sweepPackage and of all that it imports within the
// module, the files that these embed, the versions of other modules and of Go. Tests and other commands may change
// without restarting a sweep.
func sweepSource(read func(name string) ([]byte, error)) (string, error) {
	h := sha256.New()
	module, _, _ := strings.Cut(sweepPackage, "/cmd/")
	root := filepath.Join("..", "..")
	add := func(names ...string) error {
		for _, name := range names {
			data, err := read(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%s %d\n", filepath.ToSlash(name), len(data))
			h.Write(data)
		}
		return nil
	}
	fmt.Fprintln(h, runtime.Version())
	if err := add(filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")); err != nil {
		return "", err
	}
	seen := map[string]bool{sweepPackage: true}
	for left := []string{sweepPackage}; len(left) > 0; {
		dir := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(left[0], module)))
		left = left[1:]
		pkg, err := build.ImportDir(dir, 0)
		if err != nil {
			return "", err
		}
		files := slices.Concat(pkg.GoFiles, pkg.SFiles, pkg.HFiles)
		for _, pattern := range pkg.EmbedPatterns {
			names, err := filepath.Glob(filepath.Join(dir, pattern))
			if err == nil {
				err = add(names...)
			}
			if err != nil {
				return "", err
			}
		}
		for _, name := range files {
			if err := add(filepath.Join(dir, name)); err != nil {
				return "", err
			}
		}
		for _, x := range pkg.Imports {
			if strings.HasPrefix(x, module+"/") && !seen[x] {
				seen[x] = true
				left = append(left, x)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// TestSweepSource: the hash of a sweep changes with the simulator, the drivers, the networks
// and the SoC files, and not with other commands.
func TestSweepSource(t *testing.T) {
	with := func(changed string) string {
		found := false
		hash, err := sweepSource(func(name string) ([]byte, error) {
			data, err := os.ReadFile(name)
			if filepath.ToSlash(name) == "../../"+changed {
				found, data = true, append(data, '\n')
			}
			return data, err
		})
		require.NoError(t, err)
		require.Report(t, require.Err(os.Stat(filepath.Join("..", "..", changed))), changed)
		require.Check(t, strings.Contains(changed, "/verify/") != found, "%s is read: %v", changed, found)
		return hash
	}
	seen := map[string]string{with("cmd/nnsoc/internal/verify/eval.go"): "the sources"}
	for _, file := range []string{
		"go.mod", "sim/platform/machine.go", "sim/soc/pixel4.toml", "hal/driver/dspdriver/device.go", "bench/zoo/mobilenet.go", "importer/tflite/doc.go",
		"runtime/partition/branch_bound.go", "runtime/nnrt/execute.go", "hal/devices/outline.go",
	} {
		hash := with(file)
		if other := seen[hash]; other != "" {
			t.Errorf("with %s changed the hash is that of %s", file, other)
		}
		seen[hash] = "a change of " + file
	}
}

var sweepKey = sync.OnceValues(func() (string, error) { return sweepSource(os.ReadFile) })

// keptSweep is the result of the strategies on a network, possibly kept from a program of the same sources.
func keptSweep(t *testing.T, soc, network string) (r sweepRow) {
	t.Helper()
	content, _ := os.ReadFile(network) // a built-in network is part of the program
	source := require.V(sweepKey())(t)
	key := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %x", source, soc, network, content))
	folder := machine.CacheFolder("sweep")
	path := filepath.Join(folder, hex.EncodeToString(key[:])+".json")
	if data, err := os.ReadFile(path); err == nil && folder != "" && json.Unmarshal(data, &r) == nil {
		return r
	}
	r = sweep(t, soc, network)
	if folder == "" {
		return r
	}
	data := require.V(json.Marshal(r))(t)
	require.NoError(t, os.MkdirAll(folder, 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return r
}

// sweep compares the strategies on a network.
func sweep(t *testing.T, soc, network string) (r sweepRow) {
	t.Helper()
	code, out, errs := command(nil, "partition", network, "--soc", soc, "--share-plans", "--json", "-q")
	if code != 0 && code != cli.ExitMismatch {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var p partition.PartitionReport
	require.NoError(t, json.Unmarshal([]byte(out), &p))
	r.Name, r.Single = networkName(network), math.Inf(1)
	fastest, exact := math.Inf(1), math.NaN()
	for _, e := range p.Strategies {
		us := e.SimulatedLatencyUS
		fastest = min(fastest, us)
		r.Wrong = max(r.Wrong, math.Abs(e.PredictedLatencyUS/us-1))
		r.Mismatches += e.Mismatches
		switch {
		case e.Name == "cpu" || strings.HasPrefix(e.Name, "single:"):
			if us < r.Single {
				r.Best, r.Single = e.Name, us
			}
		case e.Name == "auto":
			r.Auto = us
		case e.Name == "aosp":
			r.AOSP = us
		case e.Name == "branch-bound":
			exact = us
		}
	}
	r.Slower, r.Beaten = r.Auto/r.Single-1, exact/fastest-1
	return r
}

// TestPartitionFormats: CSV has the numbers of JSON, tables for people round them.
func TestPartitionFormats(t *testing.T) {
	require.AllTests(t)
	t.Setenv(machine.CacheVariable, t.TempDir()) // so that all runs are one
	for objective, costs := range map[string]string{"throughput": "measured", "energy": "capabilities"} {
		args := []string{"partition", "mlperf_tiny_ad_quant", "--objective", objective, "--costs", costs}
		var object struct{ Strategies []map[string]any }
		commandJSON(t, &object, args...)
		tables := map[string][][]string{}
		for format, separator := range map[string]string{"--csv": ",", "--markdown": "|", "--quiet": "  "} {
			_, out, _ := command(nil, append(slices.Clone(args), "-q", format)...)
			for line := range strings.Lines(out) {
				var row []string
				for cell := range strings.SplitSeq(strings.TrimSpace(line), separator) {
					if cell = strings.TrimSpace(cell); cell != "" || format == "--csv" {
						row = append(row, cell)
					}
				}
				if len(row) > 8 && strings.Trim(row[0], "-") != "" {
					tables[format] = append(tables[format], row)
				}
			}
		}
		header := tables["--csv"][0]
		for format, table := range tables {
			if len(table) != 1+len(object.Strategies) {
				t.Fatalf("%s: %d rows of %d strategies: %q", format, len(table)-1, len(object.Strategies), table)
			}
		}
		checked := 0
		for i, s := range object.Strategies {
			for k, name := range header {
				cell := tables["--csv"][i+1][k]
				want, isNumber := s[name].(float64)
				if name == "planning_us" || !isNumber { // measured anew
					require.Check(t, cell == "" || s[name] != nil, "%v: %s %q, JSON has none", s["name"], name, cell)
					continue
				}
				if x, err := strconv.ParseFloat(cell, 64); err != nil || x != want {
					t.Errorf("%v: %s %q, JSON has %v", s["name"], name, cell, want)
				}
				if !strings.HasSuffix(name, "_us") && !strings.HasSuffix(name, "_uj") || objective != "throughput" && strings.HasSuffix(name, "_interval_us") {
					continue
				}
				for _, format := range []string{"--markdown", "--quiet"} {
					if rounded := strconv.FormatFloat(want, 'f', 1, 64); !slices.Contains(tables[format][i+1], rounded) {
						t.Errorf("%v: no %s %s in %q", s["name"], name, rounded, tables[format][i+1])
					}
				}
				checked++
			}
		}
		require.Check(t, checked >= 20, "%s: %d figures", objective, checked)
	}
}

// TestDividedTable writes the table of layers that papers divide over engines: in one strategy divide gains much, in all of them its results are those
// of the whole, and what it does not divide it says why.
func TestDividedTable(t *testing.T) {
	require.AllTests(t)
	t.Setenv(machine.CacheVariable, t.TempDir())
	header := "| layers | whole, us | on | divided, us | predicted | gain | energy | how, or why not |"
	var rows []string
	most := 0.0
	for _, name := range bench.DividedLayers() {
		var r partition.PartitionReport
		commandJSON(t, &r, "partition", name, "--strategies", "auto", "--divide", "3")
		whole, how := r.Strategies[0], r.Divided[0]
		if len(r.Strategies) == 1 {
			rows = append(rows, fmt.Sprintf("| `%s` | %.0f | %s | | | | | %s |", name, whole.SimulatedLatencyUS, whole.Devices[0], how.Reason))
			require.Check(t, how.Reason != "", "%s: no reason", name)
			continue
		}
		var runs []string
		for _, x := range how.Runs {
			runs = append(runs, fmt.Sprintf("%d %s on %s", x.Length, how.Unit, x.Device))
		}
		d := r.Strategies[1]
		gain := whole.SimulatedLatencyUS / d.SimulatedLatencyUS
		rows = append(rows, fmt.Sprintf("| `%s` | %.0f | %s | %.0f | %.0f | %.2f | %.2f | %s |", name, whole.SimulatedLatencyUS, whole.Devices[0], d.SimulatedLatencyUS, d.PredictedLatencyUS, gain, d.EnergyUJ/whole.EnergyUJ, strings.Join(runs, ", ")))
		require.Check(t, d.Mismatches == 0 && math.Abs(d.PredictedLatencyUS/d.SimulatedLatencyUS-1) < 0.15, "%s: %d mismatches, %.0f us, predicted %.0f", name, d.Mismatches, d.SimulatedLatencyUS, d.PredictedLatencyUS)
		most = max(most, gain)
	}
	doctable.Check(t, "../../docs/Strategies.md", header, rows)
	require.Check(t, most > 1.6, "the largest gain is %.2f", most)
}

// TestIslandsTable writes the table of a network that greedy partitioning loses: the best plan divides it and beats every
// device by itself, alone and in a stream.
func TestIslandsTable(t *testing.T) {
	require.AllTests(t)
	t.Setenv(machine.CacheVariable, t.TempDir())
	var alone, stream partition.PartitionReport
	commandJSON(t, &alone, "partition", bench.IslandsName)
	commandJSON(t, &stream, "partition", bench.IslandsName, "--objective", "throughput")
	header := "| strategy | parts | latency, us | energy, uJ | interval of a stream, us |"
	var rows []string
	us := map[string]float64{}
	for i, e := range alone.Strategies {
		rows = append(rows, fmt.Sprintf("| `%s` | %d | %.0f | %.0f | %.0f |", e.Name, e.Parts, e.SimulatedLatencyUS, e.EnergyUJ, stream.Strategies[i].SimulatedIntervalUS))
		us[e.Name] = e.SimulatedLatencyUS
		require.Check(t, math.Abs(e.PredictedLatencyUS/e.SimulatedLatencyUS-1) < 0.01, "%s: %.0f us, predicted %.0f", e.Name, e.SimulatedLatencyUS, e.PredictedLatencyUS)
	}
	doctable.Check(t, "../../docs/Strategies.md", header, rows)
	best := us["branch-bound"]
	require.Check(t, us["aosp"] > 9*best && us["greedy-merge"] > 1.3*best, "aosp %.0f us, greedy-merge %.0f, the best plan %.0f", us["aosp"], us["greedy-merge"], best)
	for r, least := range map[*partition.PartitionReport]float64{&alone: 1.3, &stream: 1.6} {
		d := r.Division
		require.Check(t, d != nil && d.Gain > least && d.Single == "gpu" && slices.Equal(d.Devices, []string{"npu", "cpu"}), "%s: %+v, want a gain of %g by npu and cpu beside gpu", r.Objective, d, least)
	}
}
