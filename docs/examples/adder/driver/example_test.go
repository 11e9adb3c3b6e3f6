package driver_test

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// The driver on a phone: it takes the additions of a network, and the CPU keeps the rest. Its
// engine stands in the place of the NPU, so an execution takes the NPU's way from the runtime to
// the engine and back.
func Example() {
	phone, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	m, err := devices.NewMachine(phone, hal.FastSingleAnswer, devices.Driver(soc.EngineNPU, driver.Build))
	if err != nil {
		log.Fatal(err)
	}
	list := m.Devices()
	registry, err := registry.New(list[0], list[len(list)-1]) // the CPU and the driver
	if err != nil {
		log.Fatal(err)
	}
	registry.SetMachine(m)

	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("x", 1, 4)
	y := b.Add(b.Activate(x, builder.Sigmoid), x, builder.NoActivation)
	b.Output(b.Add(y, y, builder.NoActivation), "y")
	model, err := b.Model("sums")
	if err != nil {
		log.Fatal(err)
	}
	c, err := nnrt.Compile(registry, model, nnrt.ByStrategy, nnrt.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range c.Steps() {
		fmt.Println(c.Step(i).Device, c.Step(i).Operations)
	}
	var in []byte
	for _, v := range []float32{-1, 0, 1, 2} {
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(v))
	}
	r, err := c.Execute([][]byte{in}, nnrt.ExecuteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var out []string
	for k := 0; k < len(r.Outputs[0]); k += 4 {
		out = append(out, fmt.Sprintf("%.2f", math.Float32frombits(binary.LittleEndian.Uint32(r.Outputs[0][k:]))))
	}
	fmt.Println(out)
	launches := 0
	for _, p := range r.Chain {
		if p.Name == platform.PartLaunch {
			launches++
		}
	}
	fmt.Println("launches on the engine:", launches)
	// Output:
	// cpu [0]
	// adder [1 2]
	// [-1.46 1.00 3.46 5.76]
	// launches on the engine: 1
}
