// Package buffer allocates the memory that vector loops of the reference read and write.
package buffer

import "unsafe"

// Slack is the number of bytes after every buffer that vector loops may read.
const Slack = 64

// Aligned allocates n bytes at an address that is a multiple of 64.
func Aligned(n int) []byte {
	b := make([]byte, n+63)
	off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & 63)
	return b[off : off+n : off+n]
}

// Values reinterprets aligned little-endian bytes. All targets of the project
// are little-endian.
func Values[T int32 | float32](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// Arena provides scratch memory until it is reset.
type Arena struct {
	mem  []byte
	used int
}

// Reset makes all of the scratch free.
func (a *Arena) Reset() { a.used = 0 }

// Bytes returns n bytes of scratch, aligned to 64, with slack after them. The
// contents are arbitrary.
func (a *Arena) Bytes(n int) []byte {
	size := (n + Slack + 63) &^ 63
	if a.used+size > len(a.mem) {
		a.mem = Aligned(max(2*len(a.mem), size))
		a.used = 0
	}
	b := a.mem[a.used : a.used+size]
	a.used += size
	return b[: n+Slack : size][:n]
}

// Floats and Ints are n elements of scratch.
func (a *Arena) Floats(n int) []float32 { return Values[float32](a.Bytes(4 * n)) }
func (a *Arena) Ints(n int) []int32     { return Values[int32](a.Bytes(4 * n)) }
