package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// Limits that keep a hostile stream from taking unbounded memory.
const (
	maxElements = 1 << 25 // of one feature map
	maxTaps     = 1 << 16
)

type opKind uint8

const (
	opConv opKind = iota
	opDepthwise
	opPool
	opElementwise
)

// kernelShape is the window of a convolution or pool.
type kernelShape struct {
	h, w       int // taps
	sy, sx     int
	dy, dx     int
	hd, wd     int // dilated extent
	partKernel bool
	top, left  int
	bottom     int
	right      int
	upscale    int // 0 none, 1 nearest, 2 zeros
	inH, inW   int // input extent after upscaling, without padding
}

// op is one operation decoded from the registers.
type op struct {
	kind     opKind
	mode     int
	ifm      featureMap
	ifm2     featureMap
	hasIFM2  bool // read from memory
	scalar   int64
	swap     bool // IFM2 is the first operand
	ofm      featureMap
	k        kernelShape
	out      outputStage
	acc40    bool
	blockH   int
	blockW   int
	blockD   int
	blockDep int
	cores    int

	scaleMode  int
	opa, opb   uint32
	opaShift   uint8
	weights    [2]stream
	scales     [2]stream
	weightData []byte // the whole weight region
	scaleData  []byte
	weightReg  int
	scaleReg   int
	ibEnd, ab  int
}

// stream is a part of a region.
type stream struct{ base, length int }

func precision(code int) (int, error) {
	if code > 2 {
		return 0, fmt.Errorf("reserved precision %d", code)
	}
	return 1 << code, nil
}

func layout(v int) (bool, error) {
	if f := v >> 6 & 3; f > 1 {
		return false, fmt.Errorf("reserved layout %d", f)
	} else {
		return f == 1, nil
	}
}

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
func (r *regFile) featureMap(what string, q *fmRegs, regions *Regions) (featureMap, error) {
	f := featureMap{w0: r.u(q.width0) + 1, h0: r.u(q.height0) + 1, h1: r.u(q.height1) + 1}
	p := r.u(q.precision)
	var err error
	if f.esz, err = precision(p >> q.shift & 3); err != nil {
		return f, fmt.Errorf("%s: %w", what, err)
	}
	if f.b16, err = layout(p); err != nil {
		return f, fmt.Errorf("%s: %w", what, err)
	}
	f.signed = p&1 != 0
	f.zp = r.u(q.zero)
	if f.signed {
		f.zp = r.s(q.zero)
	}
	v := r.u(q.region)
	if v&0x8000 != 0 {
		return f, fmt.Errorf("%s: custom DMA is not modelled", what)
	}
	f.region = v & 7
	f.data = regions[f.region]
	for t := range f.base {
		f.base[t] = r.addr(q.base + ethosu.Code(t))
	}
	f.sx, f.sy, f.sc = r.addr(q.strideX), r.addr(q.strideX+1), r.addr(q.strideX+2)
	return f, nil
}

// kernel decodes the window; oh and ow are the output extent.
func (r *regFile) kernel(oh, ow int) (kernelShape, error) {
	v := r.u(ethosu.SetKernelStride)
	k := kernelShape{
		sx: 1 + v&1 + v>>6&1*2, sy: 1 + v>>1&1 + v>>9&1*2,
		dx: 1 + v>>3&1, dy: 1 + v>>4&1,
		partKernel: v>>2&1 != 0,
		hd:         r.u(ethosu.SetKernelHeightM1) + 1, wd: r.u(ethosu.SetKernelWidthM1) + 1,
		top: r.u(ethosu.SetIFMPadTop), left: r.u(ethosu.SetIFMPadLeft),
		right: r.u(ethosu.SetIFMPadRight), bottom: r.u(ethosu.SetIFMPadBottom),
		upscale: r.u(ethosu.SetIFMUpscale),
	}
	if v>>5&1 != 0 {
		return k, fmt.Errorf("4x4 kernel decomposition is not supported")
	}
	if k.upscale > 2 {
		return k, fmt.Errorf("reserved upscale mode %d", k.upscale)
	}
	if (k.hd-1)%k.dy != 0 || (k.wd-1)%k.dx != 0 {
		return k, fmt.Errorf("kernel extent %dx%d is no multiple of the dilation", k.hd-1, k.wd-1)
	}
	k.h, k.w = (k.hd-1)/k.dy+1, (k.wd-1)/k.dx+1
	if k.h*k.w > maxTaps {
		return k, fmt.Errorf("kernel of %dx%d is too large", k.h, k.w)
	}
	k.inH = (oh-1)*k.sy + k.hd - k.top - k.bottom
	k.inW = (ow-1)*k.sx + k.wd - k.left - k.right
	if k.inH <= 0 || k.inW <= 0 {
		return k, fmt.Errorf("padding leaves an input of %dx%d", k.inH, k.inW)
	}
	return k, nil
}

