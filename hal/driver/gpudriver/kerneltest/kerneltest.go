// Package kerneltest runs one kernel of the GPU by itself, on a simulated GPU, so that it
// can be compared with a few lines of Go. Tests of the driver's own kernels and of
// kernels from outside use it alike.
package kerneltest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Tensor is a tensor that no step has used yet.
func Tensor(e layout.Element, n int) *layout.Tensor {
	return &layout.Tensor{Region: layout.Arena, Elem: e, N: n, First: -1}
}

// Case is a kernel with the data of the tensors that it reads.
type Case struct {
	Spec   gpu.Spec // the zero Spec is core.DefaultSpec
	Kernel kernel.Kernel
	Inputs []*layout.Tensor
	Data   [][]byte // of each input
	Output *layout.Tensor
	Before []byte           // what the output holds before the run, nothing is zeros
	Pages  layout.Pages     // that the kernel's padding reads
	Consts layout.Constants // that its arguments refer to
}

// Result is the result of a run.
type Result struct {
	Output []byte
	Report *sim.Report
	Launch *plan.Launch
}

// Floats reads a float32 output.
func (r *Result) Floats() []float32 {
	var v []float32
	for _, x := range Values(layout.F32, r.Output) {
		v = append(v, float32(x))
	}
	return v
}

// Values are the elements of a tensor as the GPU stores them, as numbers.
func Values(e layout.Element, b []byte) []float64 {
	v := make([]float64, len(b)/e.Bytes())
	for i := range v {
		at := b[i*e.Bytes():]
		switch e {
		case layout.F32, layout.F16:
			v[i] = float64(e.Float(at))
		case layout.I32:
			v[i] = float64(int32(binary.LittleEndian.Uint32(at)))
		case layout.I16:
			v[i] = float64(int16(binary.LittleEndian.Uint16(at)))
		case layout.U16:
			v[i] = float64(binary.LittleEndian.Uint16(at))
		case layout.I8:
			v[i] = float64(int8(at[0]))
		default:
			v[i] = float64(at[0])
		}
	}
	return v
}

// Integers are integers as elements, which must be integers too.
func Integers(e layout.Element, v []int32) []byte {
	var b []byte
	for _, x := range v {
		b = append(b, binary.LittleEndian.AppendUint32(nil, uint32(x))[:e.Bytes()]...)
	}
	return b
}

// Numbers are n multiples of 1/parts that lie in [-steps/parts, steps/parts).
func Numbers(r *rand.Rand, n, steps, parts int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.IntN(2*steps)-steps) / float32(parts)
	}
	return v
}

// Bytes are float32 values as the GPU stores them.
func Bytes(v []float32) []byte { return Stored(layout.F32, v) }

// Stored are numbers as elements, which must be floats.
func Stored(e layout.Element, v []float32) []byte {
	b := make([]byte, len(v)*e.Bytes())
	for i, x := range v {
		e.PutFloat(b[i*e.Bytes():], x)
	}
	return b
}

// Compare runs a kernel and compares each element of its output with want, whose result may
// be infinite or not a number: the difference from a number is at most tolerance times one
// more than its size.
func (c *Case) Compare(t testing.TB, tolerance float64, want func(i int) float64) {
	t.Helper()
	r, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range Values(c.Output.Elem, r.Output) {
		got, want := v, want(i)
		same := got == want || math.IsNaN(got) && math.IsNaN(want)
		if !same && !(math.Abs(got-want) <= tolerance*(1+math.Abs(want)) && !math.IsInf(want, 0)) {
			t.Fatalf("element %d is %v, want %v", i, got, want)
		}
	}
	if w := r.Launch.Work; w.Waves < 1 || w.Instructions < 1 || w.WriteBytes != int64(c.Output.Bytes()) {
		t.Errorf("work %+v for %d bytes", w, c.Output.Bytes())
	}
}

// Run runs the kernel with timing and without, and checks what every kernel owes: the same
// code each time, the same bytes in both modes, and reasons that add up to the cycles.
func (c *Case) Run() (*Result, error) {
	if c.Spec.Name == "" {
		c.Spec = gpu.DefaultSpec()
	}
	first, err := c.run(false)
	if err != nil {
		return nil, err
	}
	second, err := c.run(true)
	if err != nil {
		return nil, err
	}
	switch {
	case !bytes.Equal(first.Launch.Code.Code, second.Launch.Code.Code):
		return nil, errors.New("one kernel has two codes")
	case !bytes.Equal(first.Output, second.Output):
		return nil, errors.New("functional and timed runs differ")
	case first.Report.Stalls.Total() != first.Report.Cycles || first.Report.Cycles == 0:
		return nil, fmt.Errorf("reasons add up to %d of %d cycles", first.Report.Stalls.Total(), first.Report.Cycles)
	}
	return first, nil
}

func (c *Case) run(functional bool) (*Result, error) {
	list := step.List{
		Inputs: c.Inputs, Outputs: []*layout.Tensor{c.Output}, Pages: c.Pages,
		Consts: layout.Constants{Data: bytes.Clone(c.Consts.Data)},
		Steps:  []step.Step{{Kernel: c.Kernel, Reads: c.Inputs, Writes: []*layout.Tensor{c.Output}}},
	}
	for _, t := range append([]*layout.Tensor{c.Output}, c.Inputs...) {
		if t.Region == layout.Arena {
			list.Tensors = append(list.Tensors, t)
		}
	}
	p, err := plan.New(&list, &plan.Kernels{}, nil)
	if err != nil {
		return nil, err
	}
	arena := make([]byte, p.Arena)
	copy(arena, p.Pages)
	for i, t := range c.Inputs {
		if len(c.Data[i]) != t.Bytes() {
			return nil, fmt.Errorf("input %d has %d bytes, its tensor %d", i, len(c.Data[i]), t.Bytes())
		}
		copy(arena[t.Off:], c.Data[i])
	}
	if len(c.Before) > 0 && len(c.Before) != c.Output.Bytes() {
		return nil, fmt.Errorf("the output has %d bytes before the run, its tensor %d", len(c.Before), c.Output.Bytes())
	}
	copy(arena[c.Output.Off:], c.Before)
	space := &mem.Space{}
	if err := space.Map(mem.Segment{Name: "constants", Base: layout.ConstsBase, Data: p.Consts, ReadOnly: true}); err != nil {
		return nil, err
	}
	if err := space.Map(mem.Segment{Name: "arena", Base: layout.ArenaBase, Data: arena}); err != nil {
		return nil, err
	}
	core, err := gpu.New(c.Spec)
	if err != nil {
		return nil, err
	}
	rep, err := core.Run(space, p.Dispatches, gpu.Options{Functional: functional, Memory: memory{}, MaxInstructions: 1 << 28})
	if err != nil {
		return nil, err
	}
	return &Result{arena[c.Output.Off:][:c.Output.Bytes()], rep, &p.Launches[0]}, nil
}

// memory answers every access after 100 ns.
type memory struct{}

func (memory) Access(t sim.Time, _ uint64, _ int, _ mem.Kind) (sim.Time, sim.Reason) {
	return t + 100*sim.Nanosecond, sim.StallDRAM
}

func (memory) Reset() {}
