package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// lowerRoi lowers ROI_ALIGN and ROI_POOLING: threads share the regions.
func lowerRoi(l *lowering, op *nn.Operation) error {
	p, err := l.view.Roi(op)
	if err != nil {
		return err
	}
	if p.C > maxPositions || p.Rois*p.OutH*p.OutW > maxPositions {
		return fmt.Errorf("%d regions of %dx%dx%d", p.Rois, p.OutH, p.OutW, p.C)
	}
	if min(p.StrideH, p.StrideW) < detection.MinNormal { // a quotient by it is not rounded as the reference rounds it
		return fmt.Errorf("strides %g and %g, none may be below %g", p.StrideH, p.StrideW, detection.MinNormal)
	}
	in, err := l.nhwc(p.Input, p.NCHW)
	if err != nil {
		return err
	}
	regions, err := l.flat(p.Regions)
	if err != nil {
		return err
	}
	batches, err := l.flat(p.Batches)
	if err != nil {
		return err
	}
	o := l.graph.Operands
	k := detection.ROI{Align: op.Type == nn.OpRoiAlign, N: p.N, H: p.H, W: p.W, C: p.C, OutH: p.OutH, OutW: p.OutW,
		StrideH: p.StrideH, StrideW: p.StrideW, SampleH: p.SampleH, SampleW: p.SampleW, Box: affineOf(&o[p.Regions]), Out: affineOf(&o[p.Output])}
	out, finish := l.orderedResult(p.Output, p.Rois, p.OutH, p.OutW, p.C, p.NCHW)
	bad := l.invalid("a region is upside down, too large or of no image")
	frames := l.roomFor(detection.RoiFrame + p.C)
	l.addStep(op.Type.String(), []*tensor{in, regions, batches}, []*tensor{out, bad, frames}, func(l *lowering, s *step) error {
		kern, err := l.linked(k)
		if err != nil {
			return err
		}
		table := l.constWords(affineOf(&o[p.Input]).Floats())
		l.launchRange(s, kern, p.Rois, frames, in.addr, regions.addr, batches.addr, out.addr, bad.addr, table)
		return nil
	})
	return finish()
}
