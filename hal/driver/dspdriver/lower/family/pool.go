package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/pool"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch/convolution"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// lowerPool lowers AVERAGE_POOL_2D and MAX_POOL_2D.
func lowerPool(l *lower.Lowering, op *nn.Operation, p opspec.Pool) {
	isMax := op.Type == nn.OpMaxPool2D
	maxAveraged.Refuse(!isMax && min(p.KW, p.W) > pool.MaxWindowCols, "%d columns", p.KW)
	n := min(p.KH, p.H) * min(p.KW, p.W)
	maxAveraged.Refuse(!isMax && n > pool.MaxQuotient, "%d elements", n)
	in := l.Value(p.Input)
	o := &l.Graph.Operands[p.Output]
	bias := lower.UnsignedBias(o.Type)
	lo, hi := quantized.ActRange(p.Act, o.Type, o.Scale, o.ZeroPoint)
	shaped := layout.Shape{N: p.N, H: p.OutH, W: p.OutW, C: p.C}
	out := l.Result(p.Output, max(shaped.Pitch(), layout.VectorBytes))
	l.AddRows("pool", []*layout.Tensor{in}, []*layout.Tensor{out}, convolution.WindowDependence(&p.Window, p.N*p.OutH), launch.Pool{Pool: p, In: in, Out: out, Lo: lo + bias, Hi: hi + bias, IsMax: isMax, Signed: bias != 0})
}

// lowerMean lowers MEAN: the reduced axes become rows and columns of windows.
func lowerMean(l *lower.Lowering, _ *nn.Operation, m opspec.Mean) {
	o := &l.Graph.Operands[m.Output]
	bias := lower.UnsignedBias(o.Type)
	try.V(pool.MeanQuotient(m.Count, bias != 0))
	rows, cols := meanWindow(&m)
	channels := 1 // kept axes behind all reduced hvx.Ones
	for d := len(m.In) - 1; d >= 0 && !m.Reduce[d]; d-- {
		channels *= int(m.In[d])
	}
	outer := int(nn.Elements(m.In)) / m.Count / channels
	var w *layout.Tensor
	if s := layout.ShapeOf(m.In); len(m.In) == 4 && m.Reduce[1] && m.Reduce[2] && !m.Reduce[0] && !m.Reduce[3] && s.W <= pool.MaxWindowCols {
		w, rows, cols = l.Value(m.Input), s.H, s.W // the image itself is the window
	} else {
		in := l.Value(m.Input)
		w = l.NewTensor("windows", layout.Shape{N: outer, H: rows, W: cols, C: channels}, 0, int32(in.Zero))
		l.Add("gather", []*layout.Tensor{in}, []*layout.Tensor{w}, launch.GatherWindows{Op: &m, In: in, Out: w})
	}
	sums := l.NewTensor("means", layout.Shape{N: 1, H: 1, W: outer, C: channels}, layout.RoundUp(channels, layout.VectorBytes), lower.ZeroOf(&l.Graph.Operands[m.Input]))
	l.Add("mean", []*layout.Tensor{w}, []*layout.Tensor{sums}, launch.Mean{In: w, Out: sums, Rows: rows, Cols: cols, Signed: bias != 0})
	// The result may count its positions in several dimensions.
	if s := layout.ShapeOf(m.Dims); s == sums.Shape {
		l.Values[m.Output] = sums
	} else {
		l.Reshape(l.Result(m.Output, 0), sums)
	}
}

// meanWindow factors the number of reduced elements into rows and columns.
func meanWindow(m *opspec.Mean) (rows, cols int) {
	for cols = min(m.Count, pool.MaxWindowCols); m.Count%cols != 0; cols-- {
	}
	return m.Count / cols, cols
}
