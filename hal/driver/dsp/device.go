package dsp

import (
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/nn"
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
	// Host is what lies between clients and the device.
	Host         base.Host
	Clock        *hal.Clock // of the machine; nil is one of its own
	Capabilities hal.Capabilities
	Description  string
	// Machine is a text that changes with the machine around the device. A compilation
	// cache of another machine is refused.
	Machine string
	// Kernels are shared with other devices; nil: the device has its own.
	Kernels *Kernels
	// Lowerings are asked first for every operation: kernels that this driver does not
	// have, written against kernel/hvx.
	Lowerings []lower.Operation
	// Operations are operations of vendor extensions that this driver does not have.
	Operations []base.Operation[*lower.Lowering]
}

// Kernels keeps compiled kernels, of any machine. It is bounded, and may be used from several
// goroutines. The zero Kernels is empty.
type Kernels = hvx.Cache

// Device is the DSP as the runtime sees it.
type Device struct {
	*base.Device
	cfg     Config
	cores   base.Cores[dsp.Spec, dsp.Core]
	kernels *Kernels
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := dsp.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	identity, err := cache.Fingerprint(cfg.Spec, cfg.Machine)
	if err != nil {
		return nil, err
	}
	own, err := base.Extend(lower.Table().Extensions(), cfg.Lowerings, cfg.Operations)
	if err != nil {
		return nil, err
	}
	cfg.Lowerings = own.Lowerings
	d := &Device{cfg: cfg, kernels: cfg.Kernels}
	d.cores.Own, d.cores.SpecAt, d.cores.New = c, cfg.SpecAt, dsp.New
	if d.kernels == nil {
		d.kernels = &Kernels{}
	}
	d.Device = base.New(base.Config{
		Name: "dsp", Description: cfg.Description, Version: base.Identity("1.0-"+cfg.Spec.Name, cfg.Lowerings), Type: hal.DeviceAccelerator, Capabilities: cfg.Capabilities, Host: cfg.Host, Clock: cfg.Clock,
		Identity:   identity,
		Operations: own.Table, Extensions: own.Extensions,
	}, base.NewCompiler(middleEnd{d}))
	return d, nil
}

// middleEnd lowers canonical graphs for a device.
type middleEnd struct{ *Device }

// Passes implements base.Lowering.
func (middleEnd) Passes() graph.Pipeline { return lower.Table().Passes }

// Facts implements base.Legalized.
func (middleEnd) Facts() []legal.Fact { return lower.Table().Facts() }

// Leaves implements base.Legalized.
func (d middleEnd) Leaves(g *graph.Graph, op *nn.Operation, pass string) bool {
	return base.Leaves(lower.Table(), d.cfg.Lowerings, g, op, pass, d.price)
}

// Check implements base.Lowering.
func (d middleEnd) Check(g *graph.Graph) base.Checker {
	return lower.New(g, plan.NewObject(&d.cfg.Spec, &hvx.Cache{}), d.cfg.Lowerings)
}

// Lower implements base.Lowering.
func (d middleEnd) Lower(g *graph.Graph, o hal.PrepareOptions) (base.Executable, error) {
	return prepare(d.Device, g, o.Candidates)
}

// price is what the DSP is estimated to take for a graph, in cycles.
func (d middleEnd) price(g *graph.Graph) (cycles int64, err error) {
	list, err := lower.Graph(g, plan.NewObject(&d.cfg.Spec, d.kernels), d.cfg.Lowerings)
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
