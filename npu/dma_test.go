package npu

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// shapedCopy is a copy of rows and planes: the source is read on, the destination skips.
type shapedCopy struct {
	srcMode, dstMode     int
	at, to, length       int
	rows, planes         int
	skip0, skip1         int
	product              ethosu.Product
	srcBytes, destBytes  int
	sourceRegion, target int
}

func (c shapedCopy) run(t *testing.T) ([]byte, error) {
	t.Helper()
	preset := "ethos-u65-512"
	if c.product == ethosu.U55 {
		preset = "ethos-u55-128"
	}
	b := ethosu.NewBuilder(c.product)
	b.Set(ethosu.SetDMA0SrcRegion, c.srcMode<<9|c.sourceRegion)
	b.Set(ethosu.SetDMA0DstRegion, c.dstMode<<9|c.target)
	b.SetAddr(ethosu.SetDMA0Src, uint64(c.at))
	b.SetAddr(ethosu.SetDMA0Dst, uint64(c.to))
	b.SetAddr(ethosu.SetDMA0Len, uint64(c.length))
	if c.product == ethosu.U65 {
		b.Set(ethosu.SetDMA0Size0, c.rows)
		b.Set(ethosu.SetDMA0Size1, c.planes)
		b.SetAddr(ethosu.SetDMA0Skip0, uint64(c.skip0))
		b.SetAddr(ethosu.SetDMA0Skip1, uint64(c.skip1))
	}
	b.Op(ethosu.OpDMAStart, 0)
	b.Op(ethosu.OpDMAWait, 0)
	b.Op(ethosu.OpStop, 0)
	words := require.V(b.Words())(t)
	src, dst := make([]byte, c.srcBytes), make([]byte, c.destBytes)
	for i := range src {
		src[i] = byte(i*7 + 1)
	}
	_, err := mustCore(t, preset).Run(&Program{Commands: words}, &Regions{0: src, 2: dst}, Options{})
	return dst, err
}

