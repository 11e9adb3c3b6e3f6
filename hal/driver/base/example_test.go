package base_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// adder is the lowering of a toy device: float32 tensors of one shape, added at one
// element per cycle and 1 GHz.
type adder struct{}

func (adder) Passes() graph.Pipeline { return graph.NewPipeline(graph.ResolveShapes) }

func (adder) Check(g *graph.Graph) base.Checker { return adderChecker{g} }

// adderChecker says what the device cannot do. base asks it both for support queries
// and before lowering.
type adderChecker struct{ *graph.Graph }

func (c adderChecker) Types(i int) error {
	if op := &c.Operations[i]; op.Type != nn.OpAdd || c.Operands[op.Inputs[0]].Type != nn.TensorFloat32 {
		return fmt.Errorf("%s: this device adds TENSOR_FLOAT32", op.Type)
	}
	return nil
}

func (c adderChecker) Lowers(i int) error {
	e, err := c.View().Elementwise(&c.Operations[i])
	if err != nil {
		return err
	}
	if !e.Same {
		return fmt.Errorf("ADD: shapes %v and %v, this device does not broadcast", c.Operands[e.A].Dimensions, c.Operands[e.B].Dimensions)
	}
	if e.Act != nn.ActNone {
		return fmt.Errorf("ADD: activation %d, this device has none", e.Act)
	}
	return nil
}

func (c adderChecker) Defers(i int) error {
	return fmt.Errorf("%s: the shape must be known when the model is prepared", c.Operations[i].Type)
}

func (adder) Lower(g *graph.Graph, _ hal.PrepareOptions) (base.Executable, error) {
	return sums{g}, nil
}

// sums is the program: the operations of the graph, in order.
type sums struct{ g *graph.Graph }

func (s sums) Run(inputs [][]byte, _ base.RunOptions) (base.Run, error) {
	r := &sumsRun{g: s.g, values: make([][]byte, len(s.g.Operands))}
	for i := range s.g.Operands {
		r.values[i] = s.g.Operands[i].Data
	}
	for i, x := range s.g.Inputs {
		r.values[x] = inputs[i]
	}
	for i := range s.g.Operations {
		op := &s.g.Operations[i]
		a, b := r.values[op.Inputs[0]], r.values[op.Inputs[1]]
		y := make([]byte, 0, len(a))
		for k := 0; k < len(a); k += 4 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(a[k:])) + math.Float32frombits(binary.LittleEndian.Uint32(b[k:]))
			y = binary.LittleEndian.AppendUint32(y, math.Float32bits(v))
		}
		r.values[op.Outputs[0]] = y
		r.cost(s.g.Origin[i], int64(len(y)/4))
	}
	return r, nil
}

func (s sums) WriteListing(w io.Writer) error { return s.g.Text(w, 16) }
func (s sums) WriteProgram(w io.Writer) error { return s.g.Text(w, -1) }
func (s sums) Bytes() int                     { return 0 }

type sumsRun struct {
	g      *graph.Graph
	values [][]byte
	stats  hal.Stats
}

// cost charges cycles to an operation of the model.
func (r *sumsRun) cost(operation int, cycles int64) {
	issue := []hal.StallCycles{{Reason: "issue", Cycles: cycles}}
	r.stats.Operations = append(r.stats.Operations, hal.OperationStats{
		Index: operation, Cycles: cycles, TimeFs: cycles * 1e6, Stalls: issue, BoundBy: "issue",
	})
	r.stats.ClockHz = 1e9
	r.stats.Cycles += cycles
	r.stats.LatencyFs += cycles * 1e6
	r.stats.Stalls = []hal.StallCycles{{Reason: "issue", Cycles: r.stats.Cycles}}
}

func (r *sumsRun) Output(i int) ([]byte, []uint32) {
	x := r.g.Outputs[i]
	return r.values[x], r.g.Operands[x].Dimensions
}
func (r *sumsRun) Stats() hal.Stats { return r.stats }
func (r *sumsRun) Release()         {}

// A toy driver takes the additions of a network; the CPU keeps the rest.
func Example() {
	fast := hal.PerformanceInfo{ExecTime: 0.1, PowerUsage: 0.1}
	toy := base.New(base.Config{
		Name: "adder", Description: "a toy", Version: "1.0", Type: hal.DeviceAccelerator,
		Capabilities: hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: fast}},
	}, base.NewCompiler(adder{}))

	b := builder.New(builder.Config{})
	x := b.Values("x", 1, 4)
	y := b.Add(b.Activate(x, builder.ReLU), x, builder.Linear)
	b.Output(b.Add(y, y, builder.Linear), "y")
	m, err := b.Model("sums")
	if err != nil {
		log.Fatal(err)
	}
	phone, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	list, err := devices.Open(phone, hal.FastSingleAnswer)
	if err != nil {
		log.Fatal(err)
	}
	registry, err := nnrt.NewRegistry(list[0], toy)
	if err != nil {
		log.Fatal(err)
	}
	c, err := nnrt.Compile(registry, m, nnrt.Auto, nnrt.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var in []byte
	for _, v := range []float32{-1, 0, 1, 2} {
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(v))
	}
	r, err := c.Execute([][]byte{in}, nnrt.ExecuteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var got []float32
	for k := 0; k < len(r.Outputs[0]); k += 4 {
		got = append(got, math.Float32frombits(binary.LittleEndian.Uint32(r.Outputs[0][k:])))
	}
	fmt.Println(got)
	for i := range c.Steps() {
		fmt.Println(c.Step(i).Device, c.Step(i).Operations)
	}
	// Output:
	// [-2 0 4 8]
	// cpu [0]
	// adder [1 2]
}
