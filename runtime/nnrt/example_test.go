package nnrt_test

import (
	"encoding/binary"
	"fmt"
	"log"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// A model of two operations, (a + b) * c with b a constant of ones, runs in two parts: the
// first on the GPU, the second, which is kept away from it and no other device has, on the
// CPU.
func Example() {
	tensor := func(l nn.Lifetime, data []byte) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{3, 4}, Lifetime: l, Data: data}
	}
	filled := func(v float32) []byte {
		var b []byte
		for range 12 {
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
		return b
	}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	m := &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{tensor(nn.SubgraphInput, nil), tensor(nn.ConstantCopy, filled(1)), none,
			tensor(nn.TemporaryVariable, nil), tensor(nn.SubgraphInput, nil), tensor(nn.SubgraphOutput, nil)},
		Operations: []nn.Operation{
			{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}},
			{Type: nn.OpMul, Inputs: []uint32{3, 4, 2}, Outputs: []uint32{5}},
		},
		Inputs: []uint32{0, 4}, Outputs: []uint32{5},
	}}

	phone, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	list, err := devices.Open(phone, hal.FastSingleAnswer)
	if err != nil {
		log.Fatal(err)
	}
	registry, err := registry.New(list[0], list[1:]...)
	if err != nil {
		log.Fatal(err)
	}
	if err := registry.ForceUnsupported("MUL:gpu"); err != nil {
		log.Fatal(err)
	}
	c, err := nnrt.Compile(registry, m, "gpu", nnrt.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range c.Fallbacks {
		fmt.Printf("operation %d moved: %s\n", f.Operation, f.Reason)
	}
	r, err := c.Execute([][]byte{filled(2), filled(3)}, nnrt.ExecuteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var out [12]float32
	if _, err := binary.Decode(r.Outputs[0], binary.LittleEndian, &out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Dimensions[0], out[:4])
	for _, p := range r.Parts {
		fmt.Println(p.Device, p.Operations, p.EndFs > p.StartFs)
	}
	// Output:
	// operation 1 moved: MUL is forced unsupported
	// [3 4] [9 9 9 9]
	// gpu [0] true
	// cpu [1] true
}
