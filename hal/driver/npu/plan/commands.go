package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
)

// ringSlots is the number of on-chip weight buffers: one being read, one being
// filled, and one whose reader may not have finished.
const ringSlots = 3

// emitter writes the command stream of placed jobs.
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
	recent                  []*job // kernels that may still run, newest last
	writer                  map[int]int
}

// mark charges what follows to an operation.
func (e *emitter) mark(op int) {
	if n := len(e.marks); n > 0 && e.marks[n-1].ID == op {
		return
	}
	e.marks = append(e.marks, core.Mark{Word: e.b.Len(), ID: op})
}

// program emits all jobs in order. Weights of the next kernel that has any are
// copied on chip while the current one runs.
func (e *emitter) program(list []job) {
	b := e.b
	if e.spec.Product == ethosu.U65 {
		b.Set(ethosu.SetParallelMode, e.spec.Cores-1)
	}
	var weighted []*job
	ready := map[*job]int{} // copy that brings a kernel's weights, 1-based
	for i := range list {
		if list[i].Kernel.Weights != nil {
			weighted = append(weighted, &list[i])
		}
	}
	fetched, used := 0, 0
	for i := range list {
		w := &list[i]
		if w.Kernel.Kind == kernel.Copy {
			e.mark(w.Op)
			e.copy(w)
			continue
		}
		for ; fetched < len(weighted) && fetched <= used+1; fetched++ {
			e.mark(weighted[fetched].Op)
			e.fetch(weighted[fetched], fetched%ringSlots)
			ready[weighted[fetched]] = e.copies
		}
		e.mark(w.Op)
		need := e.inputCopy(w)
		if w.Kernel.Table != nil {
			e.loadTable(w)
			need = e.copies
		}
		if w.Kernel.Weights != nil {
			need = max(need, ready[w])
		}
		e.waitCopies(need)
		e.kernel(w, used%ringSlots)
		if w.Kernel.Weights != nil {
			e.slotReader[used%ringSlots] = e.kernels
			used++
		}
		if w.Kernel.Table != nil {
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

func (e *emitter) dma(src, dst layout.Buffer, internal bool) {
	b := e.b
	to := dst.Region
	if internal {
		to = ethosu.DMAInternal | 3
	}
	b.Set(ethosu.SetDMA0SrcRegion, src.Region)
	b.SetAddr(ethosu.SetDMA0Src, uint64(src.Addr))
	b.Set(ethosu.SetDMA0DstRegion, to)
	b.SetAddr(ethosu.SetDMA0Dst, uint64(dst.Addr))
	b.SetAddr(ethosu.SetDMA0Len, uint64(src.Bytes))
	b.Op(ethosu.OpDMAStart, 0)
	e.copies++
}

// fetch copies a kernel's weights into a ring buffer.
func (e *emitter) fetch(w *job, slot int) {
	e.waitKernels(e.slotReader[slot])
	e.dma(w.packed.Fetch, layout.Buffer{Region: layout.RegionWeights, Addr: slot * e.slotSize, Bytes: w.packed.Fetch.Bytes}, false)
}

// loadTable copies a lookup table into SHRAM; the slots are shared, so the
// kernel that used them last must be done.
func (e *emitter) loadTable(w *job) {
	e.waitKernels(e.lutReader)
	e.dma(layout.Buffer{Region: layout.RegionConst, Addr: w.packed.TableOffset, Bytes: len(w.Kernel.Table)}, layout.Buffer{Addr: e.luts}, true)
}

// copy moves an input or output of the model.
func (e *emitter) copy(w *job) {
	e.waitKernels(e.kernels)
	src := layout.Buffer{Region: w.Kernel.IFM.Region, Addr: w.Kernel.IFM.Addr, Bytes: layout.Align(w.Kernel.IFM.End() - w.Kernel.IFM.Addr)}
	e.dma(src, layout.Buffer{Region: w.Kernel.OFM.Region, Addr: w.Kernel.OFM.Addr, Bytes: src.Bytes}, false)
	if w.Kernel.OFM.Value >= 0 {
		e.writer[w.Kernel.OFM.Value] = e.copies
	}
}

// inputCopy is the copy that an operand of w waits for.
func (e *emitter) inputCopy(w *job) int {
	n := e.writer[w.Kernel.IFM.Value]
	if w.Kernel.IFM2 != nil {
		n = max(n, e.writer[w.Kernel.IFM2.Value])
	}
	return n
}

// kernel starts a kernel whose weights are in a ring buffer.
func (e *emitter) kernel(w *job, slot int) {
	w.Kernel.Emit(e.b, &w.packed, slot*e.slotSize, e.spec.Cores, e.blockDep(w))
	e.kernels++
	e.recent = append(e.recent, w)
	if len(e.recent) > e.spec.Kernels {
		e.recent = e.recent[1:]
	}
}

// blockDep lets blocks of a kernel start before the kernels in front of it are
// done, unless they share data.
func (e *emitter) blockDep(w *job) int {
	for _, p := range e.recent {
		if w.Kernel.IFM.Overlaps(&p.Kernel.OFM.FeatureMap) || w.Kernel.OFM.Overlaps(&p.Kernel.IFM.FeatureMap) || w.Kernel.OFM.Overlaps(&p.Kernel.OFM.FeatureMap) ||
			w.Kernel.IFM2 != nil && w.Kernel.IFM2.Overlaps(&p.Kernel.OFM.FeatureMap) || p.Kernel.IFM2 != nil && w.Kernel.OFM.Overlaps(&p.Kernel.IFM2.FeatureMap) {
			return 0
		}
	}
	return 3
}
