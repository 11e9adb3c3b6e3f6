package gelu_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/docs/examples/gelu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/fuzzing"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// phone is a Pixel 4 whose devices have GELU, and the reference that has it too.
func phone() ([]hal.Device, *refcpu.Table, error) {
	config, err := soc.Load("pixel4")
	if err != nil {
		return nil, nil, err
	}
	reference, err := gelu.Reference()
	if err != nil {
		return nil, nil, err
	}
	list, err := devices.Open(config, hal.FastSingleAnswer, devices.Operations(reference),
		devices.GPU(func(c *gpudriver.Config) { c.Operations = append(c.Operations, gelu.GPU) }),
		devices.DSP(func(c *dspdriver.Config) { c.Operations = append(c.Operations, gelu.DSP) }),
		devices.NPU(func(c *npudriver.Config) { c.Operations = append(c.Operations, gelu.NPU) }))
	return list, reference, err
}

// model is RELU of GELU, with a prefix of its own for the extension.
func model(t nn.OperandType) *nn.Model {
	const prefix = 7
	operand := func(l nn.Lifetime) nn.Operand {
		o := nn.Operand{Type: t, Dimensions: []uint32{1, 4}, Lifetime: l}
		if t == nn.TensorQuant8Asymm {
			o.Scale, o.ZeroPoint = 0.05, 128
		}
		return o
	}
	return &nn.Model{
		Extensions: []nn.ExtensionPrefix{{Name: gelu.Extension, Prefix: prefix}},
		Main: nn.Subgraph{
			Operands: []nn.Operand{operand(nn.SubgraphInput), operand(nn.TemporaryVariable), operand(nn.SubgraphOutput)},
			Operations: []nn.Operation{
				{Type: nn.OperationType(nn.ExtensionCode(prefix, 0)), Inputs: []uint32{0}, Outputs: []uint32{1}},
				{Type: nn.OpRelu, Inputs: []uint32{1}, Outputs: []uint32{2}},
			},
			Inputs: []uint32{0}, Outputs: []uint32{2},
		},
	}
}

