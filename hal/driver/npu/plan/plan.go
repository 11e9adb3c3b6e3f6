// Package plan turns steps into a command stream: constants packed, activations placed
// on chip or in DRAM, weights and tables copied ahead of the kernels that read them, and
// waits where data is shared.
package plan

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npu/cost"
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
	Sizes           layout.Sizes    // bytes of each kind of memory
	Map             layout.Map      // and where they are
	Inputs, Outputs []layout.Buffer // no bytes for an input that is not read
	EncodedWeights  int             // bytes of Consts
	far             []bool          // values off chip
}

// Region is the bytes of a region that holds no constants.
func (p *Program) Region(i int) int { return p.Map.Size(i, &p.Sizes) }

// Target is what programs are made for: a machine with so many bytes on chip, and the base
// pointers of its kinds of memory.
type Target struct {
	Spec   *core.Spec
	OnChip int
	Map    layout.Map
}

// Own is the target of a driver that gives each kind of memory a base pointer of its own.
func Own(s *core.Spec, onChip int) Target {
	const io, spill = 3, 4 // behind constants, and two that may be on chip
	return Target{s, onChip, layout.Map{layout.RegionArena: s.OnChipRegion(), layout.RegionIO: io, layout.RegionSpill: spill}}
}

// job is a step whose maps have addresses and whose constants are packed.
type job struct {
	step.Step
	packed kernel.Packed
	// weights is where the kernel reads its constants: where they are packed, or a buffer on
	// chip into which they are copied in front of job fetch.
	weights  layout.Buffer
	buffered bool
	fetch    int
}

// New makes the program of steps for a target. Where activations do not fit on chip, it chooses
// the blocks of the kernels that use them again, and plans once more.
func New(t Target, l *step.List) (*Program, error) {
	p, err := once(t, l)
	if err != nil || p.Sizes[layout.RegionSpill] == 0 || !blocksAgain(t, l, p.far) {
		return p, err
	}
	return once(t, l)
}

// blocksAgain chooses the blocks of kernels again some of whose values lie off chip, and reports
// whether there are any.
func blocksAgain(t Target, l *step.List, far []bool) (changed bool) {
	if !t.Spec.Memories[t.Spec.RegionMemory[t.Map[layout.RegionSpill]]].OffChip {
		return false
	}
	for i := range l.Steps {
		k := &l.Steps[i].Kernel
		if k.Kind == kernel.Copy {
			continue
		}
		moved := false
		for _, r := range k.Maps() {
			if r.Far = r.Value != layout.Placed && far[r.Value]; r.Far {
				moved = true
			}
		}
		if moved {
			k.Block, changed = cost.ChooseBlock(t.Spec, k), true
		}
	}
	return changed
}

// once makes the program with the blocks that the kernels have.
func once(t Target, l *step.List) (*Program, error) {
	s := t.Spec
	p := &Program{Map: t.Map}
	consts := layout.Constants{Data: slices.Clone(l.Consts.Data)}
	jobs := make([]job, len(l.Steps))
	room := 0
	for i := range l.Steps {
		if w := l.Steps[i].Kernel.Weights; w != nil {
			room += w.Room()
		}
	}
	consts.Data = slices.Grow(consts.Data, room)
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
		j.weights = j.packed.Fetch
		p.EncodedWeights += j.packed.WeightBytes[0] + j.packed.WeightBytes[1]
	}
	consts.Pad()
	p.Consts = consts.Data
	p.Sizes[layout.RegionIO] = l.IO
	bufferWeights(s, jobs)
	values := p.place(t, lives(l), jobs)
	for i := range l.Values {
		p.far = append(p.far, values[i].At.Region == layout.RegionSpill)
	}
	p.resolve(jobs, values)
	p.clients(l, values)
	e := &emitter{b: ethosu.NewBuilder(s.Product), spec: s, luts: s.LUTBase(), writer: map[int]int{}}
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

// real is a buffer of a kind of memory behind its base pointer.
func (p *Program) real(b layout.Buffer) layout.Buffer {
	if kind := b.Region; kind != layout.RegionConst {
		b.Region, b.Addr = p.Map[kind], b.Addr+p.Map.Base(kind, &p.Sizes)
	}
	return b
}

// resolve makes the addresses of all feature maps final.
func (p *Program) resolve(jobs []job, values []layout.Value) {
	for i := range jobs {
		for _, r := range jobs[i].Kernel.Maps() {
			if r.Value != layout.Placed {
				at := values[r.Value].At
				r.Region = at.Region
				r.Addr += at.Addr
			}
			b := p.real(layout.Buffer{Region: r.Region, Addr: r.Addr})
			r.Region, r.Addr = b.Region, b.Addr
		}
		jobs[i].weights = p.real(jobs[i].weights)
	}
}

// clients finds where the client has inputs and outputs.
func (p *Program) clients(l *step.List, values []layout.Value) {
	list := func(buffers []layout.Buffer, inPlace []int) (real []layout.Buffer) {
		for _, b := range buffers {
			real = append(real, p.real(b))
		}
		for _, v := range inPlace {
			b := layout.Buffer{}
			if v != layout.Placed {
				b = p.real(values[v].At)
			}
			real = append(real, b)
		}
		return real
	}
	p.Inputs, p.Outputs = list(l.Inputs, l.InPlace.Inputs), list(l.Outputs, l.InPlace.Outputs)
}
