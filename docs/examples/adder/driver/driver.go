// Package driver is a driver of an engine that adds and multiplies: what every driver needs, and as
// little of everything as there can be. It takes ADD and MUL of tensors of one shape, with any fused
// activation, and RELU, RELU1 and RELU6, in float32.
//
//	engine.go   the engine: instructions, what they do, what they cost
//	kernel.go   the kernels: for each operation what the engine cannot do, and the instructions
//	driver.go   lowering: a graph becomes a program
//	program.go  running, listing and saving programs
package driver

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/nn"
)

// Name is the name of the device.
const Name = "adder"

// Build returns the device on a machine, for devices.Driver.
func Build(host base.Host, clock *hal.Clock) (hal.Device, error) { return newDevice(host, clock), nil }

// New returns the device alone, such as one that is served to other processes.
func New() hal.Device { return newDevice(nil, nil) }

func newDevice(host base.Host, clock *hal.Clock) hal.Device {
	fast := hal.PerformanceInfo{ExecTime: 0.1, PowerUsage: 0.1}
	return base.New(base.Config{
		Name: Name, Description: fmt.Sprintf("a vector unit of %d lanes", lanes), Version: "1.0", Type: hal.DeviceAccelerator,
		Capabilities: hal.Capabilities{
			Operand:       map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: fast}, // nnsoc capabilities measures
			RelaxedScalar: hal.Slowest, RelaxedTensor: fast, If: hal.Slowest, While: hal.Slowest,
		},
		Identity: "adder-1", // of the instruction set: a compilation cache of another is refused
		Host:     host, Clock: clock,
	}, compile.New(lowering{}))
}

// lowering implements compile.Loader.
type lowering struct{}

// passes make a model canonical for the engine.
var passes = pass.NewPipeline(pass.ResolveShapes, pass.RemoveDeadOperations)

// Passes implements compile.Lowering.
func (lowering) Passes() pass.Pipeline { return passes }

// Check implements compile.Lowering.
func (lowering) Check(g *graph.Graph) compile.Checker { return checker{g} }

// checker says what the engine cannot do. Support queries ask it, and preparing asks it again.
type checker struct{ *graph.Graph }

// Types implements compile.Checker.
func (c checker) Types(i int) error {
	op := &c.Operations[i]
	if _, ok := kernels[op.Type]; !ok {
		return fmt.Errorf("%s: this engine has ADD, MUL, RELU, RELU1 and RELU6", op.Type)
	}
	if t := c.Operands[op.Outputs[0]].Type; t != nn.TensorFloat32 {
		return fmt.Errorf("%s: %s, this engine computes TENSOR_FLOAT32", op.Type, t)
	}
	return nil
}

// Lowers implements compile.Checker.
func (c checker) Lowers(i int) error {
	op := &c.Operations[i]
	return kernels[op.Type].check(c.Graph, op)
}

// Defers implements compile.Checker.
func (c checker) Defers(i int) error {
	return fmt.Errorf("%s: shape and activation must be known when the model is prepared", c.Operations[i].Type)
}

// Lower implements compile.Lowering: it places every value in the memory and emits an instruction
// for each operation.
func (lowering) Lower(g *graph.Graph, _ hal.PrepareOptions) (compile.Executable, error) {
	p := &program{graph: g, at: make([]int, len(g.Operands))}
	var buffers []arena.Interval
	var owners []uint32
	for x, life := range g.Lifetimes() {
		o := &g.Operands[x]
		if o.IsConst() && o.Type == nn.TensorFloat32 {
			life = [2]int{-1, len(g.Operations)}
		}
		if o.Type == nn.TensorFloat32 && life[1] >= life[0] {
			buffers, owners = append(buffers, arena.Interval{Bytes: int(o.Bytes()), First: life[0], Last: life[1]}), append(owners, uint32(x))
		}
	}
	places, end := arena.Place(buffers, arena.Options{Align: 4 * lanes, Limit: maxMemory})
	for i, x := range owners {
		if places[i] == arena.Unplaced {
			return nil, hal.Errorf(hal.ResourceExhaustedPersistent, "adder: the values need more than %d bytes", maxMemory)
		}
		p.at[x] = places[i]
	}
	p.memory = end
	for i := range g.Operations {
		op := &g.Operations[i]
		if err := kernels[op.Type].emit(p, op); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// maxMemory bounds the memory of a program.
const maxMemory = 1 << 30
