package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestLimits holds from where to where each number of a machine may go.
func TestLimits(t *testing.T) {
	for _, name := range []string{"pixel4", "ethos-u65-512"} {
		c, err := soc.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := FromSoC(c, sim.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		limittest.Check(t, name+"_limits.txt", limittest.Fields(&s, func() bool { return s.Validate() == nil }))
	}
}
