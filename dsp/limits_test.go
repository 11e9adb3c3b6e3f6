package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
)

// TestLimits holds from where to where each number of a machine with user DMA may go.
func TestLimits(t *testing.T) {
	s := presetSpec(t, "sd888")
	limittest.Check(t, "limits.txt", limittest.Fields(&s, func() bool { return s.validate() == nil }))
}
