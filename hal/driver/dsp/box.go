package dsp

// boxOf is the prefetch argument for n bytes.
func boxOf(n uint32) uint32 { return vecBytes<<16 | min(n/vecBytes, 0xffff) }

// rowBox is the l2fetch box of rows of n bytes; empty when it fits no box.
func rowBox(n, rows, stride int) (box, step uint32) {
	if rows == 1 {
		stride = vecBytes // of no consequence
	}
	if n >= 1<<16 || rows >= 1<<16 || stride >= 1<<16 {
		return 0, 0
	}
	return uint32(n)<<16 | uint32(rows), uint32(stride)
}
