package npu

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// layer is a convolution to be written as commands, with random parameters.
type layer struct {
	depthwise   bool
	ih, iw, ic  int
	oh, ow, oc  int
	kh, kw      int
	sy, sx      int
	dy, dx      int
	top, left   int
	up          int
	b16in, b16  bool
	signed      bool
	zp, ozp     int
	partKernel  bool
	blk         [3]int // h, w, d
	round       int
	out         int // element bytes
	lo, hi      int
	biasRange   int64
	bias        int64 // added to all
	wlo, whi    int   // weight range
	in, ofm     int   // addresses in region 1
	bits        int   // of the input
	scale       uint32
	shift       uint8
	activation  int
	globalScale bool
	acc40       bool
}

// conv is a layer with everything usual.
func conv(ih, iw, ic, oc, k, stride int) layer {
	oh, ow := (ih+stride-1)/stride, (iw+stride-1)/stride
	pad := max((oh-1)*stride+k-ih, 0)
	l := layer{ih: ih, iw: iw, ic: ic, oh: oh, ow: ow, oc: oc, kh: k, kw: k, sy: stride, sx: stride, dy: 1, dx: 1,
		top: pad / 2, left: pad / 2, blk: [3]int{8, 16, 64}, out: 1, bits: 8, zp: 128, ozp: 0, hi: 255, wlo: -128, whi: 127,
		scale: 0x5A000000, shift: 40, biasRange: 1000}
	return l
}

func (l layer) dw() layer { l.depthwise = true; l.oc = l.ic; return l }

// machine gathers a program and its regions.
type machine struct {
	spec  *Spec
	b     *ethosu.Builder
	r     *rand.Rand
	flash []byte
	marks []Mark
}

func newMachine(spec *Spec, seed uint64) *machine {
	return &machine{spec: spec, b: ethosu.NewBuilder(spec.Product), r: rand.New(rand.NewPCG(seed, 1))}
}

func (m *machine) align() {
	for len(m.flash)%16 != 0 {
		m.flash = append(m.flash, 0)
	}
}

// strides returns the strides of a dense map.
func strides(w, c, esz int, b16 bool) (x, y, cs uint64) {
	if b16 {
		return uint64(16 * esz), uint64(esz * w * roundUp(c, 16)), uint64(16 * esz * w)
	}
	return uint64(c * esz), uint64(w * c * esz), uint64(esz)
}

// mapBytes is the size of a dense map.
func mapBytes(h, w, c, esz int, b16 bool) int {
	if b16 {
		c = roundUp(c, 16)
	}
	return roundUp(h*w*c*esz, 16)
}

