package main

import (
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

const (
	fidelityPage   = "../../docs/FIDELITY.md"
	fidelityHeader = "| engine | network | phone | measure | role | published ms | ours | ratio | execution | in a burst | verdict (tolerance) |"
)

// TestFidelity: docs/FIDELITY.md has the output of nnsoc bench anchors --markdown. The GPU's rows, which need a minute,
// are a part of make sweep.
func TestFidelity(t *testing.T) {
	require.AllTests(t)
	data := require.File(t, fidelityPage)
	args := []string{"bench", "anchors", "--markdown", "-q"}
	have, _, _ := strings.Cut(string(data), phonesHead)
	if os.Getenv("NNSOC_SWEEP") == "" {
		args = append(args, "--engine", "cpu,dsp,npu")
		var lines []string
		for _, l := range strings.SplitAfter(have, "\n") {
			if !strings.HasPrefix(l, "| gpu ") {
				lines = append(lines, l)
			}
		}
		have = strings.Join(lines, "")
	}
	var out, errs strings.Builder
	if code := execute(args, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, l := range strings.Split(out.String(), "\n") {
		if strings.HasPrefix(l, "| ") && !strings.Contains(have, l+"\n") {
			t.Errorf("%s has not, as make fidelity writes it:\n%s", fidelityPage, l)
		}
	}
	if got, want := strings.Count(have, "\n| "), strings.Count(out.String(), "\n| "); got != want {
		t.Errorf("%s has %d rows, the command %d; run make fidelity", fidelityPage, got, want)
	}
	if rows := doctable.Rows(t, fidelityPage, fidelityHeader); len(rows) < 10 {
		t.Errorf("%d rows", len(rows))
	}
}

// phonesHead begins the part of docs/FIDELITY.md that nnsoc bench phones --markdown prints.
const phonesHead = "\n## Phones\n"

// TestPhonesPage: docs/FIDELITY.md has the output of nnsoc bench phones --markdown. All phones, whose networks need many minutes,
// are a part of make sweep, otherwise two that are priced by the cores of their CPUs.
func TestPhonesPage(t *testing.T) {
	_, have, ok := strings.Cut(string(require.File(t, fidelityPage)), phonesHead)
	args := []string{"bench", "phones", "--markdown", "-q"}
	sweep := os.Getenv("NNSOC_SWEEP") != ""
	if !sweep {
		args = append(args, "--phone", "Galaxy S10,Mi 8 SE")
	}
	var out, errs strings.Builder
	if code := execute(args, &out, &errs); !ok || code != 0 {
		t.Fatalf("exit code %d: %s; the page has phones: %v", code, errs.String(), ok)
	}
	seen := 0
	for _, l := range strings.Split(out.String(), "\n") {
		if !strings.HasPrefix(l, "| cpu |") && !(sweep && strings.HasPrefix(l, "| ")) || !sweep && !strings.Contains(l, "Galaxy S10") && !strings.Contains(l, "Mi 8 SE") {
			continue
		}
		if seen++; !strings.Contains(have, l+"\n") {
			t.Errorf("%s has not, as make fidelity writes it:\n%s", fidelityPage, l)
		}
	}
	require.Check(t, seen >= 2, "%d rows", seen)
}

// TestEnergyPage: docs/FIDELITY.md ends in the output of nnsoc bench energy --markdown.
func TestEnergyPage(t *testing.T) {
	require.AllTests(t)
	var out, errs strings.Builder
	if code := execute([]string{"bench", "energy", "--markdown", "-q"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	require.Check(t, strings.HasSuffix(string(require.File(t, fidelityPage)), out.String()), "%s does not end in, as make fidelity writes it:\n%s", fidelityPage, out.String())
}

// TestCyclesOfNetworks: docs/HexagonTiming.md has the DSP's cycles as in nnsoc run: those of the executions of
// docs/FIDELITY.md, which TestFidelity simulates, to the digits that both have.
func TestCyclesOfNetworks(t *testing.T) {
	clock := require.V(soc.Load("pixel4"))(t).DSP.Clock.FastMHz
	executions := map[string]string{} // in ms
	for _, r := range doctable.Rows(t, fidelityPage, fidelityHeader) {
		if r[0] == "dsp" {
			executions[r[1]] = r[8]
		}
	}
	for _, r := range doctable.Rows(t, "../../docs/HexagonTiming.md", "| network | constants and pictures | cycles of their transfer | cycles of the run |") {
		name := map[string]string{"MobileNet v1 1.0 224": "mobilenet_v1_1.0_224_quant", "MobileNet v2 1.0 224": "mobilenet_v2_1.0_224_quant", "Inception v3": "inception_v3_quant"}[r[0]]
		ms, err := strconv.ParseFloat(executions[name], 64)
		if err != nil {
			var report struct {
				Runs []struct {
					Parts map[string]float64 `json:"latency_parts_us"`
				}
			}
			commandJSON(t, &report, "run", name, "--device", "dsp", "-q")
			ms = report.Runs[0].Parts["execution"] / 1e3
		}
		cycles := ms * clock / 1e3
		have, err := strconv.ParseFloat(strings.TrimSuffix(r[3], " M"), 64)
		require.Check(t, err == nil && math.Abs(have-cycles) <= 0.05+0.005*cycles, "%s: %s cycles in docs, want %.1f M", r[0], r[3], cycles)
	}
}

// TestQuotaFlags: the quotas of docs/Service.md are the flags of nnsoc serve with their defaults.
func TestQuotaFlags(t *testing.T) {
	var out, errs strings.Builder
	if code := execute([]string{"serve", "--help"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	rows := doctable.Rows(t, "../../docs/Service.md", "| flag of `nnsoc serve` | bounds | default |")
	for _, r := range rows {
		flag := strings.Trim(r[0], "`")
		_, rest, _ := strings.Cut(out.String(), flag+" ")
		line, _, _ := strings.Cut(rest, "\n")
		if !strings.HasSuffix(line, " "+r[2]) && !strings.HasSuffix(line, "(default "+r[2]+")") {
			t.Errorf("%s: docs say default %s, help says %s", flag, r[2], line)
		}
	}
	require.Check(t, len(rows) >= 7, "%d rows", len(rows))
}

// TestServeFlags: the layers before a driver in docs/Service.md are flags of nnsoc serve.
func TestServeFlags(t *testing.T) {
	cmd, _ := require.V2(newRoot(io.Discard, io.Discard).Find([]string{"serve"}))(t)
	rows := doctable.Rows(t, "../../docs/Service.md", "| flag | does |")
	for _, r := range rows {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.Trim(r[0], "`"), "--"), " ")
		require.Check(t, cmd.Flags().Lookup(name) != nil, "serve has no --%s", name)
	}
	require.Check(t, len(rows) >= 4, "%d rows", len(rows))
}

// TestEdgeTPULines: published latencies of Edge TPUs, a Pixel 4's and one behind USB, as lines over multiply-accumulates.
// The page has ours: TestFidelity.
func TestEdgeTPULines(t *testing.T) {
	misses := map[string][3]string{"pixel4": {"0", "0", "6"}, "coral": {"9", "2", "0"}} // checks, those that miss, and fitted rows
	seen := 0
	for _, r := range doctable.Rows(t, fidelityPage, "| engine | preset | checks | miss | fitted | geometric mean of ours / published | intercept | slope |") {
		if r[0] != "npu" {
			continue
		}
		seen++
		if want := misses[r[1]]; [3]string(r[2:5]) != want {
			t.Errorf("%s: %s checks, %s miss, %s fitted, want %v", r[1], r[2], r[3], r[4], want)
		}
		for _, ratio := range r[6:] {
			if x, err := strconv.ParseFloat(ratio, 64); err != nil || !(math.Abs(x-1) <= 0.2) {
				t.Errorf("%s: %s of the published intercept or slope", r[1], ratio)
			}
		}
	}
	require.Check(t, seen == len(misses), "%d NPUs", seen)
}
