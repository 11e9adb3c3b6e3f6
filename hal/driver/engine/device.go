package engine

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/nn"
)

// Settings are what the Configs of all engines have in common. L is what lowerings work with.
type Settings[L any] struct {
	// Host is what lies between clients and the device.
	Host         base.Host
	Clock        *hal.Clock // of the machine; nil is one of its own
	Capabilities hal.Capabilities
	Description  string
	// Machine is a text that changes with the machine around the device. A compilation
	// cache of another machine is refused.
	Machine string
	// Lowerings are asked first for every operation: kernels that this driver does not
	// have, written against its packages of kernels.
	Lowerings []base.OperationLowering[L]
	// Operations are operations of vendor extensions that this driver does not have.
	Operations []base.Operation[L]
}

// Base is the device of a name for package base, but for its type. model names the machine; a compilation
// cache of another value of parts is refused. It adds the lowerings of Operations to Lowerings.
func (s *Settings[L]) Base(name, model string, t *legal.Table[L], parts ...any) (base.Config, error) {
	identity, err := cache.Fingerprint(append(parts, s.Machine)...)
	if err != nil {
		return base.Config{}, err
	}
	own, err := base.Extend(t.Extensions(), s.Lowerings, s.Operations)
	s.Lowerings = own.Lowerings
	return base.Config{
		Name: name, Description: s.Description, Version: base.Identity("1.0-"+model, s.Lowerings), Capabilities: s.Capabilities,
		Host: s.Host, Clock: s.Clock, Identity: identity, Operations: own.Table, Extensions: own.Extensions,
	}, err
}

// MiddleEnd is what the lowerings of all engines say by their tables. A base.Lowering of a device embeds it. It
// implements base.Legalized.
type MiddleEnd[L any] struct {
	Table     *legal.Table[L]
	Lowerings []base.OperationLowering[L] // asked before it
	// Price is what the device is estimated to take for a graph, in cycles; nil where no row of the table has an alternative.
	Price func(*graph.Graph) (int64, error)
}

// Passes implements base.Lowering.
func (m *MiddleEnd[L]) Passes() graph.Pipeline { return m.Table.Passes }

// Facts implements base.Legalized.
func (m *MiddleEnd[L]) Facts() []legal.Fact { return m.Table.Facts() }

// Leaves implements base.Legalized.
func (m *MiddleEnd[L]) Leaves(g *graph.Graph, op *nn.Operation, pass string) bool {
	return base.Leaves(m.Table, m.Lowerings, g, op, pass, m.Price)
}