// run runs a model on a device through the runtime, which falls back to the CPU for what the
// device lacks.
func run(device string, t nn.OperandType, in []byte) {
	list, _, err := phone()
	if err != nil {
		log.Fatal(err)
	}
	registry, err := registry.New(list[0], list[1:]...)
	if err != nil {
		log.Fatal(err)
	}
	c, err := nnrt.Compile(registry, model(t), device, nnrt.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := c.Execute([][]byte{in}, nnrt.ExecuteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range c.Steps() {
		fmt.Println(c.Step(i).Device, c.Step(i).Operations)
	}
	if t == nn.TensorQuant8Asymm {
		fmt.Println(r.Outputs[0])
		return
	}
	for i := 0; i < len(r.Outputs[0]); i += 4 {
		v := math.Float32frombits(uint32(r.Outputs[0][i]) | uint32(r.Outputs[0][i+1])<<8 | uint32(r.Outputs[0][i+2])<<16 | uint32(r.Outputs[0][i+3])<<24)
		fmt.Printf("%.4f\n", v)
	}
}

// floats are -1, 0, 1 and 2.
var floats = []byte{0, 0, 0x80, 0xbf, 0, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}

func Example_gpu() {
	run("gpu", nn.TensorFloat32, floats)
	// Output:
	// gpu [0 1]
	// 0.0000
	// 0.0000
	// 0.8458
	// 1.9357
}

func Example_dsp() {
	run("dsp", nn.TensorQuant8Asymm, []byte{108, 128, 148, 168}) // -1, 0, 1, 2
	// Output:
	// dsp [0 1]
	// [128 128 145 167]
}

func Example_npu() {
	run("npu", nn.TensorQuant8Asymm, []byte{108, 128, 148, 168})
	// Output:
	// npu [0 1]
	// [128 128 145 167]
}

// TestGELU takes the operation through the suites: random models, as test vectors too, and what
// devices answer for other types and for models without the extension.
func TestGELU(t *testing.T) {
	list, reference, err := phone()
	if err != nil {
		t.Fatal(err)
	}
	table := randgraph.Standard().With(reference, gelu.Draw)
	name := regexp.MustCompile("^" + regexp.QuoteMeta(gelu.Op.String()) + "$")
	for _, d := range list {
		const count = 40
		r, err := randgraph.Run(d, randgraph.Options{Seed: 1, Count: count, Table: table, Operations: name, Exact: true})
		if err != nil || r.Failed != 0 || r.Passed < count/4 {
			t.Errorf("%s: %+v, %v", d.Name(), r, err)
		}
		passed := 0
		for i := range 8 {
			c := table.Decode([]byte{byte(len(table.Variants()) - 2 + i%2), byte((len(table.Variants())-2)>>8) | 12<<2, byte(i), 1, 2, 3, 4, 5, 60, 70, 80, 90, 1, 2})
			if c == nil {
				continue
			}
			v, err := randgraph.Vector(c)
			if err != nil {
				t.Fatal(err)
			}
			declined, err := testvectors.RunCaseOf(reference.Spec(), d, v, false)
			if err != nil {
				t.Errorf("%s: vector: %v", d.Name(), err)
			}
			if declined == "" {
				passed++
			}
		}
		if passed == 0 {
			t.Errorf("%s declines every vector", d.Name())
		}
	}
	gpu := list[1]
	if !slices.ContainsFunc(gpu.SupportedExtensions(), func(e hal.Extension) bool { return e.Name == gelu.Extension }) {
		t.Error("the GPU does not list the extension")
	}
	s, err := gpu.SupportedOperations(model(nn.TensorQuant8Asymm))
	if err != nil || s[0].OK || s[0].Reason == "" {
		t.Errorf("the GPU takes GELU of bytes: %+v, %v", s, err)
	}
	plain, err := soc.Load("pixel4")
	if err != nil {
		t.Fatal(err)
	}
	without, err := devices.Open(plain, hal.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range without {
		s, err := d.SupportedOperations(model(nn.TensorFloat32))
		if err != nil || s[0].OK {
			t.Errorf("%s takes an extension that it does not have: %+v, %v", d.Name(), s, err)
		}
		if d.Version() == list[i].Version() && i > 0 {
			t.Errorf("%s has the same version with and without the kernel", d.Name())
		}
	}
}

// FuzzGELU fuzzes the devices with models that have GELU among others.
func FuzzGELU(f *testing.F) {
	list, reference, err := phone()
	if err != nil {
		f.Fatal(err)
	}
	fuzzing.Device(f, randgraph.NewTable(reference, gelu.Draw), list...)
}

// TestApp: an app builds the network with NNAPI's calls, which find the extension by its name.
func TestApp(t *testing.T) {
	list, _, err := phone()
	if err != nil {
		t.Fatal(err)
	}
	r, err := nnapi.NewRuntime(list[0], list[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	m := nnapi.NewModel()
	op, err := r.ExtensionOperationType(m, gelu.Extension, 0)
	if err != nil {
		t.Fatal(err)
	}
	tensor := nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 4}, Scale: 0.05, ZeroPoint: 128}
	c := (*nnapi.Compilation)(nil)
	for _, step := range []func() error{
		func() error { return m.AddOperand(tensor) },
		func() error { return m.AddOperand(tensor) },
		func() error { return m.AddOperation(op, []uint32{0}, []uint32{1}) },
		func() error { return m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}) },
		m.Finish,
		func() error { c, err = r.NewCompilation(m); return err },
		func() error { return c.Finish() },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	e, err := nnapi.NewExecution(c)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 4)
	if err := errors.Join(e.SetInput(0, nil, []byte{108, 128, 148, 168}), e.SetOutput(0, nil, out), e.Compute()); err != nil {
		t.Fatal(err)
	}
	if want := []byte{125, 128, 145, 167}; !bytes.Equal(out, want) {
		t.Errorf("got %v, want %v", out, want)
	}
}