// decodeOp reads an operation from the registers and checks it.
func (st *State) decodeOp(r *regFile, cmd ethosu.Command, regions *Regions) (*op, error) {
	o := &st.op
	*o = op{mode: int(cmd.Param), cores: 1}
	switch cmd.Code {
	case ethosu.OpConv:
		o.kind = opConv
	case ethosu.OpDepthwise:
		o.kind = opDepthwise
	case ethosu.OpPool:
		o.kind = opPool
		if o.mode > ethosu.PoolReduceSum {
			return nil, fmt.Errorf("reserved pooling mode %d", o.mode)
		}
	case ethosu.OpElementwise:
		o.kind = opElementwise
		if o.mode >= ethosu.NumElt {
			return nil, fmt.Errorf("reserved elementwise mode %d", o.mode)
		}
	}
	if pm := r.u(ethosu.SetParallelMode); pm == 1 {
		if st.spec.Cores != 2 {
			return nil, fmt.Errorf("parallel mode needs two cores, %s has one", st.spec.Name)
		}
		o.cores = 2
	} else if pm > 1 {
		return nil, fmt.Errorf("reserved parallel mode %d", pm)
	}
	var err error
	if o.ofm, err = r.featureMap("OFM", &ofmRegs, regions); err != nil {
		return nil, err
	}
	o.ofm.h, o.ofm.w, o.ofm.c = r.u(ethosu.SetOFMHeightM1)+1, r.u(ethosu.SetOFMWidthM1)+1, r.u(ethosu.SetOFMDepthM1)+1
	if err := o.ofm.check("OFM"); err != nil {
		return nil, err
	}
	if o.ifm, err = r.featureMap("IFM", &ifmRegs, regions); err != nil {
		return nil, err
	}
	if o.kind == opElementwise {
		err = o.elementwise(r, regions)
	} else {
		err = o.window(r)
	}
	if err != nil {
		return nil, err
	}
	if err := o.ifm.check("IFM"); err != nil {
		return nil, err
	}
	if o.kind <= opDepthwise {
		if err := o.parameters(r, regions); err != nil {
			return nil, err
		}
	}
	switch acc := r.u(ethosu.SetAccFormat); acc {
	case 0, 1:
		o.acc40 = acc == 1
	default:
		return nil, fmt.Errorf("accumulator format %d is not supported", acc)
	}
	o.blockH = r.u(ethosu.SetOFMBlkHeightM1)&31 + 1
	o.blockW = r.u(ethosu.SetOFMBlkWidthM1)&63 + 1
	o.blockD = r.u(ethosu.SetOFMBlkDepthM1)&127 + 1
	o.blockDep = r.u(ethosu.SetBlockDep) & 3
	o.ibEnd, o.ab = r.u(ethosu.SetIFMIBEnd), r.u(ethosu.SetABStart)
	if err := o.checkShram(st.spec); err != nil {
		return nil, err
	}
	if err := o.out.decode(r, o, st.spec, st.shram); err != nil {
		return nil, err
	}
	return o, nil
}

// window sets the input extent of an operation with a kernel.
func (o *op) window(r *regFile) error {
	var err error
	if o.k, err = r.kernel(o.ofm.h, o.ofm.w); err != nil {
		return err
	}
	o.ifm.h, o.ifm.w, o.ifm.c = o.k.inH, o.k.inW, o.ofm.c
	if o.k.upscale != 0 {
		o.ifm.h, o.ifm.w = (o.k.inH+1)/2, (o.k.inW+1)/2
	}
	reduce := o.kind == opPool && o.mode == ethosu.PoolReduceSum
	if o.kind == opConv || reduce {
		o.ifm.c = r.u(ethosu.SetIFMDepthM1) + 1
	}
	if reduce && o.ofm.c != 1 {
		return fmt.Errorf("reduce_sum into %d channels", o.ofm.c)
	}
	if o.kind <= opDepthwise && o.ifm.esz == 4 {
		return fmt.Errorf("32-bit input of a convolution")
	}
	return nil
}

