// Package plan makes a command stream of steps: constants packed, activations placed
// on chip or in DRAM, weights and tables copied ahead of the kernels that read them, and
// waits where data is shared.
package plan

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
)

// Program is a model as a command stream and the memory it needs.
type Program struct {
	Steps           *step.List // that it executes, with cascades; nil of a program from a cache
	Estimates       []float64  // cycles of each step
	Cycles          float64    // their sum
	Code            npu.Program
	Enter           int // word of Code behind the copies of parameters, where an execution begins that finds them on chip
	Consts          []byte
	Sizes           layout.Sizes    // bytes of each kind of memory
	Map             layout.Map      // and where they are
	Inputs, Outputs []layout.Buffer // no bytes for an input that is not read
	EncodedWeights  int             // bytes of Consts
	offChip         []bool          // values off chip
	direct          []bool          // steps whose weights are read where they are stored
	jobs            []job           // until the program is written
	values          []layout.Value
}

// Region is the bytes of a region that holds no constants.
func (p *Program) Region(i int) int { return p.Map.Size(i, &p.Sizes) }

// Target is what programs are made for: a machine with so many bytes on chip, and the base
// pointers of its kinds of memory.
type Target struct {
	Spec   *npu.Spec
	OnChip int
	Map    layout.Map
	// KeepsParameters lets constants stay on chip between executions.
	KeepsParameters bool
}

// Base pointers of Own, after those of constants and of two memories that may be on chip.
const (
	OwnIO    = 3 // inputs and outputs
	ownSpill = 4
)

// Own is the target of a driver with a separate base pointer for each kind of memory.
func Own(s *npu.Spec, onChip int) Target {
	return Target{Spec: s, OnChip: onChip, Map: layout.Map{layout.RegionArena: s.OnChipRegion(), layout.RegionIO: OwnIO, layout.RegionSpill: ownSpill}}
}

// job is a step whose maps have addresses and whose constants are packed.
type job struct {
	step.Step
	packed    kernel.Packed
	constants []byte // that were packed for this job
	first     int    // job that the kernel's constants were packed for; others of a cascade share them
	// weights is where the kernel reads its constants: where they are packed, or a buffer on
	// chip into which they are copied in front of job fetch.
	weights  layout.Buffer
	buffered bool
	kept     bool // the constants stay on chip
	fetch    int
	exposed  float64 // estimated cycles of the copy beyond the kernels that run meanwhile
}

// New makes the program of steps for a target. Where activations do not fit on chip, it chooses
// the blocks of their kernels again and tries cascades; it also tries maps in bricks. The result is the
// program of the fewest estimated cycles.
func New(t Target, l *step.List) (*Program, error) {
	k := newPacker(t.Spec)
	best, err := k.search(t, l)
	if err != nil {
		return nil, err
	}
	if bricks := inBricks(t, l, best); bricks != nil {
		p, err := k.search(t, bricks)
		if err != nil {
			return nil, err
		}
		if p.Cycles < best.Cycles {
			best = p
		}
	}
	return best, best.write(t.Spec)
}

// search makes the program of the fewest estimated cycles of steps whose maps have their order of elements.
func (k *packer) search(t Target, l *step.List) (*Program, error) {
	best, err := k.once(t, l, false)
	if err != nil || best.Sizes[layout.RegionSpill] == 0 || !offChip(t) {
		return best, err
	}
	first := best
	lists := []*step.List{k.offChipBlocks(l, first)}
	if spills(l, first.offChip) {
		c := newCascades(t, k, l, first)
		for _, share := range cascadeShares {
			for _, all := range []bool{false, true} {
				if list := c.list(int(share*float64(t.OnChip)), all); list != nil {
					lists = append(lists, list)
				}
			}
		}
	}
	for _, list := range lists {
		for _, keep := range []bool{false, true} {
			for again := list; again != nil; { // with blocks for the maps and weights that are off chip then
				p, err := k.once(t, again, keep)
				if err != nil {
					return nil, err
				}
				if p.Cycles < best.Cycles {
					best = p
				}
				if again == list {
					again = k.offChipBlocks(list, p)
				} else {
					again = nil
				}
			}
		}
	}
	return best, nil
}

// spills reports whether values are off chip because they do not fit.
func spills(l *step.List, offChip []bool) bool {
	for i, x := range offChip {
		if v := &l.Values[i]; x && !v.Client && !v.Fixed {
			return true
		}
	}
	return false
}

