// Package plan makes a program of steps: lifetimes of tensors, their places in the
// arena, and the code of every kernel.
package plan

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Program is a compiled graph. It does not change.
type Program struct {
	Launches        []Launch
	Dispatches      []gpu.Dispatch
	Consts          []byte
	Arena           int              // bytes
	Pages           []byte           // the arena's first bytes, which nothing writes
	Inputs, Outputs []*layout.Tensor // as the client sees them
	Counts          []*layout.Tensor // per output, the word with its entries along dimension 0; nil where all count
	Faults          []step.Fault
}

// Launch is a kernel with its code. Work, Cuts and Compared are unknown where the program comes
// from a compilation cache.
type Launch struct {
	Op   int
	Work kernel.Work
	Cuts []kernel.Cut // that were compared
	// Concurrent is a launch that needs nothing of those before it, back to the last that is not beside others.
	Concurrent bool
	Compared   Comparison
	Grid       kernel.Grid
	Code       *rdna2.Program
}

// New makes the program of steps. It assigns lifetimes and places to their tensors. Kernels keeps the
// code for other programs. With an estimator, independent steps are launched concurrently;
// nil: a machine runs one launch at a time.
func New(l *step.List, kernels *Kernels, estimate Estimator) (*Program, error) {
	p := &Program{Inputs: l.Inputs, Outputs: l.Outputs, Counts: l.Counts, Faults: l.Faults, Pages: l.Pages.Bytes()}
	l.Count()
	var sets []int
	var compared []Comparison
	if estimate != nil {
		sets, compared = overlap(l, estimate)
	}
	lifetimes(l, sets)
	var err error
	if p.Arena, err = place(l.Tensors, len(p.Pages)); err != nil {
		return nil, err
	}
	memory := kernel.Memory{Consts: l.Consts, Pages: &l.Pages}
	for i := range l.Steps {
		s := &l.Steps[i]
		launch, packed := Launch{Op: s.Op, Work: s.Work}, s.Kernel
		if c, ok := s.Kernel.(kernel.Chooser); ok {
			launch.Cuts = c.Cuts()
		}
		if p, ok := s.Kernel.(kernel.Packer); ok {
			packed = p.Pack(&memory)
		}
		code, err := kernels.link(packed, s.Op)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", s.Op, err)
		}
		launch.Grid, launch.Code = code.grid, code.code
		if compared != nil {
			launch.Concurrent, launch.Compared = i > 0 && sets[i] == sets[i-1], compared[i]
		}
		p.Launches = append(p.Launches, launch)
	}
	if len(memory.Consts.Data) > layout.MaxRegion {
		return nil, fmt.Errorf("gpu: constants need %d bytes, at most %d", len(memory.Consts.Data), layout.MaxRegion)
	}
	p.Consts = append(memory.Consts.Data, make([]byte, layout.Guard)...)
	p.Dispatch()
	return p, nil
}

// Dispatch makes the launches commands of the core, their code one behind the other.
func (p *Program) Dispatch() {
	code, arguments := uint64(layout.CodeBase), arguments()
	for i := range p.Launches {
		l := &p.Launches[i]
		k := &gpu.Kernel{
			Name: l.Code.Name, Code: l.Code.Code, Base: code, WaveSize: 32, VGPRs: l.Code.VGPRs, Registers: l.Code.Registers,
			LDSBytes: l.Code.LDSBytes, WGP: l.Code.WGP, WorkItemIDs: l.Code.WorkItemIDs,
		}
		code += uint64(len(k.Code)+255) &^ 255
		p.Dispatches = append(p.Dispatches, gpu.Dispatch{
			Kernel: k, Kernarg: arguments, Grid: l.Grid.Lanes, Workgroup: [3]int{l.Grid.Workgroup, 1, 1}, Region: l.Op, Concurrent: l.Concurrent,
		})
	}
}

// arguments are the addresses every kernel gets.
func arguments() []byte {
	b := binary.LittleEndian.AppendUint64(nil, layout.ArenaBase)
	return binary.LittleEndian.AppendUint64(b, layout.ConstsBase)
}

// lifetimes finds the first and last step of every tensor, or of steps in sets the first of each set. Model inputs are
// there before the first step, outputs behind the last.
func lifetimes(l *step.List, sets []int) {
	for i := range l.Steps {
		s := &l.Steps[i]
		if sets != nil {
			i = sets[i]
		}
		for _, list := range [2][]*layout.Tensor{s.Reads, s.Writes} {
			for _, t := range list {
				if t.First < 0 {
					t.First = i
				}
				t.Last = i
			}
		}
	}
	for _, t := range l.Inputs {
		if t != nil {
			t.First = 0
		}
	}
	for _, t := range l.Outputs {
		t.First = max(t.First, 0)
		t.Last = len(l.Steps)
	}
	kept := slices.Clone(l.Counts)
	for _, f := range l.Faults {
		kept = append(kept, f.Word)
	}
	for _, t := range kept { // read behind the last step
		if t != nil {
			t.Last = len(l.Steps)
		}
	}
	for _, t := range l.Tensors {
		t.First = max(t.First, 0)
	}
}

// place gives the tensors offsets from start on and returns the end of the arena.
func place(tensors []*layout.Tensor, start int) (int, error) {
	lives := make([]arena.Interval, len(tensors))
	for i, t := range tensors {
		lives[i] = arena.Interval{Bytes: t.Bytes(), First: t.First, Last: t.Last}
	}
	offsets, end := arena.Place(lives, arena.Options{Align: 256, Guard: layout.Guard, Start: start, Limit: arena.Unlimited})
	if end > layout.MaxRegion {
		return 0, fmt.Errorf("gpu: tensors need %d bytes, at most %d", end, layout.MaxRegion)
	}
	for i, t := range tensors {
		t.Off = uint32(offsets[i])
	}
	return end, nil
}
