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
func (w GateScale) Launch(l *step.Launcher, _ step.Rows) error {
	kind := w.Rq.Kind()
	kern, err := l.Kernel(lstm.Gate{Rq: kind})
	if err != nil {
		return err
	}
	table := flatTable(l.Spread(flatVectors(w.Out)), []*layout.Tensor{w.In, w.Out}, []int{2, 1})
	l.LaunchTable(kern, table, 3, l.Words(w.Rq.Params()))
	return nil
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
func (w Statistics) Launch(l *step.Launcher, _ step.Rows) error {
	kern, err := l.Kernel(w.Kernel)
	if err != nil {
		return err
	}
	var table []uint32
	for b := range uint32(w.Batch) {
		table = append(table, w.Sum.Addr+4*b*uint32(w.Kernel.N), w.Mean.Addr+4*b, w.Variance.Addr+4*b)
	}
	l.LaunchTable(kern, table, 3)
	return nil
}
