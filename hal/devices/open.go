package devices

import (
	"fmt"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver"
	gpucost "github.com/nnsoc/nnsoc/hal/driver/gpudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// builders make the devices of a SoC, in the order they are listed.
var builders = []struct {
	present func(*soc.Config) bool
	build   func(*soc.Config, sim.Preference, *surroundings) (hal.Device, error)
}{
	{func(c *soc.Config) bool { return c.CPU != nil }, newCPU},
	{func(c *soc.Config) bool { return c.GPU != nil }, newGPU},
	{func(c *soc.Config) bool { return c.DSP != nil }, newDSP},
	{func(c *soc.Config) bool { return c.NPU != nil }, newNPU},
}

// surroundings are what the devices of one machine share.
type surroundings struct {
	host    func(soc.Engine) base.Host
	attach  func(hal.Device, soc.Engine) hal.Device
	clock   *hal.Clock
	kernels *Kernels
	machine string // changes with the SoC; open fills it in
	added   added
}

// standalone returns the surroundings of devices without a machine.
func standalone(c *soc.Config) *surroundings {
	x := &surroundings{clock: hal.NewClock(), kernels: &Kernels{}}
	var queues [soc.NumEngines]queue
	host := func(e soc.Engine) *loop {
		return &loop{config: c, engine: e, clock: x.clock, queue: &queues[e], cold: x.added.cold}
	}
	x.host = func(e soc.Engine) base.Host { return host(e) }
	x.attach = func(d hal.Device, e soc.Engine) hal.Device {
		h := host(e)
		h.foreign = true
		return &foreign{d, h, x.clock}
	}
	return x
}

// Open returns the devices that the file of a SoC has sections for: the CPU
// first, then GPU, DSP and NPU. Every execution has the costs of a loop of its like:
// at the clocks to which governors bring such a loop, and on the caches that it fills.
// Devices keep no state between executions; a Machine's devices do. To find that state
// an execution may run up to four times; with Cold it runs once. The error is one of the
// file: a machine that a driver cannot drive.
//
// Calls during an execution of another goroutine find the engine busy: on the devices' clock
// they wait in its queue until that execution has ended. Options add drivers and kernels from
// outside.
func Open(c *soc.Config, p hal.Preference, options ...Option) ([]hal.Device, error) {
	return new(Kernels).Open(c, p, options...)
}

// Kernels keeps what drivers compiled, for a process that opens the same or similar
// SoCs many times. It is bounded, and may be used from several goroutines. The zero
// Kernels is empty.
type Kernels struct {
	dsp dspdriver.Kernels
	gpu gpudriver.Kernels
}

// Open is the function Open for devices that share these kernels.
func (k *Kernels) Open(c *soc.Config, p hal.Preference, options ...Option) ([]hal.Device, error) {
	around := standalone(c)
	around.kernels = k
	return open(c, p, around, options)
}

func open(c *soc.Config, p hal.Preference, around *surroundings, options []Option) ([]hal.Device, error) {
	var list []hal.Device
	var err error
	for _, o := range options {
		o(&around.added)
	}
	if around.machine, err = cache.Fingerprint(c); err != nil {
		return nil, err
	}
	for _, b := range builders {
		if !b.present(c) {
			continue
		}
		d, err := b.build(c, sim.Preference(p), around)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return around.added.to(list, around)
}

func newCPU(c *soc.Config, p sim.Preference, around *surroundings) (hal.Device, error) {
	cfg, err := cpuConfig(c, p, around)
	if err != nil {
		return nil, err
	}
	return cpudriver.New(cfg), nil
}

// Samples are the sample drivers of Android's source tree. They compute on the CPU of a
// SoC, as its file describes it, and share one clock.
func Samples(c *soc.Config, p hal.Preference) ([]hal.Device, error) {
	return samples(c, p, standalone(c))
}

// Samples are the sample drivers on the machine's CPU.
func (m *Machine) Samples(p hal.Preference) ([]hal.Device, error) {
	return samples(m.config, p, &surroundings{host: m.Host, clock: m.clock})
}

func samples(c *soc.Config, p hal.Preference, around *surroundings) ([]hal.Device, error) {
	cfg, err := cpuConfig(c, sim.Preference(p), around)
	if err != nil {
		return nil, err
	}
	var list []hal.Device
	for _, name := range sample.Names() {
		d, err := sample.New(name, cfg)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// cpuConfig fills the timing model of the reference CPU.
func cpuConfig(c *soc.Config, p sim.Preference, around *surroundings) (cpudriver.Config, error) {
	s, err := CPUSpec(c, p)
	if err != nil {
		return cpudriver.Config{}, err
	}
	description := fmt.Sprintf("%s, %d threads, %.2f GHz, reference kernels", s.Name, c.CPU.Threads, float64(s.Cores[0].ClockHz)/1e9)
	return cpudriver.Config{
		Operations: around.added.table,
		Spec:       *s, Host: around.host(soc.EngineCPU), Clock: around.clock, Description: description,
		SpecAt: func(points []sim.OPP) (*timing.CPUSpec, error) { return cpuSpec(c, points) },
	}, nil
}

// CPUSpec is the timing model of the CPU, its clusters at their points of a preference.
func CPUSpec(c *soc.Config, p sim.Preference) (*timing.CPUSpec, error) {
	var points []sim.OPP
	for i := range c.CPU.Clusters {
		points = append(points, c.CPU.Clusters[i].Clock.At(p))
	}
	return cpuSpec(c, points)
}

// cpuSpec is the CPU with each cluster at a point, and the memory at the first one's vote.
func cpuSpec(c *soc.Config, points []sim.OPP) (*timing.CPUSpec, error) {
	cpu := c.CPU
	rates, err := c.VotedAt(&cpu.Clusters[0].Clock, points[0]).MemoryRates(cpu.L3.LineBytes, cpu.L3.MSHRs)
	if err != nil {
		return nil, err
	}
	lead := points[0].Volts / cpu.Energy.VRef
	s := &timing.CPUSpec{
		Name: cpu.Name, ThreadDispatchCycles: cpu.ThreadDispatchCycles, L3: cpuCache(&cpu.L3),
		SpinSeconds: cpu.SpinUs / 1e6, SpinShare: cpu.SpinShare, IdleWatts: c.Host.Idle[0].MW / 1e3,
		DRAMPerSecond: min(cpu.DRAMGBPerS*1e9*float64(cpu.Threads), rates.StreamPerSecond),
		DRAMSeconds:   rates.Alone.Seconds(), DRAMLineSeconds: rates.Random.Seconds(),
		StaticWatts: cpu.Energy.StaticMW / 1e3, DRAMWatts: c.DRAM.BackgroundMW() / 1e3,
		CacheBytePJ: cpu.Energy.PJ["cache_byte"] * lead * lead,
	}
	s.DRAMReadBytePJ, s.DRAMWriteBytePJ = c.DRAM.StreamPJPerByte()
	if cpu.Library == soc.ONNXRuntime {
		s.Library = timing.ONNXRuntime
	}
	left := cpu.Threads
	for i := range cpu.Clusters {
		k, opp := &cpu.Clusters[i], points[i]
		kernels := &cpu.Kernels
		if k.Kernels != nil {
			kernels = k.Kernels
		}
		threads := min(left, k.Cores)
		left -= threads
		s.Cores = append(s.Cores, timing.CoreSpec{
			Name: k.Name, Threads: threads, ClockHz: opp.Hz, Volts: opp.Volts,
			MACF32: k.MACF32, MACF16: k.MACF16, MACI8: k.MACI8, SIMDBytes: k.SIMDBytesPerCycle, PowerUW: k.PowerUW,
			L1: cpuCache(&k.L1D), L2: cpuCache(&k.L2), Kernels: cpuKernels(kernels),
		})
	}
	return s, nil
}

func cpuKernels(k *soc.CPUKernels) timing.KernelSpec {
	s := timing.KernelSpec{GroupedCycles: k.GroupedCycles, PatchBytes: k.PatchBytesPerCycle, ScalarCycles: k.ScalarCycles, OperationCycles: k.OperationCycles}
	s.Efficiency[opspec.KernelConv] = [3]float64{k.ConvF32, k.ConvF16, k.ConvI8}
	s.Efficiency[opspec.KernelDepthwise] = [3]float64{k.DepthwiseF32, k.DepthwiseF16, k.DepthwiseI8}
	s.Efficiency[opspec.KernelDense] = [3]float64{k.DenseF32, k.DenseF16, k.DenseI8}
	s.Efficiency[opspec.KernelNone] = [3]float64{k.Elementwise, k.Elementwise, k.Elementwise}
	return s
}

func cpuCache(c *soc.Cache) timing.CacheSpec {
	return timing.CacheSpec{Bytes: int64(c.Bytes()), LineBytes: c.LineBytes, Ways: c.Ways, HitCycles: float64(c.HitCycles),
		BytesPerCycle: float64(c.BytesPerCycle), MSHRs: c.MSHRs}
}

func newGPU(c *soc.Config, p sim.Preference, around *surroundings) (hal.Device, error) {
	s, err := gpu.FromSoC(c, p)
	if err != nil {
		return nil, err
	}
	memory := func() (mem.Level, error) { // the core adds GPU.MemoryNs behind its L2
		return c.Voted(&c.GPU.Clock, p).NewEngineMemory(soc.EngineGPU)
	}
	lanes := s.Clusters * s.CUsPerCluster * s.SIMDsPerCU * s.Lanes
	cfg := gpudriver.Config{
		Spec: s, Texels: c.GPU.Driver.Texels, Overlap: c.GPU.Driver.Overlap, NewMemory: memory, MemoryRates: func() (gpucost.Machine, error) {
			r, err := c.MemoryRates(s.L2.Line, s.L2.MSHRs)
			return gpucost.Machine{MemoryBytesPerSecond: r.StreamPerSecond, MemoryNs: r.Alone.Seconds()*1e9 + s.MemoryNs}, err
		},
		Kernels: &around.kernels.gpu,
		Settings: gpudriver.Settings{
			Host: around.host(soc.EngineGPU), Clock: around.clock, Capabilities: capabilities(c, "gpu"), Machine: around.machine,
			Description: fmt.Sprintf("%s, %d lanes at %.0f MHz", s.Name, lanes, float64(s.Hz)/1e6),
		},
	}
	around.added.editGPU(&cfg)
	return gpudriver.New(cfg)
}

func newDSP(c *soc.Config, p sim.Preference, around *surroundings) (hal.Device, error) {
	s, err := dsp.FromSoC(c, p)
	if err != nil {
		return nil, err
	}
	memory := func() (mem.Level, error) { // the core adds DSP.MemoryNs behind its L2
		return c.Voted(&c.DSP.Clock, p).NewEngineMemory(soc.EngineDSP)
	}
	cfg := dspdriver.Config{
		Spec: s, NewMemory: memory, Kernels: &around.kernels.dsp,
		SpecAt: func(o sim.OPP) (dsp.Spec, error) {
			at := s
			at.ClockHz, at.VoltageV = o.Hz, o.Volts
			return at, nil
		},
		Settings: dspdriver.Settings{
			Host: around.host(soc.EngineDSP), Clock: around.clock, Capabilities: capabilities(c, "dsp"), Machine: around.machine,
			Description: fmt.Sprintf("%s, %d threads, %d HVX contexts at %.0f MHz", s.Name, s.Threads, s.Contexts, float64(s.ClockHz)/1e6),
		},
	}
	around.added.editDSP(&cfg)
	return dspdriver.New(cfg)
}

func newNPU(c *soc.Config, p sim.Preference, around *surroundings) (hal.Device, error) {
	s, err := npu.FromSoC(c, p)
	if err != nil {
		return nil, err
	}
	levels := func() ([]mem.Level, error) {
		l, err := c.Voted(&c.NPU.Clock, p).NewEngineMemory(soc.EngineNPU)
		if err != nil {
			return nil, err
		}
		return npu.ShareFromSoC(c, l), nil
	}
	onChip := 0
	for _, m := range c.NPU.Memories {
		if !m.OffChip {
			onChip += m.KiB << 10
		}
	}
	cfg := npudriver.Config{
		Spec: s, OnChipBytes: onChip, KeepsParameters: c.NPU.KeepsParameters, NewLevels: levels,
		SpecAt: func(o sim.OPP) (npu.Spec, error) { return npu.FromSoCAt(c, o) },
		Share:  func(dram mem.Level) []mem.Level { return npu.ShareFromSoC(c, dram) },
		Settings: npudriver.Settings{
			Host: around.host(soc.EngineNPU), Clock: around.clock, Capabilities: capabilities(c, "npu"), Machine: around.machine,
			Description: fmt.Sprintf("%s, %d MAC/cycle at %.0f MHz, %d KiB on chip", s.Name, s.MACsPerCycle(), float64(s.Hz)/1e6, onChip>>10),
		},
	}
	around.added.editNPU(&cfg)
	return npudriver.New(cfg)
}
