package plan

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// On a core with user DMA, the threads' DMA engines fetch constants into VTCM while kernels
// run. Every fetch has a chain of DMA descriptors per thread; an earlier job starts the
// chains, and the fetch job itself only waits for them.

const (
	dmaChainBase       = 0x30000000 // descriptors: an execution has its own copy, for the engines mark them done
	maxDescriptorBytes = 1 << 23    // of one descriptor, which counts 24 bits

	bypassSource = 1 << 29
)

// fetchByDMA implements Fetch for a core with DMA: VTCM is a ring of fetches, so that
// one fetch can proceed while the kernels that use the previous one run.
func (l *planner) fetchByDMA(s *step.Step, src, bytes uint32) uint32 {
	k := l.launcher(s).Kernel(datamove.Wait{})
	v := &l.vtcm
	if v.next+bytes > v.size {
		v.next = 0
	}
	r := fetchRange{src, v.base + v.next, bytes}
	v.next += bytes
	v.batches = append(v.batches, &batch{job: len(l.jobs), ranges: []fetchRange{r}})
	l.claimFor(len(l.jobs), src, int(bytes), byDMA)
	l.AddJob(s, k, nil).Name = "fetch"
	return r.dst
}

// buildDMAChains writes the descriptor chains. The first job after the previous fetch job
// whose prefetch is unused starts a chain: by then no kernel reads the bytes of older fetches.
// If there is no such job, or VTCM does not hold both fetches, the fetch job starts the chain.
func (l *planner) buildDMAChains() {
	batches := l.vtcm.batches
	for i, b := range batches {
		r := b.ranges[0]
		from := 0
		if i > 0 {
			if from = batches[i-1].job + 1; overlap(r, batches[i-1].ranges[0]) {
				from = b.job
			}
		}
		threads := l.Threads
		starter := b.job
		for j := from; j < b.job; j++ {
			if at := l.jobs[j].PrefetchArg; at > 0 && l.jobs[j].Args[0][at+1] == 0 {
				starter, threads = j, layout.CeilDiv(len(l.jobs[j].Args), 2)
				break
			}
		}
		job := l.jobs[b.job]
		units := int(r.bytes / fetchUnit)
		threads = min(threads, units)
		l.served(starter, &prefetchRequest{job: b.job, bytes: r.bytes})
		for t := range threads {
			first, last := units*t/threads, units*(t+1)/threads
			chain := l.dmaChain(fetchRange{r.src + uint32(first*fetchUnit), r.dst + uint32(first*fetchUnit), uint32((last - first) * fetchUnit)})
			if starter == b.job {
				job.Args = append(job.Args, []uint32{chain})
				continue
			}
			args := l.jobs[starter].Args[t]
			at := l.jobs[starter].PrefetchArg
			args[at], args[at+1] = chain, hvx.DMAChainBox
			job.Args = append(job.Args, []uint32{0})
		}
	}
}

func overlap(a, b fetchRange) bool { return a.dst < b.dst+b.bytes && b.dst < a.dst+a.bytes }

// dmaChain appends the descriptors of a range and returns the address of the first.
func (l *planner) dmaChain(r fetchRange) uint32 {
	start := dmaChainBase + uint32(len(l.dmaDescriptors))
	for {
		n := min(r.bytes, maxDescriptorBytes)
		next := uint32(0)
		if r.bytes > n {
			next = dmaChainBase + uint32(len(l.dmaDescriptors)) + 16
		}
		for _, w := range [4]uint32{next, bypassSource | n, r.src, r.dst} {
			l.dmaDescriptors = binary.LittleEndian.AppendUint32(l.dmaDescriptors, w)
		}
		if next == 0 {
			return start
		}
		r.src, r.dst, r.bytes = r.src+n, r.dst+n, r.bytes-n
	}
}
