package npu

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/exec"
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// random is a convolution of random shape, type, layout and quantization.
func random(r *rand.Rand) layer {
	pick := func(v ...int) int { return v[r.IntN(len(v))] }
	l := layer{depthwise: r.IntN(3) == 0, oh: 1 + r.IntN(9), ow: 1 + r.IntN(9), oc: 1 + r.IntN(80), ic: 1 + r.IntN(40),
		kh: 1 + r.IntN(5), kw: 1 + r.IntN(5), sy: 1 + r.IntN(3), sx: 1 + r.IntN(3), dy: pick(1, 1, 2), dx: pick(1, 1, 2),
		up: pick(0, 0, 0, 1, 2), b16in: r.IntN(2) == 0, b16: r.IntN(2) == 0, signed: r.IntN(2) == 0,
		partKernel: r.IntN(2) == 0, blk: [3]int{8, 8, pick(8, 16, 32, 64)}, bits: pick(8, 8, 8, 16), out: pick(1, 1, 1, 2, 4),
		round: pick(0, 0, 0, 1, 2), lo: -100, hi: 90, biasRange: 1 << pick(4, 12, 20, 36), wlo: -127, whi: 127,
		scale: r.Uint32() >> pick(0, 1, 1, 1), shift: uint8(pick(31, 35, 38, 42, 12)), globalScale: r.IntN(8) == 0}
	if l.depthwise {
		l.ic = l.oc
	}
	if r.IntN(3) == 0 {
		l.wlo, l.whi = -200, 55 // needs an offset to fit 8 bits
	}
	if r.IntN(8) == 0 {
		l.wlo, l.whi = -255, 255 // does not fit 8 bits
	}
	if l.kh == 1 && l.kw == 1 {
		l.dy, l.dx = 1, 1
	}
	switch {
	case l.bits == 16:
		l.zp = 0
		l.signed = true
	case l.signed:
		l.zp = r.IntN(256) - 128
	default:
		l.zp = r.IntN(256)
		l.lo, l.hi = 3, 240
	}
	l.ozp = r.IntN(100)
	l.top, l.left = r.IntN((l.kh-1)*l.dy+1), r.IntN((l.kw-1)*l.dx+1)
	// The input that the window formula needs, with any excess as bottom padding.
	need := func(o, s, k, d, pad int) int { return max(1, (o-1)*s+(k-1)*d+1-pad) }
	l.ih, l.iw = need(l.oh, l.sy, l.kh, l.dy, l.top), need(l.ow, l.sx, l.kw, l.dx, l.left)
	if l.up != 0 {
		l.ih, l.iw = (l.ih+1)/2, (l.iw+1)/2
	} else if l.ih > 2 && r.IntN(2) == 0 {
		l.ih -= min(l.ih-1, r.IntN(l.kh))
	}
	return l
}

// TestConvolutionForms: the 8-bit loops and the 64-bit loops compute the same bytes, whatever ran before on the state,
// and where sums approach the range of 32 bits.
func TestConvolutionForms(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for _, preset := range []string{"ethos-u55-32", "ethos-u55-128", "ethos-u65-512", "pixel4"} {
		c := mustCore(t, preset)
		state := require.V(c.NewState(nil))(t)
		for i := range 150 {
			l := random(r)
			if i%5 == 0 && l.bits == 8 {
				if l.zp = 0; l.signed {
					l.zp = -128
				}
				l.wlo, l.whi, l.biasRange = 100, 127, 1<<8
				l.bias = 1<<31 - 10_000*int64(l.kh*l.kw*l.ic) // a sum is 14,000 a product, if none is padding
			}
			m := newMachine(c.Spec(), uint64(i))
			in := mapBytes(l.ih, l.iw, l.ic, l.bits/8, l.b16in)
			l.ofm = in
			m.emit(t, l)
			p := m.program(t)
			size := in + mapBytes(l.oh, l.ow, l.oc, l.out, l.b16)
			arena := make([]byte, size)
			for i := range arena {
				arena[i] = byte(r.Uint32())
			}
			run := func(form exec.Form) []byte {
				state.engine.Form = form
				a := bytes.Clone(arena)
				if _, err := c.Run(p, &Regions{m.flash, a}, Options{State: state, Functional: i%2 == 0}); err != nil {
					t.Fatalf("%s %+v: %v", preset, l, err)
				}
				return a
			}
			exact := run(exec.FormExact)
			for _, form := range []exec.Form{exec.NoForm, exec.FormWords} {
				fast := run(form)
				for j := range fast {
					if fast[j] != exact[j] {
						t.Fatalf("%s case %d form %d %+v: byte %d of %d is %d, want %d", preset, i, form, l, j-in, size-in, fast[j], exact[j])
					}
				}
			}
			if bytes.Equal(exact[in:], arena[in:]) && l.oh*l.ow*l.oc > 64 {
				t.Errorf("%s %+v: nothing was written", preset, l)
			}
		}
	}
}

