package timing

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/opspec"
)

// team is the threads of an operation. Rates are per cycle of the first group.
type team struct {
	n       int
	watts   float64 // of all threads, busy
	mac     [numPrecisions]float64
	simd    float64 // bytes of vector arithmetic
	l1      float64 // bytes loaded and stored
	l2      float64 // bytes from L2 to the L1s
	l3      float64 // bytes of misses of the L2s that L3 answers
	l1Holds float64
	l2Holds float64
	l1Hit   float64 // mean latencies over the threads
	l2Hit   float64
}

func (s *CPUSpec) threads() team {
	var p team
	left := s.Threads
	for i := range s.Cores {
		c := &s.Cores[i]
		n := min(left, c.Cores)
		left -= n
		p.n += n
		// Cycles of this group's threads in one cycle of the first group.
		speed := float64(n) * float64(c.ClockHz) / float64(s.Cores[0].ClockHz)
		p.watts += float64(float64(n) * c.PowerUW * float64(c.ClockHz) * c.Volts * c.Volts * 1e-12)
		for k, mac := range [numPrecisions]float64{c.MACF32, c.MACF16, c.MACI8} {
			p.mac[k] += float64(speed * mac)
		}
		p.simd += float64(speed * c.SIMDBytes)
		p.l1 += float64(speed * c.L1.BytesPerCycle)
		// A line takes its transfer and its share of the latency, which as many
		// misses as may be outstanding hide from each other.
		p.l2 += speed / sum(1/c.L2.BytesPerCycle, c.L2.HitCycles/c.L1.inFlight())
		p.l3 += float64(speed * c.L2.inFlight() / math.Max(s.L3.HitCycles, 1))
		cycles := float64(n) * float64(s.Cores[0].ClockHz) / float64(c.ClockHz) // of the first group in one of these threads
		p.l1Hit += float64(cycles * c.L1.HitCycles)
		p.l2Hit += float64(cycles * c.L2.HitCycles)
		p.l1Holds += float64(float64(n) * c.L1.holds())
		p.l2Holds += float64(float64(n) * c.L2.holds())
	}
	p.l1Hit /= float64(p.n)
	p.l2Hit /= float64(p.n)
	return p
}

// traffic is the bytes of an operation that cross between the levels of memory.
type traffic struct {
	l1, l2, l3          float64 // loaded and stored; between L1 and L2; between L2 and L3
	streamed            float64 // of constants, which cross every level once behind a prefetcher
	dramRead, dramWrite float64
	fill                float64 // cycles until the first line of each tensor is there
	lookup              float64 // cycles of an access of all threads to the largest tensor
}

// traffic finds where each tensor is. Constants come from DRAM once. Of an
// activation each level keeps as much as it holds.
func (s *CPUSpec) traffic(p *team, w *opspec.Work) traffic {
	var t traffic
	lead := &s.Cores[0]
	dramCycles := s.DRAMSeconds * float64(lead.ClockHz)
	largest := 0.
	for i := range w.Tensors {
		x := &w.Tensors[i]
		b := float64(x.Bytes)
		if b == 0 {
			continue
		}
		l2, l3, dram := math.Max(b-p.l1Holds, 0), math.Max(b-p.l2Holds, 0), math.Max(b-p.l2Holds-s.L3.holds(), 0)
		t.l1 += b
		if x.Constant {
			t.streamed += b
			l2, l3, dram = b, b, b
		} else {
			t.l2 += l2
			t.l3 += l3
		}
		if x.Output {
			t.dramWrite += dram
		} else {
			t.dramRead += dram
		}
		// The mean latency, by where the bytes are.
		near := sum(p.l1Hit, p.l2Hit*(l2/b), s.L3.HitCycles*(l3/b))
		if !x.Output {
			t.fill += sum(near, dramCycles*(dram/b)) / float64(p.n)
		}
		if b > largest {
			largest = b
			t.lookup = sum(near/float64(p.n), s.DRAMLineSeconds*float64(lead.ClockHz)*(dram/b))
		}
	}
	return t
}

// cost fills the reasons, the counts and the dynamic energy of an operation.
func (s *CPUSpec) cost(p *team, w *opspec.Work, o *OperationTiming) {
	precision := precisionOf(w.Type)
	element := float64(max(w.Type.ElementBytes(), 1))
	hz := float64(s.Cores[0].ClockHz)
	t := s.traffic(p, w)

	ideal := float64(w.Steps) * element / (p.simd * s.Efficiency[opspec.KernelElementwise][precision])
	if w.Kernel == opspec.KernelElementwise {
		ideal += t.l1 / p.l1 // loads and stores of MAC kernels are part of their efficiency
	} else {
		ideal += float64(w.MACs) / (p.mac[precision] * s.Efficiency[w.Kernel][precision])
	}
	ideal += float64(w.Lookups) * t.lookup
	busy := ideal
	if p.n > 1 {
		busy = ideal / s.ParallelEfficiency
	}
	caches := sum(t.l2/p.l2, t.l3/s.L3.BytesPerCycle, t.l3/p.l3)
	dramBytes := t.dramRead + t.dramWrite
	dram := dramBytes / s.DRAMPerSecond * hz

	spent := 0.
	reach := func(r Reason, cycles float64) {
		if n := int64(math.Ceil(cycles)) - int64(math.Ceil(spent)); n > 0 {
			o.Reasons[r] += n
			spent = cycles
		}
	}
	reach(ReasonIssue, ideal)
	reach(ReasonBarrier, busy)
	reach(ReasonL2, sum(busy, caches, t.fill))
	reach(ReasonDRAM, dram) // what DRAM overlaps with is not waited for
	o.Reasons[ReasonLaunch] = int64(math.Ceil(s.OperationSeconds * hz))

	o.MACs = w.MACs
	cacheBytes := t.l2 + t.l3 + 2*t.streamed
	o.CacheBytes, o.DRAMBytes = int64(cacheBytes), int64(dramBytes)
	o.DRAMWriteBytes = min(int64(t.dramWrite), o.DRAMBytes)
	one := p.watts / float64(p.n)
	o.EnergyPJ = sum(p.watts*spent/hz*1e12, one*s.OperationSeconds*1e12,
		cacheBytes*s.CacheBytePJ, t.dramRead*s.DRAMReadBytePJ, t.dramWrite*s.DRAMWriteBytePJ)
}

// sum adds without fusing a multiplication, so that every host agrees.
func sum(terms ...float64) float64 {
	t := 0.
	for _, x := range terms {
		t += float64(x)
	}
	return t
}
