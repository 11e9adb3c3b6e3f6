package npu

import (
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
)

// Pool modes, as parameters of NPU_OP_POOL.
const (
	poolMax       = ethosu.PoolMax
	poolAverage   = ethosu.PoolAverage
	poolReduceSum = ethosu.PoolReduceSum
)

// ringSlots is the number of on-chip weight buffers: one being read, one being
// filled, and one whose reader may not have finished.
const ringSlots = 3

// emitter writes the command stream of placed work.
type emitter struct {
	b        *ethosu.Builder
	spec     *core.Spec
	marks    []core.Mark
	slotSize int
	luts     int // address of table slot 0 in SHRAM

	kernels int // issued
	copies  int // issued
	// kernelsDone and copiesDone are known to be complete.
	kernelsDone, copiesDone int
	slotReader              [ringSlots]int // kernel that last read each buffer, 1-based
	lutReader               int
	recent                  []*work // kernels that may still run, newest last
	writer                  map[int]int
}

// mark charges what follows to an operation.
func (e *emitter) mark(op int) {
	if n := len(e.marks); n > 0 && e.marks[n-1].ID == op {
		return
	}
	e.marks = append(e.marks, core.Mark{Word: e.b.Len(), ID: op})
}

// program emits all work in order. Weights of the next kernel that has any are
// copied on chip while the current one runs.
func (e *emitter) program(list []work) {
	b := e.b
	if e.spec.Product == ethosu.U65 {
		b.Set(ethosu.SetParallelMode, e.spec.Cores-1)
	}
	var weighted []*work
	ready := map[*work]int{} // copy that brings a kernel's weights, 1-based
	for i := range list {
		if list[i].weights != nil {
			weighted = append(weighted, &list[i])
		}
	}
	fetched, used := 0, 0
	for i := range list {
		w := &list[i]
		if w.kind == kindCopy {
			e.mark(w.op)
			e.copy(w)
			continue
		}
		for ; fetched < len(weighted) && fetched <= used+1; fetched++ {
			e.mark(weighted[fetched].op)
			e.fetch(weighted[fetched], fetched%ringSlots)
			ready[weighted[fetched]] = e.copies
		}
		e.mark(w.op)
		need := e.inputCopy(w)
		if w.table != nil {
			e.loadTable(w)
			need = e.copies
		}
		if w.weights != nil {
			need = max(need, ready[w])
		}
		e.waitCopies(need)
		e.kernel(w, used%ringSlots)
		if w.weights != nil {
			e.slotReader[used%ringSlots] = e.kernels
			used++
		}
		if w.table != nil {
			e.lutReader = e.kernels
		}
	}
	e.waitKernels(e.kernels)
	e.waitCopies(e.copies)
	b.Op(ethosu.OpStop, 0xffff)
}

// waitCopies waits until the first n copies are done.
func (e *emitter) waitCopies(n int) {
	if n > e.copiesDone {
		e.b.Op(ethosu.OpDMAWait, min(e.copies-n, 15))
		e.copiesDone = n
	}
}

// waitKernels waits until the first n kernels are done. The machine keeps no
// more outstanding than it has room for, so older ones need no wait.
func (e *emitter) waitKernels(n int) {
	if n > e.kernelsDone && e.kernels-n < e.spec.Kernels {
		e.b.Op(ethosu.OpKernelWait, e.kernels-n)
		e.kernelsDone = n
	}
}

func (e *emitter) dma(src, dst buffer, internal bool) {
	b := e.b
	to := dst.region
	if internal {
		to = ethosu.DMAInternal | 3
	}
	b.Set(ethosu.SetDMA0SrcRegion, src.region)
	b.SetAddr(ethosu.SetDMA0Src, uint64(src.addr))
	b.Set(ethosu.SetDMA0DstRegion, to)
	b.SetAddr(ethosu.SetDMA0Dst, uint64(dst.addr))
	b.SetAddr(ethosu.SetDMA0Len, uint64(src.bytes))
	b.Op(ethosu.OpDMAStart, 0)
	e.copies++
}

// fetch copies a kernel's weights into a ring buffer.
func (e *emitter) fetch(w *work, slot int) {
	e.waitKernels(e.slotReader[slot])
	e.dma(w.fetch, buffer{regionWeights, slot * e.slotSize, w.fetch.bytes}, false)
}

