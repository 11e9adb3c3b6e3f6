// Package kerneltest runs one kernel of the NPU by itself, on a simulated NPU, so that it
// can be compared with a few lines of Go. Tests of the driver's own kernels and of
// kernels from outside use it alike.
package kerneltest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
)

// Case is a kernel with the data of its feature maps, which are dense. Run assigns
// their addresses.
type Case struct {
	Spec   npu.Spec
	Kernel kernel.Kernel
	Input  []byte // of IFM
	Input2 []byte // of IFM2, when there is one
}

// Result is the result of a run.
type Result struct {
	Output []byte
	Report *sim.Report
}

// Run runs the kernel with timing and without, and checks what every kernel owes: the
// same bytes in both modes, and reasons that add up to the cycles.
func (c *Case) Run() (*Result, error) {
	p, err := c.program()
	if err != nil {
		return nil, err
	}
	timed, err := c.run(p, false)
	if err != nil {
		return nil, err
	}
	functional, err := c.run(p, true)
	if err != nil {
		return nil, err
	}
	switch {
	case !bytes.Equal(timed.Output, functional.Output):
		return nil, errors.New("functional and timed runs differ")
	case timed.Report.Stalls.Total() != timed.Report.Cycles || timed.Report.Cycles == 0:
		return nil, fmt.Errorf("reasons add up to %d of %d cycles", timed.Report.Stalls.Total(), timed.Report.Cycles)
	}
	return timed, nil
}

// program copies the inputs on chip, starts the kernel and copies its output back.
func (c *Case) program() (*plan.Program, error) {
	l := &step.List{}
	k := c.Kernel
	k.Defaults()
	if k.IFM2 != nil {
		own := *k.IFM2
		k.IFM2 = &own
	}
	value := func(r *layout.Ref) layout.Ref {
		n := r.H * r.W * r.C * r.Bytes
		r.Value, r.Addr = len(l.Values), 0
		l.Values = append(l.Values, layout.Value{Bytes: layout.Align(n), First: -1})
		return layout.Ref{Value: r.Value, FeatureMap: layout.Dense(0, 1, 1, n, 1, false)}
	}
	client := func(list *[]layout.Buffer, n int) layout.Ref {
		b := layout.Buffer{Region: layout.RegionIO, Addr: l.IO, Bytes: n}
		*list = append(*list, b)
		l.IO += layout.Align(n)
		r := layout.Ref{Value: layout.Placed, FeatureMap: layout.Dense(b.Addr, 1, 1, n, 1, false)}
		r.Region = layout.RegionIO
		return r
	}
	move := func(from, to layout.Ref) {
		l.Steps = append(l.Steps, step.Step{Op: -1, Kernel: kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Copy}, IFM: from, OFM: to}})
	}
	in := value(&k.IFM)
	move(client(&l.Inputs, in.C), in)
	if k.IFM2 != nil {
		in2 := value(k.IFM2)
		move(client(&l.Inputs, in2.C), in2)
	}
	out := value(&k.OFM)
	if k.Block = cost.ChooseBlock(&c.Spec, &k); k.Block.D == 0 {
		return nil, fmt.Errorf("no block of the kernel fits %d KiB of SHRAM", c.Spec.ShramBytes>>10)
	}
	l.Steps = append(l.Steps, step.Step{Kernel: k})
	move(out, client(&l.Outputs, out.C))
	return plan.New(plan.Own(&c.Spec, 1<<28), l)
}

func (c *Case) run(p *plan.Program, functional bool) (*Result, error) {
	core, err := npu.New(c.Spec)
	if err != nil {
		return nil, err
	}
	var r npu.Regions
	r[0] = p.Consts
	for i := 1; i < len(r); i++ {
		r[i] = make([]byte, p.Region(i))
	}
	for i, data := range [][]byte{c.Input, c.Input2}[:len(p.Inputs)] {
		if b := p.Inputs[i]; len(data) != b.Bytes {
			return nil, fmt.Errorf("input %d has %d bytes, its map %d", i, len(data), b.Bytes)
		}
		copy(r[p.Inputs[i].Region][p.Inputs[i].Addr:], data)
	}
	rep, err := core.Run(&p.Code, &r, npu.Options{Functional: functional})
	if err != nil {
		return nil, err
	}
	b := p.Outputs[0]
	return &Result{r[b.Region][b.Addr:][:b.Bytes], rep}, nil
}
