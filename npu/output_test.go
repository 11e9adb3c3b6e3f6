package npu

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// TestClipRanges: a result gets the zero point, is held to the clip range, and that to ACTIVATION_MIN and _MAX.
func TestClipRanges(t *testing.T) {
	for _, c := range []struct {
		size, clip, lo, hi int
		zero               int // default 10
		signed             bool
		in, want           []int32
	}{
		{size: 1, signed: true, clip: ethosu.ClipOFM, lo: -500, hi: 500, in: []int32{-128, -1, 0, 127}, want: []int32{-118, 9, 10, 127}},
		{size: 1, signed: true, clip: ethosu.ClipOFM, lo: -5, hi: 60, in: []int32{-128, -15, -14, 49, 50, 51}, want: []int32{-5, -5, -4, 59, 60, 60}},
		{size: 1, signed: false, clip: ethosu.ClipOFM, lo: -500, hi: 500, in: []int32{0, 245, 246}, want: []int32{10, 255, 255}},
		{size: 2, signed: true, clip: ethosu.ClipUint8, lo: -500, hi: 500, in: []int32{-300, -11, -10, -9, 244, 245, 246}, want: []int32{0, 0, 0, 1, 254, 255, 255}},
		{size: 2, signed: true, clip: ethosu.ClipUint8, lo: 300, hi: 500, in: []int32{-300, 0, 700}, want: []int32{300, 300, 300}},
		{size: 2, signed: true, clip: ethosu.ClipUint8, lo: -500, hi: -5, in: []int32{-300, 0, 700}, want: []int32{-5, -5, -5}},
		{size: 2, signed: true, clip: ethosu.ClipInt8, lo: -500, hi: 500, in: []int32{-300, -138, -137, 116, 117, 118}, want: []int32{-128, -128, -127, 126, 127, 127}},
		{size: 2, signed: true, clip: ethosu.ClipInt16, lo: -32768, hi: 32767, in: []int32{-32768, 0, 32757, 32758}, want: []int32{-32758, 10, 32767, 32767}},
		{size: 4, signed: true, clip: ethosu.ClipInt16, lo: -32768, hi: 32767, in: []int32{-99999, -32778, -32777, 32756, 32757, 32758}, want: []int32{-32768, -32768, -32767, 32766, 32767, 32767}},
		{size: 4, signed: true, clip: ethosu.ClipUint8, lo: -32768, hi: 32767, in: []int32{-11, 245, 246}, want: []int32{0, 255, 255}},
		{size: 4, signed: true, clip: ethosu.ClipOFM, lo: -1, hi: 1, in: []int32{math.MinInt32, 70000, math.MaxInt32}, want: []int32{math.MinInt32, 70000, math.MaxInt32}},
		{size: 4, signed: true, clip: ethosu.ClipInt8, zero: -10, lo: -500, hi: 500, in: []int32{-119, -118, -117, 137, 138}, want: []int32{-128, -128, -127, 127, 127}},
		{size: 2, signed: true, clip: ethosu.ClipInt8, zero: -10, lo: -500, hi: 500, in: []int32{-119, -118, -117, 137, 138}, want: []int32{-128, -128, -127, 127, 127}},
	} {
		e := elt{mode: ethosu.EltAdd, esz: c.size, osz: c.size, signed: c.signed, scale: 1, opa: 1, opb: 1, ozp: cmp.Or(c.zero, 10), clip: c.clip, lo: c.lo, hi: c.hi, a: c.in, b: make([]int32, len(c.in))}
		got, err := e.run(t, mustCore(t, "ethos-u55-128"))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d bytes, clip %d to %d and %d of %v: %v, %v, want %v", c.size, c.clip, c.lo, c.hi, c.in, got, err, c.want)
		}
	}
}

