package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Boxes is AXIS_ALIGNED_BBOX_TRANSFORM: threads share the regions.
type Boxes struct {
	Kernel detection.Boxes
	Op     opspec.BoxTransform
	Frames *layout.Tensor
	In     []*layout.Tensor
	Out    *layout.Tensor
	Bad    *layout.Tensor
	Deltas hvxmath.Quant
}

// Launch implements step.Work.
func (w Boxes) Launch(l *step.Launcher, _ step.Rows) {
	launchRange(l, l.Kernel(w.Kernel), w.Op.Rois, w.Frames, w.In[0].Addr, w.In[1].Addr, w.In[2].Addr, w.In[3].Addr, w.Out.Addr, w.Bad.Addr,
		l.Words(w.Deltas.Floats()), l.Words(w.Deltas.Exponentials()))
}

// Heatmap is HEATMAP_MAX_KEYPOINT: threads share the boxes.
type Heatmap struct {
	Kernel detection.Heatmap
	Op     opspec.Heatmap
	Frames *layout.Tensor
	Heat   *layout.Tensor
	Boxes  *layout.Tensor
	Scores *layout.Tensor
	Points *layout.Tensor
	Bad    *layout.Tensor
	Score  hvxmath.Quant
}

// Launch implements step.Work.
func (w Heatmap) Launch(l *step.Launcher, _ step.Rows) {
	launchRange(l, l.Kernel(w.Kernel), w.Op.Boxes, w.Frames, w.Heat.Addr, w.Boxes.Addr, w.Scores.Addr, w.Points.Addr, w.Bad.Addr,
		l.Words(w.Score.Floats()))
}

// NMS is BOX_WITH_NMS_LIMIT, on one thread.
type NMS struct {
	Kernel  detection.NMS
	In      []*layout.Tensor
	Bad     *layout.Tensor
	Score   hvxmath.Quant
	Out     []*layout.Tensor
	Scratch *layout.Tensor
}

// Launch implements step.Work.
func (w NMS) Launch(l *step.Launcher, _ step.Rows) {
	block := []uint32{w.In[0].Addr, w.In[1].Addr, w.In[2].Addr, w.Bad.Addr, l.Words(w.Score.Floats()), l.Words(detection.Reciprocals())}
	for _, t := range w.Out {
		block = append(block, t.Addr)
	}
	l.Launch(l.Kernel(w.Kernel), [][]uint32{{l.Words(block), w.Scratch.Addr}})
}

// Proposals is GENERATE_PROPOSALS, on one thread.
type Proposals struct {
	Kernel  detection.Proposals
	In      [4]*layout.Tensor
	Deltas  hvxmath.Quant
	Out     []*layout.Tensor
	Scratch *layout.Tensor
}

// Launch implements step.Work.
func (w Proposals) Launch(l *step.Launcher, _ step.Rows) {
	block := []uint32{w.In[0].Addr, w.In[1].Addr, w.In[2].Addr, w.In[3].Addr, l.Words(w.Kernel.Score.Floats()), l.Words(w.Deltas.Floats()), l.Words(w.Deltas.Exponentials())}
	for _, t := range w.Out {
		block = append(block, t.Addr)
	}
	l.Launch(l.Kernel(w.Kernel), [][]uint32{{l.Words(block), w.Scratch.Addr}})
}

// launchRange runs a kernel over items divided among the threads. Its arguments
// are a block of addresses, the first item, the one behind the last, and the
// thread's part of frames.
func launchRange(l *step.Launcher, k *hvx.Linked, items int, frames *layout.Tensor, block ...uint32) {
	at := l.Words(block)
	var args [][]uint32
	for t, r := range l.Spread(items) {
		args = append(args, []uint32{at, uint32(r[0]), uint32(r[1]), frames.Addr + uint32(t*(frames.Bytes()/l.Threads))})
	}
	l.Launch(k, args)
}

// ROI is ROI_ALIGN or ROI_POOLING: threads share the regions.
type ROI struct {
	Kernel  detection.ROI
	Value   hvxmath.Quant
	Op      opspec.Roi
	Frames  *layout.Tensor
	In      *layout.Tensor
	Regions *layout.Tensor
	Batches *layout.Tensor
	Out     *layout.Tensor
	Bad     *layout.Tensor
}

// Launch implements step.Work.
func (w ROI) Launch(l *step.Launcher, _ step.Rows) {
	table := l.Words(w.Value.Floats())
	launchRange(l, l.Kernel(w.Kernel), w.Op.Rois, w.Frames, w.In.Addr, w.Regions.Addr, w.Batches.Addr, w.Out.Addr, w.Bad.Addr, table)
}
