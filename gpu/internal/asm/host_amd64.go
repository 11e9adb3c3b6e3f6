//go:build !purego

package asm

//go:generate go run ../asmgen -out zrow_amd64.s -stubs zrow_amd64.go -pkg asm -table ztable_amd64.go

import "golang.org/x/sys/cpu"

// HasAVX2 reports whether the host has the routines' instructions.
var HasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2 && cpu.X86.HasF16C

// rawCompare returns the lanes with a < b, a == b and, of floats, unordered ones.
type rawCompare func(a, b *[64]uint32, n int) (lt, eq, un uint64)

// Compare is a compare of 32-bit operands that selects the relations in
// set, nil when the host has no fast one.
func Compare(typ string, set int) func(a, b *[64]uint32, n int) uint64 {
	raw := map[string]rawCompare{"i32": cmpI, "u32": cmpU, "f32": cmpF}[typ]
	if raw == nil || !HasAVX2 {
		return nil
	}
	pick := func(r int) uint64 {
		if set&r != 0 {
			return ^uint64(0)
		}
		return 0
	}
	less, equal, greater, unordered := pick(Less), pick(Equal), pick(Greater), pick(Unordered)
	return func(a, b *[64]uint32, n int) uint64 {
		lt, eq, un := raw(a, b, n)
		return lt&less | eq&equal | un&unordered | ^(lt|eq|un)&greater
	}
}

// Splat fills the lanes of a row with a scalar.
func Splat(t *[64]uint32, v uint32, n int) {
	if !HasAVX2 {
		SplatLanes(t, v, n)
		return
	}
	splat(t, v, n)
}

// Select copies each of n lanes, 32 or 64, from b where its bit is set, else from a. d may be one of both.
func Select(d, a, b *[64]uint32, from uint64, n int) {
	if !HasAVX2 {
		SelectLanes(d, a, b, from, n)
		return
	}
	choose(d, a, b, from, n)
}

// Quad is Select from the lanes of a that QuadLanes says.
func Quad(d, a, b *[64]uint32, from uint64, ctrl uint32, n int) {
	if !HasAVX2 {
		QuadLanes(d, a, b, from, ctrl, n)
		return
	}
	quad(d, a, b, from, ctrl, n)
}

// Regular reports whether each of n values, 32 or 64, is step above the one before.
func Regular(a *[64]uint32, step uint32, n int) bool {
	if !HasAVX2 {
		return RegularLanes(a, step, n)
	}
	return regular(a, step, n)
}

// Deinterleave fills four consecutive rows of n lanes, 32 or 64, with words: four of lane 0, then those of lane 1.
func Deinterleave(d []uint32, b []byte, n int) {
	if !HasAVX2 {
		DeinterleaveLanes(d, b, n)
		return
	}
	_, _ = d[4*n-1], b[16*n-1]
	deal(&d[0], &b[0], n)
}

// Gather fills consecutive rows of n lanes, 32 or 64, with words: those of lane l begin at b[offsets[l]-less]. No
// offset is below less, and every lane's words are in b.
func Gather(d []uint32, b []byte, offsets *[64]uint32, less uint32, words, n int) {
	_ = d[words*n-1]
	switch {
	case words == 4 && HasAVX2:
		gather4(&d[0], &b[0], offsets, less, n)
	case words == 1 && HasAVX2:
		gather(&d[0], &b[0], offsets, less, n)
	default:
		GatherLanes(d, b, offsets, less, words, n)
	}
}

// Addresses adds the offset of each of n lanes, 32 or 64, to a base, and returns the lowest and the highest offset.
func Addresses(addr *[64]uint64, offsets *[64]uint32, base uint64, n int) (low, high uint32) {
	if !HasAVX2 {
		return AddressLanes(addr, offsets, base, n)
	}
	return addresses(addr, offsets, base, n)
}

// Neighbours compares the address of each of n lanes, 32 or 64, with that of the lane before; see NeighbourLanes.
func Neighbours(addr *[64]uint64, size int, shift uint, n int) (other, same uint64) {
	if !HasAVX2 {
		return NeighbourLanes(addr, size, shift, n)
	}
	return neighbours(addr, uint64(size-1), uint64(shift), n)
}

// MatchOffsets reports whether the addresses of n lanes, 32 or 64, relative to that of the first, equal offsets.
func MatchOffsets(addr, offsets *[64]uint64, n int) bool {
	if !HasAVX2 {
		return MatchOffsetsLanes(addr, offsets, n)
	}
	return apart(addr, offsets, n)
}
