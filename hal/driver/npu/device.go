package npu

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/npu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npu/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npu/plan"
	"github.com/nnsoc/nnsoc/nn"
	core "github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec core.Spec
	// SpecAt is the machine at another operating point; nil: there is none.
	SpecAt func(sim.OPP) (core.Spec, error)
	// OnChipBytes is the memory for activations and weight buffers.
	OnChipBytes int
	// NewLevels makes the timed memories of a run, cold; nil keeps the Spec's
	// bandwidths and latencies.
	NewLevels func() ([]mem.Level, error)
	// Share makes the memories of a run in front of a DRAM that others use.
	Share func(dram mem.Level) []mem.Level
	// Host is what lies between clients and the device.
	Host         base.Host
	Clock        *hal.Clock // of the machine; nil is one of its own
	Capabilities hal.Capabilities
	Description  string
	// Machine is a text that changes with the machine around the device. A compilation
	// cache of another machine is refused.
	Machine string
	// Lowerings are asked first for every operation: kernels that this driver does not
	// have, written against kernel.
	Lowerings []lower.Operation
	// Operations are operations of vendor extensions that this driver does not have.
	Operations []base.Operation[*lower.Lowering]
}

// Device is the NPU as the runtime sees it.
type Device struct {
	*base.Device
	cfg   Config
	cores base.Cores[core.Spec, core.Core]
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := core.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	identity, err := cache.Fingerprint(cfg.Spec, cfg.OnChipBytes, cfg.Machine)
	if err != nil {
		return nil, err
	}
	own, err := base.Extend(lower.Table().Extensions(), cfg.Lowerings, cfg.Operations)
	if err != nil {
		return nil, err
	}
	cfg.Lowerings = own.Lowerings
	d := &Device{cfg: cfg}
	d.cores.Own, d.cores.SpecAt, d.cores.New = c, cfg.SpecAt, core.New
	d.Device = base.New(base.Config{
		Name: "npu", Description: cfg.Description, Version: base.Identity("1.0-"+cfg.Spec.Name, cfg.Lowerings), Type: hal.DeviceAccelerator, Capabilities: cfg.Capabilities, Host: cfg.Host, Clock: cfg.Clock,
		Identity: identity, Operations: own.Table, Extensions: own.Extensions,
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
	return lower.Anywhere(&d.cfg.Spec, g, d.cfg.Lowerings)
}

// Lower implements base.Lowering.
func (d middleEnd) Lower(g *graph.Graph, o hal.PrepareOptions) (base.Executable, error) {
	list, err := lower.Graph(&d.cfg.Spec, g, d.cfg.Lowerings, o.Candidates)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(d.target(), list)
	if err != nil {
		return nil, err
	}
	x := assemble(d.Device, g, p)
	x.Candidates = o.Candidates
	return x, nil
}

// price is what the NPU is estimated to take for a graph, in cycles.
func (d middleEnd) price(g *graph.Graph) (cycles int64, err error) {
	list, err := lower.Graph(&d.cfg.Spec, g, d.cfg.Lowerings, nil)
	if err != nil {
		return 0, err
	}
	for i := range list.Steps {
		cycles += cost.Estimate(&d.cfg.Spec, &list.Steps[i].Kernel).Cycles()
	}
	return cycles, nil
}

// target is the machine of a device for its plans.
func (d *Device) target() plan.Target { return plan.Own(&d.cfg.Spec, d.cfg.OnChipBytes) }
