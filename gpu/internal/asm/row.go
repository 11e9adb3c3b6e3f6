// Package asm has routines in the host's vector instructions for the hot operations of the vector unit.
// asmgen writes them.
package asm

import "encoding/binary"

// Func computes a whole register: for every lane i of m, d[i] = f(a[i], b[i], c[i]). n is 32 or 64. d may be one of the
// sources. It returns the lanes left undone: those from a block whose result needs care (a NaN), and all lanes when m is
// not full.
type Func = func(d, a, b, c *[64]uint32, m uint64, n int) uint64

// Routine is the assembly of a mnemonic.
type Routine struct {
	Mnemonic string
	Func     Func
}

// BatchFunc is a Func for count operations one after the other. Each of ops has the offsets in bytes
// of d, b and c from v, in this order with that of a, which counts from s, behind d. It returns how
// many it has done, and the lanes left undone of the one after these, 0 when there is none.
type BatchFunc = func(v, s *uint32, ops *[4]uint16, count int, m uint64, n int) (done int, rest uint64)

// BatchRoutine is the assembly of a mnemonic for batches.
type BatchRoutine struct {
	Mnemonic string
	Spread   bool // a is a scalar
	Func     BatchFunc
}

// Batch is the batch of a mnemonic, nil when there is none for this host.
func Batch(name string, spread bool) BatchFunc {
	for i := range Batches {
		if t := &Batches[i]; HasAVX2 && t.Mnemonic == name && t.Spread == spread {
			return t.Func
		}
	}
	return nil
}

// Row is the routine of a mnemonic, nil when there is none for this host.
func Row(name string) Func { return find(Rows, name) }

// Spread is the same for a scalar first operand: a points to one value for all lanes.
func Spread(name string) Func { return find(Spreads, name) }

func find(table []Routine, name string) Func {
	for i := range table {
		if t := &table[i]; HasAVX2 && t.Mnemonic == name {
			return t.Func
		}
	}
	return nil
}

// The relations of a compare by the outcome of less, equal, greater, unordered.
const (
	Less = 1 << iota
	Equal
	Greater
	Unordered
)

// RegularLanes reports whether each of n values is step above the one before.
func RegularLanes(a *[64]uint32, step uint32, n int) bool {
	for l := 1; l < n; l++ {
		if a[l&63]-a[(l-1)&63] != step {
			return false
		}
	}
	return true
}

// DeinterleaveLanes fills four consecutive rows of n lanes with words: four of lane 0, then those of lane 1.
func DeinterleaveLanes(d []uint32, b []byte, n int) {
	for l := range n {
		for j := range 4 {
			d[j*n+l] = binary.LittleEndian.Uint32(b[16*l+4*j:])
		}
	}
}

// SplatLanes fills the lanes of a row with a scalar.
func SplatLanes(t *[64]uint32, v uint32, n int) {
	for l := range n {
		t[l&63] = v
	}
}

// SelectLanes copies each of n lanes from b where its bit is set, else from a.
func SelectLanes(d, a, b *[64]uint32, from uint64, n int) {
	for l := range n {
		v := a[l&63]
		if from>>uint(l)&1 != 0 {
			v = b[l&63]
		}
		d[l&63] = v
	}
}

// QuadLanes is SelectLanes from the lanes of a that ctrl says: in two bits for each lane of a quad its source's number.
func QuadLanes(d, a, b *[64]uint32, from uint64, ctrl uint32, n int) {
	for q := 0; q < n; q += 4 {
		quad := *(*[4]uint32)(a[q&60:])
		for l := range quad {
			v := quad[ctrl>>(2*l)&3]
			if from>>uint(q+l)&1 != 0 {
				v = b[q+l&63]
			}
			d[q+l&63] = v
		}
	}
}

// GatherLanes fills consecutive rows of n lanes with words: those of lane l begin at b[offsets[l]-less].
func GatherLanes(d []uint32, b []byte, offsets *[64]uint32, less uint32, words, n int) {
	for l := range n {
		at := b[offsets[l&63]-less:]
		for j := range words {
			d[j*n+l] = binary.LittleEndian.Uint32(at[4*j:])
		}
	}
}

// AddressLanes adds the offset of each of n lanes to a base, and returns the lowest and the highest offset.
func AddressLanes(addr *[64]uint64, offsets *[64]uint32, base uint64, n int) (low, high uint32) {
	low = ^uint32(0)
	for l := range n {
		v := offsets[l&63]
		addr[l&63] = base + uint64(v)
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// NeighbourLanes compares the address of each of n lanes with that of the lane before: other are the lanes whose size
// bytes are not all in the block of 1<<shift bytes in which the lane before begins; same are those with its address.
// The first lane is in other. Bits from n on are undefined.
func NeighbourLanes(addr *[64]uint64, size int, shift uint, n int) (other, same uint64) {
	other = 1
	for l := 1; l < n; l++ {
		a, before := addr[l&63], addr[(l-1)&63]
		if block := a >> shift; block != before>>shift || block != (a+uint64(size-1))>>shift {
			other |= 1 << l
		}
		if a == before {
			same |= 1 << l
		}
	}
	return other, same
}

// MatchOffsetsLanes reports whether the addresses of n lanes, relative to that of the first, equal offsets.
func MatchOffsetsLanes(addr, offsets *[64]uint64, n int) bool {
	for l := range n {
		if addr[l&63]-addr[0] != offsets[l&63] {
			return false
		}
	}
	return true
}
