package dsp

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
)

// object is a program in the making: the code of kernels, and constants.
type object struct {
	threads int // that share the work of a job
	image   *hvx.Image
	consts  []byte
}

// newObject makes the object of a machine with that many threads that use vectors. What is compiled for it is kept in
// the cache.
func newObject(threads int, m hvx.Machine, kernels *hvx.Cache) *object {
	return &object{threads: threads, image: hvx.NewImage(codeBase, m, kernels)}
}

// reserve makes room for the constants of a graph, so that they need not move: packed weights take
// little more room than weights.
func (l *object) reserve(g *graph.Graph) {
	n := minConst
	for i := range g.Operands {
		n += len(g.Operands[i].Data) * 5 / 4
	}
	l.consts = make([]byte, 0, min(n, maxConst))
}

// minConst is room for the tables of a small network.
const minConst = 64 << 10

// constant appends data to the constants and returns its address.
func (l *object) constant(data []byte) uint32 {
	l.consts = append(l.consts, make([]byte, roundUp(len(l.consts), vecBytes)-len(l.consts))...)
	at := constBase + uint32(len(l.consts))
	l.consts = append(l.consts, data...)
	return at
}

func (l *object) constWords(w []uint32) uint32 {
	at := l.constant(nil)
	l.consts = slices.Grow(l.consts, 4*len(w))
	for _, x := range w {
		l.consts = binary.LittleEndian.AppendUint32(l.consts, x)
	}
	return at
}

// fits compiles a kernel that is the best choice if there are registers for it.
func (l *object) fits(k hvx.Kernel) bool { return l.image.Cost(k) > 0 }

// spread divides n items among the threads as evenly as possible, in order;
// threads without work are left out.
func (l *object) spread(n int) [][2]int {
	var out [][2]int
	for t, from := 0, 0; t < l.threads && from < n; t++ {
		to := from + ceilDiv(n-from, l.threads-t)
		out = append(out, [2]int{from, to})
		from = to
	}
	return out
}

// parts divides n items into ranges of at most most, as many for each thread.
func (l *object) parts(n, most int) [][2]int {
	var out [][2]int
	each := ceilDiv(ceilDiv(n, l.threads), most)
	for _, r := range l.spread(n) {
		for k := range each {
			from, to := r[0]+(r[1]-r[0])*k/each, r[0]+(r[1]-r[0])*(k+1)/each
			if to > from {
				out = append(out, [2]int{from, to})
			}
		}
	}
	return out
}
