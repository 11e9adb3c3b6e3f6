package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/detection"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
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
	value := affineOf(&o[p.Input])
	l.addStep(op.Type.String(), []*tensor{in, regions, batches}, []*tensor{out, bad, frames}, roiWork{k, value, p, frames, in, regions, batches, out, bad})
	return finish()
}

// roiWork is ROI_ALIGN or ROI_POOLING: threads share the regions.
type roiWork struct {
	k       detection.ROI
	value   hvx.Quant
	p       opspec.Roi
	frames  *tensor
	in      *tensor
	regions *tensor
	batches *tensor
	out     *tensor
	bad     *tensor
}

func (w roiWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(w.k)
	if err != nil {
		return err
	}
	table := l.constWords(w.value.Floats())
	l.launchRange(kern, w.p.Rois, w.frames, w.in.addr, w.regions.addr, w.batches.addr, w.out.addr, w.bad.addr, table)
	return nil
}
