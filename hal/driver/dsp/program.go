package dsp

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
)

// WriteProgram implements hal.PreparedModel: of each stage that is lowered when
// the model is prepared the code, constants, DMA descriptors, jobs with their
// arguments, and the places of inputs, outputs and faults.
func (p *prepared) WriteProgram(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, s := range p.stages {
		fmt.Fprintln(out, "stage", s.first, len(s.graph.Operations), s.fixed != nil)
		if s.fixed != nil {
			s.fixed.write(out)
		}
	}
	return out.Flush()
}

func (p *plan) write(out *bufio.Writer) {
	fmt.Fprintln(out, p.program.Base, len(p.program.Code), len(p.consts), len(p.chains), p.arena)
	out.Write(p.program.Code)
	out.Write(p.consts)
	out.Write(p.chains)
	for i := range p.jobs {
		j := &p.jobs[i]
		fmt.Fprintln(out, j.Region, j.Entry, j.Threads, j.Args)
	}
	fmt.Fprintln(out, p.inputs, p.outputs)
	for _, x := range slices.Sorted(maps.Keys(p.extents)) {
		fmt.Fprintln(out, x, p.extents[x])
	}
	for _, f := range p.faults {
		fmt.Fprintln(out, f.op, f.reason, regionOf(f.t))
	}
}
