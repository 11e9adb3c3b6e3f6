package launch

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/matmul"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// MatrixDot multiplies rows of bytes of one matrix with rows of another.
type MatrixDot struct {
	Rows  int
	A     *layout.Tensor
	Width int
	B     *layout.Tensor
	Op    opspec.BatchMatmul
	Bias  *layout.Tensor
	Acc   *layout.Tensor
	ZeroA int32
	ZeroB int32
}

// Launch implements step.Work.
func (w MatrixDot) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	for r := range w.Rows {
		table = append(table, w.A.Addr+uint32(r*w.Width), w.B.Addr+uint32(r/w.Op.Rows*w.Op.Cols*w.Width), w.Bias.Addr, w.Acc.Addr+uint32(4*r*w.Op.Cols), uint32(w.Op.Cols))
	}
	kern := matmul.Dot{Vectors: w.Width / layout.VectorBytes}
	l.LaunchTable(l.Kernel(kern), table, matmul.DotWords, hvx.SplatHalfword(w.ZeroA), hvx.SplatHalfword(w.ZeroB))
}

// MatmulWords multiplies matrices of words.
type MatmulWords struct {
	Rows  int
	Op    *opspec.BatchMatmul
	Pitch int
	A     *layout.Tensor
	Right *layout.Tensor
	Out   *layout.Tensor
}

// Launch implements step.Work.
func (w MatmulWords) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	for r := range w.Rows {
		batch, row := r/w.Op.Rows, r%w.Op.Rows
		at, step := (batch*w.Op.Rows+row)*w.Op.Depth, 1
		if w.Op.AdjA {
			at, step = batch*w.Op.Rows*w.Op.Depth+row, w.Op.Rows
		}
		for v := 0; v < w.Pitch; v += layout.VectorBytes {
			table = append(table, w.A.Addr+uint32(4*at), uint32(4*step), w.Right.Addr+uint32(batch*w.Op.Depth*w.Pitch+v),
				uint32(w.Pitch), uint32(w.Op.Depth), w.Out.Addr+uint32(r*w.Pitch+v))
		}
	}
	l.LaunchTable(l.Kernel(matmul.Words{}), table, matmul.MatmulEntry)
}

// Rescale requantizes words to bytes.
type Rescale struct {
	Kind  hvx.RequantKind
	Rq    *hvx.Requant
	Steps int
	Acc   *layout.Tensor
	Out   *layout.Tensor
}

// Launch implements step.Work.
func (w Rescale) Launch(l *step.Launcher, _ step.Rows) {
	k := matmul.Rescale{Rq: w.Kind}
	var head uint32
	if v := w.Kind.Vectors(); v > 0 {
		head = l.Constant(laneVectors(w.Rq, v, w.Steps))
	}
	var table []uint32
	for _, r := range l.Spread(w.Steps) {
		from := uint32(r[0] * layout.VectorBytes)
		table = append(table, w.Acc.Addr+4*from, w.Out.Addr+from, head+uint32(w.Kind.Vectors())*4*from, uint32(r[1]-r[0]))
	}
	l.LaunchTable(l.Kernel(k), table, 4, l.Words(w.Rq.Params()))
}

// laneVectors are the multipliers of consecutive elements whose channels cycle:
// for each 128 elements, kind by kind, four vectors of words.
func laneVectors(rq *hvx.Requant, kinds, steps int) []byte {
	b := make([]byte, 0, steps*kinds*4*layout.VectorBytes)
	for s := range steps {
		for k := range kinds {
			for e := range layout.VectorBytes {
				w := rq.ChannelWords((s*layout.VectorBytes + e) % len(rq.Mult))
				b = binary.LittleEndian.AppendUint32(b, w[k])
			}
		}
	}
	return b
}

// RowsDot multiplies rows of values with rows of weights.
type RowsDot struct {
	Width   int
	Batch   int
	Units   int
	Values  *layout.Tensor
	Weights *layout.Tensor
	Bias    *layout.Tensor
	Out     *layout.Tensor
	ZeroV   int32
	ZeroW   int32
}

// Launch implements step.Work.
func (w RowsDot) Launch(l *step.Launcher, _ step.Rows) {
	kern := matmul.Dot{Vectors: w.Width / layout.VectorBytes}
	var table []uint32
	for b := range w.Batch {
		for _, r := range l.Spread(w.Units) {
			table = append(table, w.Values.Addr+uint32(b*w.Width), w.Weights.Addr+uint32(r[0]*w.Width), w.Bias.Addr+uint32(4*r[0]),
				w.Out.Addr+uint32(4*(b*w.Units+r[0])), uint32(r[1]-r[0]))
		}
	}
	l.LaunchTable(l.Kernel(kern), table, matmul.DotWords, hvx.SplatHalfword(w.ZeroV), hvx.SplatHalfword(w.ZeroW))
}