// TestCopyShapes: copies of one, two and three dimensions against loops, and invalid copies.
func TestCopyShapes(t *testing.T) {
	base := shapedCopy{product: ethosu.U65, at: 16, to: 32, length: 24, rows: 3, planes: 2, skip0: 8, skip1: 40, srcBytes: 160, destBytes: 400, target: 2}
	for mode := range 3 {
		c := base
		c.dstMode = mode
		got, err := c.run(t)
		if err != nil {
			t.Errorf("mode %d: %v", mode, err)
			continue
		}
		want := make([]byte, c.destBytes)
		at, to := c.at, c.to
		for p := range c.planes {
			for r := range c.rows {
				if mode == 0 && p+r > 0 || mode == 1 && p > 0 {
					continue
				}
				for i := range c.length {
					want[to+i] = byte((at+i)*7 + 1)
				}
				at += c.length
				to += c.length + c.skip0
			}
			to += c.skip1
		}
		if !bytes.Equal(got, want) {
			t.Errorf("mode %d leaves\n%v, want\n%v", mode, got, want)
		}
	}
	for _, c := range []struct {
		name string
		edit func(c *shapedCopy)
		want string // "": none
	}{
		{"the same mode on both sides", func(c *shapedCopy) { c.srcMode, c.dstMode = 1, 1 }, ""},
		{"another mode of the source", func(c *shapedCopy) { c.srcMode, c.dstMode = 1, 2 }, "source stride mode 1 differs from the destination's 2"},
		{"a mode of the source alone", func(c *shapedCopy) { c.srcMode, c.dstMode = 2, 0 }, "source stride mode 2 differs"},
		{"mode 3", func(c *shapedCopy) { c.dstMode = 3 }, "stride mode 3"},
		{"rows on U55", func(c *shapedCopy) { c.product, c.dstMode, c.length = ethosu.U55, 1, 32 }, "stride mode 1"},
		{"U55, aligned", func(c *shapedCopy) { c.product, c.length = ethosu.U55, 32 }, ""},
		{"U55, source", func(c *shapedCopy) { c.product, c.length, c.at = ethosu.U55, 32, 8 }, "not aligned to 16 bytes"},
		{"U55, destination", func(c *shapedCopy) { c.product, c.length, c.to = ethosu.U55, 32, 8 }, "not aligned to 16 bytes"},
		{"U55, length", func(c *shapedCopy) { c.product = ethosu.U55 }, "not aligned to 16 bytes"},
		{"to the last byte", func(c *shapedCopy) { c.at, c.to = 160-24, 400-24 }, ""},
		{"beyond the source", func(c *shapedCopy) { c.at = 160 - 23 }, "copy source"},
		{"beyond the destination", func(c *shapedCopy) { c.to = 400 - 23 }, "copy destination"},
		{"beyond the source in the second row", func(c *shapedCopy) { c.dstMode, c.at = 1, 160-30 }, "copy source"},
		{"nothing, at both ends", func(c *shapedCopy) { c.length, c.at, c.to = 0, 160, 400 }, ""},
		{"nothing, beyond the source", func(c *shapedCopy) { c.length, c.at = 0, 161 }, "copy source"},
		{"nothing, beyond the destination", func(c *shapedCopy) { c.length, c.to = 0, 401 }, "copy destination"},
		{"too many rows", func(c *shapedCopy) { c.dstMode, c.rows, c.planes, c.length = 2, 65535, 65535, 0 }, "too large"},
	} {
		x := base
		c.edit(&x)
		_, err := x.run(t)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestInFlight: a copy costs no fewer cycles than its transactions of eight beats, so many in flight, each its latency
// and its beats; on a duplex memory copies from it to itself use the channels concurrently.
func TestInFlight(t *testing.T) {
	const n = 1 << 16
	copied := func(change func(s *Spec)) int64 {
		s := *mustCore(t, "ethos-u55-128").Spec()
		s.Memories = append([]MemorySpec(nil), s.Memories...)
		for i := range s.Memories {
			s.Memories[i].BytesPerCycle, s.Memories[i].ReadLatency, s.Memories[i].WriteLatency = 8, 64, 0
			s.Memories[i].Reads, s.Memories[i].Writes = 0, 0
		}
		s.RegionMemory[2] = s.RegionMemory[0]
		change(&s)
		c := require.V(New(s))(t)
		rep := require.V(c.Run(copyProgram(t, s.Product, n, 1), &Regions{make([]byte, n), nil, make([]byte, n)}, Options{}))(t)
		return rep.Cycles
	}
	limit := func(reads int, duplex bool) func(s *Spec) {
		return func(s *Spec) {
			m := &s.Memories[s.RegionMemory[0]]
			m.Reads, m.Duplex = reads, duplex
		}
	}
	one, both := copied(limit(0, false)), copied(limit(0, true))
	if d := one - both - n/8; d < -66 || d > 2 { // the latency of the reads passes beside the writes
		t.Errorf("one channel takes %d cycles, two %d: want %d less", one, both, n/8)
	}
	for _, reads := range []int{1, 2, 8} {
		want := max(int64(n/(reads*64)*(64+8)), n/8) - n/8
		if d := copied(limit(reads, true)) - both - want; d < -2 || d > 80 {
			t.Errorf("%d reads in flight: %d cycles more than without a limit, want %d", reads, d+want, want)
		}
	}
}

// TestOperationsOfCopies: a copy names the region that it writes, one of a table none.
func TestOperationsOfCopies(t *testing.T) {
	for target, want := range map[int]int{2: 2, ethosu.DMAInternal: -1} {
		b := ethosu.NewBuilder(ethosu.U55)
		b.Set(ethosu.SetDMA0SrcRegion, 0)
		b.Set(ethosu.SetDMA0DstRegion, target)
		b.SetAddr(ethosu.SetDMA0Src, 0)
		b.SetAddr(ethosu.SetDMA0Dst, 0)
		b.SetAddr(ethosu.SetDMA0Len, 256)
		b.Op(ethosu.OpDMAStart, 0)
		b.Op(ethosu.OpStop, 0)
		list := require.V(mustCore(t, "ethos-u55-128").Operations(&Program{Commands: require.V(b.Words())(t)}, &Regions{}))(t)
		if len(list) != 1 || list[0].To != want || list[0].Bytes != 256 {
			t.Errorf("copy to %#x: %+v, want region %d", target, list, want)
		}
	}
}
