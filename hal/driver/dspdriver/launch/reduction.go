package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/reduction"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// FoldedRow is the number of values to which a long row is reduced first.
const FoldedRow = 4 * layout.VectorBytes

// Fold reduces long rows to a few values each.
type Fold struct {
	Function   reduction.Function
	SliceCount int
	Rows       int
	In         *layout.Tensor
	Out        *layout.Tensor
	Bound      uint32
}

// Launch implements step.Work.
func (w Fold) Launch(l *step.Launcher, _ step.Rows) {
	low, high := step.RowBox(layout.VectorBytes, w.SliceCount, FoldedRow)
	var table []uint32
	for row := range w.Rows {
		for v := 0; v < FoldedRow; v += layout.VectorBytes {
			table = append(table, w.In.Addr+uint32(row*w.SliceCount*FoldedRow+v), w.Out.Addr+uint32(row*FoldedRow+v), uint32(w.SliceCount), FoldedRow, low, high)
		}
	}
	l.LaunchTable(l.Kernel(reduction.Slices{F: w.Function}), table, reduction.EntryWords, w.Bound)
}

// TopK lists the greatest values of rows and where they are.
type TopK struct {
	Size    int
	Slices  Slices
	Values  *layout.Tensor
	Indices *layout.Tensor
	Op      opspec.TopK
	Wide    int
}

// Launch implements step.Work.
func (w TopK) Launch(l *step.Launcher, _ step.Rows) {
	var k hvx.Kernel = reduction.TopK{}
	if w.Size == 1 {
		k = reduction.TopKBytes{}
	}
	var table []uint32
	for v := 0; v < w.Slices.Pitch; v += layout.VectorBytes {
		table = append(table, w.Slices.T.Addr+uint32(v), w.Values.Addr+uint32(v), w.Indices.Addr+uint32(v/w.Size*4), uint32(w.Op.K))
	}
	l.LaunchTable(l.Kernel(k), table, 4, uint32(w.Slices.Count), uint32(w.Slices.Pitch), uint32(w.Wide))
}

// Slices is a value laid out in slices.
type Slices struct {
	T           *layout.Tensor
	Count, Rows int // slices, elements of a slice that count
	Size        int // bytes of an element
	Pitch       int // bytes from slice to slice
}

// Reduce reduces the slices of every vector of rows.
type Reduce struct {
	Function reduction.Function
	Slices   Slices
	Out      *layout.Tensor
	Words    []uint32
}

// Launch implements step.Work.
func (w Reduce) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	_, wide := w.Function.Form()
	low, high := step.RowBox(layout.VectorBytes, w.Slices.Count, w.Slices.Pitch)
	for v := 0; v < w.Slices.Pitch; v += layout.VectorBytes {
		table = append(table, w.Slices.T.Addr+uint32(v), w.Out.Addr+uint32(v*wide), uint32(w.Slices.Count), uint32(w.Slices.Pitch), low, high)
	}
	l.LaunchTable(l.Kernel(reduction.Slices{F: w.Function}), table, reduction.EntryWords, w.Words...)
}
