// Package kerneltest runs one step by itself, on a simulated DSP, so that its result can be
// compared with a few lines of Go. External kernels use it like the driver's own;
// kernel/hvxtest runs the bare code of a kernel.
package kerneltest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Flat is a tensor of n bytes one after the other.
func Flat(name string, n int) *layout.Tensor {
	return &layout.Tensor{Name: name, Shape: layout.Shape{N: 1, H: 1, W: 1, C: n}, Pitch: 1, Dense: true, External: true}
}

// Case is what a step computes, with the data of the tensors that it reads.
type Case struct {
	Spec   dsp.Spec
	Work   step.Work
	Inputs []*layout.Tensor
	Data   [][]byte // of each input
	Output *layout.Tensor
}

// Result is the result of a run.
type Result struct {
	Output []byte
	Report *sim.Report
	Plan   *plan.Program // with the jobs that the step has become
}

// Run runs the step with timing and without, and checks the contract of every step: kernels
// whose keys are comparable, the same jobs and code each time, the same bytes in both modes,
// and reasons that add up to the cycles.
func (c *Case) Run() (*Result, error) {
	first, err := c.run(false)
	if err != nil {
		return nil, err
	}
	second, err := c.run(true)
	if err != nil {
		return nil, err
	}
	a, b := first.Plan, second.Plan
	switch {
	case len(a.Jobs) == 0:
		return nil, errors.New("the step has no jobs")
	case !bytes.Equal(a.Image.Code, b.Image.Code) || !bytes.Equal(a.Consts, b.Consts):
		return nil, errors.New("one step has two programs")
	case !bytes.Equal(first.Output, second.Output):
		return nil, errors.New("functional and timed runs differ")
	case first.Report.Stalls.Total() != first.Report.Cycles || first.Report.Cycles == 0:
		return nil, fmt.Errorf("reasons add up to %d of %d cycles", first.Report.Stalls.Total(), first.Report.Cycles)
	}
	for i := range a.Jobs {
		if !reflect.DeepEqual(a.Jobs[i].Args, b.Jobs[i].Args) {
			return nil, fmt.Errorf("job %d has two lists of arguments", i)
		}
	}
	return first, nil
}

func (c *Case) run(functional bool) (_ *Result, err error) {
	defer try.Catch(&err)
	list := &step.List{Object: plan.NewObject(&c.Spec, &hvx.Cache{}), Inputs: c.Inputs, Outputs: []*layout.Tensor{c.Output},
		Steps:   []*step.Step{step.New(0, "kernel", c.Inputs, []*layout.Tensor{c.Output}, c.Work)},
		Tensors: append([]*layout.Tensor{c.Output}, c.Inputs...)}
	p := try.V(plan.New(list, &c.Spec))
	m := plan.NewMemory(&c.Spec, p.Arena, p.DMADescriptors)
	for i, t := range c.Inputs {
		if len(c.Data[i]) != t.Bytes() {
			return nil, fmt.Errorf("input %d has %d bytes, its tensor %d", i, len(c.Data[i]), t.Bytes())
		}
		copy(m.Arena[plan.Offset(t):], c.Data[i])
	}
	space := try.V(m.Space(&c.Spec, p.Consts))
	core := try.V(dsp.New(c.Spec))
	program := &dsp.Program{Base: p.Image.Base, Code: p.Image.Code}
	report := try.V(core.Run(program, space, p.CoreJobs(), dsp.Options{Functional: functional, Memory: memory{}}))
	return &Result{m.Arena[plan.Offset(c.Output):][:c.Output.Bytes()], report, p}, nil
}

// memory answers every access after 100 ns.
type memory struct{}

func (memory) Access(t sim.Time, _ uint64, _ int, _ mem.Kind) (sim.Time, sim.Reason) {
	return t + 100*sim.Nanosecond, sim.StallDRAM
}

func (memory) Reset() {}
