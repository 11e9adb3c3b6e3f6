package timing

import (
	"math"

	"github.com/nnsoc/nnsoc/nn/opspec"
)

// team is the threads of an operation. Rates are per cycle of the first group.
type team struct {
	n       int
	cores   []CoreSpec
	l2      float64 // bytes from L2 to the L1s
	l3      float64 // bytes of misses of the L2s that hit in L3
	l1Bytes float64
	l2Bytes float64
	l1Hit   float64 // mean latencies over the threads
	l2Hit   float64
}

// teams are all threads, and the first alone.
func (s *CPUSpec) teams() (all, alone team) {
	first := s.Cores[0]
	first.Threads = 1
	return s.team(s.Cores), s.team([]CoreSpec{first})
}

func (s *CPUSpec) team(cores []CoreSpec) team {
	p := team{cores: cores}
	for i := range cores {
		c := &cores[i]
		n := float64(c.Threads)
		p.n += c.Threads
		cycles := float64(s.Cores[0].ClockHz) / float64(c.ClockHz) // of the first group in one of this group
		// A line costs its transfer and its share of the latency, which as many misses as may be outstanding hide from
		// each other.
		p.l2 += n / cycles / sum(1/c.L2.BytesPerCycle, c.L2.HitCycles/c.L1.inFlight())
		p.l3 += float64(n / cycles * c.L2.inFlight() / math.Max(s.L3.HitCycles, 1))
		p.l1Hit += float64(n * cycles * c.L1.HitCycles)
		p.l2Hit += float64(n * cycles * c.L2.HitCycles)
		p.l1Bytes += float64(n * c.L1.effectiveBytes())
		p.l2Bytes += float64(n * c.L2.effectiveBytes())
	}
	p.l1Hit /= float64(p.n)
	p.l2Hit /= float64(p.n)
	return p
}

// watts is the power of all threads, busy.
func (s *CPUSpec) watts() float64 {
	w := 0.
	for i := range s.Cores {
		c := &s.Cores[i]
		w += float64(float64(c.Threads) * c.PowerUW * float64(c.ClockHz) * c.Volts * c.Volts * 1e-12)
	}
	return w
}

// shares is how threads divide the work of an operation, in cycles of the first group: until the last is done, if
// all were busy all the time, and for how long a thread of each group is busy.
type shares struct {
	pace, ideal float64
	parts       []float64
}

// share divides work of equal blocks, which cost a core its share of cycles; the thread that is done first takes the next.
func (p *team) share(blocks int, cycles func(*CoreSpec) float64) shares {
	s := shares{parts: make([]float64, len(p.cores))}
	block := make([]float64, len(p.cores)) // cycles of all blocks on a core of the group
	rate := 0.
	taken := make([]int, 0, p.n) // blocks of each thread, by group
	group := make([]int, 0, p.n)
	for i := range p.cores {
		c := &p.cores[i]
		if c.Threads == 0 {
			continue
		}
		block[i] = cycles(c) * float64(p.cores[0].ClockHz) / float64(c.ClockHz)
		rate += float64(c.Threads) / block[i]
		for range c.Threads {
			taken, group = append(taken, 0), append(group, i)
		}
	}
	end := func(t, n int) float64 { return float64(n) * block[group[t]] / float64(blocks) }
	for range blocks {
		first := 0
		for t := range taken {
			if end(t, taken[t]) < end(first, taken[first]) {
				first = t
			}
		}
		taken[first]++
	}
	counts := make([]int, len(p.cores))
	for t, n := range taken {
		counts[group[t]] += n
		s.pace = math.Max(s.pace, end(t, n))
	}
	for i := range p.cores {
		if n := p.cores[i].Threads; n > 0 {
			s.parts[i] = float64(counts[i]) / float64(n) * block[i] / float64(blocks)
		}
	}
	if s.ideal = s.pace; rate > 0 && !math.IsInf(rate, 0) {
		s.ideal = math.Min(1/rate, s.pace)
	}
	return s
}

// traffic is the bytes of an operation that cross between the levels of memory.
type traffic struct {
	l1, l2, l3          float64 // loaded and stored; between L1 and L2; between L2 and L3
	streamed            float64 // of constants, which cross every level once behind a prefetcher
	dramRead, dramWrite float64
	fill                float64 // cycles until the first line of each tensor is there
	lookup              float64 // cycles of an access of all threads to the largest tensor
}

// traffic locates each tensor. Constants are read from DRAM once. Of an activation each level keeps as much as it
// holds. So many bytes of windows are laid out.
func (s *CPUSpec) traffic(p *team, w *opspec.Work, windows int64) traffic {
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
		l2, l3, dram := math.Max(b-p.l1Bytes, 0), math.Max(b-p.l2Bytes, 0), math.Max(b-p.l2Bytes-s.L3.effectiveBytes(), 0)
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
	beyond := math.Max(float64(windows)-p.l2Bytes-s.L3.effectiveBytes(), 0)
	t.dramWrite += beyond
	t.dramRead += beyond
	return t
}

