package convolution

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// FoldBiases subtracts the products of runtime weights with the inputs' zero point from the biases.
type FoldBiases struct {
	Plan   *GEMMPlan
	Rec    *layout.Tensor
	Size   int // bytes of the records of a convolution
	Conv   *Convolution
	Filter *filter.Filter
}

// Launch implements step.Work.
func (w FoldBiases) Launch(l *step.Launcher, _ step.Rows) {
	c := &w.Plan.C
	var table []uint32
	chunk := func(at, n int) {
		for j := range n {
			bias := w.Rec.Addr + uint32(at+j*layout.VectorBytes)
			table = append(table, bias, bias+uint32(c.Header(n)*layout.VectorBytes), uint32(c.Words*c.Runs), uint32(n*layout.VectorBytes))
		}
	}
	for at := 0; at < w.Rec.Bytes(); at += w.Size {
		for i := range w.Plan.Full {
			chunk(at+i*c.Record(4), 4)
		}
		if c.Tail > 0 {
			chunk(at+w.Plan.Full*c.Record(4), c.Tail)
		}
	}
	zeros := w.Conv.InZero*int32(w.Filter.KH*w.Filter.KW*w.Filter.C)*w.Filter.Zero - w.Conv.Rq.Centre()
	l.LaunchTable(l.Kernel(conv.FoldZeroPoint{}), table, conv.FoldWords, uint32(w.Conv.InZero)*hvx.Ones, uint32(zeros))
}
