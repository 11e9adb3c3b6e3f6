package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// longRun is the phone in run --duration --json.
type longRun struct {
	Invocations struct {
		Course struct {
			Seconds  float64 `json:"duration_s"`
			Shutdown string
			Samples  []courseSample
		}
	}
}

type courseSample struct {
	LatencyUS    float64            `json:"latency_us"`
	TotalW       float64            `json:"total_w"`
	ClockMHz     map[string]float64 `json:"clocks_mhz"`
	TemperatureC map[string]float64 `json:"temperature_c"`
	Status       string             `json:"thermal_status"`
}

func endure(t *testing.T, device, duration string) []courseSample {
	t.Helper()
	network := "mobilenet_v1_1.0_224_quant"
	if device == "gpu" {
		network = "mobilenet_v1_0.25_128_float"
	}
	var r struct{ Runs []longRun }
	commandJSON(t, &r, "run", network, "--device", device, "--duration", duration)
	c := &r.Runs[0].Invocations.Course
	if c.Shutdown != "" {
		t.Fatalf("%s: after %.0f s: %s", device, c.Seconds, c.Shutdown)
	}
	return c.Samples
}

// TestTenMinutes checks the table of docs/Time.md against the phone's behaviour.
func TestTenMinutes(t *testing.T) {
	require.AllTests(t)
	doc := require.File(t, "../../docs/Time.md")
	for _, device := range []string{"cpu", "dsp", "npu", "gpu"} {
		s := endure(t, device, "10m")
		first, last := s[0], s[len(s)-1]
		row := fmt.Sprintf("| %s | %.1f | %.1f | %.2f | %.2f | %.0f | %.1f | %.1f | %s |", device, first.LatencyUS, last.LatencyUS,
			first.TotalW, last.TotalW, last.ClockMHz[device], last.TemperatureC[device], last.TemperatureC["skin"], last.Status)
		require.Check(t, strings.Contains(string(doc), row+"\n"), "docs/Time.md has not the row %s", row)
	}
}

// TestHeatSteadyState: a load that never ends makes the phone slower, not switch itself off, at room temperature: its
// rules settle with the skin below the next of Android's steps.
func TestHeatSteadyState(t *testing.T) {
	s := endure(t, "cpu", "40m")
	before, last := s[len(s)*5/6], s[len(s)-1]
	skin := last.TemperatureC["skin"]
	if !(skin > 40 && skin < 52 && math.Abs(skin-before.TemperatureC["skin"]) < 0.3) || !(math.Abs(last.LatencyUS/before.LatencyUS-1) <= 1e-9) {
		t.Errorf("skin at %.1f C after 33 minutes and %.1f after 40, latency %.1f and %.1f us",
			before.TemperatureC["skin"], skin, before.LatencyUS, last.LatencyUS)
	}
}
