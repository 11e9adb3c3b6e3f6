package hexagonnn_test

import (
	"fmt"
	"log"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/hexagonnn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// A graph of one node, built as a client of Hexagon NN does, on the DSP of a phone.
func Example() {
	phone, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	list, err := devices.Open(phone, hal.FastSingleAnswer)
	if err != nil {
		log.Fatal(err)
	}
	var dsp hal.Device
	for _, d := range list {
		if d.Name() == "dsp" {
			dsp = d
		}
	}
	library, err := hexagonnn.Open(dsp)
	if err != nil {
		log.Fatal(err)
	}
	const input, low, high, relu, output = 0x1000, 0x1001, 0x1002, 0x1003, 0x1004
	op := func(name string) hexagonnn.Op {
		o, ok := hexagonnn.OpByName(name)
		if !ok {
			log.Fatal(name)
		}
		return o
	}
	codes := hexagonnn.Output{MaxSizes: [4]uint32{1, 1, 1, 8}, ElementSize: 1}
	real := hexagonnn.Output{MaxSizes: [4]uint32{1, 1, 1, 1}, ElementSize: 4}

	g := library.Init()
	for _, err := range []error{
		g.AppendNode(input, op("INPUT"), hexagonnn.PadNA, nil, []hexagonnn.Output{codes}),
		g.AppendConstNode(low, 1, 1, 1, 1, floats(-1)),
		g.AppendConstNode(high, 1, 1, 1, 1, floats(1.55)),
		g.AppendNode(relu, op("QuantizedRelu_8"), hexagonnn.PadNA,
			[]hexagonnn.Input{{Source: input}, {Source: low}, {Source: high}}, []hexagonnn.Output{codes, real, real}),
		g.AppendNode(output, op("OUTPUT"), hexagonnn.PadNA, []hexagonnn.Input{{Source: relu}}, nil),
		g.Prepare(),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}
	in := hexagonnn.TensorDef{Batches: 1, Height: 1, Width: 1, Depth: 8, Data: []byte{0, 50, 99, 100, 101, 150, 200, 255}}
	out := hexagonnn.TensorDef{Data: make([]byte, 8)}
	if err := g.Execute(in, &out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Data)
	for _, p := range g.PerfInfo() {
		fmt.Printf("%#x %s: cycles counted: %t\n", p.Node, p.Op, p.Cycles > 0)
	}
	// Output:
	// [100 100 100 100 101 150 200 255]
	// 0x1000 INPUT: cycles counted: false
	// 0x1003 QuantizedRelu_8: cycles counted: true
	// 0x1004 OUTPUT: cycles counted: false
}