// elementwise builds one elementwise operation on dense NHWC maps.
type elt struct {
	mode             int
	esz, osz         int
	signed           bool
	zp, zp2, ozp     int
	broadcast        int
	scalar           int
	scaleMode        int
	opa              uint32
	opaShift         int
	opb              uint32
	scale            uint32
	shift            int
	round            int
	lo, hi           int
	a, b             []int32 // 1 x 1 x n
	activation, clip int
	table            []byte // copied to the slot of activation
	state            *State // nil: a new one
}

func (e elt) run(t *testing.T, c *Core) ([]int32, error) {
	out, _, err := e.timed(t, c)
	return out, err
}

// timed is run with the report.
func (e elt) timed(t *testing.T, c *Core) ([]int32, *sim.Report, error) {
	b := ethosu.NewBuilder(c.Spec().Product)
	n := len(e.a)
	fm := func(base, stride, w, h0, h1, zp, prec, region ethosu.Code, at, p, esz, depth int, z int) {
		b.Set(region, 1)
		b.SetAddr(base, uint64(at))
		b.SetAddr(stride, uint64(depth*esz))
		b.SetAddr(stride+1, uint64(depth*esz))
		b.SetAddr(stride+2, uint64(esz))
		b.Set(w, 0)
		b.Set(h0, 0)
		b.Set(h1, 0)
		b.Set(zp, z)
		b.Set(prec, p)
	}
	size := roundUp(n*4, 16)
	arena := make([]byte, 3*size)
	put := func(at int, v []int32) {
		f := state.FeatureMap{Data: arena, Base: [4]int{at}, Height0: 1, Height1: 1, Width0: 1, StrideX: len(v) * e.esz, StrideY: len(v) * e.esz, ElemSize: e.esz, H: 1, W: 1, C: len(v)}
		f.WriteRow(v, 0)
	}
	put(0, e.a)
	fm(ethosu.SetIFMBase0, ethosu.SetIFMStrideX, ethosu.SetIFMWidth0M1, ethosu.SetIFMHeight0M1, ethosu.SetIFMHeight1M1,
		ethosu.SetIFMZeroPoint, ethosu.SetIFMPrecision, ethosu.SetIFMRegion, 0, ethosu.IFMPrecision(e.signed, e.esz, ethosu.NHWC, e.scaleMode), e.esz, n, e.zp)
	if len(e.b) > 0 {
		put(size, e.b)
	}
	fm(ethosu.SetIFM2Base0, ethosu.SetIFM2StrideX, ethosu.SetIFM2Width0M1, ethosu.SetIFM2Height0M1, ethosu.SetIFM2Height1M1,
		ethosu.SetIFM2ZeroPoint, ethosu.SetIFM2Precision, ethosu.SetIFM2Region, size, ethosu.IFMPrecision(e.signed, e.esz, ethosu.NHWC, 0), e.esz, max(1, len(e.b)), e.zp2)
	fm(ethosu.SetOFMBase0, ethosu.SetOFMStrideX, ethosu.SetOFMWidth0M1, ethosu.SetOFMHeight0M1, ethosu.SetOFMHeight1M1,
		ethosu.SetOFMZeroPoint, ethosu.SetOFMPrecision, ethosu.SetOFMRegion, 2*size, ethosu.OFMPrecision(e.signed, e.osz, ethosu.NHWC, true, e.round), e.osz, n, e.ozp)
	b.Set(ethosu.SetIFM2Broadcast, e.broadcast)
	b.Set(ethosu.SetIFM2Scalar, e.scalar)
	b.Set(ethosu.SetOFMBlkDepthM1, 127)
	b.Set(ethosu.SetOFMDepthM1, n-1)
	b.Set(ethosu.SetOFMHeightM1, 0)
	b.Set(ethosu.SetOFMWidthM1, 0)
	b.SetScale(ethosu.SetOFMScale, e.scale, e.shift)
	b.SetScale(ethosu.SetOPAScale, e.opa, e.opaShift)
	b.SetScale(ethosu.SetOPBScale, e.opb, 0)
	b.Set(ethosu.SetActivation, e.activation|e.clip<<12)
	b.Set(ethosu.SetActivationMin, e.lo)
	b.Set(ethosu.SetActivationMax, e.hi)
	if e.table != nil {
		b.Set(ethosu.SetDMA0SrcRegion, 0)
		b.Set(ethosu.SetDMA0DstRegion, ethosu.DMAInternal|3)
		b.SetAddr(ethosu.SetDMA0Src, 0)
		b.SetAddr(ethosu.SetDMA0Dst, uint64(c.Spec().LUTBase()+(e.activation-ethosu.ActTable)*256))
		b.SetAddr(ethosu.SetDMA0Len, uint64(len(e.table)))
		b.Op(ethosu.OpDMAStart, 0)
		b.Op(ethosu.OpDMAWait, 0)
	}
	b.Op(ethosu.OpElementwise, e.mode)
	b.Op(ethosu.OpStop, 0)
	words := require.V(b.Words())(t)
	rep, err := c.Run(&Program{Commands: words}, &Regions{e.table, arena}, Options{State: e.state})
	if err != nil {
		return nil, nil, err
	}
	f := state.FeatureMap{Data: arena, Base: [4]int{2 * size}, Height0: 1, Height1: 1, Width0: 1, StrideX: n * e.osz, StrideY: n * e.osz, ElemSize: e.osz, Signed: e.signed, H: 1, W: 1, C: n}
	out := make([]int32, n)
	f.ReadRow(out, 0)
	return out, rep, nil
}

