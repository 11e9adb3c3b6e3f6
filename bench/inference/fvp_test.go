package inference_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestPublishedCycles compares the active cycles of public networks with those that Arm's own model counts with its
// timing adapters, and the beats of AXI1 on U55 with its counters. Published runs are of a later Vela, which on U65 and
// for rnnoise makes other streams, so that the rest of the traffic is not compared. The table of docs/EthosUTiming.md
// has the results.
func TestPublishedCycles(t *testing.T) {
	root := shared.Path(t, "ethosu", "fvp")
	table := require.V(os.ReadFile(filepath.Join(root, "fvp.tsv")))(t)
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	var doc []string
	logs, deviation, plain, farthestPlain := 0.0, 0.0, 0.0, 0.0
	near, farthest := 0, 0.0
	for _, row := range rows {
		f := strings.Split(row, "\t")
		number := func(i int) float64 {
			v := require.V(strconv.ParseFloat(f[i], 64))(t)
			return v
		}
		file, part := filepath.Join(root, f[0], f[1]+"_vela.tflite"), strings.TrimPrefix(f[1], "ethos-")
		r := runZeros(t, file, "corstone300-"+part)
		checkCycles(t, r)
		without := runZeros(t, file, "corstone310-"+part)
		checkCycles(t, without)
		bare := float64(without.ActiveCycles) / number(3)
		plain += math.Abs(bare - 1)
		farthestPlain = max(farthestPlain, math.Abs(bare-1))
		ratio := float64(r.ActiveCycles) / number(2)
		axi0, axi1 := float64(r.Ports[0].ReadBeats)/number(4), float64(r.Ports[1].ReadBeats)/number(6)
		doc = append(doc, fmt.Sprintf("| %s | %s | %s | %s | %.3f | %.2f | %.2f | %.2f | %s | %s | %.3f |", f[0], f[1], thousands(int64(number(2))), thousands(r.ActiveCycles), ratio,
			axi0, float64(r.Ports[0].WriteBeats)/number(5), axi1, thousands(int64(number(3))), thousands(without.ActiveCycles), bare))
		if off := math.Abs(ratio - 1); off <= 0.05 {
			near++
		} else {
			farthest = max(farthest, off)
		}
		logs += math.Log(ratio)
		deviation += math.Abs(ratio - 1)
		if ratio < 0.9 || ratio > 1.1 {
			t.Errorf("%s on %s: %d active cycles, Arm's model %.0f", f[0], f[1], r.ActiveCycles, number(2))
		}
		if strings.Contains(f[1], "u55") && (axi1 < 0.94 || axi1 > 1.06) {
			t.Errorf("%s on %s: %d beats on AXI1, Arm's model %.0f", f[0], f[1], r.Ports[1].ReadBeats, number(6))
		}
	}
	mean, off := math.Exp(logs/float64(len(rows))), deviation/float64(len(rows))
	const page = "../../docs/EthosUTiming.md"
	doctable.Check(t, page, "| network | accelerator | Arm's model | here | ratio | AXI0 reads | AXI0 writes | AXI1 reads | without adapters | here | ratio |", doc)
	text := require.File(t, page)
	sum := fmt.Sprintf("Geometric mean %.3f, mean deviation %.1f %%, all %d within 5 %%.", mean, 100*off, near)
	if near < len(rows) {
		sum = fmt.Sprintf("Geometric mean %.3f, mean deviation %.1f %%, %d of %d within 5 %%, the farthest %.1f %%.", mean, 100*off, near, len(rows), 100*farthest)
	}
	require.Check(t, strings.Contains(string(text), sum), "%s does not say: %s", page, sum)
	if sum := fmt.Sprintf("Without adapters the mean deviation is %.1f %%, the farthest %.1f %%.", 100*plain/float64(len(rows)), 100*farthestPlain); !strings.Contains(string(text), sum) {
		t.Errorf("%s does not say: %s", page, sum)
	}
	require.Check(t, plain/float64(len(rows)) <= 0.05, "mean deviation without adapters %.1f %%", 100*plain/float64(len(rows)))
	require.Check(t, mean >= 0.98 && mean <= 1.02 && off <= 0.03, "geometric mean %.3f, mean deviation %.1f %%", mean, 100*off)
}

// TestMemorySweep compares the total cycles of one network on U55-256 where the flash transfers more words per 400
// cycles, or has a lower latency: then the outstanding transactions limit it.
func TestMemorySweep(t *testing.T) {
	file := filepath.Join(shared.Path(t, "ethosu", "fvp"), "rnnoise_int8", "ethos-u55-256_vela.tflite")
	for _, p := range []struct {
		words, latency int
		published      float64
	}{{50, 64, 105059}, {200, 64, 77059}, {200, 16, 34059}} {
		// The cap counts whole transactions of eight words.
		rate := float64((p.words+7)/8*64) / 400
		r := runZeros(t, file, "corstone300-u55-256", soc.Change{Key: "npu.memory[1].bytes_per_cycle", Value: fmt.Sprint(rate)},
			soc.Change{Key: "npu.memory[1].read_cycles", Value: fmt.Sprint(p.latency)})
		ratio := float64(r.ActiveCycles) / p.published
		t.Logf("%d words per 400 cycles, latency %d: %d cycles, %.3f of the published", p.words, p.latency, r.ActiveCycles, ratio)
		if ratio < 0.85 || ratio > 1.15 {
			t.Errorf("%d words per 400 cycles, latency %d: %d cycles, published %.0f", p.words, p.latency, r.ActiveCycles, p.published)
		}
	}
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// runZeros runs a compiled network on zeros, on a SoC with changes.
func runZeros(t *testing.T, path, name string, changes ...soc.Change) *inference.Result {
	data := require.File(t, path)
	n := require.V(vela.Read(data))(t)
	s := require.V(inference.New(n, machine(t, name, changes...)))(t)
	var inputs [][]byte
	for _, o := range inference.Operands(n, n.Inputs) {
		inputs = append(inputs, make([]byte, o.Bytes()))
	}
	r := require.V(s.Run(inputs, inference.Options{}))(t)
	return r
}
