package dsp

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A core with user DMA fetches residents by the engines of its threads while
// kernels run: every fetch has a chain of descriptors per thread, which a job
// before it starts, and the fetch job itself only waits.

const (
	chainBase = 0x30000000 // descriptors: an execution has its own copy, for the engines mark them done
	// chainBox as the box of a kernel's prefetch arguments says that the address
	// is that of a descriptor.
	chainBox   = 1
	chainBytes = 1 << 23 // of one descriptor, which counts 24 bits

	bypassSource = 1 << 29
)

// chained is resident for a core with DMA: fetches follow each other around
// VTCM, so that one can go on while the kernels behind the one before it run.
func (l *lowering) chained(s *step, src, bytes uint32) (uint32, error) {
	k, err := l.kernel("fetch", generateWait)
	if err != nil {
		return 0, err
	}
	v := &l.vtcm
	if v.next+bytes > v.size {
		v.next = 0
	}
	r := fetchRange{src, v.base + v.next, bytes}
	v.next += bytes
	v.batches = append(v.batches, &batch{job: len(l.jobs), ranges: []fetchRange{r}})
	l.claimFor(len(l.jobs), src, int(bytes), byDMA)
	l.launch(s, k, nil)
	l.jobs[len(l.jobs)-1].Name = "fetch"
	return r.dst, nil
}

// generateWait writes the kernel that starts the chain of its argument, unless
// that is 0, and waits for the thread's engine.
func generateWait(a *asm) {
	in := a.args("chain")
	a.skipIfZero(in[0], func() { a.startChain(in[0]) })
	a.op(hexagon.Y6_dmwait, a.r("state"))
	a.ret()
}

func (a *asm) startChain(chain build.Reg) { a.op(hexagon.Y6_dmlink, a.imm(0), chain) }

// finishChains writes the chains. One is started by the first job behind the
// fetch before it that prefetches nothing else: by then nobody reads what the
// fetches before that one have brought. Where there is no such job, or VTCM does
// not hold both, the fetch job starts it.
func (l *lowering) finishChains() {
	batches := l.vtcm.batches
	for i, b := range batches {
		r := b.ranges[0]
		from := 0
		if i > 0 {
			if from = batches[i-1].job + 1; overlap(r, batches[i-1].ranges[0]) {
				from = b.job
			}
		}
		threads := l.threads
		starter := b.job
		for j := from; j < b.job; j++ {
			if at := l.prefetchers[j]; at > 0 && l.jobs[j].Args[0][at+1] == 0 {
				starter, threads = j, ceilDiv(len(l.jobs[j].Args), 2)
				break
			}
		}
		job := &l.jobs[b.job]
		units := int(r.bytes / fetchUnit)
		threads = min(threads, units)
		for t := range threads {
			first, last := units*t/threads, units*(t+1)/threads
			chain := l.chain(fetchRange{r.src + uint32(first*fetchUnit), r.dst + uint32(first*fetchUnit), uint32((last - first) * fetchUnit)})
			if starter == b.job {
				job.Args = append(job.Args, []uint32{chain})
				continue
			}
			args := l.jobs[starter].Args[t]
			at := l.prefetchers[starter]
			args[at], args[at+1] = chain, chainBox
			job.Args = append(job.Args, []uint32{0})
		}
		job.Threads = len(job.Args)
	}
}

func overlap(a, b fetchRange) bool { return a.dst < b.dst+b.bytes && b.dst < a.dst+a.bytes }

// chain appends the descriptors of a range and answers the address of the first.
func (l *lowering) chain(r fetchRange) uint32 {
	start := chainBase + uint32(len(l.chains))
	for {
		n := min(r.bytes, chainBytes)
		next := uint32(0)
		if r.bytes > n {
			next = chainBase + uint32(len(l.chains)) + 16
		}
		for _, w := range [4]uint32{next, bypassSource | n, r.src, r.dst} {
			l.chains = binary.LittleEndian.AppendUint32(l.chains, w)
		}
		if next == 0 {
			return start
		}
		r.src, r.dst, r.bytes = r.src+n, r.dst+n, r.bytes-n
	}
}
