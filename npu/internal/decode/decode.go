// Package decode reads an operation of an Ethos-U from the registers that the commands before it have set.
package decode

import (
	"fmt"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// maxTaps is the maximum number of taps of a window, which bounds the time of a hostile stream.
const maxTaps = 1 << 16

// fail ends the decoding of an operation.
func fail(format string, args ...any) { try.E(fmt.Errorf(format, args...)) }

// fmRegs are the registers of one feature map.
type fmRegs struct {
	base, strideX, width0, height0, height1, zero, region ethosu.Code
	shift                                                 uint // of the precision field
	precision                                             ethosu.Code
}

var (
	ifmRegs = fmRegs{ethosu.SetIFMBase0, ethosu.SetIFMStrideX, ethosu.SetIFMWidth0M1, ethosu.SetIFMHeight0M1,
		ethosu.SetIFMHeight1M1, ethosu.SetIFMZeroPoint, ethosu.SetIFMRegion, 2, ethosu.SetIFMPrecision}
	ifm2Regs = fmRegs{ethosu.SetIFM2Base0, ethosu.SetIFM2StrideX, ethosu.SetIFM2Width0M1, ethosu.SetIFM2Height0M1,
		ethosu.SetIFM2Height1M1, ethosu.SetIFM2ZeroPoint, ethosu.SetIFM2Region, 2, ethosu.SetIFM2Precision}
	ofmRegs = fmRegs{ethosu.SetOFMBase0, ethosu.SetOFMStrideX, ethosu.SetOFMWidth0M1, ethosu.SetOFMHeight0M1,
		ethosu.SetOFMHeight1M1, ethosu.SetOFMZeroPoint, ethosu.SetOFMRegion, 1, ethosu.SetOFMPrecision}
)

// featureMap decodes one map; its extent is for the caller to set.
func featureMap(r *state.Registers, what string, q *fmRegs, regions *state.Regions) state.FeatureMap {
	f := state.FeatureMap{Width0: r.U(q.width0) + 1, Height0: r.U(q.height0) + 1, Height1: r.U(q.height1) + 1}
	p := r.U(q.precision)
	code, form := p>>q.shift&3, p>>6&3
	if code > 2 {
		fail("%s: reserved precision %d", what, code)
	}
	if form > 1 {
		fail("%s: reserved layout %d", what, form)
	}
	f.ElemSize, f.NHCWB16 = 1<<code, form == 1
	f.Signed = p&1 != 0
	f.ZeroPoint = r.U(q.zero)
	if f.Signed {
		f.ZeroPoint = r.S(q.zero)
	}
	v := r.U(q.region)
	if v&0x8000 != 0 {
		fail("%s: custom DMA is not modelled", what)
	}
	f.Region = v & 7
	f.Data = regions[f.Region]
	for t := range f.Base {
		f.Base[t] = r.Addr(q.base + ethosu.Code(t))
	}
	f.StrideX, f.StrideY, f.StrideC = r.Addr(q.strideX), r.Addr(q.strideX+1), r.Addr(q.strideX+2)
	return f
}

// window decodes the window; oh and ow are the output extent.
func window(r *state.Registers, oh, ow int) state.Window {
	v := r.U(ethosu.SetKernelStride)
	k := state.Window{
		StrideX: 1 + v&1 + v>>6&1*2, StrideY: 1 + v>>1&1 + v>>9&1*2,
		DilationX: 1 + v>>3&1, DilationY: 1 + v>>4&1,
		PartKernel: v>>2&1 != 0,
		ExtentH:    r.U(ethosu.SetKernelHeightM1) + 1, ExtentW: r.U(ethosu.SetKernelWidthM1) + 1,
		Top: r.U(ethosu.SetIFMPadTop), Left: r.U(ethosu.SetIFMPadLeft),
		Right: r.U(ethosu.SetIFMPadRight), Bottom: r.U(ethosu.SetIFMPadBottom),
		Upscale: r.U(ethosu.SetIFMUpscale),
	}
	if v>>5&1 != 0 {
		fail("4x4 kernel decomposition is not supported")
	}
	if k.Upscale > 2 {
		fail("reserved upscale mode %d", k.Upscale)
	}
	if (k.ExtentH-1)%k.DilationY != 0 || (k.ExtentW-1)%k.DilationX != 0 {
		fail("kernel extent %dx%d is no multiple of the dilation", k.ExtentH-1, k.ExtentW-1)
	}
	k.H, k.W = (k.ExtentH-1)/k.DilationY+1, (k.ExtentW-1)/k.DilationX+1
	if k.H*k.W > maxTaps {
		fail("kernel of %dx%d is too large", k.H, k.W)
	}
	k.InH = (oh-1)*k.StrideY + k.ExtentH - k.Top - k.Bottom
	k.InW = (ow-1)*k.StrideX + k.ExtentW - k.Left - k.Right
	if k.InH <= 0 || k.InW <= 0 {
		fail("padding leaves an input of %dx%d", k.InH, k.InW)
	}
	return k
}

// Op reads the operation of a command from the registers into o and checks it. cores is how many
// the machine has.
func Op(o *state.Op, m *state.Machine, cmd ethosu.Command, regions *state.Regions, cores int) (err error) {
	defer try.Catch(&err)
	r := &m.Registers
	*o = state.Op{Mode: int(cmd.Param), Cores: 1}
	switch cmd.Code {
	case ethosu.OpConv:
		o.Kind = state.Conv
	case ethosu.OpDepthwise:
		o.Kind = state.Depthwise
	case ethosu.OpPool:
		o.Kind = state.Pool
		if o.Mode > ethosu.PoolReduceSum {
			fail("reserved pooling mode %d", o.Mode)
		}
	case ethosu.OpElementwise:
		o.Kind = state.Elementwise
		if o.Mode >= ethosu.NumElt {
			fail("reserved elementwise mode %d", o.Mode)
		}
	}
	switch pm := r.U(ethosu.SetParallelMode); {
	case pm == 1 && cores == 2:
		o.Cores = 2
	case pm == 1:
		fail("parallel mode needs two cores, the machine has one")
	case pm != 0:
		fail("reserved parallel mode %d", pm)
	}
	o.OFM = featureMap(r, "OFM", &ofmRegs, regions)
	o.OFM.H, o.OFM.W, o.OFM.C = r.U(ethosu.SetOFMHeightM1)+1, r.U(ethosu.SetOFMWidthM1)+1, r.U(ethosu.SetOFMDepthM1)+1
	try.E(o.OFM.Check("OFM"))
	o.IFM = featureMap(r, "IFM", &ifmRegs, regions)
	if o.Kind == state.Elementwise {
		elementwiseInputs(o, r, regions)
	} else {
		windowInput(o, r)
	}
	try.E(o.IFM.Check("IFM"))
	if o.Kind <= state.Depthwise {
		parameters(o, r, regions)
	}
	acc := r.U(ethosu.SetAccFormat)
	if acc > 1 {
		fail("accumulator format %d is not supported", acc)
	}
	o.Acc40 = acc == 1
	o.BlockH = r.U(ethosu.SetOFMBlkHeightM1)&31 + 1
	o.BlockW = r.U(ethosu.SetOFMBlkWidthM1)&63 + 1
	o.BlockD = r.U(ethosu.SetOFMBlkDepthM1)&127 + 1
	o.BlockDep = r.U(ethosu.SetBlockDep) & 3
	o.IBEnd, o.ABStart = r.U(ethosu.SetIFMIBEnd), r.U(ethosu.SetABStart)
	output(&o.Output, o, m)
	return nil
}

// windowInput sets the input extent of an operation with a kernel.
func windowInput(o *state.Op, r *state.Registers) {
	o.Window = window(r, o.OFM.H, o.OFM.W)
	o.IFM.H, o.IFM.W, o.IFM.C = o.Window.InH, o.Window.InW, o.OFM.C
	if o.Window.Upscale != 0 {
		o.IFM.H, o.IFM.W = (o.Window.InH+1)/2, (o.Window.InW+1)/2
	}
	reduce := o.Kind == state.Pool && o.Mode == ethosu.PoolReduceSum
	if o.Kind == state.Conv || reduce {
		o.IFM.C = r.U(ethosu.SetIFMDepthM1) + 1
	}
	if reduce && o.OFM.C != 1 {
		fail("reduce_sum into %d channels", o.OFM.C)
	}
	if o.Kind <= state.Depthwise && o.IFM.ElemSize == 4 {
		fail("32-bit input of a convolution")
	}
}

// elementwiseInputs sets the inputs of an elementwise operation.
func elementwiseInputs(o *state.Op, r *state.Registers, regions *state.Regions) {
	o.IFM.H, o.IFM.W, o.IFM.C = o.OFM.H, o.OFM.W, o.OFM.C
	o.ScaleMode = r.U(ethosu.SetIFMPrecision) >> 8 & 3
	if o.ScaleMode > ethosu.ScaleOPB32 {
		fail("reserved scale mode %d", o.ScaleMode)
	}
	o.OPAScale, o.OPAShift = r.Scale(ethosu.SetOPAScale)
	o.OPBScale, _ = r.Scale(ethosu.SetOPBScale)
	switch o.Mode {
	case ethosu.EltLRelu, ethosu.EltAbs, ethosu.EltClz:
		return
	}
	b := r.U(ethosu.SetIFM2Broadcast)
	o.Swap = b&ethosu.BroadcastSwap != 0
	o.IFM2 = featureMap(r, "IFM2", &ifm2Regs, regions)
	if b&ethosu.BroadcastScalar != 0 {
		o.Scalar = int64(r.U(ethosu.SetIFM2Scalar))
		if o.IFM2.Signed {
			o.Scalar = int64(r.S(ethosu.SetIFM2Scalar))
		}
		o.Scalar -= int64(o.IFM2.ZeroPoint)
		return
	}
	o.HasIFM2 = true
	pick := func(bit, n int) int {
		if b&bit != 0 {
			return 1
		}
		return n
	}
	o.IFM2.H = pick(ethosu.BroadcastH, o.OFM.H)
	o.IFM2.W = pick(ethosu.BroadcastW, o.OFM.W)
	o.IFM2.C = pick(ethosu.BroadcastC, o.OFM.C)
	try.E(o.IFM2.Check("IFM2"))
}

// parameters finds the weight streams and scale records of a convolution.
func parameters(o *state.Op, r *state.Registers, regions *state.Regions) {
	o.WeightRegion = r.U(ethosu.SetWeightRegion) & 7
	o.ScaleRegion = r.U(ethosu.SetScaleRegion) & 7
	o.WeightData, o.ScaleData = regions[o.WeightRegion], regions[o.ScaleRegion]
	get := func(what string, data []byte, base, length ethosu.Code) state.Stream {
		s := state.Stream{Base: r.Addr(base), Length: int(r.Payload[length.Slot()])}
		if s.Base > len(data) || s.Length > len(data)-s.Base {
			fail("%s [%#x,%#x) outside its region of %#x bytes", what, s.Base, s.Base+s.Length, len(data))
		}
		return s
	}
	for i := range o.Cores {
		wb, sb := ethosu.SetWeightBase, ethosu.SetScaleBase
		wl, sl := ethosu.SetWeightLength, ethosu.SetScaleLength
		if i == 1 {
			wb, wl, sb, sl = ethosu.SetWeight1Base, ethosu.SetWeight1Length, ethosu.SetScale1Base, ethosu.SetScale1Length
		}
		w := get("weight stream", o.WeightData, wb, wl)
		o.Weights[i], o.Scales[i] = w, get("scale records", o.ScaleData, sb, sl)
		if w.Base%16 != 0 || w.Length%16 != 0 {
			fail("weight stream at %#x of %#x bytes: not aligned to 16 bytes", w.Base, w.Length)
		}
		need := ethosu.CoreDepth(o.OFM.C, o.Cores, i) * ethosu.ScaleRecordSize
		if need > o.Scales[i].Length {
			fail("scale records of core %d need %d bytes, SCALE_LENGTH is %d", i, need, o.Scales[i].Length)
		}
	}
}
