package npu

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// TestBounds: every cycle has one class, and a kernel is bound by the class with most cycles.
func TestBounds(t *testing.T) {
	var table sim.StallTable
	for r := range table {
		table[r] = int64(r + 1)
	}
	sum := int64(0)
	for b, n := range Bounds(&table) {
		if sum += n; (n == 0) != (b == 0) || Bound(b).String() == "" {
			t.Errorf("class %d, %v, has %d cycles", b, Bound(b), n)
		}
	}
	if sum != table.Total() {
		t.Errorf("%d of %d cycles have a class", sum, table.Total())
	}
	require.Same(t, Dependency, BoundBy(&sim.StallTable{sim.StallBarrier: 3, sim.StallQueue: 3, sim.StallIssue: 5}), "bound by")
}

// TestBoundBy: a machine with one slow part is bound by that part, by its name.
func TestBoundBy(t *testing.T) {
	l := conv(32, 8, 64, 64, 1, 1)
	l.blk = [3]int{8, 8, 64}
	for name, slow := range map[string]func(*Spec){
		"compute":        func(s *Spec) {},
		"weight decode":  func(s *Spec) { s.WeightsPerCycle = 1 },
		"output unit":    func(s *Spec) { s.OutputCycles[OutOther] = 100; l.blk[2] = 16 },
		"DRAM":           func(s *Spec) { s.Memories[1].BytesPerCycle = 0.001 },
		"fill and drain": func(s *Spec) { s.Memories[s.RegionMemory[1]].WriteLatency = 1 << 16 },
		"launch":         func(s *Spec) { s.LaunchCycles = 1 << 20 },
	} {
		l.blk[2] = 64
		s := ideal(t)
		s.Memories = append([]MemorySpec(nil), s.Memories...)
		slow(&s)
		require.Same(t, name, BoundBy(&runLayer(t, s, l).Stalls).String(), "bound by")
	}
}

// TestWork: the work of each kind of operation that counts against the limit, of 3x5x7 results in six blocks from a
// 2x4x6 input by a window of 3x2.
func TestWork(t *testing.T) {
	for _, c := range []struct {
		kind state.Kind
		mode int
		want int64
	}{
		{state.Elementwise, 0, 105 + 64*6},
		{state.Depthwise, 0, (105+64*6)*6 + 48},
		{state.Pool, ethosu.PoolMax, (105+64*6)*6 + 48},
		{state.Pool, ethosu.PoolReduceSum, (105+64*6)*6*6 + 48},
		{state.Conv, 0, (105+64*6)*6*6 + 48},
	} {
		o := state.Op{Kind: c.kind, Mode: c.mode, BlockH: 2, BlockW: 2, BlockD: 8}
		o.OFM.H, o.OFM.W, o.OFM.C = 3, 5, 7
		o.IFM.H, o.IFM.W, o.IFM.C = 2, 4, 6
		o.Window.H, o.Window.W = 3, 2
		if got := work(&o); got != c.want {
			t.Errorf("kind %d, mode %d: %d, want %d", c.kind, c.mode, got, c.want)
		}
	}
}

// TestBeats: a run transfers the bus words that it touches, and consecutive runs without a gap are one.
func TestBeats(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 25))
	for range 2000 {
		x := run{addr: r.Uint64N(1000), bytes: 1 + r.IntN(70), count: 1 + r.IntN(9)}
		if x.stride = x.bytes; r.IntN(3) > 0 {
			x.stride += r.IntN(80)
		}
		width := 1 << r.IntN(5)
		words := map[[2]int]bool{}
		for i := range x.count {
			for b := range x.bytes {
				which := 0
				if x.stride != x.bytes {
					which = i
				}
				words[[2]int{which, (int(x.addr) + i*x.stride + b) / width}] = true
			}
		}
		if got := x.beats(width); got != int64(len(words)) {
			t.Errorf("%+v: %d beats of %d bytes, want %d", x, got, width, len(words))
		}
	}
}

// TestBox: a box is read in the bytes of its elements, of bricks in whole ones, in one run where the rows are
// contiguous.
func TestBox(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 25))
	for range 4000 {
		f := &state.FeatureMap{NHCWB16: r.IntN(2) > 0, ElemSize: 1 << r.IntN(3), W: 1 + r.IntN(4), C: 1 + r.IntN(40)}
		part := func(n int) (lo, hi int) { return r.IntN(2) * r.IntN(n), n - r.IntN(2)*r.IntN(n+1) }
		y0, y1 := part(4)
		x0, x1 := part(f.W)
		z0, z1 := part(f.C)
		groups, lo, hi, deep := 1, z0, z1, f.C // of channels
		if f.NHCWB16 {
			groups, lo, hi, deep = (f.C+15)/16, z0/16, (z1+15)/16, 16
		}
		f.StrideX = deep*f.ElemSize + r.IntN(2)*16
		if f.NHCWB16 {
			f.StrideX = 16 * f.ElemSize
		}
		f.StrideC = f.W*f.StrideX + r.IntN(2)*16
		if f.StrideY = groups * f.StrideC; !f.NHCWB16 && r.IntN(2) > 0 {
			f.StrideY = f.W * f.StrideX
		}
		want, whole := map[int]int{}, map[int]int{}
		for y := y0; y < y1 && z0 < z1; y++ {
			for x := x0; x < x1; x++ {
				for z := lo; z < hi; z++ {
					at, n := y*f.StrideY+x*f.StrideX+z*f.ElemSize, f.ElemSize
					if f.NHCWB16 {
						at, n = y*f.StrideY+x*f.StrideX+z*f.StrideC, f.StrideX
					}
					for i := range n {
						want[at+i]++
					}
				}
			}
		}
		got, rows, stride := box(f, y0, y1, x0, x1, z0, z1)
		for y := range rows {
			for i := range got.count {
				for b := range got.bytes {
					whole[int(got.addr)+y*int(stride)+i*got.stride+b]++
				}
			}
		}
		runs := hi - lo
		if dense := f.StrideX == f.C*f.ElemSize && z1-z0 == f.C; !f.NHCWB16 && !dense {
			runs = x1 - x0
		} else if !f.NHCWB16 {
			if runs = 1; (x1-x0)*f.StrideX == f.StrideY {
				runs = y1 - y0
			}
		}
		if len(want) == 0 {
			runs = 0
		}
		if !maps.Equal(whole, want) || got.count != runs || rows > 1 && rows != y1-y0 || rows == 0 && got != (run{}) {
			t.Fatalf("%+v, rows %d-%d, columns %d-%d, channels %d-%d: %+v, %d rows", *f, y0, y1, x0, x1, z0, z1, got, rows)
		}
	}
}