// loadTable copies a lookup table into SHRAM; the slots are shared, so the
// kernel that used them last must be done.
func (e *emitter) loadTable(w *work) {
	e.waitKernels(e.lutReader)
	e.dma(buffer{regionConst, w.tableOffset, len(w.table)}, buffer{addr: e.luts}, true)
}

// copy moves an input or output of the model.
func (e *emitter) copy(w *work) {
	e.waitKernels(e.kernels)
	src := buffer{w.ifm.region, w.ifm.addr, align(w.ifm.end() - w.ifm.addr)}
	e.dma(src, buffer{w.ofm.region, w.ofm.addr, src.bytes}, false)
	if w.ofm.value >= 0 {
		e.writer[w.ofm.value] = e.copies
	}
}

// inputCopy is the copy that an operand of w waits for.
func (e *emitter) inputCopy(w *work) int {
	n := e.writer[w.ifm.value]
	if w.ifm2 != nil {
		n = max(n, e.writer[w.ifm2.value])
	}
	return n
}

// kernel writes the registers of a kernel and starts it.
func (e *emitter) kernel(w *work, slot int) {
	b := e.b
	e.input(w)
	e.output(w)
	b.Set(ethosu.SetOFMBlkHeightM1, w.block.h-1)
	b.Set(ethosu.SetOFMBlkWidthM1, w.block.w-1)
	b.Set(ethosu.SetOFMBlkDepthM1, w.block.d-1)
	b.Set(ethosu.SetIFMIBEnd, w.block.ibEnd)
	b.Set(ethosu.SetABStart, w.block.abStart)
	b.Set(ethosu.SetAccFormat, 0)
	b.Set(ethosu.SetBlockDep, e.blockDep(w))
	if w.kind != kindElementwise {
		b.Set(ethosu.SetKernelHeightM1, (w.kh-1)*w.dy)
		b.Set(ethosu.SetKernelWidthM1, (w.kw-1)*w.dx)
		b.Set(ethosu.SetKernelStride, ethosu.KernelStride(w.sx, w.sy, w.dx, w.dy, w.partKernel))
	}
	if w.weights != nil {
		e.weightRegisters(w, slot)
	}
	if w.kind == kindElementwise {
		b.SetScale(ethosu.SetOPAScale, w.opaScale, w.opaShift)
		b.SetScale(ethosu.SetOPBScale, w.opbScale, 0)
	}
	if w.global || w.kind == kindElementwise {
		b.SetScale(ethosu.SetOFMScale, w.scale, w.shift)
	}
	code := [...]ethosu.Code{ethosu.OpConv, ethosu.OpDepthwise, ethosu.OpPool, ethosu.OpElementwise}[w.kind]
	b.Op(code, w.mode)
	e.kernels++
	e.recent = append(e.recent, w)
	if len(e.recent) > e.spec.Kernels {
		e.recent = e.recent[1:]
	}
}

// blockDep lets blocks of a kernel start before the kernels in front of it are
// done, unless they share data.
func (e *emitter) blockDep(w *work) int {
	for _, p := range e.recent {
		if w.ifm.overlaps(&p.ofm.fm) || w.ofm.overlaps(&p.ifm.fm) || w.ofm.overlaps(&p.ofm.fm) ||
			w.ifm2 != nil && w.ifm2.overlaps(&p.ofm.fm) || p.ifm2 != nil && w.ofm.overlaps(&p.ifm2.fm) {
			return 0
		}
	}
	return 3
}

func (e *emitter) weightRegisters(w *work, slot int) {
	b := e.b
	at := uint64(slot * e.slotSize)
	b.Set(ethosu.SetWeightRegion, regionWeights)
	b.Set(ethosu.SetScaleRegion, regionWeights)
	for n, c := range [2][4]ethosu.Code{
		{ethosu.SetScaleBase, ethosu.SetScaleLength, ethosu.SetWeightBase, ethosu.SetWeightLength},
		{ethosu.SetScale1Base, ethosu.SetScale1Length, ethosu.SetWeight1Base, ethosu.SetWeight1Length},
	} {
		if n >= e.spec.Cores {
			break
		}
		b.SetAddr(c[0], at)
		b.SetAddr(c[1], uint64(w.scaleLen[n]))
		at += uint64(w.scaleLen[n])
		b.SetAddr(c[2], at)
		b.SetAddr(c[3], uint64(w.weightLen[n]))
		at += uint64(w.weightLen[n])
	}
}

// mapCodes are the registers of one feature map.
type mapCodes struct {
	region, zero, width0, height0, height1 ethosu.Code
	base                                   [4]ethosu.Code
	strideX, strideY, strideC              ethosu.Code
}

