package npu

import (
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
)

type timer struct{}

func newTimer(s *Spec, o Options, r *Regions) *timer { return &timer{} }
func (t *timer) region(id int)                        {}
func (t *timer) command(c ethosu.Command)             {}
func (t *timer) irq()                                 {}
func (t *timer) op(o *op) error                       { return nil }
func (t *timer) dma(r *regFile, n int)                {}
func (t *timer) dmaWait(k int)                        {}
func (t *timer) kernelWait(k int)                     {}
func (t *timer) finish() *sim.Report                  { return &sim.Report{} }
