package npudriver

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec npu.Spec
	// SpecAt is the machine at another operating point; nil: there is none.
	SpecAt func(sim.OPP) (npu.Spec, error)
	// OnChipBytes is the memory for activations and weight buffers.
	OnChipBytes int
	// KeepsParameters lets constants stay on chip from one execution to the next in memory that activations
	// do not need: nothing else uses that memory until another program runs.
	KeepsParameters bool
	// NewLevels makes the timed memories of a run, cold; nil keeps the Spec's
	// bandwidths and latencies.
	NewLevels func() ([]mem.Level, error)
	// Share makes the memories of a run in front of a DRAM that others use.
	Share func(dram mem.Level) []mem.Level
	Settings
}

// Settings are what the Configs of all engines have in common.
type Settings = engine.Settings[*lower.Lowering]

// Device is the NPU as the runtime sees it.
type Device struct {
	*base.Device
	middleEnd engine.MiddleEnd[*lower.Lowering]
	cfg       Config
	cores     base.Cores[npu.Spec, npu.Core]
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := npu.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg}
	d.cores.Own, d.cores.SpecAt, d.cores.New = c, cfg.SpecAt, npu.New
	d.middleEnd = engine.MiddleEnd[*lower.Lowering]{Table: family.Table(), Checker: d.check, Program: d.lower, Loader: d.load}
	d.Device, err = d.cfg.Device(base.Config{Name: "npu", Version: cfg.Spec.Name, Type: hal.DeviceAccelerator, CostDependsOnValues: true}, &d.middleEnd, cfg.Spec, cfg.OnChipBytes, cfg.KeepsParameters)
	return d, err
}

// check answers for a graph by the lowering that it would have.
func (d *Device) check(g *graph.Graph) compile.Checker {
	return lower.Anywhere(family.Table(), &d.cfg.Spec, g, d.cfg.Lowerings)
}

// lower plans a graph and makes it a program.
func (d *Device) lower(g *graph.Graph, o hal.PrepareOptions) (compile.Executable, error) {
	list, err := lower.Graph(family.Table(), &d.cfg.Spec, g, d.cfg.Lowerings, o.Candidates)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(d.target(), list)
	if err != nil {
		return nil, err
	}
	x := assemble(d, g, p)
	x.Candidates = o.Candidates
	return x, nil
}

// target is the machine of a device for its plans.
func (d *Device) target() plan.Target {
	t := plan.Own(&d.cfg.Spec, d.cfg.OnChipBytes)
	t.KeepsParameters = d.cfg.KeepsParameters
	return t
}
