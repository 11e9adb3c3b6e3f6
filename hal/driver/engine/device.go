package engine

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
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
	Lowerings []compile.OperationLowering[L]
	// Operations are operations of vendor extensions that this driver does not have.
	Operations []compile.Operation[L]
}

// Device implements the contract by a middle end. c has the device's Name, its Type and the fields that Settings lacks;
// its Version is the name of the machine's model. A compilation cache of another value of parts is refused. The
// lowerings of Operations join Lowerings, which m receives.
func (s *Settings[L]) Device(c base.Config, m *MiddleEnd[L], parts ...any) (*base.Device, error) {
	identity, err := cache.Fingerprint(append(parts, s.Machine)...)
	if err != nil {
		return nil, err
	}
	own, err := compile.Extend(m.Table.Extensions(), s.Lowerings, s.Operations)
	if err != nil {
		return nil, err
	}
	s.Lowerings, m.Lowerings = own.Lowerings, own.Lowerings
	c.Description, c.Capabilities, c.Host, c.Clock = s.Description, s.Capabilities, s.Host, s.Clock
	c.Version = compile.Identity("1.0-"+c.Version, s.Lowerings)
	c.Identity, c.Operations, c.Extensions = identity, own.Table, own.Extensions
	return base.New(c, compile.New(m)), nil
}

// MiddleEnd lowers canonical graphs for a device by its table and the functions after it. It
// implements compile.Lowering, compile.Legalized and compile.Loader.
type MiddleEnd[L any] struct {
	Table     *legal.Table[L]
	Lowerings []compile.OperationLowering[L] // queried before it
	Checker   func(*graph.Graph) compile.Checker
	Program   func(*graph.Graph, hal.PrepareOptions) (compile.Executable, error)
	Loader    func(*graph.Graph, *cache.Reader) (compile.Executable, error)
	// Price is the device's estimate for a graph, in cycles; nil where no row of the table has an alternative.
	Price func(*graph.Graph) (int64, error)
}

// Passes implements compile.Lowering.
func (m *MiddleEnd[L]) Passes() pass.Pipeline { return m.Table.Passes }

// Facts implements compile.Legalized.
func (m *MiddleEnd[L]) Facts() []legal.Fact { return m.Table.Facts() }

// Leaves implements compile.Legalized.
func (m *MiddleEnd[L]) Leaves(g *graph.Graph, op *nn.Operation, pass string) bool {
	return compile.Leaves(m.Table, m.Lowerings, g, op, pass, m.Price)
}

// Check implements compile.Lowering.
func (m *MiddleEnd[L]) Check(g *graph.Graph) compile.Checker { return m.Checker(g) }

// Lower implements compile.Lowering.
func (m *MiddleEnd[L]) Lower(g *graph.Graph, o hal.PrepareOptions) (compile.Executable, error) {
	return m.Program(g, o)
}

// Load implements compile.Loader.
func (m *MiddleEnd[L]) Load(g *graph.Graph, r *cache.Reader) (compile.Executable, error) {
	return m.Loader(g, r)
}