// offChip reports whether the memory of a target for activations that do not fit on chip is off chip.
func offChip(t Target) bool {
	return t.Spec.Memories[t.Spec.RegionMemory[t.Map[layout.RegionSpill]]].OffChip
}

// offChipBlocks is a list in which the blocks of kernels with values or weights off chip in its program p are chosen
// again.
func (k *packer) offChipBlocks(l *step.List, p *Program) *step.List {
	own := *l
	own.Steps = slices.Clone(l.Steps)
	for i := range own.Steps {
		x := &own.Steps[i].Kernel
		if x.Kind == kernel.Copy || own.Steps[i].Cascade.ID != 0 {
			continue
		}
		if x.Direct = p.direct[i]; markOffChip(x, p.offChip) || x.Direct {
			x.Block = k.block(x)
		}
	}
	return &own
}

// markOffChip marks the maps of a kernel that are off chip, and reports whether there is one.
func markOffChip(k *kernel.Kernel, offChip []bool) (some bool) {
	if k.IFM2 != nil {
		own := *k.IFM2
		k.IFM2 = &own
	}
	for _, r := range k.Maps() {
		r.OffChip = r.Value != layout.Placed && offChip[r.Value]
		some = some || r.OffChip
	}
	return some
}

// Build makes the program of steps as they are.
func Build(t Target, l *step.List) (*Program, error) {
	k := newPacker(t.Spec)
	p, err := k.once(t, l, false)
	if err != nil {
		return nil, err
	}
	return p, p.write(t.Spec)
}

// once makes a program, except for addresses, constants and commands, with the blocks that the kernels have. Activations
// have priority on chip over buffers of weights, unless keep is set.
func (k *packer) once(t Target, l *step.List, keep bool) (*Program, error) {
	s := t.Spec
	p := &Program{Steps: l, Map: t.Map}
	jobs := make([]job, len(l.Steps))
	for i := range jobs {
		j := &jobs[i]
		j.Step = l.Steps[i]
		if m := j.Kernel.IFM2; m != nil {
			own := *m
			j.Kernel.IFM2 = &own
		}
	}
	if err := k.pack(jobs, len(l.Consts.Data)); err != nil {
		return nil, err
	}
	p.Sizes[layout.RegionIO] = l.IO
	kept := keepParameters(t, lives(l), jobs)
	bufferWeights(s, jobs)
	room := t
	room.OnChip -= kept
	values := p.place(room, lives(l), jobs, keep)
	p.placeParameters(jobs, kept)
	for i := range l.Values {
		p.offChip = append(p.offChip, values[i].At.Region == layout.RegionSpill)
	}
	p.estimate(t, jobs)
	p.jobs, p.values = jobs, values
	return p, nil
}

// write completes the program that a plan has decided for: addresses, constants, commands.
func (p *Program) write(s *npu.Spec) (err error) {
	l, jobs := p.Steps, p.jobs
	p.resolve(jobs, p.values)
	p.clients(l, p.values)
	p.constants(l.Consts.Data, jobs)
	e := &emitter{b: ethosu.NewBuilder(s.Product), spec: s, luts: s.LUTBase(), table: noTable}
	e.parameters(jobs)
	p.Enter = e.b.Len()
	e.program(jobs)
	p.Code.Marks = e.marks
	p.jobs, p.values = nil, nil
	p.Code.Commands, err = e.b.Words()
	return err
}

// estimate adds up the estimated cycles of the jobs with the placement of their maps and weights.
func (p *Program) estimate(t Target, jobs []job) {
	off, run := offChip(t), cost.Operations{Spec: t.Spec}
	for i := range jobs {
		j := &jobs[i]
		k := j.Kernel
		if off {
			markOffChip(&k, p.offChip)
		}
		k.Direct = k.Weights != nil && !j.buffered && !j.kept
		p.direct = append(p.direct, k.Direct)
		e := cost.Estimate(t.Spec, &k)
		cycles := float64(e.Cycles())
		switch {
		case j.kept && k.Weights != nil:
			cycles = e.Working()
		case j.buffered:
			cycles = e.Working() + j.exposed
		}
		cycles += float64(run.Begin(j.Op, &k))
		p.Estimates, p.Cycles = append(p.Estimates, cycles), p.Cycles+cycles
	}
}

// lives are the values with the first and last step that uses each. Outputs that the client reads where kernels
// write them live to the end.
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
	for _, v := range l.InPlace.Outputs {
		if v != layout.Placed {
			values[v].Last = len(l.Steps)
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