// TestLookups: tables of bytes, of lines between 16-bit points and of words, the small ones at a slot that is not the first.
func TestLookups(t *testing.T) {
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(7 * i)
	}
	// Halves: from a point to the next, 128 further, it is 64 more.
	lines := make([]byte, 2048)
	for i := range 512 {
		binary.LittleEndian.PutUint16(lines[4*i:], uint16((128*i-32768)/2))
		binary.LittleEndian.PutUint16(lines[4*i+2:], 64)
	}
	words := make([]byte, 1024)
	for i := range 256 {
		binary.LittleEndian.PutUint32(words[4*i:], uint32(1000000*i))
	}
	for _, c := range []struct {
		name     string
		size     int
		signed   bool
		clip     int
		table    []byte
		in, want []int32
	}{
		{"int8", 1, true, ethosu.ClipOFM, bytes, []int32{-128, -127, 0, 127}, []int32{0, 7, 7*128&255 - 256, 7*255&255 - 256}},
		{"uint8", 1, false, ethosu.ClipOFM, bytes, []int32{0, 1, 36, 255}, []int32{0, 7, 252, 7 * 255 & 255}},
		{"int16", 2, true, ethosu.ClipOFM, lines, []int32{-32768, -32767, -129, -3, 0, 1, 2, 127, 128, 300, 32767}, []int32{-16384, -16383, -64, -1, 0, 1, 1, 64, 64, 150, 16384}},
		{"int32", 4, true, ethosu.ClipInt8, words, []int32{-1000, -128, -1, 0, 127, 1000}, []int32{0, 0, 127000000, 128000000, 255000000, 255000000}},
	} {
		e := elt{mode: ethosu.EltAdd, esz: c.size, osz: c.size, signed: c.signed, scale: 1, opa: 1, opb: 1, clip: c.clip, lo: -32768, hi: 32767,
			activation: ethosu.ActTable + 1, table: c.table, a: c.in, b: make([]int32, len(c.in))}
		if c.size == 2 { // all slots
			e.activation = ethosu.ActTable
		}
		if got, err := e.run(t, mustCore(t, "ethos-u55-128")); err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		for _, bad := range []struct {
			edit func(*elt)
			want string
		}{
			{func(e *elt) { e.table, e.activation = nil, ethosu.ActTable+7; e.osz, e.esz, e.signed = 2, 2, true }, "lookup table of 2048 bytes at slot 7"},
			{func(e *elt) { e.osz, e.esz, e.signed, e.clip = 4, 4, true, ethosu.ClipOFM }, "32-bit lookup table with clip range 0"},
			{func(e *elt) { e.activation = ethosu.ActTanh; e.osz, e.esz, e.signed = 1, 1, true }, "tanh or sigmoid with 8-bit output"},
		} {
			x := e
			bad.edit(&x)
			require.ErrorContains(t, require.Err(x.run(t, mustCore(t, "ethos-u55-128"))), bad.want, c.name)
		}
	}
	// The last slot of a table of bytes is the seventh. A run finds none of an earlier one.
	c := mustCore(t, "ethos-u55-128")
	e := elt{mode: ethosu.EltAdd, esz: 1, osz: 1, signed: true, scale: 1, opa: 1, opb: 1, lo: -128, hi: 127, activation: ethosu.ActTable + 7, a: []int32{1}, b: []int32{1},
		state: require.V(c.NewState(nil))(t)}
	for _, table := range [][]byte{nil, bytes, nil} {
		e.table = table
		if got, err := e.run(t, c); err != nil || got[0] != int32(int8(len(table)/256*7*130)) {
			t.Errorf("a table of %d bytes at slot 7: %v, %v", len(table), got, err)
		}
	}
}

// TestChannelScales: each channel has its own scale, here a half and a quarter of the first one's, whatever its output.
func TestChannelScales(t *testing.T) {
	c := mustCore(t, "ethos-u55-128")
	for _, bits := range []int{8, 16} {
		for _, round := range []int{ethosu.RoundDouble, ethosu.RoundNatural} {
			l := layer{ih: 1, iw: 1, ic: 1, oh: 1, ow: 1, oc: 7, kh: 1, kw: 1, sy: 1, sx: 1, dy: 1, dx: 1, blk: [3]int{2, 2, 8}, out: bits / 8, bits: bits,
				signed: true, lo: -128, hi: 127, ofm: 16, wlo: 1, whi: 1, scale: 1 << 30, shift: 30, round: round}
			m := newMachine(c.Spec(), 1)
			m.emit(t, l)
			arena := append([]byte{64}, make([]byte, 47)...)
			require.V(c.Run(m.program(t), &Regions{m.flash, arena}, Options{}))(t)
			for j := range l.oc {
				if got, want := arena[16+j*l.out], byte(64>>(j%3)); got != want {
					t.Errorf("%d bits, rounding %d, channel %d: %d, want %d", bits, round, j, got, want)
				}
			}
		}
	}
}

