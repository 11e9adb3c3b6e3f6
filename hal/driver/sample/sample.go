package sample

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/nn"
)

// driver is one sample driver: a row of the table below.
type driver struct {
	name string
	// What getCapabilities promises, in time and power relative to the CPU: for all
	// types, for FLOAT32 and TENSOR_FLOAT32, and for both in relaxed models.
	all, float, relaxed hal.PerformanceInfo
	// declines is why the driver does not accept an operation; "" when it does.
	declines func(g *nn.Subgraph, op *nn.Operation) string
}

// drivers have the figures and the operation sets of Android 11's.
var drivers = []driver{
	{"sample_all", both(1.1, 1.1), both(1.1, 1.1), both(1.1, 1.1), declinesExtensions},
	{"sample_float_fast", both(1, 1), both(0.8, 1.2), both(0.7, 1.1), acceptsFirst("TENSOR_FLOAT32", isFloat)},
	{"sample_float_slow", both(1, 1), both(1.3, 0.7), both(1.2, 0.6), acceptsFirst("TENSOR_FLOAT32", isFloat)},
	{"sample_quant", both(50, 1), both(50, 1), both(50, 1), acceptsFirst("an 8-bit asymmetric tensor", nn.OperandType.IsQuant8)},
	{"sample_minimal", both(1, 1), both(0.4, 0.5), both(0.4, 0.5), minimal},
}

func both(time, power float32) hal.PerformanceInfo {
	return hal.PerformanceInfo{ExecTime: time, PowerUsage: power}
}

func isFloat(t nn.OperandType) bool { return t == nn.TensorFloat32 }

func declinesExtensions(_ *nn.Subgraph, op *nn.Operation) string {
	if nn.IsExtensionOperationType(op.Type) {
		return fmt.Sprintf("%s is of an extension", op.Type)
	}
	return ""
}

// acceptsFirst limits a driver to operations whose first input has a type; that of SELECT,
// which begins with its condition, is the second.
func acceptsFirst(what string, ok func(nn.OperandType) bool) func(*nn.Subgraph, *nn.Operation) string {
	return func(g *nn.Subgraph, op *nn.Operation) string {
		if s := declinesExtensions(g, op); s != "" {
			return s
		}
		i := 0
		if op.Type == nn.OpSelect {
			i = 1
		}
		if i >= len(op.Inputs) {
			return fmt.Sprintf("%s has no input %d", op.Type, i)
		}
		if t := g.Operands[op.Inputs[i]].Type; !ok(t) {
			return fmt.Sprintf("%s of %s, want %s", op.Type, t, what)
		}
		return ""
	}
}

// minimal accepts three operations on floats.
func minimal(g *nn.Subgraph, op *nn.Operation) string {
	if !slices.Contains([]nn.OperationType{nn.OpAdd, nn.OpConcatenation, nn.OpConv2D}, op.Type) {
		return fmt.Sprintf("%s, want ADD, CONCATENATION or CONV_2D", op.Type)
	}
	return acceptsFirst("TENSOR_FLOAT32", isFloat)(g, op)
}

// Names are the sample drivers.
func Names() []string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.name)
	}
	return names
}

// New returns a sample driver by name. cfg prices its executions, which run on the CPU.
func New(name string, cfg cpudriver.Config) (hal.Device, error) {
	for _, d := range drivers {
		if d.name == name {
			return base.New(base.Config{
				Name: name, Description: "Android's " + name + " driver, computes on the CPU", Version: "1.3-" + name,
				Type: hal.DeviceOther, Capabilities: d.capabilities(), Host: cfg.Host, Clock: cfg.Clock,
			}, limited{cpudriver.NewCompiler(cfg), d.declines}), nil
		}
	}
	return nil, fmt.Errorf("sample: no driver %q, there are %s", name, strings.Join(Names(), ", "))
}

// capabilities spreads the figures over the types of HAL 1.3.
func (d *driver) capabilities() hal.Capabilities {
	c := hal.Capabilities{RelaxedScalar: d.relaxed, RelaxedTensor: d.relaxed, If: d.all, While: d.all}
	for t := nn.OperandType(0); t.Valid(); t++ {
		switch t {
		case nn.SubgraphRef:
		case nn.Float32, nn.TensorFloat32:
			c.Update(t, d.float)
		default:
			c.Update(t, d.all)
		}
	}
	return c
}

// limited is a compiler that supports fewer operations.
type limited struct {
	base.Compiler
	declines func(*nn.Subgraph, *nn.Operation) string
}

// Supports implements base.Compiler.
func (l limited) Supports(m *nn.Model) ([]hal.Support, error) {
	s, err := l.Compiler.Supports(m)
	if err != nil {
		return nil, err
	}
	for i := range s {
		if reason := l.declines(&m.Main, &m.Main.Operations[i]); reason != "" {
			s[i] = hal.Support{Reason: reason}
		}
	}
	return s, nil
}

// Compile implements base.Compiler: it refuses what Supports does.
func (l limited) Compile(m *nn.Model, o hal.PrepareOptions) (base.Program, error) {
	s, err := l.Supports(m)
	if err != nil {
		return nil, err
	}
	for i := range s {
		if !s[i].OK {
			return nil, fmt.Errorf("operation %d: %s", i, s[i].Reason)
		}
	}
	return l.Compiler.Compile(m, o)
}