var (
	ifmCodes = mapCodes{
		ethosu.SetIFMRegion, ethosu.SetIFMZeroPoint, ethosu.SetIFMWidth0M1, ethosu.SetIFMHeight0M1, ethosu.SetIFMHeight1M1,
		[4]ethosu.Code{ethosu.SetIFMBase0, ethosu.SetIFMBase1, ethosu.SetIFMBase2, ethosu.SetIFMBase3},
		ethosu.SetIFMStrideX, ethosu.SetIFMStrideY, ethosu.SetIFMStrideC,
	}
	ifm2Codes = mapCodes{
		ethosu.SetIFM2Region, ethosu.SetIFM2ZeroPoint, ethosu.SetIFM2Width0M1, ethosu.SetIFM2Height0M1, ethosu.SetIFM2Height1M1,
		[4]ethosu.Code{ethosu.SetIFM2Base0, ethosu.SetIFM2Base1, ethosu.SetIFM2Base2, ethosu.SetIFM2Base3},
		ethosu.SetIFM2StrideX, ethosu.SetIFM2StrideY, ethosu.SetIFM2StrideC,
	}
	ofmCodes = mapCodes{
		ethosu.SetOFMRegion, ethosu.SetOFMZeroPoint, ethosu.SetOFMWidth0M1, ethosu.SetOFMHeight0M1, ethosu.SetOFMHeight1M1,
		[4]ethosu.Code{ethosu.SetOFMBase0, ethosu.SetOFMBase1, ethosu.SetOFMBase2, ethosu.SetOFMBase3},
		ethosu.SetOFMStrideX, ethosu.SetOFMStrideY, ethosu.SetOFMStrideC,
	}
)

func (e *emitter) featureMap(c *mapCodes, f *fm) {
	b := e.b
	b.Set(c.region, f.region)
	b.SetAddr(c.base[0], uint64(f.addr))
	for _, base := range c.base[1:] {
		b.SetAddr(base, 0)
	}
	b.Set(c.height0, f.h-1)
	b.Set(c.height1, f.h-1)
	b.Set(c.width0, f.w-1)
	b.SetAddr(c.strideY, uint64(f.strideY))
	b.SetAddr(c.strideX, uint64(f.strideX))
	b.SetAddr(c.strideC, uint64(f.bytes))
	b.Set(c.zero, f.zero)
}

func (e *emitter) input(w *work) {
	b := e.b
	e.featureMap(&ifmCodes, &w.ifm.fm)
	b.Set(ethosu.SetIFMDepthM1, w.ifm.c-1)
	b.Set(ethosu.SetIFMPrecision, ethosu.IFMPrecision(w.ifm.signed, w.ifm.bytes, ethosu.NHWC, w.scaleMode))
	b.Set(ethosu.SetIFMUpscale, 0)
	if w.kind != kindElementwise {
		b.Set(ethosu.SetIFMPadTop, w.top)
		b.Set(ethosu.SetIFMPadLeft, w.left)
		b.Set(ethosu.SetIFMPadRight, w.right)
		b.Set(ethosu.SetIFMPadBottom, w.bottom)
		return
	}
	if w.ifm2 != nil {
		e.featureMap(&ifm2Codes, &w.ifm2.fm)
		b.Set(ethosu.SetIFM2Precision, ethosu.IFMPrecision(w.ifm2.signed, w.ifm2.bytes, ethosu.NHWC, 0))
		b.Set(ethosu.SetIFM2Broadcast, w.broadcast)
		b.Set(ethosu.SetIFM2IBStart, w.block.ib2Start)
	}
}

func (e *emitter) output(w *work) {
	b := e.b
	f := &w.ofm.fm
	e.featureMap(&ofmCodes, f)
	b.Set(ethosu.SetOFMHeightM1, f.h-1)
	b.Set(ethosu.SetOFMWidthM1, f.w-1)
	b.Set(ethosu.SetOFMDepthM1, f.c-1)
	b.Set(ethosu.SetOFMPrecision, ethosu.OFMPrecision(f.signed, f.bytes, ethosu.NHWC, w.global || w.kind == kindElementwise, w.round))
	act := ethosu.ActNone
	if w.table != nil {
		act = ethosu.ActTable
	}
	b.Set(ethosu.SetActivation, act|w.clip<<12)
	b.Set(ethosu.SetActivationMin, w.lo)
	b.Set(ethosu.SetActivationMax, w.hi)
}
