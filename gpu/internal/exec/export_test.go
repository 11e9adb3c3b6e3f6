package exec

import (
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
)

// EachForm runs a test with each form of the routines that the host has.
func EachForm(t *testing.T, f func(*testing.T)) {
	wide, narrow := asm.HasAVX512, asm.HasAVX2
	defer func() { asm.HasAVX512, asm.HasAVX2 = wide, narrow }()
	if wide {
		t.Run("AVX-512", f)
	}
	asm.HasAVX512 = false
	if narrow {
		t.Run("AVX2", f)
	}
	asm.HasAVX2 = false
	t.Run("portable", f)
}
