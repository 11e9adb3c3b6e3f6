package dsp

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/cache"
	"github.com/nnsoc/nnsoc/sim/power"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// CacheSpec describes one cache.
type CacheSpec struct {
	Bytes         int
	LineBytes     int // power of two
	Ways          int // Bytes/LineBytes/Ways sets, a power of two
	HitCycles     int // core cycles from request to data
	BytesPerCycle int
	MSHRs         int // lines in flight
}

// Spec is the machine: everything that is a number and not an instruction.
type Spec struct {
	Name          string
	Version       int // of the instruction set: 66 for V66
	Threads       int // hardware threads
	Contexts      int // HVX contexts: threads that may use vectors at the same time
	IssueInterval int // core cycles between two packets of one thread
	IssueWidth    int // packets per core cycle over all threads
	AloneInterval int // IssueInterval of independent packets, but for two of vectors, where no more than IssueWidth threads run
	ClockHz       int64
	VoltageV      float64 // supply at ClockHz

	L1I, L1D, L2 CacheSpec
	VTCMBase     uint32 // address range served by VTCM instead of L2
	VTCMBytes    uint32
	VTCMCycles   int      // core cycles from request to data
	DMA          *DMASpec // user DMA of V68 and later, nil: none
	MemoryNs     float64  // that the path from L2 to the memory behind adds to a read

	JobStartCycles   int64 // of a run: its threads begin the first job
	BarrierCycles    int64 // between two jobs: all threads of one have ended, those of the next load their arguments
	VectorLoadCycles int   // load latency that the vector pipeline hides: no stall up to it
	VectorQueue      int   // issue intervals that a thread runs ahead of vectors on their way, 0: a load that misses stops it
	StoreLoadPackets int   // packets from a vector store to a load of the same line without a stall
	ExtractCycles    int   // core cycles by which vextract is longer than a scalar load
	BranchSlots      int   // issue slots lost by a jump that is predicted, but to a target that only its instruction tells
	MispredictSlots  int   // issue slots lost by a jump predicted wrong, or to a wrong target
	BTBEntries       int   // targets that the branch target buffer holds, a power of two

	Energy EnergyTable
}

// VTCMBase is where FromSoC puts VTCM.
const VTCMBase = 0xd8000000

// maxThreads bounds the state of a run.
const maxThreads = 16

// maxVectorQueue bounds the packets in the queue of vectors; each has one vector load at most.
const maxVectorQueue = 63

