package state

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// Private windows of a core's address space, above anything a driver maps.
const (
	ArgsWindow    = 0x7F00_0000_0000 // dispatch packet and kernel arguments
	ScratchWindow = 0x7E00_0000_0000
	CodeWindow    = 0x7D00_0000_0000
)

// ScratchBytes is the size of the window of scratch.
const ScratchBytes = 1 << 32

// The generic addresses of LDS and scratch: 4 GiB each.
const (
	SharedAperture  = 1 << 48
	PrivateAperture = 2 << 48
)

// Machine is the state that the waves of a dispatch share.
type Machine struct {
	Program  *Program
	CodeBase uint64 // address of the program's code
	Current  int32  // operation being executed, for messages

	// The first error of the program, with who met it where.
	Err      error
	Failed   *Wave
	FailedAt int32

	Space      *mem.Space
	Args, Code mem.Segment
	Segment    *mem.Segment // that the last access found
	Keeper     Keeper       // of overwritten bytes, nil: none

	Cycle int64 // of the issue; in a functional run it counts instructions
	Hz    int64 // of the clock

	// Of the instruction being executed. Timing reads the addresses.
	Temp        [4]Row
	Prepared    [FlushedRow + 3]Row // sources of DPP and SDWA, then sources whose denormals are flushed
	Old, Zero   Row
	Wide        [3][64]uint64 // 64-bit sources
	Addr, Addr2 [64]uint64    // of the lanes; the second of ds_*2
	Block       int           // bytes at Addr[0] that all lanes access in order, 0: each lane at its address
	ScalarAddr  uint64
	Swizzled    bool   // the lane addresses are those of dwords 4*lanes bytes apart
	InLDS       uint64 // lanes of a generic access that are in LDS
}

// Keeper is informed of the bytes of a segment, from an offset on, that an access may change.
type Keeper interface {
	Save(s *mem.Segment, off uint64, n int)
}

// Bytes is the memory behind n bytes at addr, nil when it is not there or may
// not be written.
func (m *Machine) Bytes(addr uint64, n int, write bool) []byte {
	s := m.Segment
	if s == nil || !s.Contains(addr, n) {
		if m.Args.Contains(addr, n) {
			if write {
				return nil
			}
			return m.Args.Data[addr-m.Args.Base:]
		}
		if m.Code.Contains(addr, n) && !write {
			return m.Code.Data[addr-m.Code.Base:]
		}
		if s = m.Space.Find(addr, n); s == nil {
			return nil
		}
		m.Segment = s
	}
	off := addr - s.Base
	if write {
		if s.ReadOnly {
			return nil
		}
		if m.Keeper != nil {
			m.Keeper.Save(s, off, n)
		}
	}
	return s.Data[off:]
}

// Explain explains why Bytes refused an access.
func (m *Machine) Explain(addr uint64, n int) string {
	find := func(n int) *mem.Segment {
		for _, s := range [...]*mem.Segment{&m.Args, &m.Code} {
			if s.Contains(addr, n) {
				return s
			}
		}
		return m.Space.Find(addr, n)
	}
	if s := find(n); s != nil {
		return "segment " + s.Name + " is read-only"
	}
	if s := find(1); s != nil {
		return fmt.Sprintf("runs past the end of segment %s [%#x,%#x)", s.Name, s.Base, s.Base+uint64(len(s.Data)))
	}
	for i, name := range AbsentBuffers {
		if a := AbsentAddress(i); addr >= a && addr-a < absentBytes {
			return "the buffer of hidden_" + name + ", through which a kernel asks the host for printf, assert or malloc; it is not provided"
		}
	}
	return "not mapped"
}

// AbsentBuffers are the hidden arguments of kernels that are buffers of a runtime's services, which launches do not have:
// each is an address at which nothing is mapped.
var AbsentBuffers = []string{"printf_buffer", "hostcall_buffer", "heap_v1"}

const (
	absentBase  = 0x7E00_0000_0000
	absentBytes = 1 << 32
)

// AbsentAddress is the address of AbsentBuffers[i].
func AbsentAddress(i int) uint64 { return absentBase + uint64(i)*absentBytes }

// InScratch reports whether an address is in the scratch segment of any wave.
func InScratch(addr uint64) bool { return addr-ScratchWindow < ScratchBytes }

// ScratchError is an access outside a lane's scratch.
type ScratchError struct {
	Lane, Bytes  int
	Offset, Have int64
}

func (e *ScratchError) Error() string {
	return fmt.Sprintf("lane %d: %d bytes at scratch offset %d, the lane has %d bytes", e.Lane, e.Bytes, e.Offset, e.Have)
}
