package gpudriver

import (
	"errors"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec gpu.Spec
	// Texels gives convolutions of floats the form of a phone's library, whose tensors are
	// textures: see kernel/texel. Otherwise they are products of matrices with scalar inputs.
	Texels bool
	// Overlap launches independent steps concurrently where that is estimated to need fewer
	// cycles; it needs MemoryRates.
	Overlap bool
	// NewMemory makes what the device's L2 reads from, cold; nil allows only
	// functional executions.
	NewMemory func() (mem.Level, error)
	// MemoryRates measures the memory behind L2, for estimates; nil allows none. The Spec of
	// what it returns is not set.
	MemoryRates func() (cost.Machine, error)
	// Kernels are shared with other devices; nil: the device has its own.
	Kernels *Kernels
	Settings
}

// Kernels keeps the code of kernels. It is bounded, and may be used from several goroutines. The
// zero Kernels is empty.
type Kernels = plan.Kernels

// Settings are what the Configs of all engines have in common.
type Settings = engine.Settings[*lower.Lowering]

// Device is the GPU as the runtime sees it.
type Device struct {
	*base.Device
	middleEnd engine.MiddleEnd[*lower.Lowering]
	cfg       Config
	core      *gpu.Core
	kernels   *Kernels
	replays   replays
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := gpu.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg, core: c, kernels: cfg.Kernels}
	if d.kernels == nil {
		d.kernels = &Kernels{}
	}
	d.middleEnd = engine.MiddleEnd[*lower.Lowering]{Table: family.Table(), Checker: func(g *graph.Graph) compile.Checker {
		return lower.New(family.Table(), g, d.machine(), d.cfg.Lowerings)
	}, Program: d.lower, Loader: d.load, Price: d.price}
	d.Device, err = d.cfg.Device(base.Config{Name: "gpu", Version: cfg.Spec.Name, Type: hal.DeviceGPU}, &d.middleEnd, cfg.Spec, cfg.Texels, cfg.Overlap)
	return d, err
}

// machine is what lowering knows of the device.
func (d *Device) machine() lower.Machine {
	s := &d.cfg.Spec
	return lower.Machine{Texels: d.cfg.Texels, Tile: kernel.Machine{
		Clusters: s.Clusters, WaveLanes: max(s.PartitionLanes, 32), WaveSIMDs: s.PartitionSIMDs, Rows: s.VGPRRows, CUs: s.Clusters * s.CUsPerCluster, SIMDs: s.SIMDsPerCU, AddressLanes: s.AddressLanes, BroadcastLanes: s.BroadcastLanes,
		Line: s.L2.Line, L2Bytes: s.L2.Bytes, L2Rate: s.L2.BytesPerCycle, L2Latency: s.L2.LatencyCycles, ScalarLatency: s.Scalar.LatencyCycles, ScalarLine: s.Scalar.Line,
		NearestBytes: s.L0.Bytes, NearestRate: s.L0.BytesPerCycle,
		DotCycles: s.Vector[gpu.ClassDot].Issue,
	}}
}

// price estimates the cycles of a graph on the GPU.
func (d *Device) price(g *graph.Graph) (cycles int64, err error) {
	defer try.Catch(&err)
	machine := try.V(d.rates())
	list := try.V(lower.Graph(family.Table(), g, d.machine(), d.cfg.Lowerings))
	p := try.V(d.plan(list))
	for _, n := range launchEstimates(&machine, p.Launches) {
		cycles += n
	}
	return cycles, nil
}

// rates is the machine as estimates know it.
func (d *Device) rates() (m cost.Machine, err error) {
	if d.cfg.MemoryRates == nil {
		return m, errors.New("gpu: the rates of the memory are not known")
	}
	m, err = d.cfg.MemoryRates()
	m.Spec = &d.cfg.Spec
	return m, err
}

// plan is the program of a lowered graph.
func (d *Device) plan(list *step.List) (*plan.Program, error) {
	if !d.cfg.Overlap {
		return plan.New(list, d.kernels, nil)
	}
	machine, err := d.rates()
	if err != nil {
		return nil, err
	}
	return plan.New(list, d.kernels, func(list []kernel.Work) (beside, after int64) {
		for _, w := range list {
			after += cost.Estimate(&machine, w).Cycles()
		}
		return cost.Concurrent(&machine, list), after
	})
}

// launchEstimates estimates the cycles of each launch: for one beside others, the cycles that it adds to all of them.
func launchEstimates(m *cost.Machine, list []plan.Launch) []int64 {
	cycles := make([]int64, len(list))
	var works []kernel.Work
	before := int64(0)
	for i := range list {
		if !list[i].Concurrent {
			works, before = works[:0], 0
		}
		works = append(works, list[i].Work)
		all := cost.Concurrent(m, works)
		cycles[i], before = all-before, all
	}
	return cycles
}

// lower plans a graph and makes it a program.
func (d *Device) lower(g *graph.Graph, o hal.PrepareOptions) (compile.Executable, error) {
	machine := d.machine()
	machine.Candidates = o.Candidates
	list, err := lower.Graph(family.Table(), g, machine, d.cfg.Lowerings)
	if err != nil {
		return nil, err
	}
	p, err := d.plan(list)
	if err != nil {
		return nil, err
	}
	x := assemble(d, g, p)
	x.Candidates = o.Candidates
	return x, nil
}
