package step

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
)

// Object is a program in the making: the machine that it is for, the code of kernels, and
// constants.
type Object struct {
	Threads int // that share the work of a job
	Machine cost.Machine
	VTCM    int  // bytes that a single step can use
	DMA     bool // the core has user DMA
	ZWindow bool // the core has the Z window of V66
	Image   *hvx.Image
	Consts  []byte
	Blocks  []int // offsets at which constants begin
	// Candidates are kernels to use in place of those estimated to be the fastest, by operation.
	Candidates map[int]string
}

// Reserve allocates memory for the packed form of so many bytes of weights, so that constants
// need not move: packed weights are little larger.
func (o *Object) Reserve(weights int) {
	o.Consts = make([]byte, 0, min(minConst+weights*5/4, layout.MaxConst))
}

// minConst is the bytes reserved for the tables of a small network.
const minConst = 64 << 10

// Constant appends data to the constants and returns its address.
func (o *Object) Constant(data []byte) uint32 {
	o.Consts = append(o.Consts, make([]byte, layout.RoundUp(len(o.Consts), layout.VectorBytes)-len(o.Consts))...)
	at := layout.ConstBase + uint32(len(o.Consts))
	o.Blocks = append(o.Blocks, len(o.Consts))
	o.Consts = append(o.Consts, data...)
	return at
}

// Words is Constant for words.
func (o *Object) Words(w []uint32) uint32 {
	at := o.Constant(nil)
	o.Consts = slices.Grow(o.Consts, 4*len(w))
	for _, x := range w {
		o.Consts = binary.LittleEndian.AppendUint32(o.Consts, x)
	}
	return at
}

// Word reads a word of the constants; ok is false for an address outside them.
func (o *Object) Word(addr uint32) (w uint32, ok bool) {
	at := int(addr) - layout.ConstBase
	if at < 0 || at+4 > len(o.Consts) {
		return 0, false
	}
	return binary.LittleEndian.Uint32(o.Consts[at:]), true
}

// Fits compiles a kernel that is the best choice if there are registers for it.
func (o *Object) Fits(k hvx.Kernel) bool { return o.Image.Fits(k) }

// Spread divides n items among the threads as evenly as possible, in order;
// threads without work are left out.
func (o *Object) Spread(n int) [][2]int {
	var out [][2]int
	for t, from := 0, 0; t < o.Threads && from < n; t++ {
		to := from + layout.CeilDiv(n-from, o.Threads-t)
		out = append(out, [2]int{from, to})
		from = to
	}
	return out
}

// Parts divides n items into ranges of at most most, as many for each thread.
func (o *Object) Parts(n, most int) [][2]int {
	var out [][2]int
	each := layout.CeilDiv(layout.CeilDiv(n, o.Threads), most)
	for _, r := range o.Spread(n) {
		for k := range each {
			from, to := r[0]+(r[1]-r[0])*k/each, r[0]+(r[1]-r[0])*(k+1)/each
			if to > from {
				out = append(out, [2]int{from, to})
			}
		}
	}
	return out
}