// TestPoolScales: a pooling that has OFM_SCALE multiplies sums with it, and the sum over channels is one element.
func TestPoolScales(t *testing.T) {
	c := mustCore(t, "ethos-u55-128")
	l := layer{ih: 2, iw: 2, ic: 1, oh: 1, ow: 1, oc: 1, kh: 2, kw: 2, sy: 1, sx: 1, dy: 1, dx: 1,
		blk: [3]int{2, 2, 8}, out: 1, bits: 8, lo: 0, hi: 255, ofm: 16, wlo: 0, whi: 1, globalScale: true, scale: 3, shift: 1, round: ethosu.RoundNatural}
	m := newMachine(c.Spec(), 1)
	m.emit(t, l)
	words := require.V(m.b.Words())(t)
	arena := append([]byte{10, 20, 30, 41}, make([]byte, 28)...)
	words[len(words)-1] = uint32(ethosu.PoolAverage)<<16 | uint32(ethosu.OpPool)
	require.V(c.Run(&Program{Commands: append(words, uint32(ethosu.OpStop))}, &Regions{m.flash, arena}, Options{}))(t)
	if want := byte((101*3 + 1) / 2); arena[16] != want {
		t.Errorf("3/2 of the sum: %d, want %d", arena[16], want)
	}
}

// TestRangesOfAKernel: a kernel reads its maps, the weights and scales of each core and its table, and writes its
// output: a copy into the first or last byte of each needs a wait, one beside it does not.
func TestRangesOfAKernel(t *testing.T) {
	c := mustCore(t, "ethos-u65-512")
	m := newMachine(c.Spec(), 1)
	l := conv(8, 8, 16, 32, 3, 1)
	l.ofm = 16384
	m.emit(t, l)
	p := m.program(t)
	register := func(words []uint32, code ethosu.Code) (at uint32) {
		cmds := require.V(ethosu.Decode(words))(t)
		for _, k := range cmds {
			if k.Code == code {
				at = k.Payload
			}
		}
		return at
	}
	flash := len(m.flash)
	copyTo := func(region int, to uint32, b *ethosu.Builder) error {
		b.Set(ethosu.SetDMA0SrcRegion, 2)
		b.Set(ethosu.SetDMA0DstRegion, region)
		b.SetAddr(ethosu.SetDMA0Src, 0)
		b.SetAddr(ethosu.SetDMA0Dst, uint64(to))
		b.SetAddr(ethosu.SetDMA0Len, 16)
		b.Op(ethosu.OpDMAStart, 0)
		b.Op(ethosu.OpStop, 0)
		words := require.V(b.Words())(t)
		// The copy is before the program's STOP.
		all := append(append([]uint32(nil), p.Commands[:len(p.Commands)-1]...), words...)
		r := Regions{append(append([]byte(nil), m.flash...), make([]byte, 64)...), make([]byte, 65536), make([]byte, 16)}
		_, err := c.Run(&Program{Commands: all}, &r, Options{TimingOnly: true})
		return err
	}
	// A wait for less than one kernel is none.
	for left, bad := range []bool{false, true, true, true} {
		b := ethosu.NewBuilder(ethosu.U65)
		b.Op(ethosu.OpKernelWait, left)
		if err := copyTo(1, 0, b); bad != (err != nil) {
			t.Errorf("a wait until %d kernels are left: %v", left, err)
		}
	}
	type span struct{ base, length ethosu.Code }
	var ranges [][2]uint32
	for _, s := range []span{{ethosu.SetWeightBase, ethosu.SetWeightLength}, {ethosu.SetWeight1Base, ethosu.SetWeight1Length},
		{ethosu.SetScaleBase, ethosu.SetScaleLength}, {ethosu.SetScale1Base, ethosu.SetScale1Length}} {
		lo, n := register(p.Commands, s.base), register(p.Commands, s.length)
		if n == 0 {
			t.Fatalf("%v: no bytes", s.length)
		}
		ranges = append(ranges, [2]uint32{lo, lo + n})
	}
	within := func(at uint32) bool {
		for _, r := range ranges {
			if at < r[1] && at+16 > r[0] {
				return true
			}
		}
		return false
	}
	check := func(region int, at uint32, bad bool) {
		t.Helper()
		err := copyTo(region, at, ethosu.NewBuilder(ethosu.U65))
		if bad != (err != nil) || err != nil && !strings.Contains(err.Error(), "NPU_OP_KERNEL_WAIT is missing") {
			t.Errorf("copy to %d of region %d: %v, want an error: %v", at, region, err, bad)
		}
	}
	for _, r := range ranges {
		for _, at := range []uint32{r[0] &^ 15, r[0]&^15 - 16, (r[1] - 1) &^ 15, (r[1] + 15) &^ 15} {
			if int(at) <= flash {
				check(0, at, within(at))
			}
		}
	}
	// Input and output are in region 1.
	in, out := uint32(8*8*16), uint32(8*8*32)
	for at, bad := range map[uint32]bool{0: true, in - 16: true, in: false, 16384 - 16: false, 16384: true, 16384 + out - 16: true, 16384 + out: false} {
		check(1, at, bad)
	}
}

