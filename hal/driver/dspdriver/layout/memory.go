package layout

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// The address map of a prepared model.
const (
	CodeBase  = 0x00100000
	ConstBase = 0x10000000
	ArenaBase = 0x40000000
	MaxArena  = 1 << 28 // bytes of activations that a model may need
	MaxConst  = 1 << 28 // bytes of packed weights and tables
	// MaxPositions bounds a tensor, because tables have an entry per position.
	MaxPositions = 1 << 22
	maxPadding   = 1 << 12      // rows or columns around an image
	MaxDepth     = 1 << 22      // inputs of one output of a convolution
	EndGuard     = hvx.EndGuard // mapped bytes around the arena and behind the constants
)
