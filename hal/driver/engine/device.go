package engine

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/nn"
)

// Settings are the common part of the Configs of all engines. L is the argument of lowerings.
type Settings[L any] struct {
	// Host models the path between clients and the device.
	Host         base.Host
	Clock        *hal.Clock // of the machine; nil is one of its own
	Capabilities hal.Capabilities
	Description  string
	// Machine is a text that changes with the machine around the device. A compilation
	// cache of another machine is refused.
	Machine string
	// Lowerings come first for every operation: kernels that this driver does not
	// have, written against its packages of kernels.
	Lowerings []base.OperationLowering[L]
	// Operations are operations of vendor extensions that this driver does not have.
	Operations []base.Operation[L]
}

// Device implements the contract by a middle end. c has the device's Name, its Type and the fields that Settings lacks;
// its Version is the name of the machine's model. A compilation cache of another value of parts is refused. The
// lowerings of Operations join Lowerings, which m receives.
func (s *Settings[L]) Device(c base.Config, m *MiddleEnd[L], parts ...any) (*base.Device, error) {
	identity, err := cache.Fingerprint(append(parts, s.Machine)...)
	if err != nil {
		return nil, err
	}
	own, err := base.Extend(m.Table.Extensions(), s.Lowerings, s.Operations)
	if err != nil {
		return nil, err
	}
	s.Lowerings, m.Lowerings = own.Lowerings, own.Lowerings
	c.Description, c.Capabilities, c.Host, c.Clock = s.Description, s.Capabilities, s.Host, s.Clock
	c.Version = base.Identity("1.0-"+c.Version, s.Lowerings)
	c.Identity, c.Operations, c.Extensions = identity, own.Table, own.Extensions
	return base.New(c, base.NewCompiler(m)), nil
}

// MiddleEnd lowers canonical graphs for a device by its table and the functions after it. It
// implements base.Lowering, base.Legalized and base.Loader.
type MiddleEnd[L any] struct {
	Table     *legal.Table[L]
	Lowerings []base.OperationLowering[L] // queried before it
	Checker   func(*graph.Graph) base.Checker
	Program   func(*graph.Graph, hal.PrepareOptions) (base.Executable, error)
	Loader    func(*graph.Graph, *cache.Reader) (base.Executable, error)
	// Price is the device's estimate for a graph, in cycles; nil where no row of the table has an alternative.
	Price func(*graph.Graph) (int64, error)
}

// Passes implements base.Lowering.
func (m *MiddleEnd[L]) Passes() pass.Pipeline { return m.Table.Passes }

// Facts implements base.Legalized.
func (m *MiddleEnd[L]) Facts() []legal.Fact { return m.Table.Facts() }

// Leaves implements base.Legalized.
func (m *MiddleEnd[L]) Leaves(g *graph.Graph, op *nn.Operation, pass string) bool {
	return base.Leaves(m.Table, m.Lowerings, g, op, pass, m.Price)
}

// Check implements base.Lowering.
func (m *MiddleEnd[L]) Check(g *graph.Graph) base.Checker { return m.Checker(g) }

// Lower implements base.Lowering.
func (m *MiddleEnd[L]) Lower(g *graph.Graph, o hal.PrepareOptions) (base.Executable, error) {
	return m.Program(g, o)
}

// Load implements base.Loader.
func (m *MiddleEnd[L]) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	return m.Loader(g, r)
}
