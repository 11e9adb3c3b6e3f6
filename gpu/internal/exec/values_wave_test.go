package exec_test

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/decode"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Sizes and addresses of the wave that rows run on.
const (
	testVGPRs   = 28
	testMemory  = 1024 // bytes, from testBase on
	testBase    = 0x12345_6000
	testLDS     = 512
	testScratch = 64 // per lane
)

// bench is a wave with its memories, and the state that it should have in the end.
type bench struct {
	w       state.Wave
	m       state.Machine
	p       state.Program
	regs    []uint32
	mem     []byte
	want    contents
	wantErr string
}

// contents is the state that a program can read and change.
type contents struct {
	regs              []uint32
	s                 [state.NumSGPRs]uint32
	lds, mem, scratch []byte
	flat              uint64
	pc                int32
}

// newBench is a wave with memories whose registers hold values that no row expects.
func newBench(lanes int) *bench {
	b := newRegisters(lanes)
	w := &b.w
	w.Group = &state.Workgroup{LDS: make([]byte, testLDS)}
	w.Scratch = make([]byte, testScratch*lanes)
	w.ScratchBase = state.ScratchWindow
	w.FlatScratch = w.ScratchBase
	b.mem = make([]byte, testMemory)
	for _, x := range [][]byte{b.mem, w.Group.LDS, w.Scratch} {
		for i := range x {
			x[i] = byte(i*37 ^ i>>8)
		}
	}
	if err := b.m.Space.Map(mem.Segment{Name: "data", Base: testBase, Data: b.mem}); err != nil {
		panic(err)
	}
	return b
}

// newRegisters is the wave without memories.
func newRegisters(lanes int) *bench {
	b := &bench{p: state.Program{Name: "k", WaveSize: lanes, VGPRs: testVGPRs, ScratchBytes: testScratch}}
	regs := make([]uint32, testVGPRs*lanes+64)
	off := 0
	for uintptr(unsafe.Pointer(&regs[off]))&63 != 0 {
		off++
	}
	b.regs = regs[off : off+testVGPRs*lanes+32]
	for i := range b.regs {
		b.regs[i] = 0xC0DE0000 + uint32(i)*0x10003
	}
	w := &b.w
	w.V, w.Lanes, w.Machine = unsafe.Pointer(&b.regs[0]), lanes, &b.m
	if lanes == 64 {
		w.High = 0xFFFFFFFF << 32
	}
	for i := range rdna2.Null {
		w.S[i] = 0x5EED0000 + uint32(i)*0x101
	}
	w.S[state.EXEC], w.S[state.EXEC+1] = 0xFFFFFFFF, 0xFFFFFFFF
	w.Group = &state.Workgroup{}
	b.m = state.Machine{Program: &b.p, CodeBase: state.CodeWindow, Space: &mem.Space{}, Cycle: 0x12345, Hz: 1e9}
	return b
}

// contents is a copy of the present state.
func (b *bench) contents() contents {
	return contents{
		regs: append([]uint32(nil), b.regs...), s: b.w.S, lds: append([]byte(nil), b.w.Group.LDS...), mem: append([]byte(nil), b.mem...),
		scratch: append([]byte(nil), b.w.Scratch...), flat: b.w.FlatScratch, pc: b.w.PC,
	}
}

// exec decodes and executes an instruction. Before it, want must be set.
func (b *bench) exec(in *rdna2.Inst) error {
	u, _ := decode.Op(&b.p, in, nil)
	if u.Details.Err != nil {
		return u.Details.Err
	}
	u.Handler(&b.w, &u)
	if b.m.Err != nil {
		return b.m.Err
	}
	return b.compare()
}

// compare reports the first difference from the expected state.
func (b *bench) compare() error {
	got := contents{regs: b.regs, s: b.w.S, lds: b.w.Group.LDS, mem: b.mem, scratch: b.w.Scratch, flat: b.w.FlatScratch, pc: b.w.PC}
	for i, v := range b.want.regs {
		if got.regs[i] != v {
			return fmt.Errorf("v%d of lane %d is %08x, want %08x (wave%d, EXEC %x)", i/b.w.Lanes, i%b.w.Lanes, got.regs[i], v, b.w.Lanes, b.w.Exec())
		}
	}
	for i, v := range b.want.s {
		if got.s[i] != v && (i < state.Discard || i >= state.Discard+16) {
			return fmt.Errorf("%s is %08x, want %08x (wave%d)", scalarName(i), got.s[i], v, b.w.Lanes)
		}
	}
	for _, x := range []struct {
		name      string
		got, want []byte
	}{{"lds", got.lds, b.want.lds}, {"mem", got.mem, b.want.mem}, {"scratch", got.scratch, b.want.scratch}} {
		for i, v := range x.want {
			if bytes.Equal(x.got, x.want) {
				break
			}
			if x.got[i] != v {
				return fmt.Errorf("%s[%x] is %02x, want %02x (wave%d)", x.name, i, x.got[i], v, b.w.Lanes)
			}
		}
	}
	if got.flat != b.want.flat {
		return fmt.Errorf("FLAT_SCRATCH is %x, want %x", got.flat, b.want.flat)
	}
	if got.pc != b.want.pc {
		return fmt.Errorf("PC is that of operation %d, want %d", got.pc, b.want.pc)
	}
	return nil
}

func scalarName(i int) string {
	switch i {
	case state.VCC:
		return "vcc_lo"
	case state.VCC + 1:
		return "vcc_hi"
	case state.M0:
		return "m0"
	case state.EXEC:
		return "exec_lo"
	case state.EXEC + 1:
		return "exec_hi"
	case state.SCC:
		return "scc"
	}
	return fmt.Sprintf("s%d", i)
}

// setV puts a value of n registers into one lane of the wave, setWantV into the expected state.
func (b *bench) setV(reg, lane, n int, v uint64) { setLane(b.regs, b.w.Lanes, reg, lane, n, v) }
func (b *bench) setWantV(reg, lane, n int, v uint64) {
	setLane(b.want.regs, b.w.Lanes, reg, lane, n, v)
}

func setLane(regs []uint32, lanes, reg, lane, n int, v uint64) {
	for i := range n {
		regs[(reg+i)*lanes+lane] = uint32(v >> (32 * i))
	}
}

// setS puts a value of n registers into the scalar file, setWantS into the expected state.
func (b *bench) setS(reg, n int, v uint64)     { setScalar(&b.w.S, reg, n, v) }
func (b *bench) setWantS(reg, n int, v uint64) { setScalar(&b.want.s, reg, n, v) }

func setScalar(s *[state.NumSGPRs]uint32, reg, n int, v uint64) {
	for i := range n {
		s[reg+i] = uint32(v >> (32 * i))
	}
}
