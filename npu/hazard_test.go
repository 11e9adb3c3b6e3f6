package npu

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// without drops every command of one kind.
func without(t *testing.T, words []uint32, drop ethosu.Code) []uint32 {
	cmds := require.V(ethosu.Decode(words))(t)
	var out []uint32
	for _, c := range cmds {
		if c.Code != drop {
			out = c.Append(out)
		}
	}
	return out
}

// A convolution whose weights are copied first, and whose output a second copy
// reads: both need a wait.
func TestMissingWaits(t *testing.T) {
	c := mustCore(t, "ethos-u65-512")
	m := newMachine(c.Spec(), 1)
	l := conv(8, 8, 16, 16, 3, 1)
	l.ofm = 1024
	m.emit(t, l)
	words := require.V(m.b.Words())(t)
	b := ethosu.NewBuilder(ethosu.U65)
	dma := func(src, from, dst, to, n int) {
		b.Set(ethosu.SetDMA0SrcRegion, src)
		b.Set(ethosu.SetDMA0DstRegion, dst)
		b.SetAddr(ethosu.SetDMA0Src, uint64(from))
		b.SetAddr(ethosu.SetDMA0Dst, uint64(to))
		b.SetAddr(ethosu.SetDMA0Len, uint64(n))
		b.Op(ethosu.OpDMAStart, 0)
	}
	dma(2, 0, 0, 0, len(m.flash))
	b.Op(ethosu.OpDMAWait, 0)
	head, _ := b.Words()
	n := len(head)
	b.Op(ethosu.OpKernelWait, 0)
	dma(1, 1024, 2, 0, 1024)
	b.Op(ethosu.OpDMAWait, 0)
	b.Op(ethosu.OpStop, 0)
	all := require.V(b.Words())(t)
	program := append(append(append([]uint32(nil), all[:n]...), words...), all[n:]...)
	run := func(words []uint32) error {
		_, err := c.Run(&Program{Commands: words}, &Regions{make([]byte, len(m.flash)), make([]byte, 2048), append([]byte(nil), m.flash...)}, Options{})
		return err
	}
	require.NoError(t, run(program))
	for drop, want := range map[ethosu.Code]string{ethosu.OpDMAWait: "NPU_OP_DMA_WAIT is missing", ethosu.OpKernelWait: "NPU_OP_KERNEL_WAIT is missing"} {
		require.ErrorContains(t, run(without(t, program, drop)), want, "without", drop)
	}
}

// replace sets other operands in every command of one code.
func replace(t *testing.T, words []uint32, code ethosu.Code, param uint16, payload uint32) []uint32 {
	cmds := require.V(ethosu.Decode(words))(t)
	var out []uint32
	for _, c := range cmds {
		if c.Code == code {
			c.Param, c.Payload = param, payload
		}
		out = c.Append(out)
	}
	return out
}

// A copy between the tiles of a feature map needs no wait, a copy into a tile does.
func TestCopyBetweenTiles(t *testing.T) {
	c := mustCore(t, "ethos-u65-512")
	m := newMachine(c.Spec(), 1)
	l := conv(8, 8, 16, 16, 3, 1)
	l.ofm = 16384
	m.emit(t, l)
	b := m.b
	b.Set(ethosu.SetDMA0SrcRegion, 0)
	b.Set(ethosu.SetDMA0DstRegion, 1)
	b.SetAddr(ethosu.SetDMA0Src, 0)
	b.SetAddr(ethosu.SetDMA0Dst, 0)
	b.SetAddr(ethosu.SetDMA0Len, 512)
	b.Op(ethosu.OpDMAStart, 0)
	p := m.program(t)
	// Rows 0 to 3 are at 0, rows 4 to 7 at 8192.
	words := replace(t, p.Commands, ethosu.SetIFMHeight0M1, 3, 0)
	b = ethosu.NewBuilder(ethosu.U65)
	b.SetAddr(ethosu.SetIFMBase2, 8192)
	head := require.V(b.Words())(t)
	words = append(head, words...)
	for to, bad := range map[uint32]bool{0: true, 256: true, 512: false, 4096: false, 7680: false, 7936: true, 8192: true, 8704: false} {
		r := Regions{append([]byte(nil), m.flash...), make([]byte, 32768)}
		_, err := c.Run(&Program{Commands: replace(t, words, ethosu.SetDMA0Dst, 0, to)}, &r, Options{})
		if bad != (err != nil && strings.Contains(err.Error(), "NPU_OP_KERNEL_WAIT is missing")) || !bad && err != nil {
			t.Errorf("copy to %d: %v", to, err)
		}
	}
}

// Where output and kernel have one row, so have the accumulators of a block,
// on machines with micro-blocks of two rows and there only.
func TestAccumulatorsOfOneRow(t *testing.T) {
	for _, e := range []struct {
		name    string
		machine string
		rows    int // of the output
		kernel  int
		ab      int // AB_START: one row of accumulators fits
		ok      bool
	}{
		{"one row", "ethos-u55-256", 1, 1, 30, true},
		{"too much for one row", "ethos-u55-256", 1, 1, 31, false},
		{"two rows", "ethos-u55-256", 2, 1, 30, false},
		{"kernel of three rows", "ethos-u55-256", 1, 3, 30, false},
		{"micro-block of one row", "ethos-u55-128", 1, 1, 6, false},
	} {
		c := mustCore(t, e.machine)
		m := newMachine(c.Spec(), 1)
		l := conv(e.rows, 32, 32, 64, e.kernel, 1)
		l.blk = [3]int{2, 32, 64}
		m.emit(t, l)
		words := m.program(t).Commands
		// emit has chosen a block that fits with all rows.
		words = replace(t, words, ethosu.SetOFMBlkHeightM1, 1, 0)
		words = replace(t, words, ethosu.SetOFMBlkWidthM1, 31, 0)
		words = replace(t, words, ethosu.SetOFMBlkDepthM1, 63, 0)
		words = replace(t, words, ethosu.SetIFMIBEnd, 6, 0)
		words = replace(t, words, ethosu.SetABStart, uint16(e.ab), 0)
		_, err := c.Operations(&Program{Commands: words}, &Regions{m.flash, make([]byte, 1<<16)})
		if e.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "accumulators of a") && !strings.Contains(err.Error(), "input of a") {
			t.Errorf("%s: %v", e.name, err)
		}
	}
}

// TestFlights: the newest are first, and no more than the limit are in flight.
func TestFlights(t *testing.T) {
	for limit := range 5 {
		var q flights
		for i := range 5 {
			q.push(&flight{nreads: i}, limit)
			if q.n != min(i+1, limit, len(q.list)) {
				t.Errorf("%d pushed: %d in flight, at most %d", i+1, q.n, limit)
			}
			for back := range min(i+1, len(q.list)) {
				require.Same(t, i-back, q.list[back].nreads, i+1, "pushed", back, "back is")
			}
		}
	}
}

// TestQueues: kernels and copies are kept as far as the machine has them under way.
func TestQueues(t *testing.T) {
	s := Spec{DMAChannels: 1, Kernels: 2}
	h := newHazards(&s, &Regions{})
	for i := range 3 {
		require.NoError(t, h.kernel(&state.Op{Kind: state.Pool}, &s, i))
	}
	kernels := h.kernels.n
	h.kernels.n = 0
	for i := range 3 {
		require.NoError(t, h.dma(&state.Registers{}, i, 0))
	}
	if kernels != 2 || h.copies.n != 1 {
		t.Errorf("%d kernels and %d copies, want 2 and 1", kernels, h.copies.n)
	}
}
