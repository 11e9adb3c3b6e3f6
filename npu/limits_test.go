package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
)

// TestLimits holds from where to where each number of a machine may go.
func TestLimits(t *testing.T) {
	for _, name := range []string{"pixel4", "ethos-u65-512"} {
		s := specOf(t, name)
		limittest.Check(t, name+"_limits.txt", limittest.Fields(&s, func() bool { return s.Validate() == nil }))
	}
}
