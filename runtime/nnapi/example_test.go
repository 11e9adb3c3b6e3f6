package nnapi_test

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func floats(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// openRuntime is the runtime of a phone.
func openRuntime() *nnapi.Runtime {
	c, err := soc.Load("pixel4")
	must(err)
	list, err := devices.Open(c, hal.FastSingleAnswer)
	must(err)
	r, err := nnapi.NewRuntime(list[0], list[1:]...)
	must(err)
	return r
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// twoOperations is (a + b) * c, b a constant of ones, on shape 3x4: the network
// of NNAPI's guide for apps.
func twoOperations() *nnapi.Model {
	m := nnapi.NewModel()
	matrix := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{3, 4}}
	must(m.AddOperand(matrix))                            // 0: a
	must(m.AddOperand(matrix))                            // 1: b
	must(m.AddOperand(nnapi.OperandType{Type: nn.Int32})) // 2: activation
	must(m.AddOperand(matrix))                            // 3: a + b
	must(m.AddOperand(matrix))                            // 4: c
	must(m.AddOperand(nnapi.OperandType{Type: nn.Int32})) // 5: activation
	must(m.AddOperand(matrix))                            // 6: result
	ones := make([]float32, 12)
	for i := range ones {
		ones[i] = 1
	}
	must(m.SetOperandValue(1, floats(ones...)))
	must(m.SetOperandValue(2, make([]byte, 4)))
	must(m.SetOperandValue(5, make([]byte, 4)))
	// The order in which operations are added does not matter.
	must(m.AddOperation(nn.OpMul, []uint32{3, 4, 5}, []uint32{6}))
	must(m.AddOperation(nn.OpAdd, []uint32{0, 1, 2}, []uint32{3}))
	must(m.IdentifyInputsAndOutputs([]uint32{0, 4}, []uint32{6}))
	must(m.Finish())
	return m
}

// An app builds a network of two operations by hand, compiles and runs it.
func Example() {
	r := openRuntime()
	m := twoOperations()
	c, err := r.NewCompilation(m)
	must(err)
	must(c.SetPreference(hal.SustainedSpeed))
	must(c.Finish())

	e, err := nnapi.NewExecution(c)
	must(err)
	x, y := make([]float32, 12), make([]float32, 12)
	for i := range x {
		x[i], y[i] = float32(i), 2
	}
	out := make([]byte, 48)
	must(e.SetInput(0, nil, floats(x...)))
	must(e.SetInput(1, nil, floats(y...)))
	must(e.SetOutput(0, nil, out))
	event, err := e.StartCompute()
	must(err)
	must(event.Wait())
	dims, err := e.OutputDimensions(0)
	must(err)
	fmt.Println(dims)
	for i := 0; i < len(out); i += 16 {
		row := make([]float32, 4)
		for k := range row {
			row[k] = math.Float32frombits(binary.LittleEndian.Uint32(out[i+4*k:]))
		}
		fmt.Println(row)
	}
	// Output:
	// [3 4]
	// [2 4 6 8]
	// [10 12 14 16]
	// [18 20 22 24]
}
