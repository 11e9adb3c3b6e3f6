package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestFailingStrategy: a program that gives no plan loses its own row; without another
// strategy the command fails.
func TestFailingStrategy(t *testing.T) {
	if _, err := os.Stat("/bin/false"); err != nil {
		t.Skip("skipped: needs /bin/false")
	}
	run := func(strategies string) (code int, r struct {
		Strategies []struct{ Name string }
		Failed     []struct{ Name, Error string } `json:"failed_strategies"`
	}, message string) {
		var out, errs strings.Builder
		code = execute([]string{"partition", "mlperf_tiny_kws_quant", "--strategies", strategies, "--json", "-q"}, &out, &errs)
		if out.Len() > 0 {
			require.NoError(t, json.Unmarshal([]byte(out.String()), &r))
		}
		return code, r, errs.String()
	}
	const program = "exec:/bin/false"
	code, r, message := run("cpu," + program + ",aosp")
	require.Check(t, code == 1 && strings.Contains(message, program), "exit code %d: %s", code, message)
	require.Check(t, len(r.Strategies) == 2 && r.Strategies[0].Name == "cpu" && r.Strategies[1].Name == "aosp", "rows %v", r.Strategies)
	require.Check(t, len(r.Failed) == 1 && r.Failed[0].Name == program && strings.Contains(r.Failed[0].Error, "exit status 1"), "failed %v", r.Failed)
	code, _, message = run(program)
	require.Check(t, code == 2 && strings.Contains(message, program), "alone: exit code %d: %s", code, message)
}

// TestNothingMeasured: a models list whose files are missing is bad input.
func TestNothingMeasured(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "models.json")
	require.NoError(t, os.WriteFile(list, []byte(`{"models": [{"name": "gone", "baselineSec": 1, "inputSize": [1, 1, 1, 4], "dataSize": 4, "inputOutputs": [{"input": "in", "output": "out"}]}]}`), 0o600))
	var out, errs strings.Builder
	code := execute([]string{"mlts", "benchmark", "--short", "--models", list, "-q"}, &out, &errs)
	require.Check(t, code == 2 && strings.Contains(errs.String(), "nothing was measured: gone: "), "exit code %d: %s", code, errs.String())
}
