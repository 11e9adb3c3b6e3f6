// Package linux runs static Linux programs on the Hexagon core of package dsp: it loads
// executables, lays out their memory and serves a few system calls.
package linux

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Memory of a Linux process beside its image and VTCM: a heap for brk, an arena
// for anonymous mappings and a stack.
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
	errInvalid = ^uint32(22) + 1
)

// Process runs a static Linux program on one thread.
type Process struct {
	Image          *Image
	Args           []string // argv, with the name of the program
	Env            []string // NAME=VALUE
	Stdout, Stderr io.Writer

	Status int // exit status after Exec

	space      *mem.Space // the image and the mappings of start
	memory     []byte     // of heap, arena and stack
	brk, arena uint32
}

// Exec runs processes of one program to their exits, each on its own hardware thread and in its own memory; they share
// the code. System calls beyond write, exit, brk and anonymous mmap are errors that name the call. Other faults of the
// program are errors too: *dsp.Error distinguishes them.
func Exec(c *dsp.Core, ps []*Process, o dsp.Options) (*sim.Report, error) {
	spec := c.Spec()
	if len(ps) == 0 || len(ps) > spec.Threads {
		return nil, fmt.Errorf("dsp: %d processes, the core has %d threads", len(ps), spec.Threads)
	}
	im := ps[0].Image
	guests := make([]*dsp.Guest, len(ps))
	for i, p := range ps {
		if p.Image.Program.Base != im.Program.Base || len(p.Image.Program.Code) != len(im.Program.Code) {
			return nil, errors.New("dsp: processes of different programs")
		}
		sp, err := p.start(&spec)
		defer p.end()
		if err != nil {
			return nil, err
		}
		// USR as qemu-hexagon passes it to a program.
		st := &dsp.Registers{PC: im.Entry, USR: 0x00056000}
		st.R[29] = sp
		guests[i] = &dsp.Guest{Registers: st, Space: p.space, Trap: p.call, WritableCode: p.Image.writableCode}
	}
	return c.RunGuests(im.Program, guests, o)
}

// start maps heap, arena, stack and VTCM and returns the stack pointer. The host allocates the pages that the program
// touches.
func (p *Process) start(spec *dsp.Spec) (sp uint32, err error) {
	if p.memory, err = reserve(heapBytes + arenaBytes + stackBytes + int(spec.VTCMBytes)); err != nil {
		return 0, fmt.Errorf("dsp: memory of a process: %w", err)
	}
	p.space = p.Image.Space.Clone()
	rest := p.memory
	place := func(name string, base, n uint32) (bytes []byte, err error) {
		bytes, rest = rest[:n:n], rest[n:]
		return bytes, p.space.Map(mem.Segment{Name: name, Base: uint64(base), Data: bytes})
	}
	_, noHeap := place("heap", heapBase, heapBytes)
	_, noArena := place("mappings", arenaBase, arenaBytes)
	stack, noStack := place("stack", stackBase, stackBytes)
	if err := errors.Join(noHeap, noArena, noStack); err != nil {
		return 0, fmt.Errorf("dsp: %w", err)
	}
	if n := spec.VTCMBytes; n > 0 { // unless the program has a segment there
		_, _ = place("vtcm", spec.VTCMBase, n)
	}
	if sp, err = p.fillStack(stack); err != nil {
		return 0, err
	}
	p.brk, p.arena = heapBase, arenaBase
	return sp, nil
}

// end releases the memory.
func (p *Process) end() {
	release(p.memory)
	p.space, p.memory = nil, nil
}

// Entries of the auxiliary vector.
const (
	auxNull         = 0
	auxHeaders      = 3
	auxHeaderBytes  = 4
	auxHeaderCount  = 5
	auxPageBytes    = 6
	auxBase         = 7
	auxFlags        = 8
	auxEntry        = 9
	auxUID          = 11
	auxEUID         = 12
	auxGID          = 13
	auxEGID         = 14
	auxHardware     = 16
	auxClockTick    = 17
	auxSecure       = 23
	auxRandom       = 25
	auxFileName     = 31
	clockTicks      = 100
	stackRandom     = "nnsoc dsp random" // sixteen bytes, the same in every run
	stackPointerMod = 128
)

// fillStack lays out the initial stack of Linux: argc, argv, environment and auxiliary vector, and above them the
// strings.
func (p *Process) fillStack(stack []byte) (uint32, error) {
	top := len(stack)
	push := func(s string) uint32 {
		if top -= len(s); top < stackBytes/2 {
			top = stackBytes / 2
			return 0
		}
		copy(stack[top:], s)
		return stackBase + uint32(top)
	}
	pushAll := func(list []string) (ptrs []uint32) {
		for _, s := range list {
			ptrs = append(ptrs, push(s+"\x00"))
		}
		return append(ptrs, 0)
	}
	random := push(stackRandom)
	name := uint32(0)
	if len(p.Args) > 0 {
		name = push(p.Args[0] + "\x00")
	}
	env := pushAll(p.Env)
	args := pushAll(p.Args)
	if top <= stackBytes/2 {
		return 0, fmt.Errorf("dsp: arguments and environment of more than %d bytes", stackBytes/2)
	}
	words := append(append([]uint32{uint32(len(p.Args))}, args...), env...)
	if p.Image.headers != 0 {
		words = append(words, auxHeaders, p.Image.headers, auxHeaderBytes, p.Image.headerBytes, auxHeaderCount, p.Image.headerCount)
	}
	words = append(words, auxPageBytes, pageBytes, auxBase, 0, auxFlags, 0, auxEntry, p.Image.Entry, auxUID, 0, auxEUID, 0, auxGID, 0, auxEGID, 0,
		auxHardware, 0, auxClockTick, clockTicks, auxSecure, 0, auxRandom, random, auxFileName, name, auxNull, 0)
	top = (top - 4*len(words)) &^ (stackPointerMod - 1)
	if top < stackBytes/4 {
		return 0, fmt.Errorf("dsp: %d arguments do not fit the stack", len(p.Args))
	}
	for i, w := range words {
		binary.LittleEndian.PutUint32(stack[top+4*i:], w)
	}
	return stackBase + uint32(top), nil
}

// bytes is a range of the process's memory, nil when it is not mapped.
func (p *Process) bytes(addr, n uint32) []byte { return p.space.Bytes(uint64(addr), int(n)) }

func pageUp(n uint32) uint32 { return (n + pageBytes - 1) &^ (pageBytes - 1) }

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
			if from := pageUp(r[0] - heapBase); from < p.brk-heapBase { // pages that are mapped again are zero
				clear(p.memory[from : p.brk-heapBase])
			}
			p.brk = r[0]
		}
		r[0] = p.brk
	case sysMmap:
		const fixed, anonymous, fixedNew = 0x10, 0x20, 0x100000
		switch {
		case r[3]&anonymous == 0:
			return true, unsupported(sysMmap, " of a file")
		case r[3]&(fixed|fixedNew) != 0:
			return true, unsupported(sysMmap, " at a fixed address")
		case r[1] == 0:
			r[0] = errInvalid
		case r[1] > arenaBase+arenaBytes-p.arena:
			r[0] = errMemory
		default:
			r[0], p.arena = p.arena, p.arena+pageUp(r[1])
		}
	default:
		return true, unsupported(r[6], "")
	}
	return false, nil
}
