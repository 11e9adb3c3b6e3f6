package gpu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
)

// TestLimits holds from where to where each number of a machine may go.
func TestLimits(t *testing.T) {
	s := DefaultSpec()
	limittest.Check(t, "limits.txt", limittest.Fields(&s, func() bool { return s.Validate() == nil }))
}
