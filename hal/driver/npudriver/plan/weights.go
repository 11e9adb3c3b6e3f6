package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/npu"
)

// bufferWeights chooses, for each kernel with weights, whether it reads them where they are
// stored, again for every plane of pixel blocks, or from a buffer on chip into which they are copied
// once, while earlier kernels run: whichever is estimated faster. Copies keep the order
// of their kernels, and the next one is not queued before the kernel of the last one starts.
//
// For example, a kernel computes for 2000 cycles in 3 planes, and has 4000 bytes of weights in a memory of 4 bytes per
// cycle (latency and set-up left out); the kernel before it leaves that memory alone for 600 cycles:
//
//	once      4000 / 4               = 1000   cycles in which the weights are read once
//	direct    max(2000, 3 * 1000)    = 3000   they are read in each plane, beside the work
//	copied    2000 + (1000 - 600)    = 2400   the copy begins beside the kernel before; 400 cycles of it are exposed
//
// The copy wins. It is queued in front of the kernel before (fetch), whose 600 idle cycles no other copy may use again.
func bufferWeights(s *npu.Spec, jobs []job) {
	far := &s.Memories[s.RegionMemory[layout.RegionConst]]
	if !far.OffChip {
		return // they are on chip
	}
	group := make([]float64, len(jobs)) // planes of all jobs that share the weights of one
	for i := range jobs {
		if j := &jobs[i]; j.Kernel.Weights != nil {
			group[j.first] += cost.Planes(&j.Kernel)
		}
	}
	idle := make([]float64, len(jobs)) // cycles in which a job leaves the memory of constants alone
	last := 0                          // earliest job in front of which the next copy may begin
	for i := range jobs {
		j := &jobs[i]
		if j.Kernel.Kind == kernel.Copy {
			continue
		}
		e := cost.Estimate(s, &j.Kernel)
		if j.Kernel.Weights == nil {
			idle[i] = float64(e.Cycles())
			continue
		}
		work := e.Working()
		if j.kept {
			idle[i] = work
			continue
		}
		once := float64(j.packed.Fetch.Bytes)/far.BytesPerCycle + float64(far.ReadLatency)
		streaming := cost.Planes(&j.Kernel) * once
		if first := &jobs[j.first]; j.first != i {
			if j.buffered = first.buffered; j.buffered {
				streaming = 0
			}
			idle[i] = max(work-streaming, 0)
			continue
		}
		copying := once + float64(s.DMASetup)
		hidden, from := 0.0, i
		for from > last && hidden < copying {
			from--
			hidden += idle[from]
		}
		// What the other jobs of a cascade would wait for weights comes on top.
		others := (group[i] - cost.Planes(&j.Kernel)) * max(once-work/cost.Planes(&j.Kernel), 0)
		direct, copied := max(work, streaming)+others, work+max(copying-hidden, 0)
		if direct < copied || direct == copied && group[i] == 1 {
			idle[i] = max(work-streaming, 0)
			continue
		}
		left := copying
		for k := from; k < i; k++ {
			used := min(left, idle[k])
			idle[k], left = idle[k]-used, left-used
		}
		idle[i] = work
		j.buffered, j.fetch, j.exposed, last = true, from, left, i
	}
}