// watts is the power of a busy core.
func (c *CoreSpec) watts() float64 {
	return c.PowerUW * float64(c.ClockHz) * c.Volts * c.Volts * 1e-12
}

// spun is how long a thread that has waited for a time spins of a time more.
func (s *CPUSpec) spun(waited, more float64) float64 {
	return math.Min(math.Max(s.SpinSeconds-waited, 0), more)
}

// phases are the cycles of an operation: those of the first thread before the others have work, the parts of all
// threads until the slowest is done, and those for which all wait.
type phases struct{ before, pace, after float64 }

// threads is the energy in pJ of all threads over an operation, and for how long those of each
// group wait at its end. parts is the work of a thread of each group in cycles of the first group.
func (m *Meter) threads(p *team, x phases, parts []float64) (pj float64, waited []float64) {
	s := m.spec
	second := float64(s.Cores[0].ClockHz)
	shared := p.n == m.all.n && p.n > 1
	waited = make([]float64, len(s.Cores))
	for i := range s.Cores {
		c := &s.Cores[i]
		busy, before, barrier := 0., x.before+x.pace+x.after, 0. // of a thread without work
		if shared {
			own := math.Min(parts[i], x.pace)
			busy, before, barrier = own+x.after, x.before, x.pace-own
		}
		busy, before, barrier = busy/second, before/second, barrier/second
		n := float64(c.Threads)
		if i == 0 { // the first thread has all that is before the others' work, too
			n--
			lead := sum(x.before, x.pace, x.after)/second - barrier
			pj += sum(c.watts()*sum(lead, s.SpinShare*s.spun(0, barrier)), s.IdleWatts*(barrier-s.spun(0, barrier)))
		}
		spun := s.spun(m.waited[i], before) + s.spun(0, barrier)
		pj += n * sum(c.watts()*sum(busy, s.SpinShare*spun), s.IdleWatts*sum(before, barrier, -spun))
		if waited[i] = barrier; !shared {
			waited[i] = m.waited[i] + before
		}
	}
	return pj * 1e12, waited
}

// cost fills the reasons, the counts and the dynamic energy of an operation, and returns for how
// long the threads of each group wait at its end.
func (m *Meter) cost(w *opspec.Work, o *OperationTiming) (waited []float64) {
	s, p := m.spec, &m.single
	lead := &s.Cores[0]
	hz := float64(lead.ClockHz)
	launch := lead.Kernels.OperationCycles
	x := s.way(w)
	if x.shared {
		p = &m.all
		launch += float64(float64(min(p.n, x.blocks)-1) * s.ThreadDispatchCycles)
	}
	t := s.traffic(p, w, x.buffer)
	work := p.share(max(x.blocks, 1), func(c *CoreSpec) float64 { return c.arithmetic(w.Type, &x) })
	pace, ideal := work.pace, work.ideal
	laid := 0. // windows that the first thread lays out
	if !x.layShared {
		laid = float64(x.patches) / lead.Kernels.PatchBytes
	}
	alone := sum(laid, float64(w.Scalars)*lead.Kernels.ScalarCycles, float64(w.Lookups)*t.lookup)
	if w.Kernel == opspec.KernelNone {
		alone += t.l1 / lead.L1.BytesPerCycle // loads and stores of MAC kernels are part of their efficiency
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
	reach(ReasonIssue, sum(ideal, alone))
	reach(ReasonBarrier, sum(pace, alone))
	reach(ReasonL2, sum(pace, alone, caches, t.fill))
	reach(ReasonDRAM, dram) // time that overlaps with DRAM is not waited for
	o.Reasons[ReasonLaunch] = int64(math.Ceil(launch))

	o.MACs = w.MACs
	cacheBytes := t.l2 + t.l3 + 2*t.streamed
	o.CacheBytes, o.DRAMBytes = int64(cacheBytes), int64(dramBytes)
	o.DRAMWriteBytes = min(int64(t.dramWrite), o.DRAMBytes)
	f := phases{before: launch + alone, pace: pace}
	f.after = math.Max(spent-pace-alone, 0)
	pj, waited := m.threads(p, f, work.parts)
	o.EnergyPJ = sum(pj, cacheBytes*s.CacheBytePJ, t.dramRead*s.DRAMReadBytePJ, t.dramWrite*s.DRAMWriteBytePJ)
	return waited
}

// sum adds without fusing a multiplication, so that every host agrees.
func sum(terms ...float64) float64 {
	t := 0.
	for _, x := range terms {
		t += float64(x)
	}
	return t
}
