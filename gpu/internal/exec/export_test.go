package exec

import (
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
)

// EachForm runs a test with the routines that the host has, and without them.
func EachForm(t *testing.T, f func(*testing.T)) {
	if asm.HasAVX2 {
		defer func() { asm.HasAVX2 = true }()
		t.Run("AVX2", f)
	}
	asm.HasAVX2 = false
	t.Run("portable", f)
}
