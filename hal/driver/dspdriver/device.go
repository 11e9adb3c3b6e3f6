package dspdriver

import (
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/engine"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec dsp.Spec
	// SpecAt is the machine at another operating point; nil: there is none.
	SpecAt func(sim.OPP) (dsp.Spec, error)
	// NewMemory makes what the device's L2 reads from, cold; nil allows only
	// functional executions.
	NewMemory func() (mem.Level, error)
	// Kernels are shared with other devices; nil: the device has its own.
	Kernels *Kernels
	Settings
}

// Kernels keeps compiled kernels, of any machine. It is bounded, and may be used from several
// goroutines. The zero Kernels is empty.
type Kernels = hvx.Cache

// Settings are what the Configs of all engines have in common.
type Settings = engine.Settings[*lower.Lowering]

// Device is the DSP as the runtime sees it.
type Device struct {
	*base.Device
	middleEnd engine.MiddleEnd[*lower.Lowering]
	cfg       Config
	cores     base.Cores[dsp.Spec, dsp.Core]
	kernels   *Kernels
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := dsp.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg, kernels: cfg.Kernels}
	d.cores.Own, d.cores.SpecAt, d.cores.New = c, cfg.SpecAt, dsp.New
	if d.kernels == nil {
		d.kernels = &Kernels{}
	}
	d.middleEnd = engine.MiddleEnd[*lower.Lowering]{Table: family.All().Table, Checker: d.check, Program: d.lower, Loader: d.load, Price: d.price}
	d.Device, err = d.cfg.Device(base.Config{Name: "dsp", Version: cfg.Spec.Name, Type: hal.DeviceAccelerator}, &d.middleEnd, cfg.Spec)
	return d, err
}

// check answers for a graph by the lowering that it would have.
func (d *Device) check(g *graph.Graph) compile.Checker {
	return lower.New(family.All(), g, plan.NewObject(&d.cfg.Spec, &hvx.Cache{}), d.cfg.Lowerings)
}

// lower plans a graph and makes it a program.
func (d *Device) lower(g *graph.Graph, o hal.PrepareOptions) (compile.Executable, error) {
	object := plan.NewObject(&d.cfg.Spec, d.kernels)
	object.Candidates = o.Candidates
	list, err := lower.Graph(family.All(), g, object, d.cfg.Lowerings)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(list, &d.cfg.Spec)
	if err != nil {
		return nil, err
	}
	return assemble(d, g, p), nil
}

// price estimates the cycles of a graph on the DSP.
func (d *Device) price(g *graph.Graph) (cycles int64, err error) {
	list, err := lower.Graph(family.All(), g, plan.NewObject(&d.cfg.Spec, d.kernels), d.cfg.Lowerings)
	if err != nil {
		return 0, err
	}
	p, err := plan.New(list, &d.cfg.Spec)
	if err != nil {
		return 0, err
	}
	for _, j := range p.Jobs {
		cycles += int64(j.Cost.Cycles)
	}
	return cycles, nil
}
