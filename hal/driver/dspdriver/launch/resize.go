package launch

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/resize"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Samples are the neighbours and the weight of the second along an axis.
type Samples struct {
	At   [2][]int
	Frac []float64
}

// Blend weighs four neighbours of each element with 22 fraction bits.
type Blend struct {
	Xs        Samples
	Size      int
	Pitch     int
	Planes    int
	Op        opspec.Resize
	Bias      int32 // between the client's bytes and stored ones
	Ys        Samples
	Used      []int
	Place     []int
	Stretched [2]*layout.Tensor
	Rows      *layout.Tensor
}

// Launch implements step.Work.
func (w Blend) Launch(l *step.Launcher, _ step.Rows) {
	fractions := l.Constant(columnFractions(w.Xs.Frac, w.Size, w.Pitch))
	parts := l.Parts(w.Pitch/layout.VectorBytes, 64)
	if w.Planes*w.Op.OutH >= l.Threads {
		parts = [][2]int{{0, w.Pitch / layout.VectorBytes}}
	}
	var table []uint32
	for i := range w.Planes {
		for y := range w.Op.OutH {
			for _, part := range parts {
				at := uint32(part[0] * layout.VectorBytes)
				for _, r := range w.Ys.At {
					row := at + uint32((i*len(w.Used)+w.Place[r[y]])*w.Pitch)
					table = append(table, w.Stretched[0].Addr+row, w.Stretched[1].Addr+row)
				}
				table = append(table, fractions+4*at, w.Rows.Addr+at+uint32((i*w.Op.OutH+y)*w.Pitch), uint32(part[1]-part[0]),
					fraction(w.Ys.Frac[y]))
			}
		}
	}
	l.LaunchTable(l.Kernel(resize.Blend{}), table, resize.BlendWords, uint32(w.Bias))
}

func fraction(f float64) uint32 { return uint32(math.Round(f * (1 << resize.FractionBits))) }

// columnFractions are the fractions of the elements of a row.
func columnFractions(frac []float64, size, pitch int) []byte {
	b := make([]byte, 0, 4*pitch)
	for _, x := range frac {
		for range size {
			b = binary.LittleEndian.AppendUint32(b, fraction(x))
		}
	}
	return append(b, make([]byte, 4*pitch-len(b))...)
}

// BlendExactly weighs four neighbours of each element in single precision.
type BlendExactly struct {
	Kernel resize.Exact
	Out    *layout.Tensor
	Planes int
	Op     *opspec.Resize
	Ys     Samples
	Xs     Samples
	In     *layout.Tensor
	Size   int
}

// Launch implements step.Work.
func (w BlendExactly) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	to := w.Out.Addr
	for i := range w.Planes {
		for y := range w.Op.OutH {
			for x := range w.Op.OutW {
				for n := range 4 {
					at := (i*w.Op.H+w.Ys.At[n/2][y])*w.Op.W + w.Xs.At[n%2][x]
					table = append(table, w.In.Addr+uint32(at*w.Size))
				}
				table = append(table, to)
				for _, f := range [2]float32{float32(w.Ys.Frac[y]), float32(w.Xs.Frac[x])} {
					table = append(table, math.Float32bits(1-f), math.Float32bits(f))
				}
				to += uint32(w.Size)
			}
		}
	}
	l.LaunchTable(l.Kernel(w.Kernel), table, resize.ExactWords)
}
