package cpudriver_test

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// The reference answers through the contract of any driver: query, prepare, execute.
// Without the figures of a core it computes and reports no time.
func Example() {
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 3}}), "x")
	y := b.Apply(nn.OpFullyConnected, nn.TensorFloat32, builder.Quant{}, x,
		b.Floats([]uint32{2, 3}, 1, 2, 3, -1, -2, -3), b.Floats([]uint32{2}, 0.5, 0.5), b.Int32(int32(nn.ActRelu)))
	b.Output(y, "y")
	m, err := b.Model("one layer")
	if err != nil {
		log.Fatal(err)
	}
	d := cpudriver.New(cpudriver.Config{})
	s, err := d.SupportedOperations(m)
	if err != nil {
		log.Fatal(err)
	}
	p, err := d.PrepareModel(m, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	if err != nil {
		log.Fatal(err)
	}
	in := make([]byte, 0, 12)
	for _, v := range []float32{1, 2, 3} {
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(v))
	}
	out := make([]byte, 8)
	buffers := &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{out}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
	if _, err := hal.Execute(p, buffers); err != nil {
		log.Fatal(err)
	}
	fmt.Println("supported:", s[0].OK)
	fmt.Println(math.Float32frombits(binary.LittleEndian.Uint32(out)), math.Float32frombits(binary.LittleEndian.Uint32(out[4:])))
	// Output:
	// supported: true
	// 14.5 0
}
