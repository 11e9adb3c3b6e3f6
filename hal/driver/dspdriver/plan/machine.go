package plan

import (
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// NewObject begins a program for a machine, on all hardware threads that can use vectors. The
// cache keeps the kernels that are compiled for it.
func NewObject(s *dsp.Spec, kernels *hvx.Cache) *step.Object {
	m := hvx.Machine{IssueInterval: s.IssueInterval, DMA: hasDMA(s)}
	return &step.Object{Threads: max(1, min(s.Threads, s.Contexts)), Machine: MachineOf(s), VTCM: int(s.VTCMBytes), DMA: m.DMA, ZWindow: s.Version >= 66,
		Image: hvx.NewImage(layout.CodeBase, m, kernels)}
}

// hasDMA reports whether a core has user DMA into VTCM.
func hasDMA(s *dsp.Spec) bool { return s.VTCMBytes > 0 && s.DMA != nil }
