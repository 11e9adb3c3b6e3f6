package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// flatVectors is how many vectors hold a flat tensor; the last may reach into
// the guard behind it.
func flatVectors(t *layout.Tensor) int { return layout.CeilDiv(t.Bytes(), layout.VectorBytes) }

// flatTable lists ranges of steps: the addresses of the tensors and the number of
// steps. Tensor i advances by step[i] vectors per step.
func flatTable(parts [][2]int, ts []*layout.Tensor, step []int) []uint32 {
	var table []uint32
	for _, r := range parts {
		for i, t := range ts {
			table = append(table, t.Addr+uint32(r[0]*step[i]*layout.VectorBytes))
		}
		table = append(table, uint32(r[1]-r[0]))
	}
	return table
}

// flatChunk is how many bytes of operands a thread brings into L2 at a time.
const flatChunk = 16 << 10

// Map applies a function of vectors to whole flat tensors.
type Map struct {
	In       []*layout.Tensor
	Out      *layout.Tensor
	Form     elementwise.Form
	Function elementwise.Function
	Words    []uint32
}

// Launch implements step.Work.
func (w Map) Launch(l *step.Launcher, _ step.Rows) {
	all := append(append([]*layout.Tensor{}, w.In...), w.Out)
	step := append(append([]int{}, w.Form.In...), w.Form.Out)
	steps, perStep := layout.CeilDiv(flatVectors(w.Out), w.Form.Out), 0
	for _, n := range w.Form.In {
		perStep += n
	}
	k, most := elementwise.Map{F: w.Function}, steps
	cold := 0 // bytes that do not come from L2
	for i, t := range w.In {
		if l.Cold(t) {
			cold += steps * w.Form.In[i] * layout.VectorBytes
		}
	}
	if k.Stream = cold > 2*flatChunk; k.Stream {
		most = max(flatChunk/(perStep*layout.VectorBytes), 1)
	}
	l.LaunchTable(l.Kernel(k), flatTable(l.Parts(steps, most), all, step), len(all)+1, w.Words...)
}

// TableRun is a run of elements that one lookup table serves.
type TableRun struct{ From, N, Table int }

// MapScalars computes elements one by one, some by tables.
type MapScalars struct {
	Function elementwise.ScalarFunction
	Tables   [][]uint32
	Runs     []TableRun
	In       *layout.Tensor
	Size     int
	Out      *layout.Tensor
	Made     int
}

// Launch implements step.Work.
func (w MapScalars) Launch(l *step.Launcher, _ step.Rows) {
	at := make([]uint32, max(len(w.Tables), 1))
	for i, t := range w.Tables {
		at[i] = l.Words(t)
	}
	var table []uint32
	for _, p := range w.Runs {
		table = append(table, w.In.Addr+uint32(p.From*w.Size), w.Out.Addr+uint32(p.From*w.Made), uint32(p.N), at[p.Table])
	}
	l.LaunchTable(l.Kernel(elementwise.Scalar{F: w.Function}), table, 4)
}