// TestCustomOp: a compiled operator runs on the machine that its payload names, in its own memory.
func TestCustomOp(t *testing.T) {
	spec := specOf(t, "ethos-u65-512")
	config := ethosu.Config{Product: spec.Product, MACsLog2: 8, ShramKiB: spec.ShramBytes * spec.Cores >> 10}
	for 1<<config.MACsLog2 < spec.MACsPerCycle() {
		config.MACsLog2++
	}
	k := Compiled{Config: config, op: CustomOp{Flash: []byte{1, 2}, ArenaBytes: 8, FastBytes: 4}}
	r := k.Regions()
	if r[0][0] = 9; k.op.Flash[0] != 1 || len(r[0]) != 2 || len(r[1]) != 8 || len(r[2]) != 4 {
		t.Errorf("regions of %d, %d and %d bytes", len(r[0]), len(r[1]), len(r[2]))
	}
	k.op.FastBytes = 0
	if r = k.Regions(); len(r[2]) != 8 || &r[1][0] != &r[2][0] {
		t.Error("without fast memory region 2 is another than the arena")
	}
	for want, edit := range map[string]func(*Spec){
		"":                   func(*Spec) {},
		"compiled for U65, ": func(s *Spec) { s.Product = ethosu.U55 },
		"MACs per cycle":     func(s *Spec) { s.UBlock.D *= 2 },
		"KiB of SHRAM":       func(s *Spec) { s.ShramBytes *= 2 },
	} {
		s := spec
		edit(&s)
		if err := k.Check(&s); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, op := range []CustomOp{{ArenaBytes: -1}, {FastBytes: 1<<30 + 1}, {CommandStream: []byte{1, 2, 3}}} {
		if _, err := op.Load(); err == nil {
			t.Errorf("%+v loads", op)
		}
	}
}

// TestOnChipRegion: the first base pointer behind which is memory on chip, but the one of constants.
func TestOnChipRegion(t *testing.T) {
	s := Spec{Memories: []MemorySpec{{OffChip: true}, {}}}
	for _, c := range []struct {
		memory []int
		want   int
	}{{[]int{1, 0, 0, 1}, 3}, {[]int{0, 1, 1}, 1}, {[]int{1, 0, 0}, 1}, {[]int{0, 0, 1}, 2}} {
		copy(s.RegionMemory[:], make([]int, len(s.RegionMemory)))
		copy(s.RegionMemory[:], c.memory)
		require.Same(t, c.want, s.OnChipRegion(), c.memory, "region")
	}
}

// TestTablesOfSmallMachines: where the tables share SHRAM with the accumulators, on machines of 16 KiB, an operation
// without a table destroys them.
func TestTablesOfSmallMachines(t *testing.T) {
	for machine, lost := range map[string]bool{"ethos-u55-32": true, "ethos-u55-64": true, "ethos-u55-128": false, "ethos-u55-256": false} {
		c := mustCore(t, machine)
		plain := conv(4, 4, 8, 8, 1, 1)
		plain.ofm = 4 * 4 * 8
		table := plain
		table.activation = ethosu.ActTable
		st := require.V(c.NewState(nil))(t)
		run := func(list ...layer) error {
			m := newMachine(c.Spec(), 1)
			for _, l := range list {
				m.emit(t, l)
			}
			_, err := c.Run(m.program(t), &Regions{m.flash, make([]byte, 2*plain.ofm)}, Options{State: st})
			return err
		}
		require.Report(t, run(table, table, plain), machine)
		if err := run(table, plain, table); (err != nil) != lost || lost && !strings.Contains(err.Error(), "overwritten by the accumulators") {
			t.Errorf("%s, a table behind an operation without one: %v", machine, err)
		}
		require.Report(t, run(table), machine, "a table in a run behind that")
	}
}
