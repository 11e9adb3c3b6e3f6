package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// Fill stores a word over a whole flat tensor.
type Fill struct {
	To   *layout.Tensor
	Word uint32
}

// Launch implements step.Work.
func (w Fill) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	for _, r := range l.Spread(flatVectors(w.To)) {
		table = append(table, w.To.Addr+uint32(r[0]*layout.VectorBytes), uint32(r[1]-r[0]))
	}
	launchFillWord(l, table, w.Word)
}

func launchFill(l *step.Launcher, table []uint32, value byte) {
	launchFillWord(l, table, uint32(value)*0x01010101)
}

func launchFillWord(l *step.Launcher, table []uint32, word uint32) {
	total := 0
	for i := 1; i < len(table); i += 2 {
		total += int(table[i])
	}
	// Ranges of no more than half a thread's share can be distributed evenly.
	most := uint32(max(total/(2*l.Threads), 16))
	var parts []uint32
	var costs []int
	for i := 0; i < len(table); i += 2 {
		for at, left := table[i], table[i+1]; left > 0; {
			n := min(left, most)
			parts = append(parts, at, n)
			costs = append(costs, 4+int(n))
			at, left = at+n*layout.VectorBytes, left-n
		}
	}
	l.LaunchShares(l.Kernel(datamove.Fill{}), parts, 2, costs, word)
}

// FillImage fills the rows of images with the zero point.
type FillImage struct {
	Out *layout.Tensor
}

// Launch implements step.Work.
func (w FillImage) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	for n := range w.Out.Shape.N {
		for y := range w.Out.Shape.H {
			table = append(table, w.Out.At(n, y, 0), uint32(w.Out.VectorsPerRow()))
		}
	}
	launchFill(l, table, w.Out.Zero)
}
