package offline_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestCheck: a file passes against the model that it was compiled from, and fails with the file of another one.
func TestCheck(t *testing.T) {
	c := require.V(soc.Load("ethos-u55-64"))(t)
	a := require.V(ethosu.ParseConfig("ethos-u55-64"))(t)
	compile := func(seed uint32) *offline.Network {
		b := builder.New(builder.Config{Format: builder.Quant8Signed, Seed: seed})
		x := b.Values("input", 1, 8, 8, 4)
		b.Output(b.Conv(x, builder.Conv{Out: 8, Kernel: 3}), "a")
		b.Output(b.MaxPool(x, builder.Pool{Window: 2, Stride: 2}), "b")
		m := require.V(b.Model("check"))(t)
		return require.V(offline.Compile(m, c, a))(t)
	}
	n := compile(1)
	results := require.V(n.Check())(t)
	require.NoError(t, compare.Err(results))
	require.Check(t, len(results) == 2 && results[0].Elements == 8*8*8 && results[1].Elements == 4*4*4, "%+v", results)
	require.Check(t, n.Work == 8*8*8*9*4+8*8*8+4*4*4, "work %d", n.Work)
	n.File = compile(2).File
	results = require.V(n.Check())(t)
	require.Check(t, results[0].Mismatches > 100 && results[1].Mismatches == 0, "%+v", results)
	n.File = n.File[:len(n.File)/2]
	require.Check(t, require.Err(n.Check()) != nil, "half a file")
}
