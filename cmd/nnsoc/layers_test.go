package main

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPlantedLayer: --check-layers names the operation whose output is wrong, partition counts the differences; both
// pass without a fault.
func TestPlantedLayer(t *testing.T) {
	model := reluNetwork(t)
	run := []string{"run", model, "--device", "gpu", "--check-layers"}
	plan := []string{"partition", model, "--strategies", "single:gpu"}
	for _, args := range [][]string{run, plan} {
		if code, out, errs := command(nil, args...); code != 0 {
			t.Errorf("%v: exit code %d without a fault\n%s%s", args, code, out, errs)
		}
		for _, p := range plants[:4] {
			code, out, errs := command(p.plant, args...)
			require.Check(t, code == cli.ExitMismatch, "%v, %s: exit code %d\n%s%s", args, p.name, code, out, errs)
			if args[0] == "run" && !strings.Contains(out, "operation 0 (RELU y) on gpu is the first of 1 layers that leave the rule: output 0: ") {
				t.Errorf("%s: the layer is not named in\n%s", p.name, out)
			}
		}
	}
}
