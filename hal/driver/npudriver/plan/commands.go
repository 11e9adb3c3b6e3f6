package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
)

// emitter writes the command stream of placed jobs.
type emitter struct {
	b     *ethosu.Builder
	spec  *npu.Spec
	marks []npu.Mark
	luts  int // address of table slot 0 in SHRAM

	kernels int // issued
	copies  []transfer
	// kernelsDone and copiesDone are known to be complete.
	kernelsDone, copiesDone int
	table, tableCopy        int // offset of the table in SHRAM, and the copy that brought it
	lutReader               int
	recent                  []*job // kernels that may still run, newest last
}

// transfer is a copy by DMA. What a kernel waits for it is charged to its step.
type transfer struct {
	step     *step.Step
	src, dst layout.Buffer
}

// noTable is the offset of the table while there is none.
const noTable = -1

// mark charges what follows to a step.
func (e *emitter) mark(s *step.Step) {
	m := npu.Mark{Word: e.b.Len(), ID: s.Mark(), Operation: s.Op}
	if n := len(e.marks); n > 0 && e.marks[n-1].ID == m.ID && e.marks[n-1].Operation == m.Operation {
		return
	}
	e.marks = append(e.marks, m)
}

// program emits all jobs in order, each behind the copies of weights that begin in front of it.
func (e *emitter) program(list []job) {
	b := e.b
	if e.spec.Product == ethosu.U65 {
		b.Set(ethosu.SetParallelMode, e.spec.Cores-1)
	}
	next := 0 // job whose weights have not been looked at
	for i := range list {
		for ; next < len(list) && (!list[next].buffered || list[next].fetch <= i); next++ {
			if w := &list[next]; w.buffered && w.first == next {
				e.mark(&w.Step)
				e.fetch(w)
			}
		}
		w := &list[i]
		e.mark(&w.Step)
		if w.Kernel.Kind == kernel.Copy {
			e.copy(w)
			continue
		}
		need := e.lastCopy(w)
		if w.Kernel.Table != nil {
			e.loadTable(w)
			need = max(need, e.tableCopy)
		}
		e.waitCopies(need)
		e.mark(&w.Step)
		e.kernel(w)
		if w.Kernel.Table != nil {
			e.lutReader = e.kernels
		}
	}
	e.waitKernels(e.kernels)
	e.waitCopies(len(e.copies))
	b.Op(ethosu.OpStop, 0xffff)
}

// waitCopies waits until the first n copies are done.
func (e *emitter) waitCopies(n int) {
	if n > e.copiesDone {
		e.mark(e.copies[n-1].step)
		e.b.Op(ethosu.OpDMAWait, min(len(e.copies)-n, 15))
		e.copiesDone = n
	}
}

// waitKernels waits until the first n kernels are done. The queue of the machine
// bounds the outstanding kernels, so older ones need no wait.
func (e *emitter) waitKernels(n int) {
	if n > e.kernelsDone && e.kernels-n < e.spec.Kernels {
		e.b.Op(ethosu.OpKernelWait, e.kernels-n)
		e.kernelsDone = n
	}
}

// dma starts a copy for a step.
func (e *emitter) dma(s *step.Step, src, dst layout.Buffer, internal bool) {
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
	e.copies = append(e.copies, transfer{s, src, layout.Buffer{Region: to, Addr: dst.Addr, Bytes: dst.Bytes}})
}

// fetch copies a kernel's weights on chip, when no kernel uses the buffer's memory any more.
func (e *emitter) fetch(w *job) {
	for i, p := range e.recent {
		if p.uses(&w.weights) {
			e.waitKernels(e.kernels - len(e.recent) + i + 1)
		}
	}
	e.dma(&w.Step, w.packed.Fetch, w.weights, false)
}

// uses reports whether a kernel reads or writes memory of a buffer.
func (j *job) uses(b *layout.Buffer) bool {
	for _, m := range j.Kernel.Maps() {
		if at := m.Buffer(); b.Overlaps(&at) {
			return true
		}
	}
	return j.buffered && j.weights.Overlaps(b)
}

// loadTable copies a lookup table into SHRAM, unless it is there; the slots are shared, so the
// kernel that used them last must be done.
func (e *emitter) loadTable(w *job) {
	if e.table == w.packed.TableOffset {
		return
	}
	e.waitKernels(e.lutReader)
	e.dma(&w.Step, layout.Buffer{Region: layout.RegionConst, Addr: w.packed.TableOffset, Bytes: len(w.Kernel.Table)}, layout.Buffer{Addr: e.luts}, true)
	e.table, e.tableCopy = w.packed.TableOffset, len(e.copies)
}

// copy moves an input or output of the model.
func (e *emitter) copy(w *job) {
	e.waitKernels(e.kernels)
	src := w.Kernel.IFM.Buffer()
	src.Bytes = layout.Align(src.Bytes)
	e.dma(&w.Step, src, layout.Buffer{Region: w.Kernel.OFM.Region, Addr: w.Kernel.OFM.Addr, Bytes: src.Bytes}, false)
}

// lastCopy is the last copy that a kernel waits for, 1-based: one that brings what it reads, or
// that may still use memory that it writes.
func (e *emitter) lastCopy(w *job) int {
	out := w.Kernel.OFM.Buffer()
	for n := len(e.copies); n > e.copiesDone; n-- {
		if c := &e.copies[n-1]; w.uses(&c.dst) || out.Overlaps(&c.src) {
			return n
		}
	}
	return 0
}

// kernel starts a kernel.
func (e *emitter) kernel(w *job) {
	w.Kernel.Emit(e.b, &w.packed, w.weights, e.spec.Cores, e.blockDep(w))
	e.kernels++
	e.recent = append(e.recent, w)
	if len(e.recent) > e.spec.Kernels {
		e.recent = e.recent[1:]
	}
}
