package gpu

import (
	"errors"

	core "github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/cost"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/texel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/lower"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec core.Spec
	// Texels gives convolutions of floats the form of a phone's library, whose tensors are
	// textures: see kernel/texel. Otherwise they are products of matrices with scalar inputs.
	Texels bool
	// NewMemory makes what the device's L2 reads from, cold; nil allows only
	// functional executions.
	NewMemory func() (mem.Level, error)
	// MemoryRates measures the memory behind L2, for estimates; nil allows none. The Spec of
	// what it returns is not set.
	MemoryRates func() (cost.Machine, error)
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
	// have, written against kernel/rdna.
	Lowerings []lower.Operation
	// Operations are operations of vendor extensions that this driver does not have.
	Operations []base.Operation[*lower.Lowering]
}

// Kernels keeps the code of kernels. It is bounded, and may be used from several goroutines. The
// zero Kernels is empty.
type Kernels = plan.Kernels

// Device is the GPU as the runtime sees it.
type Device struct {
	*base.Device
	cfg     Config
	core    *core.Core
	kernels *Kernels
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := core.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	identity, err := cache.Fingerprint(cfg.Spec, cfg.Texels, cfg.Machine)
	if err != nil {
		return nil, err
	}
	own, err := base.Extend(lower.Table().Extensions(), cfg.Lowerings, cfg.Operations)
	if err != nil {
		return nil, err
	}
	cfg.Lowerings = own.Lowerings
	d := &Device{cfg: cfg, core: c, kernels: cfg.Kernels}
	if d.kernels == nil {
		d.kernels = &Kernels{}
	}
	d.Device = base.New(base.Config{
		Name: "gpu", Description: cfg.Description, Version: base.Identity("1.0-"+cfg.Spec.Name, cfg.Lowerings), Type: hal.DeviceGPU, Capabilities: cfg.Capabilities, Host: cfg.Host, Clock: cfg.Clock,
		Identity: identity, Operations: own.Table, Extensions: own.Extensions,
	}, base.NewCompiler(middleEnd{d}))
	return d, nil
}

// machine is what lowering knows of the device.
func (d *Device) machine() lower.Machine {
	s := &d.cfg.Spec
	local := s.LDSBytes
	if s.LDSPerCluster {
		local /= s.CUsPerCluster
	}
	return lower.Machine{Texels: d.cfg.Texels, Texel: texel.Machine{
		Clusters: s.Clusters, WaveLanes: max(s.PartitionLanes, 32), Rows: s.VGPRRows, CUs: s.Clusters * s.CUsPerCluster, SIMDs: s.SIMDsPerCU, AddressLanes: s.AddressLanes, BroadcastLanes: s.BroadcastLanes,
		Line: s.L2.Line, L2Rate: s.L2.BytesPerCycle, Near: s.L2.LatencyCycles, Scalar: s.Scalar.LatencyCycles,
		Local: s.LDSLatency, LocalBytes: local, DotCycles: s.Vector[core.ClassDot].Issue,
	}}
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

// price is what the GPU is estimated to take for a graph, in cycles.
func (d middleEnd) price(g *graph.Graph) (cycles int64, err error) {
	if d.cfg.MemoryRates == nil {
		return 0, errors.New("gpu: the rates of the memory are not known")
	}
	machine, err := d.cfg.MemoryRates()
	if err != nil {
		return 0, err
	}
	machine.Spec = &d.cfg.Spec
	list, err := lower.Graph(g, d.machine(), d.cfg.Lowerings)
	if err != nil {
		return 0, err
	}
	p, err := plan.New(list, d.kernels)
	if err != nil {
		return 0, err
	}
	for i := range p.Launches {
		cycles += cost.Estimate(&machine, p.Launches[i].Work).Cycles()
	}
	return cycles, nil
}

// Check implements base.Lowering.
func (d middleEnd) Check(g *graph.Graph) base.Checker {
	return lower.New(g, d.machine(), d.cfg.Lowerings)
}

// Lower implements base.Lowering.
func (d middleEnd) Lower(g *graph.Graph, o hal.PrepareOptions) (base.Executable, error) {
	machine := d.machine()
	machine.Candidates = o.Candidates
	list, err := lower.Graph(g, machine, d.cfg.Lowerings)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(list, d.kernels)
	if err != nil {
		return nil, err
	}
	x := assemble(d.Device, g, p)
	x.Candidates = o.Candidates
	return x, nil
}