// elementwise sets the inputs of an elementwise operation.
func (o *op) elementwise(r *regFile, regions *Regions) error {
	o.ifm.h, o.ifm.w, o.ifm.c = o.ofm.h, o.ofm.w, o.ofm.c
	o.scaleMode = r.u(ethosu.SetIFMPrecision) >> 8 & 3
	if o.scaleMode > ethosu.ScaleOPB32 {
		return fmt.Errorf("reserved scale mode %d", o.scaleMode)
	}
	o.opa, o.opaShift = r.scale(ethosu.SetOPAScale)
	o.opb, _ = r.scale(ethosu.SetOPBScale)
	switch o.mode {
	case ethosu.EltLRelu, ethosu.EltAbs, ethosu.EltClz:
		return nil
	}
	b := r.u(ethosu.SetIFM2Broadcast)
	o.swap = b&ethosu.BroadcastSwap != 0
	var err error
	if o.ifm2, err = r.featureMap("IFM2", &ifm2Regs, regions); err != nil {
		return err
	}
	if b&ethosu.BroadcastScalar != 0 {
		o.scalar = int64(r.u(ethosu.SetIFM2Scalar))
		if o.ifm2.signed {
			o.scalar = int64(r.s(ethosu.SetIFM2Scalar))
		}
		o.scalar -= int64(o.ifm2.zp)
		return nil
	}
	o.hasIFM2 = true
	pick := func(bit, n int) int {
		if b&bit != 0 {
			return 1
		}
		return n
	}
	o.ifm2.h = pick(ethosu.BroadcastH, o.ofm.h)
	o.ifm2.w = pick(ethosu.BroadcastW, o.ofm.w)
	o.ifm2.c = pick(ethosu.BroadcastC, o.ofm.c)
	return o.ifm2.check("IFM2")
}

// parameters finds the weight streams and scale records of a convolution.
func (o *op) parameters(r *regFile, regions *Regions) error {
	o.weightReg = r.u(ethosu.SetWeightRegion) & 7
	o.scaleReg = r.u(ethosu.SetScaleRegion) & 7
	o.weightData, o.scaleData = regions[o.weightReg], regions[o.scaleReg]
	get := func(what string, data []byte, base, length ethosu.Code) (stream, error) {
		s := stream{r.addr(base), int(r.payload[length.Slot()])}
		if s.base > len(data) || s.length > len(data)-s.base {
			return s, fmt.Errorf("%s [%#x,%#x) outside its region of %#x bytes", what, s.base, s.base+s.length, len(data))
		}
		return s, nil
	}
	for i := range o.cores {
		wb, sb := ethosu.SetWeightBase, ethosu.SetScaleBase
		wl, sl := ethosu.SetWeightLength, ethosu.SetScaleLength
		if i == 1 {
			wb, wl, sb, sl = ethosu.SetWeight1Base, ethosu.SetWeight1Length, ethosu.SetScale1Base, ethosu.SetScale1Length
		}
		var err error
		if o.weights[i], err = get("weight stream", o.weightData, wb, wl); err != nil {
			return err
		}
		if o.scales[i], err = get("scale records", o.scaleData, sb, sl); err != nil {
			return err
		}
		if w := o.weights[i]; w.base%16 != 0 || w.length%16 != 0 {
			return fmt.Errorf("weight stream at %#x of %#x bytes: not aligned to 16 bytes", w.base, w.length)
		}
		need := ethosu.CoreDepth(o.ofm.c, o.cores, i) * ethosu.ScaleRecordSize
		if need > o.scales[i].length {
			return fmt.Errorf("scale records of core %d take %d bytes, SCALE_LENGTH is %d", i, need, o.scales[i].length)
		}
	}
	return nil
}
