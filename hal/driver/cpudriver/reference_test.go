package cpudriver_test

import (
	"runtime"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// TestReferenceFrees: the reference frees packed and computed data as soon as its outputs exist, so that a device
// that prepares the same model next does not need memory beside it.
func TestReferenceFrees(t *testing.T) {
	const n = 1024 // 4 MiB of weights, twice more in the reference
	b := builder.New(builder.Config{Format: builder.Float32})
	b.Output(b.Dense(b.Values("input", 1, n), n, builder.NoActivation), "output")
	m := require.V(b.Model("dense"))(t)
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := heap()
	out := require.V(cpudriver.Reference(m, [][]byte{make([]byte, 4*n)}))(t)
	more := int64(heap()) - int64(before)
	if more > 1<<20 {
		t.Errorf("%d bytes are kept for %d of outputs", more, len(out[0]))
	}
	runtime.KeepAlive(m)
}
