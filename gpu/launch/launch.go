// Package launch runs kernels of code objects on a GPU core as a runtime would:
// it loads the code, lays out the kernel arguments with the hidden ones that the
// metadata names, and maps the buffers.
package launch

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// The memory map of a launch.
const (
	codeBase   = 0x7C00_0000_0000
	bufferBase = 0x10_0000_0000
	bufferGap  = 64 << 10 // unmapped, so that an access beyond a buffer is seen
)

// DefaultMaxInstructions is the watchdog of a launch in wave instructions: about
// a minute of simulation.
const DefaultMaxInstructions = 1 << 30

// Launch is one run of a kernel.
type Launch struct {
	File   *codeobject.File
	Kernel string
	Groups [3]int // work-groups per dimension
	Block  [3]int // work-items of a work-group per dimension
	Args   []Arg  // the explicit ones, in order

	// MaxInstructions ends the run with an error after that many wave
	// instructions; 0 means DefaultMaxInstructions.
	MaxInstructions int64
	Functional      bool // no timing
	// Profile, when set, receives the cost of each instruction; offsets are addresses of the file.
	Profile *sim.Profile

	// StackBytes is the scratch of a lane if larger than the kernel declares: compilers count a recursion once.
	StackBytes int

	// Queue and Beside are what gpu.Dispatch calls so. Start and End are the times of the launch in a timed run.
	Queue      int
	Concurrent bool
	Start, End sim.Time

	// Memory serves the misses of the GPU's caches, which are cold; a functional launch needs none.
	Memory mem.Level
}

// RunAll executes launches of kernels of one file, in the order imposed by their queues and barriers. Arguments with
// one buffer share it and hold the results afterwards. An error of the program is a *gpu.Fault whose PC is an address
// of the file. The first launch has the settings of the whole run: MaxInstructions, Functional, Profile and Memory.
// Regions of the report and of the profile are numbers of launches.
func RunAll(core *gpu.Core, list []*Launch) (*sim.Report, error) {
	first := list[0]
	space := &mem.Space{}
	segs, err := first.File.Load(codeBase)
	if err != nil {
		return nil, err
	}
	for i, s := range segs {
		if s.Exec {
			continue
		}
		name := fmt.Sprintf("segment %d of the code object", i)
		if err := space.Map(mem.Segment{Name: name, Base: s.Addr, Data: s.Data, ReadOnly: !s.Write}); err != nil {
			return nil, err
		}
	}
	at := uint64(bufferBase)
	var ds []gpu.Dispatch
	for i, l := range list {
		if l.File != first.File {
			return nil, errors.New("launches of several files")
		}
		k, err := l.File.Kernel(l.Kernel)
		if err != nil {
			return nil, err
		}
		if at, err = l.mapBuffers(space, list[:i], at); err != nil {
			return nil, err
		}
		d, err := l.dispatch(k, segs)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		d.Region = i
		ds = append(ds, d)
	}
	limit := first.MaxInstructions
	if limit <= 0 {
		limit = DefaultMaxInstructions
	}
	rep, err := core.Run(space, ds, gpu.Options{MaxInstructions: limit, Functional: first.Functional, Memory: first.Memory, Profile: first.Profile,
		Span: func(s sim.Span) { list[s.Region].Start, list[s.Region].End = s.Start, s.End }})
	base := ds[0].Kernel.Base - codeBase
	if first.Profile != nil {
		for i := range first.Profile.Samples {
			if x := &first.Profile.Samples[i]; x.At != sim.NoInstruction {
				x.At += int64(base)
			}
		}
	}
	var fault *gpu.Fault
	if errors.As(err, &fault) {
		fault.PC += int(base) // as in a listing of the file
		if beyond := (*gpu.ScratchError)(nil); errors.As(fault.Err, &beyond) && beyond.Offset >= beyond.Have {
			k, _ := first.File.Kernel(fault.Kernel) // it has run
			fault.Err = &StackError{Kernel: k.Name, Bytes: int(beyond.Have), Dynamic: dynamicStack(k), Err: fault.Err}
		}
	}
	return rep, err
}

// mapBuffers assigns addresses from at on to the buffers of the arguments, or those they already have in earlier
// launches, and returns the address behind.
func (l *Launch) mapBuffers(space *mem.Space, before []*Launch, at uint64) (uint64, error) {
	for i := range l.Args {
		a := &l.Args[i]
		if a.addr = 0; a.Buffer == nil {
			continue
		}
		for _, b := range before {
			for j := range b.Args {
				if o := &b.Args[j]; len(a.Buffer) > 0 && len(o.Buffer) == len(a.Buffer) && &o.Buffer[0] == &a.Buffer[0] {
					a.addr = o.addr
				}
			}
		}
		if a.addr != 0 {
			continue
		}
		a.addr = at
		if err := space.Map(mem.Segment{Name: fmt.Sprintf("argument %d", i), Base: at, Data: a.Buffer}); err != nil {
			return 0, err
		}
		at += uint64(len(a.Buffer)+4095)&^4095 + bufferGap
	}
	return at, nil
}

