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

// Windows covers the chunks by windows and routes them.
func (k Network) Windows(chunks []Chunk) (list []Window) {
	k.each(chunks, func(w *Window) { list = append(list, *w) })
	return list
}

// Count is how many windows cover the chunks.
func (k Network) Count(chunks []Chunk) (n int) {
	k.each(chunks, func(*Window) { n++ })
	return n
}

// each visits the windows of chunks, which it sorts by source.
func (k Network) each(chunks []Chunk, visit func(*Window)) {
	chunks = slices.Clone(chunks)
	slices.SortFunc(chunks, func(a, b Chunk) int { return int(int64(a.From) - int64(b.From)) })
	goals := make([][2]byte, 0, hvx.VectorBytes) // place, byte of the window
	var w Window
	flush := func() {
		for len(goals) > 0 {
			goals = k.route(&w.Controls, goals)
			visit(&w)
		}
	}
	open := false
	for _, c := range chunks {
		for i := range c.N {
			from := c.From + i
			if !open || from-w.At >= hvx.VectorBytes {
				flush()
				w.At, open = from, true
			}
			goals = append(goals, [2]byte{byte(c.To + i), byte(from - w.At)})
		}
	}
	flush()
}

// route sets the controls that bring bytes to their places and returns those
// that meet others on the way, in the memory of goals.
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
	left = goals[:0]
	arrived := &arrivedBits[k]
	var taken [len(arrived)][hvx.VectorBytes]byte // 1 + byte that passes
	for _, g := range goals {
		free := true
		for s, bits := range arrived {
			at := (g[1]&^bits | g[0]&bits) % hvx.VectorBytes
			if b := taken[s][at]; b != 0 && b != g[1]+1 {
				free = false
				break
			}
		}
		if !free {
			left = append(left, g)
			continue
		}
		at := g[1]
		for s, bits := range arrived {
			to := (g[1]&^bits | g[0]&bits) % hvx.VectorBytes
			taken[s][to] = g[1] + 1
			controls[to] |= at ^ to
			at = to
		}
		controls[g[0]] |= 0x80
	}
	return left
}

// arrivedBits are, for each stage of a network, the bits of a byte's place that are those of its goal behind the stage.
var arrivedBits = [...][7]byte{
	VdeltaNetwork:  {0x40, 0x60, 0x70, 0x78, 0x7c, 0x7e, 0x7f},
	VrdeltaNetwork: {0x01, 0x03, 0x07, 0x0f, 0x1f, 0x3f, 0x7f},
}