// emit writes the commands of a layer.
func (m *machine) emit(t testing.TB, l layer) {
	m.shram(&l)
	b := m.b
	esz := l.bits / 8
	lay := func(b16 bool) int {
		if b16 {
			return ethosu.NHCWB16
		}
		return ethosu.NHWC
	}
	b.Set(ethosu.SetIFMRegion, 1)
	b.SetAddr(ethosu.SetIFMBase0, uint64(l.in))
	b.Set(ethosu.SetIFMHeight0M1, l.ih-1)
	b.Set(ethosu.SetIFMHeight1M1, l.ih-1)
	b.Set(ethosu.SetIFMWidth0M1, l.iw-1)
	b.Set(ethosu.SetIFMDepthM1, l.ic-1)
	x, y, c := strides(l.iw, l.ic, esz, l.b16in)
	b.SetAddr(ethosu.SetIFMStrideX, x)
	b.SetAddr(ethosu.SetIFMStrideY, y)
	b.SetAddr(ethosu.SetIFMStrideC, c)
	b.Set(ethosu.SetIFMZeroPoint, l.zp)
	b.Set(ethosu.SetIFMPrecision, ethosu.IFMPrecision(l.signed, esz, lay(l.b16in), 0))
	b.Set(ethosu.SetIFMUpscale, l.up)
	b.Set(ethosu.SetIFMPadTop, l.top)
	b.Set(ethosu.SetIFMPadLeft, l.left)
	inH, inW := l.ih, l.iw
	if l.up != 0 {
		inH, inW = 2*inH, 2*inW
	}
	khd, kwd := (l.kh-1)*l.dy+1, (l.kw-1)*l.dx+1
	b.Set(ethosu.SetIFMPadBottom, max(0, (l.oh-1)*l.sy+khd-l.top-inH))
	b.Set(ethosu.SetIFMPadRight, max(0, (l.ow-1)*l.sx+kwd-l.left-inW))
	b.Set(ethosu.SetOFMRegion, 1)
	b.SetAddr(ethosu.SetOFMBase0, uint64(l.ofm))
	b.Set(ethosu.SetOFMHeightM1, l.oh-1)
	b.Set(ethosu.SetOFMWidthM1, l.ow-1)
	b.Set(ethosu.SetOFMDepthM1, l.oc-1)
	b.Set(ethosu.SetOFMHeight0M1, l.oh-1)
	b.Set(ethosu.SetOFMHeight1M1, l.oh-1)
	b.Set(ethosu.SetOFMWidth0M1, l.ow-1)
	x, y, c = strides(l.ow, l.oc, l.out, l.b16)
	b.SetAddr(ethosu.SetOFMStrideX, x)
	b.SetAddr(ethosu.SetOFMStrideY, y)
	b.SetAddr(ethosu.SetOFMStrideC, c)
	b.Set(ethosu.SetOFMZeroPoint, l.ozp)
	b.Set(ethosu.SetOFMPrecision, ethosu.OFMPrecision(l.signed, l.out, lay(l.b16), l.globalScale, l.round))
	b.SetScale(ethosu.SetOFMScale, l.scale, int(l.shift))
	b.Set(ethosu.SetKernelHeightM1, khd-1)
	b.Set(ethosu.SetKernelWidthM1, kwd-1)
	b.Set(ethosu.SetKernelStride, ethosu.KernelStride(l.sx, l.sy, l.dx, l.dy, l.partKernel))
	b.Set(ethosu.SetActivation, l.activation)
	b.Set(ethosu.SetActivationMin, l.lo)
	b.Set(ethosu.SetActivationMax, l.hi)
	b.Set(ethosu.SetOFMBlkHeightM1, l.blk[0]-1)
	b.Set(ethosu.SetOFMBlkWidthM1, l.blk[1]-1)
	b.Set(ethosu.SetOFMBlkDepthM1, l.blk[2]-1)
	b.Set(ethosu.SetWeightRegion, 0)
	b.Set(ethosu.SetScaleRegion, 0)
	b.Set(ethosu.SetBlockDep, 0)
	b.Set(ethosu.SetAccFormat, 0)
	if l.acc40 {
		b.Set(ethosu.SetAccFormat, 1)
	}
	m.parameters(t, l)
	m.marks = append(m.marks, Mark{b.Len(), len(m.marks), len(m.marks)})
	if l.depthwise {
		b.Op(ethosu.OpDepthwise, 0)
	} else {
		b.Op(ethosu.OpConv, 0)
	}
}

// shram shrinks a layer's block until its buffers fit SHRAM and places them:
// input blocks after the output banks, accumulators behind them.
func (m *machine) shram(l *layer) {
	s := m.spec
	up := 1
	if l.up != 0 {
		up = 2
	}
	end := s.ShramBytes/s.ShramBank - 2
	for i := 0; ; i++ {
		h := roundUp(ceilDiv((l.blk[0]-1)*l.sy+min((l.kh-1)*l.dy+1, 8)+l.up&1, up), s.UBlock.H)
		w := roundUp(ceilDiv((l.blk[1]-1)*l.sx+min((l.kw-1)*l.dx+1, 8)+l.up&1, up), s.UBlock.W)
		depth := l.blk[2]
		if !l.depthwise {
			depth = roundUp(min(l.ic, max(32, s.UBlock.IFM)), 8)
		}
		ib := 2 + 2*ceilDiv(h*w*roundUp(depth*l.bits/8, 8), s.ShramBank)
		size := 4
		if l.acc40 {
			size = 5
		}
		acc := 2 * ceilDiv(l.blk[0]*l.blk[1]*roundUp(l.blk[2], 8)*size, s.ShramBank)
		if ib+acc <= end || l.blk == [3]int{1, 1, 8} {
			m.b.Set(ethosu.SetIFMIBEnd, ib)
			m.b.Set(ethosu.SetABStart, ib)
			return
		}
		if i%3 < 2 {
			l.blk[i%3] = max(1, l.blk[i%3]/2)
		} else {
			l.blk[2] = max(8, l.blk[2]/2)
		}
	}
}

