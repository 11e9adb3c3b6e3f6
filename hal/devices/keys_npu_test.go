package devices_test

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Regions of the command streams: constants, arena and fast scratch, as Vela
// numbers them.
const (
	npuConstants, npuArena, npuScratch = 0, 1, 2
	npuRegionBytes                     = 256 << 10
)

// npuProgram is one operation on dense maps of the shape 16 x 16 x 16, or of one
// micro-block.
type npuProgram struct {
	name       string
	conv       bool // a convolution of one micro-block, else elementwise
	pool       bool // a maximum over the kernel
	mode       int  // of an elementwise operation
	depth      int  // channels, 0: 8 of a convolution, else 16
	in, out    int  // bytes of an element
	region     int
	plain      bool // operands are not rescaled
	activation int
	acc40      bool
	taps       int  // of the kernel, in x
	copies     int  // DMA of 16 bytes from constants to scratch, first
	queued     bool // without waits between them
}

// npuPrograms make the numbers of an NPU visible that networks leave alone.
func npuPrograms() []npuProgram {
	return []npuProgram{
		{name: "ADD int32", mode: ethosu.EltAdd, in: 4, out: 4, region: npuArena},
		{name: "CLZ int32", mode: ethosu.EltClz, in: 4, out: 4, region: npuArena},
		{name: "MUL to int32", mode: ethosu.EltMul, in: 1, out: 4, region: npuScratch},
		{name: "ADD without scaling", mode: ethosu.EltAdd, in: 1, out: 1, region: npuScratch, plain: true},
		{name: "MUL", mode: ethosu.EltMul, in: 1, out: 1, region: npuScratch},
		{name: "MIN", mode: ethosu.EltMin, in: 1, out: 1, region: npuScratch},
		{name: "table", mode: ethosu.EltAbs, in: 1, out: 1, region: npuScratch, activation: 16},
		{name: "CONV", conv: true, in: 1, out: 1, region: npuScratch, taps: 5},
		{name: "CONV int16", conv: true, in: 2, out: 2, acc40: true, region: npuScratch, taps: 5},
		{name: "CONV of 64 channels", conv: true, in: 1, out: 1, region: npuScratch, taps: 1, depth: 64},
		{name: "MAX_POOL", pool: true, in: 1, out: 1, region: npuScratch, taps: 1},
		{name: "short copies", mode: ethosu.EltMin, in: 1, out: 1, region: npuScratch, copies: 8},
		{name: "queued copies", mode: ethosu.EltMin, in: 1, out: 1, region: npuArena, copies: 8, queued: true},
	}
}

// emit writes the operation's commands and returns its constants.
func (p *npuProgram) emit(b *ethosu.Builder, s *npu.Spec) ([]byte, error) {
	constants := make([]byte, 4096, npuRegionBytes)
	for i := range p.copies {
		b.Set(ethosu.SetDMA0SrcRegion, npuConstants)
		b.Set(ethosu.SetDMA0DstRegion, npuScratch)
		b.SetAddr(ethosu.SetDMA0Src, uint64(i*64))
		b.SetAddr(ethosu.SetDMA0Dst, uint64(i*64))
		b.SetAddr(ethosu.SetDMA0Len, 16)
		b.Op(ethosu.OpDMAStart, 0)
		if !p.queued {
			b.Op(ethosu.OpDMAWait, 0)
		}
	}
	h, w, c := 16, 16, 16
	kw := 1
	if p.conv {
		h, w, c, kw = s.UBlock.H, s.UBlock.W, 8, p.taps
	}
	if p.depth > 0 {
		c = p.depth
	}
	iw := w + kw - 1
	maps := func(base, stride, w0, h0, h1, zero, precision, region ethosu.Code, at, width, esz, bits int) {
		b.Set(region, p.region)
		b.SetAddr(base, uint64(at))
		b.SetAddr(stride, uint64(c*esz))
		b.SetAddr(stride+1, uint64(width*c*esz))
		b.SetAddr(stride+2, uint64(esz))
		b.Set(w0, width-1)
		b.Set(h0, h-1)
		b.Set(h1, h-1)
		b.Set(zero, 0)
		b.Set(precision, bits)
	}
	in := ethosu.IFMPrecision(true, p.in, ethosu.NHWC, 0)
	maps(ethosu.SetIFMBase0, ethosu.SetIFMStrideX, ethosu.SetIFMWidth0M1, ethosu.SetIFMHeight0M1, ethosu.SetIFMHeight1M1,
		ethosu.SetIFMZeroPoint, ethosu.SetIFMPrecision, ethosu.SetIFMRegion, 0, iw, p.in, in)
	maps(ethosu.SetIFM2Base0, ethosu.SetIFM2StrideX, ethosu.SetIFM2Width0M1, ethosu.SetIFM2Height0M1, ethosu.SetIFM2Height1M1,
		ethosu.SetIFM2ZeroPoint, ethosu.SetIFM2Precision, ethosu.SetIFM2Region, 64<<10, iw, p.in, in)
	maps(ethosu.SetOFMBase0, ethosu.SetOFMStrideX, ethosu.SetOFMWidth0M1, ethosu.SetOFMHeight0M1, ethosu.SetOFMHeight1M1,
		ethosu.SetOFMZeroPoint, ethosu.SetOFMPrecision, ethosu.SetOFMRegion, 128<<10, w, p.out, ethosu.OFMPrecision(true, p.out, ethosu.NHWC, !p.conv, 0))
	b.Set(ethosu.SetIFMWidth0M1, iw-1)
	b.Set(ethosu.SetIFMDepthM1, c-1)
	b.Set(ethosu.SetOFMHeightM1, h-1)
	b.Set(ethosu.SetOFMWidthM1, w-1)
	b.Set(ethosu.SetOFMDepthM1, c-1)
	b.Set(ethosu.SetOFMBlkHeightM1, min(h, 4)-1)
	b.Set(ethosu.SetOFMBlkWidthM1, min(w, 4)-1)
	block := max(8, p.depth)
	b.Set(ethosu.SetOFMBlkDepthM1, block-1)
	banks := s.ShramBytes / s.ShramBank
	b.Set(ethosu.SetIFMIBEnd, banks/2)
	b.Set(ethosu.SetABStart, banks/2)
	b.SetScale(ethosu.SetOFMScale, 1, 0)
	scale := uint32(2)
	if p.plain {
		scale = 1
	}
	b.SetScale(ethosu.SetOPAScale, scale, 0)
	b.SetScale(ethosu.SetOPBScale, scale, 0)
	b.Set(ethosu.SetActivation, p.activation)
	low, high := -128, 127
	if p.out > 1 {
		low, high = -32768, 32767
	}
	b.Set(ethosu.SetActivationMin, low)
	b.Set(ethosu.SetActivationMax, high)
	b.Set(ethosu.SetKernelHeightM1, 0)
	b.Set(ethosu.SetKernelWidthM1, kw-1)
	b.Set(ethosu.SetKernelStride, ethosu.KernelStride(1, 1, 1, 1, false))
	if p.pool {
		b.Op(ethosu.OpPool, ethosu.PoolMax)
		return constants, nil
	}
	if !p.conv {
		b.Op(ethosu.OpElementwise, p.mode)
		return constants, nil
	}
	if p.acc40 {
		b.Set(ethosu.SetAccFormat, 1)
	}
	b.Set(ethosu.SetWeightRegion, npuConstants)
	b.Set(ethosu.SetScaleRegion, npuConstants)
	return p.parameters(b, s, constants, c, kw)
}

