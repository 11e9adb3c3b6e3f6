package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
)

// What TestStrategies demands.
const (
	autoSlack      = 0.02  // auto beside the best single device
	exactSlack     = 0.005 // ilp beside any other strategy
	predictedSlack = 0.10  // prediction beside simulation
)

// TestStrategies: auto is as fast as the best single device, nothing beats ilp,
// predictions by measured costs hold, and no plan changes a result. make sweep takes
// every network that there is on several SoCs, otherwise small ones serve. With -v it
// prints the table of docs/Strategies.md.
func TestStrategies(t *testing.T) {
	networks, socs := []string{"mobilenet_v1_0.25_128_quant", "mobilenet_v1_0.25_128_float", bench.IslandsName}, []string{"pixel4"}
	if os.Getenv("NNSOC_SWEEP") != "" {
		socs = []string{"pixel4", "sd888", "xclipse920"}
		networks = append(networks, zoo.Names()...)
		files, err := filepath.Glob(filepath.Join(sharedDir(), "models", "*", "model.tflite"))
		if err != nil {
			t.Fatal(err)
		}
		networks = append(networks, files...)
	}
	for _, soc := range socs {
		var worst sweepRow // by each measure
		for _, network := range networks {
			r, problem := sweep(soc, network)
			if problem != "" {
				t.Errorf("%s on %s: %s", network, soc, problem)
				continue
			}
			t.Logf("| %s | %s | %s | %.0f | %.0f | %.2f | %+.1f %% | %+.1f %% | %.1f %% |",
				soc, r.name, r.best, r.single, r.auto, r.aosp/r.auto, 100*r.slower, 100*r.beaten, 100*r.wrong)
			worst.slower, worst.beaten, worst.wrong = max(worst.slower, r.slower), max(worst.beaten, r.beaten), max(worst.wrong, r.wrong)
			if !(r.slower <= autoSlack) || !(r.beaten <= exactSlack) || !(r.wrong <= predictedSlack) || r.mismatches > 0 {
				t.Errorf("%s on %s: auto %+.1f %% beside %s, ilp %+.1f %% beside the best, prediction off by %.1f %%, %d mismatches",
					r.name, soc, 100*r.slower, r.best, 100*r.beaten, 100*r.wrong, r.mismatches)
			}
		}
		t.Logf("%s, %d networks, worst: auto %+.1f %%, ilp %+.1f %%, prediction %.1f %%", soc, len(networks), 100*worst.slower, 100*worst.beaten, 100*worst.wrong)
	}
}

// sweepRow is how the strategies did on a network.
type sweepRow struct {
	name, best            string // the best single device
	single, auto, aosp    float64
	slower, beaten, wrong float64 // relative; see the constants
	mismatches            int
}

// sweep compares the strategies on a network, or says what went wrong.
func sweep(soc, network string) (r sweepRow, problem string) {
	code, out, errs := command(nil, "partition", network, "--soc", soc, "--json", "-q")
	if code != 0 && code != exitMismatch {
		return r, fmt.Sprintf("exit code %d: %s", code, errs)
	}
	var p partitionReport
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		return r, err.Error()
	}
	r.name, r.single = p.Model.Name, math.Inf(1)
	fastest, exact := math.Inf(1), math.NaN()
	for _, e := range p.Strategies {
		us := e.SimulatedLatencyUS
		fastest = min(fastest, us)
		r.wrong = max(r.wrong, math.Abs(e.PredictedLatencyUS/us-1))
		r.mismatches += e.Mismatches
		switch {
		case e.Name == "cpu" || strings.HasPrefix(e.Name, "single:"):
			if us < r.single {
				r.best, r.single = e.Name, us
			}
		case e.Name == "auto":
			r.auto = us
		case e.Name == "aosp":
			r.aosp = us
		case e.Name == "ilp":
			exact = us
		}
	}
	r.slower, r.beaten = r.auto/r.single-1, exact/fastest-1
	return r, ""
}