// parameters writes random weights and scale records for each core.
func (m *machine) parameters(t testing.TB, l layer) {
	ic := l.ic
	if l.depthwise {
		ic = 1
	}
	cores := m.spec.Cores
	if m.spec.Product == ethosu.U65 {
		m.b.Set(ethosu.SetParallelMode, cores-1)
	}
	for core := range cores {
		n := ethosu.CoreDepth(l.oc, cores, core)
		if n == 0 {
			m.b.SetAddr(ethosu.SetWeight1Length, 0)
			m.b.SetAddr(ethosu.SetScale1Length, 0)
			continue
		}
		w := make([]int16, n*l.kh*l.kw*ic)
		for i := range w {
			w[i] = int16(l.wlo + m.r.IntN(l.whi-l.wlo+1))
		}
		tr := ethosu.Traversal{OFMDepth: n, KernelHeight: l.kh, KernelWidth: l.kw, IFMDepth: ic,
			BlockDepth: ethosu.CoreBlockDepth(l.blk[2], cores, core), Depthwise: l.depthwise, PartKernel: l.partKernel && !l.depthwise,
			IFMBits: l.bits, UBlockOFM: m.spec.UBlockStream, DilationX: l.dx, DilationY: l.dy}
		stream, err := tr.Gather(nil, w)
		require.NoError(t, err)
		m.align()
		sb := len(m.flash)
		for i := range n {
			rec := ethosu.ScaleRecord{Bias: l.bias + m.r.Int64N(2*l.biasRange+1) - l.biasRange, Scale: l.scale >> (i % 3), Shift: l.shift}
			if m.flash, err = rec.Append(m.flash); err != nil {
				t.Fatal(err)
			}
		}
		m.align()
		wb := len(m.flash)
		if m.flash, err = ethosu.EncodeWeights(m.flash, stream); err != nil {
			t.Fatal(err)
		}
		codes := [4]ethosu.Code{ethosu.SetScaleBase, ethosu.SetScaleLength, ethosu.SetWeightBase, ethosu.SetWeightLength}
		if core == 1 {
			codes = [4]ethosu.Code{ethosu.SetScale1Base, ethosu.SetScale1Length, ethosu.SetWeight1Base, ethosu.SetWeight1Length}
		}
		m.b.SetAddr(codes[0], uint64(sb))
		m.b.SetAddr(codes[1], uint64(wb-sb))
		m.b.SetAddr(codes[2], uint64(wb))
		m.b.SetAddr(codes[3], uint64(len(m.flash)-wb))
	}
}

// program ends the stream.
func (m *machine) program(t testing.TB) *Program {
	m.b.Op(ethosu.OpStop, 0xFFFF)
	words := require.V(m.b.Words())(t)
	return &Program{Commands: words, Marks: m.marks}
}

// mobilenet is the convolutions of MobileNet v1 1.0 224.
func mobilenet(t testing.TB, spec *Spec) (*Program, *Regions) {
	m := newMachine(spec, 1)
	const half = 2 << 20
	at := 0
	add := func(l layer) {
		l.in, l.ofm = at, half-at
		at = half - at
		l.wlo, l.whi = -140, 110 // as after removing a zero point
		m.emit(t, l)
	}
	l := conv(224, 224, 3, 32, 3, 2)
	l.partKernel = true
	l.blk = [3]int{16, 28, 32}
	add(l)
	size, c := 112, 32
	for _, s := range []struct{ out, stride int }{{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2},
		{512, 1}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}} {
		l := conv(size, size, c, c, 3, s.stride).dw()
		l.blk = [3]int{8, 28, 64}
		add(l)
		size /= s.stride
		l = conv(size, size, c, s.out, 1, 1)
		l.blk = [3]int{14, 28, 128}
		add(l)
		c = s.out
	}
	l = conv(1, 1, 1024, 1001, 1, 1)
	l.blk = [3]int{1, 1, 128}
	add(l)
	p := m.program(t)
	return p, &Regions{m.flash, make([]byte, 2*half)}
}

func BenchmarkMobileNetV1(b *testing.B) {
	c := mustCore(b, "pixel4")
	p, r := mobilenet(b, c.Spec())
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			c := mustCore(b, "pixel4")
			require.V(c.Run(p, r, Options{}))(b)
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.V(c.Run(p, r, Options{}))(b)
		}
	})
	b.Run("timing", func(b *testing.B) {
		for b.Loop() {
			require.V(c.Run(p, r, Options{TimingOnly: true}))(b)
		}
	})
	b.Run("functional", func(b *testing.B) {
		for b.Loop() {
			require.V(c.Run(p, r, Options{Functional: true}))(b)
		}
	})
}

func TestMobileNetReport(t *testing.T) {
	c := mustCore(t, "pixel4")
	p, r := mobilenet(t, c.Spec())
	rep := require.V(c.Run(p, r, Options{}))(t)
	checkReport(t, rep)
	t.Logf("%d cycles %.0f us %.0f uJ %v %v", rep.Cycles, rep.Time.Microseconds(), rep.EnergyPJ/1e6, rep.Stalls, rep.Counters)
	for _, g := range rep.Regions {
		t.Logf("%d: %d %v", g.ID, g.Cycles, g.Stalls)
	}
}