func (s *Spec) validate() error {
	var errs []error
	in := func(name string, v, lo, hi int64) {
		if v < lo || v > hi {
			errs = append(errs, fmt.Errorf("dsp: spec %s: %s = %d, want %d..%d", s.Name, name, v, lo, hi))
		}
	}
	in("Version", int64(s.Version), 60, 79)
	in("Threads", int64(s.Threads), 1, maxThreads)
	in("Contexts", int64(s.Contexts), 0, int64(s.Threads))
	in("IssueInterval", int64(s.IssueInterval), 1, 64)
	in("IssueWidth", int64(s.IssueWidth), 1, 64)
	in("AloneInterval", int64(s.AloneInterval), 1, int64(s.IssueInterval))
	in("ClockHz", s.ClockHz, 1e6, 1e10)
	in("L2.LineBytes", int64(s.L2.LineBytes), 128, 4096)
	in("VTCMBase", int64(s.VTCMBase)%128, 0, 0)
	in("VTCMBytes", int64(s.VTCMBytes), 0, 1<<28)
	in("JobStartCycles", s.JobStartCycles, 0, 1e9)
	in("BarrierCycles", s.BarrierCycles, 0, 1e9)
	in("VectorLoadCycles", int64(s.VectorLoadCycles), 0, 1e4)
	in("VectorQueue", int64(s.VectorQueue), 0, maxVectorQueue)
	in("StoreLoadPackets", int64(s.StoreLoadPackets), 0, 1000)
	in("ExtractCycles", int64(s.ExtractCycles), 0, 64)
	in("BranchSlots", int64(s.BranchSlots), 0, 100)
	in("MispredictSlots", int64(s.MispredictSlots), 0, 100)
	in("BTBEntries", int64(s.BTBEntries), 1, 1<<16)
	if s.BTBEntries&(s.BTBEntries-1) != 0 {
		errs = append(errs, fmt.Errorf("dsp: spec %s: BTBEntries = %d, want a power of two", s.Name, s.BTBEntries))
	}
	if d := s.DMA; d != nil {
		c := d.config(s.ClockHz)
		if err := c.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("dsp: spec %s: %w", s.Name, err))
		}
	}
	if !(s.MemoryNs >= 0 && s.MemoryNs <= 1e6) {
		errs = append(errs, fmt.Errorf("dsp: spec %s: memory path of %g ns", s.Name, s.MemoryNs))
	}
	if !(s.VoltageV > 0 && s.VoltageV < 10) {
		errs = append(errs, fmt.Errorf("dsp: spec %s: VoltageV = %v", s.Name, s.VoltageV))
	}
	if _, err := power.NewMeter(energy.Names[:], s.Energy.PJ, s.Energy.ReferenceV); err != nil {
		errs = append(errs, fmt.Errorf("dsp: spec %s: %w", s.Name, err))
	}
	l2, l1i, l1d := s.caches()
	for _, c := range []*cache.Config{&l2, &l1i, &l1d} {
		if err := c.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("dsp: spec %s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// caches are the caches of the core as sim/mem builds them.
func (s *Spec) caches() (l2, l1i, l1d cache.Config) {
	level := func(name string, c CacheSpec, w cache.WritePolicy, banks int, reason sim.Reason) cache.Config {
		return cache.Config{
			Name: name, Hz: s.ClockHz, Bytes: c.Bytes, LineBytes: c.LineBytes, Ways: c.Ways, Write: w,
			HitCycles: c.HitCycles, BytesPerCycle: c.BytesPerCycle, Banks: banks, MSHRs: c.MSHRs, Reason: reason,
		}
	}
	l2 = level("l2", s.L2, cache.WriteBack, 1, sim.StallL2)
	l1i = level("l1i", s.L1I, cache.ReadOnly, 1, sim.StallFetch)
	l1i.Prefetch, l1i.PrefetchDegree = cache.PrefetchNextLine, 1
	l1d = level("l1d", s.L1D, cache.WriteThrough, 2, sim.StallL1)
	return l2, l1i, l1d
}

// FromSoC is the machine that a SoC's [dsp] section describes, running at the
// operating point that its governor chooses.
func FromSoC(c *soc.Config, p sim.Preference) (Spec, error) {
	d := c.DSP
	if d == nil {
		return Spec{}, errors.New("dsp: the SoC has no [dsp] section")
	}
	opp := d.Clock.At(p)
	cache := func(c soc.Cache) CacheSpec {
		return CacheSpec{Bytes: c.Bytes(), LineBytes: c.LineBytes, Ways: c.Ways, HitCycles: c.HitCycles,
			BytesPerCycle: c.BytesPerCycle, MSHRs: c.MSHRs}
	}
	var dma *DMASpec
	if x := d.DMA; x != nil {
		dma = &DMASpec{BurstBytes: x.BurstBytes, Outstanding: x.Outstanding, StartCycles: x.StartCycles, IssueCycles: x.IssueCycles, Queue: x.Queue}
	}
	return Spec{
		Name: d.Name, Version: d.ISAVersion(), Threads: d.Threads, Contexts: d.Contexts,
		IssueInterval: d.IssueInterval, IssueWidth: d.IssueWidth, AloneInterval: d.AloneInterval,
		ClockHz: opp.Hz, VoltageV: opp.Volts,
		L1I: cache(d.L1I), L1D: cache(d.L1D), L2: cache(d.L2),
		VTCMBase: VTCMBase, VTCMBytes: uint32(d.VTCMKiB) << 10, VTCMCycles: d.VTCMCycles,
		DMA: dma, MemoryNs: d.MemoryNs,
		JobStartCycles: int64(d.JobStartCycles), BarrierCycles: int64(d.BarrierCycles), VectorLoadCycles: d.VectorLoadCycles,
		VectorQueue: d.VectorQueue, StoreLoadPackets: d.StoreLoadPackets, ExtractCycles: d.ExtractCycles,
		BranchSlots: d.BranchSlots, MispredictSlots: d.MispredictSlots, BTBEntries: d.BTBEntries,
		Energy: EnergyTable{ReferenceV: d.Energy.VRef, PJ: d.Energy.PJ, StaticMW: d.Energy.StaticMW},
	}, nil
}
