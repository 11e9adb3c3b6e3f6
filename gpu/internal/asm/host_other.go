//go:build !amd64 || purego

package asm

// No routines are for this host.
var Rows, Spreads []Routine
var Batches []BatchRoutine

// HasAVX2 is false: no vector instructions of the host are used.
var HasAVX2 = false

// Compare has no routine for this host.
func Compare(string, int) func(a, b *[64]uint32, n int) uint64 { return nil }

// Regular reports whether each of n values is step above the one before.
func Regular(a *[64]uint32, step uint32, n int) bool { return RegularLanes(a, step, n) }

// Deinterleave fills four consecutive rows of n lanes with words: four of lane 0, then those of lane 1.
func Deinterleave(d []uint32, b []byte, n int) { DeinterleaveLanes(d, b, n) }

// Splat fills the lanes of a row with a scalar.
func Splat(t *[64]uint32, v uint32, n int) { SplatLanes(t, v, n) }

// Select copies each of n lanes from b where its bit is set, else from a. d may be one of both.
func Select(d, a, b *[64]uint32, from uint64, n int) { SelectLanes(d, a, b, from, n) }

// Quad is Select from the lanes of a that QuadLanes says.
func Quad(d, a, b *[64]uint32, from uint64, ctrl uint32, n int) { QuadLanes(d, a, b, from, ctrl, n) }

// Gather fills consecutive rows of n lanes with words: those of lane l begin at b[offsets[l]-less].
func Gather(d []uint32, b []byte, offsets *[64]uint32, less uint32, words, n int) {
	GatherLanes(d, b, offsets, less, words, n)
}

// Addresses adds the offset of each of n lanes to a base, and returns the lowest and the highest offset.
func Addresses(addr *[64]uint64, offsets *[64]uint32, base uint64, n int) (low, high uint32) {
	return AddressLanes(addr, offsets, base, n)
}

// Neighbours compares the address of each of n lanes with that of the lane before; see NeighbourLanes.
func Neighbours(addr *[64]uint64, size int, shift uint, n int) (other, same uint64) {
	return NeighbourLanes(addr, size, shift, n)
}

// MatchOffsets reports whether the addresses of n lanes, relative to that of the first, equal offsets.
func MatchOffsets(addr, offsets *[64]uint64, n int) bool { return MatchOffsetsLanes(addr, offsets, n) }