// parameters appends the weights and scale records of each core.
func (p *npuProgram) parameters(b *ethosu.Builder, s *npu.Spec, constants []byte, c, kw int) ([]byte, error) {
	if s.Product == ethosu.U65 {
		b.Set(ethosu.SetParallelMode, s.Cores-1)
	}
	for core := range s.Cores {
		n := ethosu.CoreDepth(c, s.Cores, core)
		tr := ethosu.Traversal{OFMDepth: n, KernelHeight: 1, KernelWidth: kw, IFMDepth: c, BlockDepth: ethosu.CoreBlockDepth(max(8, p.depth), s.Cores, core),
			IFMBits: 8 * p.in, UBlockOFM: s.UBlockStream, DilationX: 1, DilationY: 1}
		weights := make([]int16, n*kw*c)
		for i := range weights {
			weights[i] = int16(i%7 - 3)
		}
		stream, err := tr.Gather(nil, weights)
		if err != nil {
			return nil, err
		}
		start := len(constants)
		for range n {
			if constants, err = (ethosu.ScaleRecord{Bias: 1, Scale: 1 << 30, Shift: 36}).Append(constants); err != nil {
				return nil, err
			}
		}
		constants = append(constants, make([]byte, -len(constants)&15)...)
		middle := len(constants)
		if constants, err = ethosu.EncodeWeights(constants, stream); err != nil {
			return nil, err
		}
		constants = append(constants, make([]byte, -len(constants)&15)...)
		codes := [4]ethosu.Code{ethosu.SetScaleBase, ethosu.SetScaleLength, ethosu.SetWeightBase, ethosu.SetWeightLength}
		if core == 1 {
			codes = [4]ethosu.Code{ethosu.SetScale1Base, ethosu.SetScale1Length, ethosu.SetWeight1Base, ethosu.SetWeight1Length}
		}
		for i, v := range []int{start, middle - start, middle, len(constants) - middle} {
			b.SetAddr(codes[i], uint64(v))
		}
	}
	b.Op(ethosu.OpConv, 0)
	return constants, nil
}

// run adds the report of the command stream to h.
func (p *npuProgram) run(h io.Writer, c *soc.Config, pref hal.Preference) error {
	s, err := npu.FromSoC(c, sim.Preference(pref))
	if err != nil {
		return err
	}
	core, err := npu.New(s)
	if err != nil {
		return err
	}
	levels, err := npu.LevelsFromSoC(c)
	if err != nil {
		return err
	}
	b := ethosu.NewBuilder(s.Product)
	constants, err := p.emit(b, &s)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	b.Op(ethosu.OpStop, 0xFFFF)
	words, err := b.Words()
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	r, err := core.Run(&npu.Program{Commands: words}, &npu.Regions{constants, make([]byte, npuRegionBytes), make([]byte, npuRegionBytes)}, npu.Options{Memories: levels})
	if err != nil {
		return refusal{fmt.Errorf("%s: %w", p.name, err)}
	}
	fmt.Fprintf(h, "%+v", r)
	return nil
}
