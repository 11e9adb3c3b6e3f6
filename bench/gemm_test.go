package bench_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TestGemm: each type computes its product, with many different results.
func TestGemm(t *testing.T) {
	for typ := range bench.GemmTypes {
		m := require.V(bench.Gemm(typ, 48))(t)
		if got := opspec.MACs(m); got != 48*48*48 {
			t.Errorf("%s: %d multiply-accumulates", typ, got)
		}
		out := require.V(cpudriver.Reference(m, [][]byte{bench.GemmInput(m)}))(t, typ)
		used := map[string]bool{}
		n := m.Main.Operands[m.Main.Outputs[0]].Type.ElementBytes()
		for i := 0; i < len(out[0]); i += n {
			used[string(out[0][i:i+n])] = true
		}
		require.Check(t, len(used) >= 40, "%s: only %d different results", typ, len(used))
	}
	for _, size := range []int{0, -1, bench.MaxGemm + 1} {
		require.Fails(t, require.Err(bench.Gemm("u8", size)), "size", size, "accepted")
	}
	require.Fails(t, require.Err(bench.Gemm("u4", 8)), "type u4 accepted")
}
