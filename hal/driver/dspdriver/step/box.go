package step

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
)

// PrefetchLimit keeps a prefetch from emptying L2 of activations.
const PrefetchLimit = 512 << 10

// Box is the prefetch argument for n bytes.
func Box(n uint32) uint32 { return layout.VectorBytes<<16 | min(n/layout.VectorBytes, 0xffff) }

// RowBox is the l2fetch box of rows of n bytes; empty when it fits no box.
func RowBox(n, rows, stride int) (box, step uint32) {
	if rows == 1 {
		stride = layout.VectorBytes // of no consequence
	}
	if n >= 1<<16 || rows >= 1<<16 || stride >= 1<<16 {
		return 0, 0
	}
	return uint32(n)<<16 | uint32(rows), uint32(stride)
}
