package dsp

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// object is what lowering and planning put into a program: kernels and constants.
type object struct {
	threads int // that share the work of a job
	image   *hvx.Image
	consts  []byte
	op      int // of the model, which uses what is added now
}

func newObject(d *Device, kernels *hvx.Cache) *object {
	return &object{threads: d.threads(), image: hvx.NewImage(codeBase, d.machine(), kernels)}
}

// constant appends data to the constants and returns its address.
func (l *object) constant(data []byte) uint32 {
	l.consts = append(l.consts, make([]byte, roundUp(len(l.consts), vecBytes)-len(l.consts))...)
	at := constBase + uint32(len(l.consts))
	l.consts = append(l.consts, data...)
	return at
}

func (l *object) constWords(w []uint32) uint32 {
	b := make([]byte, 0, 4*len(w))
	for _, x := range w {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return l.constant(b)
}

// fits compiles a kernel that is the best choice if there are registers for it.
func (l *object) fits(k hvx.Kernel) bool { return l.image.Cost(k) > 0 }

// linked returns a kernel of the image.
func (l *object) linked(k hvx.Kernel) (*hvx.Linked, error) { return l.image.Kernel(k, l.op) }

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
