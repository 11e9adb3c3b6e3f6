package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/nn"
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
	l.addStep("boxes", in, []*tensor{out, bad, frames}, func(l *lowering, s *step) error {
		kern, err := l.linked(k)
		if err != nil {
			return err
		}
		d := affineOf(&o[p.Deltas])
		l.launchRange(s, kern, p.Rois, frames, in[0].addr, in[1].addr, in[2].addr, in[3].addr, out.addr, bad.addr,
			l.constWords(d.Floats()), l.constWords(d.Exponentials()))
		return nil
	})
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
	l.addStep("heatmap", []*tensor{heat, boxes}, []*tensor{scores, points, bad, frames}, func(l *lowering, s *step) error {
		kern, err := l.linked(k)
		if err != nil {
			return err
		}
		l.launchRange(s, kern, p.Boxes, frames, heat.addr, boxes.addr, scores.addr, points.addr, bad.addr,
			l.constWords(affineOf(&o[p.Heat]).Floats()))
		return nil
	})
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
