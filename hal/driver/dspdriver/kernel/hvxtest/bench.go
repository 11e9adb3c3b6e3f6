package hvxtest

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// The address map of a bench.
const (
	codeBase = 0x00100000
	dataBase = 0x10000000
	// guard is the mapped bytes in front of and behind each range: kernels may read
	// ahead, and prefetch, so far.
	guard = 4096
)

// Bench is a core with memory on which kernels run alone.
type Bench struct {
	t       testing.TB
	core    *dsp.Core
	config  *soc.Config
	machine hvx.Machine
	space   *mem.Space
	next    uint32
}

// New returns a bench with no memory.
func New(t testing.TB) *Bench {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	spec := require.V(dsp.FromSoC(c, sim.FastSingleAnswer))(t)
	core := require.V(dsp.New(spec))(t)
	return &Bench{t: t, core: core, config: c, space: &mem.Space{}, next: dataBase,
		machine: hvx.Machine{IssueInterval: spec.IssueInterval, DMA: spec.VTCMBytes > 0 && spec.DMA != nil}}
}

// Machine is what the code of kernels depends on.
func (b *Bench) Machine() hvx.Machine { return b.machine }

// Load places data on a vector and returns its address.
func (b *Bench) Load(data []byte) uint32 {
	b.t.Helper()
	size := hvx.RoundUp(len(data)+2*guard, hvx.VectorBytes)
	room := make([]byte, size)
	copy(room[guard:], data)
	at := b.next
	if err := b.space.Map(mem.Segment{Name: "data", Base: uint64(at), Data: room}); err != nil {
		b.t.Fatal(err)
	}
	b.next += uint32(size)
	return at + guard
}

// Words is Load for words, little-endian.
func (b *Bench) Words(words ...uint32) uint32 {
	b.t.Helper()
	var data []byte
	for _, w := range words {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return b.Load(data)
}

// Scratchpad places data at the start of VTCM, behind and before nothing, and returns its address.
func (b *Bench) Scratchpad(data []byte) uint32 {
	b.t.Helper()
	at, room := b.core.Spec().VTCMBase, make([]byte, b.core.Spec().VTCMBytes)
	if copy(room, data) < len(data) {
		b.t.Fatalf("%d bytes, VTCM holds %d", len(data), len(room))
	}
	if err := b.space.Map(mem.Segment{Name: "vtcm", Base: uint64(at), Data: room}); err != nil {
		b.t.Fatal(err)
	}
	return at
}

// Alloc places n zero bytes in memory, as Load does, and returns their address.
func (b *Bench) Alloc(n int) uint32 {
	b.t.Helper()
	return b.Load(make([]byte, n))
}

// Bytes are the n bytes at an address.
func (b *Bench) Bytes(addr uint32, n int) []byte {
	b.t.Helper()
	data := b.space.Bytes(uint64(addr), n)
	if data == nil {
		b.t.Fatalf("no %d bytes at 0x%x", n, addr)
	}
	return data
}

// Run compiles a kernel and runs it from cold caches, on one hardware thread for each
// list of arguments. It returns the report of the core.
func (b *Bench) Run(k hvx.Kernel, args ...[]uint32) *sim.Report {
	b.t.Helper()
	code, err := hvx.Compile(k, b.machine)
	if err != nil {
		b.t.Fatal(err)
	}
	_, text, err := code.Link(codeBase)
	if err != nil {
		b.t.Fatal(err)
	}
	memory, err := b.config.NewDRAM()
	if err != nil {
		b.t.Fatal(err)
	}
	job := dsp.Job{Name: k.Name(), Entry: codeBase, Threads: len(args), Args: args}
	report, err := b.core.Run(&dsp.Program{Base: codeBase, Code: text}, b.space, []dsp.Job{job}, dsp.Options{Memory: memory})
	if err != nil {
		b.t.Fatal(err)
	}
	return report
}
