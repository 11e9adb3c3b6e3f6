package mem_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestLimits holds from where to where each number of a memory and of a DMA engine may go.
func TestLimits(t *testing.T) {
	s := mem.ScratchpadConfig{Name: "s", Hz: 1e9, Bytes: 1 << 16, Banks: 8, BankBytes: 16, LatencyCycles: 4}
	limittest.Check(t, "scratchpad_limits.txt", limittest.Fields(&s, func() bool { return s.Validate() == nil }))
	d := mem.DMAConfig{Name: "d", Hz: 1e9, BurstBytes: 64, Outstanding: 4, StartCycles: 10, IssueCycles: 1, Queue: 2}
	limittest.Check(t, "dma_limits.txt", limittest.Fields(&d, func() bool { return d.Validate() == nil }))
}
