package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// flatAll are operands in flat form.
func (l *lowering) flatAll(list ...uint32) ([]*tensor, error) {
	ts := make([]*tensor, len(list))
	for i, x := range list {
		t, err := l.flat(x)
		if err != nil {
			return nil, err
		}
		ts[i] = t
	}
	return ts, nil
}

// lowerBoxTransform lowers AXIS_ALIGNED_BBOX_TRANSFORM: threads share the regions.
func lowerBoxTransform(l *lowering, op *nn.Operation) error {
	p, err := l.view.BoxTransform(op)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	if !o[p.Deltas].Type.IsQuant8() {
		return fmt.Errorf("deltas of type %s", o[p.Deltas].Type)
	}
	in, err := l.flatAll(p.Regions, p.Deltas, p.Batches, p.Images)
	if err != nil {
		return err
	}
	k := detection.Boxes{Classes: p.Classes, Images: p.N, Box: affineOf(&o[p.Regions]), Image: affineOf(&o[p.Images]), Out: affineOf(&o[p.Output])}
	out := l.flatResult(p.Output)
	bad := l.invalid("a region is upside down, too large or of no image")
	frames := l.roomFor(1)
	d := affineOf(&o[p.Deltas])
	l.addStep("boxes", in, []*tensor{out, bad, frames}, boxesWork{k, p, frames, in, out, bad, d})
	return nil
}

// boxesWork is AXIS_ALIGNED_BBOX_TRANSFORM: threads share the regions.
type boxesWork struct {
	k      detection.Boxes
	p      opspec.BoxTransform
	frames *tensor
	in     []*tensor
	out    *tensor
	bad    *tensor
	d      hvx.Quant
}

func (w boxesWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(w.k)
	if err != nil {
		return err
	}
	l.launchRange(kern, w.p.Rois, w.frames, w.in[0].addr, w.in[1].addr, w.in[2].addr, w.in[3].addr, w.out.addr, w.bad.addr,
		l.constWords(w.d.Floats()), l.constWords(w.d.Exponentials()))
	return nil
}

// maxHeatmap bounds the side of a map: positions are exact in single precision.
const maxHeatmap = 1 << 10

// lowerHeatmap lowers HEATMAP_MAX_KEYPOINT: threads share the boxes.
func lowerHeatmap(l *lowering, op *nn.Operation) error {
	p, err := l.view.Heatmap(op)
	if err != nil {
		return err
	}
	if p.Size > maxHeatmap {
		return fmt.Errorf("maps of %dx%d, at most %d", p.Size, p.Size, maxHeatmap)
	}
	heat, err := l.nhwc(p.Heat, p.NCHW)
	if err != nil {
		return err
	}
	boxes, err := l.flat(p.Regions)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	k := detection.Heatmap{Size: p.Size, Points: p.Points, Box: affineOf(&o[p.Regions]), Score: affineOf(&o[p.Scores]), At: affineOf(&o[p.Output])}
	scores, points := l.flatResult(p.Scores), l.flatResult(p.Output)
	bad := l.invalid("a box is upside down")
	frames := l.roomFor(detection.HeatFrame)
	score := affineOf(&o[p.Heat])
	l.addStep("heatmap", []*tensor{heat, boxes}, []*tensor{scores, points, bad, frames}, heatmapWork{k, p, frames, heat, boxes, scores, points, bad, score})
	return nil
}

// heatmapWork is HEATMAP_MAX_KEYPOINT: threads share the boxes.
type heatmapWork struct {
	k      detection.Heatmap
	p      opspec.Heatmap
	frames *tensor
	heat   *tensor
	boxes  *tensor
	scores *tensor
	points *tensor
	bad    *tensor
	score  hvx.Quant
}

func (w heatmapWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(w.k)
	if err != nil {
		return err
	}
	l.launchRange(kern, w.p.Boxes, w.frames, w.heat.addr, w.boxes.addr, w.scores.addr, w.points.addr, w.bad.addr,
		l.constWords(w.score.Floats()))
	return nil
}

// nhwc is an image operand in flat form, channels last.
func (l *lowering) nhwc(i uint32, nchw bool) (*tensor, error) {
	in, err := l.flat(i)
	if err != nil || !nchw {
		return in, err
	}
	d := l.graph.Operands[i].Dimensions
	plane := d[2] * d[3]
	out := l.newFlat(in.name+" as NHWC", int(nn.Elements(d)), 1)
	return out, l.walk("to NHWC", out, in, []uint32{d[0], plane, d[1]}, []int{int(d[1] * plane), 1, int(plane)}, 0, 1)
}
