package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/layernorm"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/lstm"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// GateScale scales words to saturated halfwords.
type GateScale struct {
	Rq  *hvx.Requant
	Out *layout.Tensor
	In  *layout.Tensor
}

// Launch implements step.Work.
func (w GateScale) Launch(l *step.Launcher, _ step.Rows) {
	kind := w.Rq.Kind()
	table := flatTable(l.Spread(flatVectors(w.Out)), []*layout.Tensor{w.In, w.Out}, []int{2, 1})
	l.LaunchTable(l.Kernel(lstm.Gate{Rq: kind}), table, 3, l.Words(w.Rq.Params()))
}

// Statistics computes means and variances of rows.
type Statistics struct {
	Kernel   layernorm.Statistics
	Batch    int
	Sum      *layout.Tensor
	Mean     *layout.Tensor
	Variance *layout.Tensor
}

// Launch implements step.Work.
func (w Statistics) Launch(l *step.Launcher, _ step.Rows) {
	var table []uint32
	for b := range uint32(w.Batch) {
		table = append(table, w.Sum.Addr+4*b*uint32(w.Kernel.N), w.Mean.Addr+4*b, w.Variance.Addr+4*b)
	}
	l.LaunchTable(l.Kernel(w.Kernel), table, 3)
}
