package dsp

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
)

// WriteProgram implements base.Executable: code, constants, DMA descriptors, jobs with
// their arguments, and the places of inputs, outputs and faults.
func (p *plan) WriteProgram(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, p.program.Base, len(p.program.Code), len(p.consts), len(p.dmaDescriptors), p.arena)
	out.Write(p.program.Code)
	out.Write(p.consts)
	out.Write(p.dmaDescriptors)
	for i := range p.jobs {
		j := &p.jobs[i]
		fmt.Fprintln(out, j.Region, j.Entry, j.Threads, j.Args)
	}
	fmt.Fprintln(out, p.inputs, p.outputs)
	for _, x := range slices.Sorted(maps.Keys(p.extents)) {
		fmt.Fprintln(out, x, p.extents[x])
	}
	for _, f := range p.faults {
		fmt.Fprintln(out, f.op, f.reason, f.at)
	}
	return out.Flush()
}