// Elementwise operations against values computed by hand from the rules.
func TestElementwise(t *testing.T) {
	const no = 0 // OFM_SCALE 1, shift 0
	for _, c := range []struct {
		name string
		elt
		want []int32
	}{
		{"mul", elt{mode: ethosu.EltMul, esz: 1, osz: 1, signed: true, zp: 1, zp2: -1, ozp: 5, scale: 1, shift: 1, round: ethosu.RoundNatural,
			lo: -128, hi: 127, a: []int32{3, -3, 127}, b: []int32{4, 4, 126}}, []int32{(2*5+1)>>1 + 5, (-4*5+1)>>1 + 5, 127}},
		{"add both scaled", elt{mode: ethosu.EltAdd, esz: 1, osz: 1, signed: false, scale: 1, shift: 4, round: ethosu.RoundNatural, opa: 8, opb: 16,
			lo: 0, hi: 255, a: []int32{10, 20}, b: []int32{1, 7}}, []int32{(10*8 + 16 + 8) >> 4, (20*8 + 7*16 + 8) >> 4}},
		{"sub swapped", elt{mode: ethosu.EltSub, esz: 1, osz: 1, signed: true, scale: 1, opa: 1, opb: 1, broadcast: ethosu.BroadcastSwap,
			lo: -128, hi: 127, a: []int32{10, 20}, b: []int32{1, 50}}, []int32{-9, 30}},
		// Scale mode 1 scales the arithmetic first operand: after the swap, IFM2.
		{"sub swapped, first scaled", elt{mode: ethosu.EltSub, esz: 1, osz: 1, signed: true, scale: 1, shift: 19, opa: 1 << 30, opaShift: 12, scaleMode: ethosu.ScaleOPA32,
			broadcast: ethosu.BroadcastSwap, lo: -128, hi: 127, a: []int32{10, 20}, b: []int32{8, 40}}, []int32{-6, 0}},
		{"scalar min", elt{mode: ethosu.EltMin, esz: 1, osz: 1, signed: true, scalar: 7, broadcast: ethosu.BroadcastScalar, lo: -128, hi: 127, a: []int32{3, 9}}, []int32{3, 7}},
		{"max channel broadcast", elt{mode: ethosu.EltMax, esz: 1, osz: 1, signed: true, broadcast: ethosu.BroadcastC, lo: -128, hi: 127, a: []int32{3, 9}, b: []int32{5}}, []int32{5, 9}},
		{"abs", elt{mode: ethosu.EltAbs, esz: 2, osz: 2, signed: true, scale: 3, shift: 1, round: ethosu.RoundNatural, lo: -32768, hi: 32767, a: []int32{-5, 5, -32768}}, []int32{8, 8, 32767}},
		{"lrelu", elt{mode: ethosu.EltLRelu, esz: 2, osz: 2, signed: true, scale: 1, shift: 2, round: ethosu.RoundNatural, lo: -32768, hi: 32767, a: []int32{-8, 5}}, []int32{-2, 5}},
		{"clz", elt{mode: ethosu.EltClz, esz: 4, osz: 4, signed: true, lo: -128, hi: 127, ozp: 24, a: []int32{1, -1, 0, 0x7FFFFFFF}}, []int32{31, 0, 32, 1}},
		{"shr natural", elt{mode: ethosu.EltShr, esz: 4, osz: 4, signed: true, round: ethosu.RoundNatural, a: []int32{-5, 5, -6}, b: []int32{1, 1, 2}}, []int32{-2, 3, -1}},
		{"shr away", elt{mode: ethosu.EltShr, esz: 4, osz: 4, signed: true, round: ethosu.RoundDouble, a: []int32{-5, 5, -6}, b: []int32{1, 1, 2}}, []int32{-3, 3, -2}},
		{"shl wraps", elt{mode: ethosu.EltShl, esz: 4, osz: 4, signed: true, a: []int32{1, -1, 3}, b: []int32{31, 4, 31}}, []int32{-1 << 31, -16, -1 << 31}},
		{"mul32 ignores scale", elt{mode: ethosu.EltMul, esz: 4, osz: 4, signed: true, scale: 0x40000000, shift: 31, a: []int32{1 << 30, -1 << 31}, b: []int32{1 << 30, -1 << 31}}, []int32{1 << 29, 1<<31 - 1}},
		{"32-bit output bypasses zero point and clamp", elt{mode: ethosu.EltAdd, esz: 4, osz: 4, signed: true, scale: 1, shift: no, ozp: 99, lo: -1, hi: 1, a: []int32{1000}, b: []int32{-3000}}, []int32{-2000}},
		{"32-bit output with clip", elt{mode: ethosu.EltAdd, esz: 4, osz: 4, signed: true, scale: 1, ozp: 9, lo: -1, hi: 100, clip: ethosu.ClipInt8, a: []int32{1000, 10}, b: []int32{-3000, 1}}, []int32{-1, 20}},
	} {
		got, err := c.run(t, mustCore(t, "ethos-u55-128"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestActivationTables(t *testing.T) {
	// A table through DMA: 8-bit output indexes value+128.
	c := mustCore(t, "ethos-u55-128")
	table := make([]byte, 256)
	for i := range table {
		table[i] = byte(i * 7)
	}
	b := ethosu.NewBuilder(ethosu.U55)
	b.Set(ethosu.SetDMA0SrcRegion, 0)
	b.Set(ethosu.SetDMA0DstRegion, ethosu.DMAInternal|3)
	b.SetAddr(ethosu.SetDMA0Src, 0)
	b.SetAddr(ethosu.SetDMA0Dst, uint64(c.Spec().LUTBase()+256))
	b.SetAddr(ethosu.SetDMA0Len, 256)
	b.Op(ethosu.OpDMAStart, 0)
	b.Op(ethosu.OpDMAWait, 0)
	b.Op(ethosu.OpStop, 0)
	words := require.V(b.Words())(t)
	state := require.V(c.NewState(nil))(t)
	rep := require.V(c.Run(&Program{Commands: words}, &Regions{table}, Options{State: state}))(t)
	checkReport(t, rep)
	if !bytes.Equal(state.machine.SHRAM[c.Spec().LUTBase()+256:][:256], table) {
		t.Error("table did not arrive in SHRAM")
	}
}

func TestPool(t *testing.T) {
	c := mustCore(t, "ethos-u55-128")
	// 3x3 average over 4x4 with padding: edge windows divide by their own taps.
	l := layer{ih: 4, iw: 4, ic: 1, oh: 4, ow: 4, oc: 1, kh: 3, kw: 3, sy: 1, sx: 1, dy: 1, dx: 1, top: 1, left: 1,
		blk: [3]int{4, 4, 8}, out: 1, bits: 8, lo: 0, hi: 255, ofm: 16, wlo: 0, whi: 1}
	m := newMachine(c.Spec(), 1)
	m.emit(t, l)
	words := require.V(m.b.Words())(t)
	arena := make([]byte, 32)
	for i := range 16 {
		arena[i] = byte(10 * i)
	}
	for mode, want := range map[int][2]byte{ethosu.PoolAverage: {25, 50}, ethosu.PoolMax: {50, 100}} {
		words[len(words)-1] = uint32(mode)<<16 | uint32(ethosu.OpPool)
		if _, err := c.Run(&Program{Commands: append(words[:len(words):len(words)], uint32(ethosu.OpStop))}, &Regions{m.flash, arena}, Options{}); err != nil {
			t.Fatal(err)
		}
		require.Same(t, want, [2]byte{arena[16], arena[16+5]}, "mode", mode, "corner and centre")
	}
}

// Illegal streams end with an error that names the command.
func TestErrors(t *testing.T) {
	c := mustCore(t, "ethos-u55-128")
	l := conv(8, 8, 16, 16, 3, 1)
	l.ofm = 8 * 8 * 16
	m := newMachine(c.Spec(), 1)
	m.emit(t, l)
	base := require.V(m.b.Words())(t)
	arena := make([]byte, 2*8*8*16)
	run := func(extra ...ethosu.Command) error {
		// Registers set just before the operation, which is the last word.
		words := append([]uint32(nil), base[:len(base)-1]...)
		words = append(words, ethosu.Encode(extra)...)
		words = append(words, base[len(base)-1], uint32(ethosu.OpStop))
		_, err := c.Run(&Program{Commands: words}, &Regions{m.flash, arena}, Options{})
		return err
	}
	require.NoError(t, run())
	set := func(c ethosu.Code, v int) ethosu.Command { return ethosu.Command{Code: c, Param: uint16(v)} }
	addr := func(c ethosu.Code, v uint32) ethosu.Command { return ethosu.Command{Code: c, Payload: v} }
	for _, e := range []struct {
		want string
		cmd  ethosu.Command
	}{
		{"(NPU_OP_CONV) at offset", set(ethosu.SetIFMPrecision, 0xC)},
		{"IFM: reserved precision 3", set(ethosu.SetIFMPrecision, 0xC)},
		{"OFM: reserved layout 2", set(ethosu.SetOFMPrecision, 0x80)},
		{"reserved rounding mode 3", set(ethosu.SetOFMPrecision, 0xC000)},
		{"OFM tile 0 ends at", addr(ethosu.SetOFMBase0, 0x500)},
		{"IFM tile 0 ends at", addr(ethosu.SetIFMStrideY, 0x500)},
		{"region 5 has 0x0 bytes", set(ethosu.SetIFMRegion, 5)},
		{"weight stream [", addr(ethosu.SetWeightBase, 0xFFFFFFF0)},
		{"weight stream holds", addr(ethosu.SetWeightLength, 0)},
		{"SCALE_LENGTH is 16", addr(ethosu.SetScaleLength, 16)},
		{"padding leaves an input", set(ethosu.SetIFMPadTop, 127)},
		{"is no multiple of the dilation", set(ethosu.SetKernelStride, 1<<3|1<<4)},
		{"4x4 kernel decomposition", set(ethosu.SetKernelStride, 1<<5)},
		{"reserved activation 9", set(ethosu.SetActivation, 9)},
		{"reserved clip range 7", set(ethosu.SetActivation, 7<<12)},
		{"accumulator format 2", set(ethosu.SetAccFormat, 2)},
		{"register does not exist on Ethos-U55-128", set(ethosu.SetParallelMode, 1)},
		{"32-bit input of a convolution", set(ethosu.SetIFMPrecision, 8)},
		{"custom DMA", set(ethosu.SetOFMRegion, 0x8001)},
	} {
		if e.want == "is no multiple of the dilation" {
			base[len(base)-1] = uint32(ethosu.OpConv)
			require.ErrorContains(t, run(e.cmd, set(ethosu.SetKernelWidthM1, 3)), e.want)
			continue
		}
		require.ErrorContains(t, run(e.cmd), e.want, e.cmd.Code)
	}
	require.ErrorContains(t, require.Err(c.Run(&Program{Commands: base}, &Regions{m.flash, arena}, Options{})), "without NPU_OP_STOP", "no STOP")
	require.ErrorContains(t, require.Err(c.Run(&Program{Commands: []uint32{0x3FF}}, &Regions{}, Options{})), "unknown command", "unknown command")
	words := append(base[:len(base):len(base)], uint32(ethosu.OpStop))
	require.ErrorContains(t, require.Err(c.Run(&Program{Commands: words}, &Regions{m.flash, arena}, Options{MaxWork: 1000})), "limit of work", "work limit")
	// A run ends at the instant set in its options, before the operator that exceeds the limit of work.
	_, err := c.Run(&Program{Commands: words}, &Regions{m.flash, arena}, Options{MaxWork: 1000, Until: 1})
	if late := (*sim.Late)(nil); !errors.As(err, &late) || late.At != 1 {
		t.Errorf("until 1 fs: %v", err)
	}
}
