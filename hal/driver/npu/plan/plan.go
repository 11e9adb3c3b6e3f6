// Package plan turns steps into a command stream: constants packed, activations placed
// on chip or in DRAM, weights and tables copied ahead of the kernels that read them, and
// waits where data is shared.
package plan

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npu/step"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
)

// Program is a model as a command stream and the memory it needs.
type Program struct {
	Code            core.Program
	Consts          []byte
	Arena           int             // bytes of on-chip activations
	Spill           int             // bytes of activations in DRAM
	Weights         int             // bytes of on-chip weight buffers
	IO              int             // bytes of inputs and outputs
	Inputs, Outputs []layout.Buffer // in that region
}

// job is a step whose maps have addresses and whose constants are packed.
type job struct {
	step.Step
	packed kernel.Packed
}

// New makes the program of steps for a machine with so many bytes on chip.
func New(s *core.Spec, onChip int, l *step.List) (*Program, error) {
	p := &Program{IO: l.IO, Inputs: l.Inputs, Outputs: l.Outputs}
	consts := l.Consts
	jobs := make([]job, len(l.Steps))
	room := 0
	for i := range l.Steps {
		if w := l.Steps[i].Kernel.Weights; w != nil {
			room += w.Room()
		}
	}
	consts.Data = slices.Grow(consts.Data, room)
	slot := 0
	for i := range jobs {
		j := &jobs[i]
		j.Step = l.Steps[i]
		if m := j.Kernel.IFM2; m != nil {
			own := *m
			j.Kernel.IFM2 = &own
		}
		var err error
		if j.packed, err = j.Kernel.Pack(s, &consts); err != nil {
			return nil, fmt.Errorf("operation %d: %w", j.Op, err)
		}
		slot = max(slot, j.packed.Fetch.Bytes)
	}
	consts.Pad()
	p.Consts = consts.Data
	p.Weights = ringSlots * slot
	values := lives(l)
	p.Arena, p.Spill = place(values, max(onChip-p.Weights, 0))
	resolve(jobs, values)
	e := &emitter{b: ethosu.NewBuilder(s.Product), spec: s, slotSize: slot, luts: s.LUTBase(), writer: map[int]int{}}
	e.program(jobs)
	var err error
	if p.Code.Commands, err = e.b.Words(); err != nil {
		return nil, err
	}
	p.Code.Marks = e.marks
	return p, nil
}

// lives are the values with the first and last step that uses each.
func lives(l *step.List) []layout.Value {
	values := append([]layout.Value(nil), l.Values...)
	for i := range l.Steps {
		for _, r := range l.Steps[i].Kernel.Maps() {
			if r.Value == layout.Placed {
				continue
			}
			v := &values[r.Value]
			if v.First < 0 {
				v.First = i
			}
			v.Last = i
		}
	}
	return values
}

// resolve makes the addresses of all feature maps final.
func resolve(jobs []job, values []layout.Value) {
	for i := range jobs {
		for _, r := range jobs[i].Kernel.Maps() {
			if r.Value != layout.Placed {
				at := values[r.Value].At
				r.Region = at.Region
				r.Addr += at.Addr
			}
		}
	}
}
