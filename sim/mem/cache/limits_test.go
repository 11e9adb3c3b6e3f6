package cache

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
)

// TestLimits holds from where to where each number of a cache may go.
func TestLimits(t *testing.T) {
	c := Config{Name: "c", Hz: 1e9, Bytes: 4096, LineBytes: 64, Ways: 4, Replacement: TreePLRU, HitCycles: 9, BytesPerCycle: 64, Banks: 2}
	limittest.Check(t, "limits.txt", limittest.Fields(&c, func() bool { return c.Validate() == nil }))
}
