package dsp

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
)

// WriteSteps implements base.StepWriter: what lowering made of the graph, before it was
// planned.
func (p *executable) WriteSteps(w io.Writer) error {
	if p.steps == nil && len(p.jobs) > 0 {
		return errors.New("dsp: a program from a compilation cache has no steps")
	}
	return step.Write(w, p.steps, p.graph.NameOf)
}

// WriteProgram implements base.Executable: code, constants, DMA descriptors, jobs with
// their arguments, and the places of inputs, outputs and faults.
func (p *executable) WriteProgram(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, p.program.Base, len(p.program.Code), len(p.consts), len(p.dmaDescriptors), p.arena)
	out.Write(p.program.Code)
	out.Write(p.consts)
	out.Write(p.dmaDescriptors)
	for i := range p.jobs {
		j := &p.jobs[i]
		fmt.Fprintln(out, j.Region, j.Entry, j.Threads, j.Args)
	}
	if err := p.places.Write(out); err != nil {
		return err
	}
	return out.Flush()
}
