package dsp

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Memory of a Linux process beside its image: a heap for brk, an arena for
// anonymous mappings and a stack.
const (
	heapBase   = 0x60000000
	heapBytes  = 256 << 20
	arenaBase  = 0x80000000
	arenaBytes = 256 << 20
	stackBase  = 0xb0000000
	stackBytes = 8 << 20
	pageBytes  = 0x10000
)

// System calls of Hexagon Linux.
const (
	sysWrite     = 64
	sysExit      = 93
	sysExitGroup = 94
	sysBrk       = 214
	sysMmap      = 222
)

// Negated error numbers.
const (
	errBadFile = ^uint32(9) + 1
	errMemory  = ^uint32(12) + 1
	errFault   = ^uint32(14) + 1
)

// Process runs a static Linux program on one thread.
type Process struct {
	Image          *Image
	Args           []string // argv, with the name of the program
	Stdout, Stderr io.Writer

	Status int // exit status after Exec

	brk, arena uint32
}

// Exec runs the process to its exit. System calls beyond write, exit, brk and
// anonymous mmap are errors that name the number.
func (c *Core) Exec(p *Process, o Options) (*sim.Report, error) {
	stack, sp, err := initialStack(p.Args)
	if err != nil {
		return nil, err
	}
	for _, s := range []mem.Segment{
		{Name: "heap", Base: heapBase, Data: make([]byte, heapBytes)},
		{Name: "mappings", Base: arenaBase, Data: make([]byte, arenaBytes)},
		{Name: "stack", Base: stackBase, Data: stack},
	} {
		if err := p.Image.Space.Map(s); err != nil {
			return nil, fmt.Errorf("dsp: %w", err)
		}
	}
	p.brk, p.arena = heapBase, arenaBase
	o.Trap = p.call
	// USR as qemu-hexagon hands it to a program.
	st := &State{PC: p.Image.Entry, USR: 0x00056000}
	st.R[29] = sp
	return c.RunThread(p.Image.Program, p.Image.Space, st, ReturnAddress, o)
}

// initialStack lays out argc, argv, an empty environment and auxiliary vector.
func initialStack(args []string) ([]byte, uint32, error) {
	stack := make([]byte, stackBytes)
	top := len(stack)
	ptrs := make([]uint32, len(args))
	for i, a := range args {
		if top -= len(a) + 1; top < stackBytes/2 {
			return nil, 0, fmt.Errorf("dsp: arguments of more than %d bytes", stackBytes/2)
		}
		copy(stack[top:], a)
		ptrs[i] = stackBase + uint32(top)
	}
	words := append(append([]uint32{uint32(len(args))}, ptrs...), 0, 0, 0, 0)
	top = (top - 4*len(words)) &^ 127
	if top < stackBytes/4 {
		return nil, 0, fmt.Errorf("dsp: %d arguments do not fit the stack", len(args))
	}
	for i, w := range words {
		binary.LittleEndian.PutUint32(stack[top+4*i:], w)
	}
	return stack, stackBase + uint32(top), nil
}

// bytes is a range of the process's memory, nil when it is not mapped.
func (p *Process) bytes(addr, n uint32) []byte {
	if pr := p.Image.Program; addr >= pr.Base && uint64(addr)+uint64(n) <= uint64(pr.Base)+uint64(len(pr.Code)) {
		return pr.Code[addr-pr.Base:][:n]
	}
	s := p.Image.Space.Find(uint64(addr), int(n))
	if s == nil {
		return nil
	}
	return s.Data[uint64(addr)-s.Base:][:n]
}

// call serves one system call: number in r6, arguments from r0, result in r0.
func (p *Process) call(r *[32]uint32) (exit bool, err error) {
	switch r[6] {
	case sysWrite:
		out := map[uint32]io.Writer{1: p.Stdout, 2: p.Stderr}[r[0]]
		data := p.bytes(r[1], r[2])
		switch {
		case out == nil:
			r[0] = errBadFile
		case data == nil && r[2] != 0:
			r[0] = errFault
		default:
			if _, err := out.Write(data); err != nil {
				return true, fmt.Errorf("write: %w", err)
			}
			r[0] = r[2]
		}
	case sysExit, sysExitGroup:
		p.Status = int(r[0] & 0xff)
		return true, nil
	case sysBrk:
		if r[0] >= heapBase && r[0] <= heapBase+heapBytes {
			p.brk = r[0]
		}
		r[0] = p.brk
	case sysMmap:
		const anonymous = 0x20
		if r[3]&anonymous == 0 {
			return true, fmt.Errorf("system call mmap (%d) of a file is not supported", sysMmap)
		}
		n := (uint64(r[1]) + pageBytes - 1) &^ (pageBytes - 1)
		if r[1] == 0 || uint64(p.arena)+n > arenaBase+arenaBytes {
			r[0] = errMemory
			return false, nil
		}
		r[0] = p.arena
		p.arena += uint32(n)
	default:
		return true, fmt.Errorf("system call %d is not supported", r[6])
	}
	return false, nil
}
