package plan

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// Vector loads from L2 wait; those from VTCM do not. So what kernels read over
// and over (weights, biases, multipliers) is fetched into VTCM first: one fetch
// job for as many steps as fit. While the jobs before it run, l2fetch brings
// its bytes from DRAM to L2. A core with user DMA does both in one (dma_chain.go).

const (
	fetchUnit = datamove.FetchUnit
	// batchBytes is what a fetch job brings for several steps: of more, DRAM could bring
	// much while the first of them compute. Less would cost more barriers.
	batchBytes = 64 << 10
)

// vtcm allocates VTCM and remembers what must be fetched.
type vtcm struct {
	base, size uint32
	dma        bool   // the core has user DMA
	next       uint32 // with DMA: offset behind the last fetch
	batches    []*batch
}

// batchRanges is how many ranges the table of a fetch job can have beside the
// constants that it is used with.
const batchRanges = 10

// batch is one fetch job.
type batch struct {
	job    int    // in planner.jobs
	table  uint32 // address of its table
	from   uint32 // offset of its first range
	used   uint32
	ranges []fetchRange
	sealed bool   // no further ranges are added
	before *batch // whose bytes stay where they are
}

// startsFetch reports whether the next range of the batch is for a fetch of its own. The
// first fetch of a model is for one step: nobody could request its bytes before, and
// those of others come while that step computes.
func (l *planner) startsFetch(b *batch, need uint32) bool {
	if b == nil || b.used+need > l.vtcm.size {
		return true
	}
	another := b.job+1 < len(l.jobs) // step has its first range in it
	return another && (len(l.vtcm.batches) == 1 || b.used-b.from+need > batchBytes)
}

type fetchRange struct{ src, dst, bytes uint32 }

func newVTCM(s *dsp.Spec) vtcm {
	return vtcm{base: s.VTCMBase, size: s.VTCMBytes, dma: hasDMA(s)}
}

// Fetch implements step.Planner.
func (l *planner) Fetch(s *step.Step, src uint32, bytes int) uint32 {
	need := uint32(layout.RoundUp(bytes, fetchUnit))
	v := &l.vtcm
	if v.dma {
		return l.fetchByDMA(s, src, need)
	}
	var b *batch
	if n := len(v.batches); n > 0 && !v.batches[n-1].sealed {
		b = v.batches[n-1]
	}
	for old := b; old != nil; old = old.before { // for an earlier band
		for _, r := range old.ranges {
			if r.src == src && r.bytes == need {
				return r.dst
			}
		}
	}
	if l.startsFetch(b, need) {
		k := l.launcher(s).Kernel(datamove.Fetch{})
		next := &batch{job: len(l.jobs)}
		if b != nil && b.used+need <= v.size {
			next.from, next.used, next.before = b.used, b.used, b
		}
		b = next
		v.batches = append(v.batches, b)
		l.claimFor(b.job, src, bytes, toVTCM)
		b.table = l.Constant(make([]byte, l.Threads*batchRanges*12))
		l.AddJob(s, k, nil).Name = "fetch"
	}
	l.claimFor(b.job, src, bytes, toVTCM)
	dst := v.base + b.used
	b.used += need
	b.ranges = append(b.ranges, fetchRange{src, dst, need})
	return dst
}

// seal has the next fetch be a job of its own, behind those launched so far.
func (v *vtcm) seal() {
	if n := len(v.batches); n > 0 {
		v.batches[n-1].sealed = true
	}
}

// finishFetches fills in the fetch jobs once all their ranges are known.
func (l *planner) finishFetches() {
	if l.vtcm.dma {
		l.buildDMAChains()
		return
	}
	for _, b := range l.vtcm.batches {
		tables := make([][]uint32, l.Threads)
		for _, r := range b.ranges {
			for t, part := range l.Spread(int(r.bytes / fetchUnit)) {
				off := uint32(part[0] * fetchUnit)
				tables[t] = append(tables[t], r.src+off, r.dst+off, uint32(part[1]-part[0]))
			}
		}
		job := l.jobs[b.job]
		for i, t := range tables {
			if len(t) > 0 {
				job.Args = append(job.Args, []uint32{l.batchTable(b, i, t), uint32(len(t) / 3)})
			}
		}
	}
}

// batchTable places the table of thread i of a fetch job.
func (l *planner) batchTable(b *batch, i int, table []uint32) uint32 {
	if len(table) > 3*batchRanges {
		return l.Words(table)
	}
	at := b.table + uint32(i*12*batchRanges)
	for k, w := range table {
		binary.LittleEndian.PutUint32(l.Consts[int(at-layout.ConstBase)+4*k:], w)
	}
	return at
}
