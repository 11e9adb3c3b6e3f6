package npu

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// without drops every command of one kind.
func without(t *testing.T, words []uint32, drop ethosu.Code) []uint32 {
	cmds, err := ethosu.Decode(words)
	if err != nil {
		t.Fatal(err)
	}
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
	words, err := m.b.Words()
	if err != nil {
		t.Fatal(err)
	}
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
	all, err := b.Words()
	if err != nil {
		t.Fatal(err)
	}
	program := append(append(append([]uint32(nil), all[:n]...), words...), all[n:]...)
	run := func(words []uint32) error {
		_, err := c.Run(&Program{Commands: words}, &Regions{make([]byte, len(m.flash)), make([]byte, 2048), append([]byte(nil), m.flash...)}, Options{})
		return err
	}
	if err := run(program); err != nil {
		t.Fatal(err)
	}
	for drop, want := range map[ethosu.Code]string{ethosu.OpDMAWait: "NPU_OP_DMA_WAIT is missing", ethosu.OpKernelWait: "NPU_OP_KERNEL_WAIT is missing"} {
		if err := run(without(t, program, drop)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", drop, err)
		}
	}
}
