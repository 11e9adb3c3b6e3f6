package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
)

// firstUse is a network's first use in run --json.
type firstUse struct {
	Compile float64 `json:"compile_us"`
	Cached  int     `json:"cached_parts"`
	First   float64 `json:"first_us"`
	Warm    float64 `json:"warm_us"`
}

func firstUses(t *testing.T, args ...string) map[string]firstUse {
	t.Helper()
	var out, errs strings.Builder
	args = append([]string{"run", "mobilenet_v1_0.25_128_quant", "--invocations", "2", "--json", "-q"}, args...)
	if code := execute(args, &out, &errs); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
	}
	var r struct {
		Runs []struct {
			Device   string
			Latency  float64  `json:"latency_us"`
			FirstUse firstUse `json:"first_use"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out.String()), &r))
	uses := map[string]firstUse{}
	for _, x := range r.Runs {
		require.Check(t, x.FirstUse.Warm == x.Latency, "%s: %v us warm, the latency is %v", x.Device, x.FirstUse.Warm, x.Latency)
		uses[x.Device] = x.FirstUse
	}
	return uses
}

// TestFirstUse: the first result of a network costs its compilation and an execution on a cold phone. A compilation
// cache makes it faster with the same result, unless the name, the network's options or the machine differ.
func TestFirstUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	kept := []string{"--device", "cpu,dsp,npu", "--cache-dir", dir}
	plain := firstUses(t, "--device", "cpu,dsp,npu")
	fresh := firstUses(t, kept...)
	again := firstUses(t, kept...)
	for _, device := range []string{"cpu", "dsp", "npu"} {
		p, f, a := plain[device], fresh[device], again[device]
		if !(p.First > p.Warm && p.Warm > 0 && p.First == a.First && p.Warm == a.Warm) {
			t.Errorf("%s: first result after %v us, from the cache after %v; warm %v and %v", device, p.First, a.First, p.Warm, a.Warm)
		}
		if device == "cpu" { // whose driver keeps nothing
			require.Check(t, p.Compile > 0 && a == p, "cpu: %+v, with a cache %+v", p, a)
			continue
		}
		if p.Cached != 0 || f.Cached != 0 || a.Cached != 1 {
			t.Errorf("%s: %d, %d and %d parts from the cache", device, p.Cached, f.Cached, a.Cached)
		}
		// What a driver compiles it also writes, and reading is less work than compiling.
		if !(f.Compile > p.Compile && a.Compile < p.Compile/2 && a.Compile > 0) {
			t.Errorf("%s: %v us to compile, %v with writing, %v from the cache", device, p.Compile, f.Compile, a.Compile)
		}
	}
	for _, other := range [][]string{{"--token", "another name"}, {"--preference", "low-power"}, {"--set", "npu.ublock=1x1x32"}} {
		require.Same(t, 0, firstUses(t, append(kept, other...)...)["npu"].Cached, other, "parts come from the cache")
	}
	for _, c := range []struct{ args, says string }{
		{"run mobilenet_v1_0.25_128_quant --device npu --token x", "give --cache-dir too"},
		{"compile mobilenet_v1_0.25_128_quant --device npu --hash --cache-dir x", "leave out --cache-dir"},
		{"compile mobilenet_v1_0.25_128_quant --device npu --passes --cache-dir x", "leave out --cache-dir"},
		{"partition mobilenet_v1_0.25_128_quant --token x", "give --cache-dir too"},
	} {
		var out, errs strings.Builder
		if code := execute(append(strings.Fields(c.args), "-q"), &out, &errs); code != 2 || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: exit code %d: %s", c.args, code, errs.String())
		}
	}
}

// TestFirstUseTable: docs/Time.md has the output of run without a cache and with one.
func TestFirstUseTable(t *testing.T) {
	devices := []string{"cpu", "gpu", "dsp", "npu"}
	args := []string{"--device", strings.Join(devices, ","), "--invocations", "50", "--cache-dir", t.TempDir()}
	firstUses(t, args...)
	plain, kept := firstUses(t, args[:4]...), firstUses(t, args...)
	var want []string
	for _, d := range devices {
		cached := "-"
		if kept[d].Cached > 0 {
			cached = fmt.Sprintf("%.1f", kept[d].Compile)
		}
		want = append(want, fmt.Sprintf("| %s | %.1f | %s | %.1f | %.1f |", d, plain[d].Compile, cached, plain[d].First, plain[d].Warm))
	}
	rows := doctable.Rows(t, "../../docs/Time.md", "| device | compile | from the cache | first | warm |")
	for i, w := range want {
		require.Check(t, i < len(rows) && "| "+strings.Join(rows[i], " | ")+" |" == w, "docs/Time.md has not, as nnsoc run prints it:\n%s", w)
	}
}

// TestFirstResult: with objective first-result the time of a plan is run's first use of the network, plans of several
// parts are predicted from compiling their operations, and the best strategy is no worse than any device.
func TestFirstResult(t *testing.T) {
	const network = "mobilenet_v1_0.25_128_quant"
	uses := firstUses(t, "--device", "cpu,dsp,npu")
	rows := partitionRows(t, network, "--objective", "first-result", "--strategies", "cpu,single:dsp,single:npu,branch-bound,auto")
	for _, device := range []string{"cpu", "dsp", "npu"} {
		name := device
		if device != "cpu" {
			name = "single:" + device
		}
		want := uses[device].Compile + uses[device].First
		if got := rows[name].Latency; !(math.Abs(got/want-1) < 1e-6) {
			t.Errorf("%s: %.1f us to the first result, run has %.1f", name, got, want)
		}
		for _, best := range []string{"branch-bound", "auto"} {
			if rows[best].Latency > rows[name].Latency*(1+1e-9) {
				t.Errorf("%s takes %.1f us, %s %.1f", best, rows[best].Latency, name, rows[name].Latency)
			}
		}
	}
	cut := partitionRows(t, network, "--objective", "first-result", "--strategies", "single:npu", "--force-unsupported", "AVERAGE_POOL_2D:npu")["single:npu"]
	if cut.Latency < rows["single:npu"].Latency+1000 { // a part more to compile, and to begin
		t.Errorf("%.1f us to the first result of two parts on the NPU, %.1f of one", cut.Latency, rows["single:npu"].Latency)
	}
}
