package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAutoIsQuick: run --device auto runs the plans of single devices and two more at most, is no slower than any
// device by itself, and reports the error of its estimate.
func TestAutoIsQuick(t *testing.T) {
	const network = "mobilenet_v1_0.25_128_quant"
	var out, errs strings.Builder
	if code := execute([]string{"run", network, "--device", "auto,cpu,gpu,dsp,npu", "--json"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if n := strings.Count(errs.String(), "measure plan"); n < 4 || n > 6 {
		t.Errorf("%d plans ran:\n%s", n, errs.String())
	}
	for _, want := range []string{"measure plan 1 of 4 ...", "measure plan 4 of 4 ..."} {
		require.Check(t, strings.Contains(errs.String(), want), "no %q:\n%s", want, errs.String())
	}
	var r struct {
		Runs []struct {
			Device    string  `json:"device"`
			Latency   float64 `json:"latency_us"`
			Predicted float64 `json:"predicted_latency_us"`
		} `json:"runs"`
	}
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || len(r.Runs) != 5 {
		t.Fatalf("%d runs, error %v", len(r.Runs), err)
	}
	auto := r.Runs[0]
	if off := auto.Predicted/auto.Latency - 1; !(math.Abs(off) < 0.15) {
		t.Errorf("auto: %.1f us predicted, %.1f measured", auto.Predicted, auto.Latency)
	}
	for _, x := range r.Runs[1:] {
		if auto.Latency > 1.03*x.Latency || x.Predicted != 0 {
			t.Errorf("%s takes %.1f us, auto %.1f; %.1f predicted", x.Device, x.Latency, auto.Latency, x.Predicted)
		}
	}
	out.Reset()
	if code := execute([]string{"run", network, "--device", "auto", "-q"}, &out, &errs); code != 0 || !strings.Contains(out.String(), " us predicted, ") {
		t.Errorf("exit code %d:\n%s", code, out.String())
	}
}
