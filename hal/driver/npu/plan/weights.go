package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/npu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	core "github.com/nnsoc/nnsoc/npu"
)

// bufferWeights chooses, for each kernel with weights, whether it reads them where they are
// stored, again for every plane of pixel blocks, or from a buffer on chip into which they are copied
// once, while kernels in front of it run: whichever takes less, by estimates. Copies keep the order
// of their kernels, and the next one is not queued before the kernel of the last one starts.
func bufferWeights(s *core.Spec, jobs []job) {
	far := &s.Memories[s.RegionMemory[layout.RegionConst]]
	if !far.OffChip {
		return // they are on chip
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
		copying := float64(j.packed.Fetch.Bytes)/far.BytesPerCycle + float64(s.DMASetup+far.ReadLatency)
		planes := cost.Planes(&j.Kernel)
		streaming := planes * (float64(j.packed.Fetch.Bytes)/far.BytesPerCycle + float64(far.ReadLatency))
		hidden, from := 0.0, i
		for from > last && hidden < copying {
			from--
			hidden += idle[from]
		}
		work := e.Working()
		direct, copied := max(work, streaming), work+max(copying-hidden, 0)
		if direct < copied || direct == copied && planes == 1 {
			idle[i] = max(work-streaming, 0)
			continue
		}
		left := copying
		for k := from; k < i; k++ {
			used := min(left, idle[k])
			idle[k], left = idle[k]-used, left-used
		}
		idle[i] = work
		j.buffered, j.fetch, last = true, from, i
	}
}
