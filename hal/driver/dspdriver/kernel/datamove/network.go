package datamove

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// The byte permutation kernel makes each vector of the result that consists of short runs.
// Windows of 128 source bytes pass through a permutation network (vdelta, vrdelta or vlut32)
// that brings their bytes to their places, and are merged. A pattern is the list of windows
// with their controls; vectors that differ by a distance only share one pattern.

// Network is the instruction that moves the bytes of a window.
type Network int

const (
	VdeltaNetwork  Network = iota + 1 // vdelta: strides 64 down to 1
	VrdeltaNetwork                    // vrdelta: strides 1 up to 64
	Vlut32Network                     // vlut32 over the four banks of the window
)

// WindowCost is the packets of a window in each network.
var WindowCost = [...]int{VdeltaNetwork: 3, VrdeltaNetwork: 3, Vlut32Network: 6}

// Window is a part of the source, relative to the pattern's first, with the
// controls of its bytes.
type Window struct {
	At       uint32
	Controls [hvx.VectorBytes]byte
}

// unmoved marks bytes that a window does not supply: 0xff is no index of vlut32, and network
// controls of the other bytes have their top bit set.
func (k Network) unmoved() byte {
	if k == Vlut32Network {
		return 0xff
	}
	return 0
}

// Chunk is a part of a vector: n bytes at place to, from a distance into the
// source.
type Chunk struct{ To, From, N uint32 }

// Windows covers the chunks by windows and routes them. Chunks are sorted by
// source here.
func (k Network) Windows(chunks []Chunk) []Window {
	chunks = slices.Clone(chunks)
	slices.SortFunc(chunks, func(a, b Chunk) int { return int(int64(a.From) - int64(b.From)) })
	var out []Window
	var goals [][2]byte // place, byte of the window
	flush := func(at uint32) {
		for len(goals) > 0 {
			w := Window{At: at}
			goals = k.route(&w.Controls, goals)
			out = append(out, w)
		}
	}
	start, open := uint32(0), false
	for _, c := range chunks {
		for i := range c.N {
			from := c.From + i
			if !open || from-start >= hvx.VectorBytes {
				flush(start)
				start, open = from, true
			}
			goals = append(goals, [2]byte{byte(c.To + i), byte(from - start)})
		}
	}
	flush(start)
	return out
}

// route sets the controls that bring bytes to their places and returns those
// that meet others on the way.
func (k Network) route(controls *[hvx.VectorBytes]byte, goals [][2]byte) (left [][2]byte) {
	for i := range controls {
		controls[i] = k.unmoved()
	}
	if k == Vlut32Network {
		for _, g := range goals { // banks are interleaved: see LookupVectors
			controls[g[0]] = g[1]>>1 | g[1]&1<<6
		}
		return nil
	}
	var taken [7][hvx.VectorBytes]byte // 1 + byte that passes
	for _, g := range goals {
		free, at := true, g[1]
		for s := range taken {
			at = k.next(s, at, g[0])
			if b := taken[s][at]; b != 0 && b != g[1]+1 {
				free = false
				break
			}
		}
		if !free {
			left = append(left, g)
			continue
		}
		at = g[1]
		for s := range taken {
			to := k.next(s, at, g[0])
			taken[s][to] = g[1] + 1
			controls[to] |= at ^ to
			at = to
		}
		controls[g[0]] |= 0x80
	}
	return left
}

// next is where a byte at a place is behind stage s of a network that brings it
// to its goal.
func (k Network) next(s int, at, goal byte) byte {
	stride := byte(64) >> s
	if k == VrdeltaNetwork {
		stride = 1 << s
	}
	return at&^stride | goal&stride
}