// dispatch is the launch in the form of the core.
func (l *Launch) dispatch(k *codeobject.Kernel, segs []codeobject.Segment) (gpu.Dispatch, error) {
	if err := l.check(k); err != nil {
		return gpu.Dispatch{}, err
	}
	kernarg, lds, err := l.kernarg(k)
	if err != nil {
		return gpu.Dispatch{}, err
	}
	gk, err := l.kernel(k, segs)
	if err != nil {
		return gpu.Dispatch{}, err
	}
	gk.LDSBytes += lds
	d := gpu.Dispatch{Kernel: gk, Kernarg: kernarg, Workgroup: l.Block, Queue: l.Queue, Concurrent: l.Concurrent}
	for i := range d.Grid {
		d.Grid[i] = l.Groups[i] * l.Block[i]
	}
	return d, nil
}

// check refuses shapes that the kernel was not compiled for.
func (l *Launch) check(k *codeobject.Kernel) error {
	items := 1
	for i := range 3 {
		if l.Groups[i] < 1 || l.Block[i] < 1 {
			return fmt.Errorf("grid %v of work-groups %v: every dimension is at least 1", l.Groups, l.Block)
		}
		if l.Block[i] > 1024 || int64(l.Groups[i])*int64(l.Block[i]) > 1<<31-1 {
			return fmt.Errorf("grid %v of work-groups %v: at most 1024 work-items in a work-group and 2^31-1 in a dimension", l.Groups, l.Block)
		}
		items *= l.Block[i]
	}
	switch {
	case l.StackBytes < 0 || l.StackBytes > maxStackBytes:
		return fmt.Errorf("a stack of %d bytes per lane, at most %d", l.StackBytes, maxStackBytes)
	case l.StackBytes > 0 && !k.Descriptor.Scratch:
		return errors.New("a stack for a kernel that uses no scratch")
	}
	m := k.Meta
	if m == nil {
		return nil
	}
	if m.Workgroup != [3]int{} && m.Workgroup != l.Block {
		return fmt.Errorf("a work-group of %v, the kernel was compiled for %v", l.Block, m.Workgroup)
	}
	if m.MaxWorkgroup > 0 && items > m.MaxWorkgroup {
		return fmt.Errorf("a work-group of %d work-items, the kernel was compiled for at most %d", items, m.MaxWorkgroup)
	}
	return nil
}

// kernel is the program in the form of the core.
func (l *Launch) kernel(k *codeobject.Kernel, segs []codeobject.Segment) (*gpu.Kernel, error) {
	for _, s := range segs {
		if s.Exec && codeBase+k.Entry >= s.Addr && codeBase+k.Entry-s.Addr < uint64(len(s.Data)) {
			code := s.Data
			if pad := len(code) % 4; pad != 0 {
				code = append(code, make([]byte, 4-pad)...)
			}
			gk, err := gpu.FromDescriptor(k.Name, &k.Descriptor, code, s.Addr, codeBase+k.Entry)
			if err != nil {
				return nil, err
			}
			if dynamicStack(k) {
				gk.ScratchBytes = max(gk.ScratchBytes, dynamicStackBytes)
			}
			gk.ScratchBytes = max(gk.ScratchBytes, l.StackBytes)
			return gk, nil
		}
	}
	return nil, fmt.Errorf("kernel %s: entry %#x is not code", k.Name, k.Entry)
}

// dynamicStackBytes is the scratch of a lane that ROCm's runtime reserves at least for kernels
// whose stack the compiler could not bound.
const dynamicStackBytes = 16 << 10

// maxStackBytes is the largest scratch of a lane that the core runs.
const maxStackBytes = 64 << 10

// dynamicStack reports whether the kernel requests a stack that the compiler could not bound:
// for calls through pointers, arrays of variable size, and with some compilers recursion.
func dynamicStack(k *codeobject.Kernel) bool {
	return k.Descriptor.Properties&rdna2.PropDynamicStack != 0 && k.Descriptor.Scratch
}

// StackError is the cause of a fault when a lane's stack has outgrown its scratch.
type StackError struct {
	Kernel  string
	Bytes   int  // that the lane has
	Dynamic bool // the kernel requests a dynamic stack
	Err     error
}

func (e *StackError) Error() string {
	if e.Dynamic {
		return fmt.Sprintf("%v: the dynamic stack has outgrown its %d bytes", e.Err, e.Bytes)
	}
	return fmt.Sprintf("%v, as much as the kernel declares: recursion needs a dynamic stack, which it does not ask for", e.Err)
}

// Unwrap is the access.
func (e *StackError) Unwrap() error { return e.Err }
