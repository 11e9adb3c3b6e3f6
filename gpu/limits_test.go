package gpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
)

// TestLimits holds from where to where each number of a machine with partitions may go.
func TestLimits(t *testing.T) {
	s := DefaultSpec()
	s.PartitionSIMDs, s.PartitionLanes = 2, 256
	limittest.Check(t, "limits.txt", limittest.Fields(&s, func() bool { return s.Validate() == nil }))
}
