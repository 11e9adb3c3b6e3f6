package dspdriver

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestExplain: estimated and simulated cycles of each step, and candidates of both kinds of
// kernels of a convolution, one of which is chosen.
func TestExplain(t *testing.T) {
	_, x := fixed(t, zoo.MustBuild("mobilenet_v1_0.25_128_quant"))
	var b strings.Builder
	require.NoError(t, x.Explain(&b))
	text := b.String()
	for _, want := range []string{"operation", "estimated", "simulated", "0 CONV_2D", "27 AVERAGE_POOL_2D", "pipelined_", "spatial_", " cycles, chosen", " cycles, slower", "\nall ", "\nforms of values", "usual ", "small ", " cycles, chosen\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.3000s", want, text)
		}
	}
	if operations := strings.Count(text, "chosen"); operations < 10 {
		t.Errorf("%d choices are explained", operations)
	}
}
