package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Compiled compiles a model for the CPU and drivers.
func (t *T) Compiled(m *nn.Model, drivers ...hal.Device) *nnrt.Compilation {
	r := V(registry.New(cpudriver.New(cpudriver.Config{}), drivers...))(t, "registry")
	c := V(nnrt.Compile(r, m, nnrt.ByStrategy, nnrt.CompileOptions{}))(t, "compilation")
	return c
}

// Agrees executes a compilation and compares the outputs with those of the CPU alone.
func (t *T) Agrees(what string, m *nn.Model, c *nnrt.Compilation, inputs ...[]byte) *nnrt.Result {
	o := nnrt.ExecuteOptions{Functional: true}
	want := V(t.Compiled(m).Execute(inputs, o))(t, what+" on the CPU")
	got := V(c.Execute(inputs, o))(t, what)
	for i := range want.Outputs {
		if !bytes.Equal(got.Outputs[i], want.Outputs[i]) || !slices.Equal(got.Dimensions[i], want.Dimensions[i]) {
			t.Errorf("%s: output %d is %v of %v, want %v of %v", what, i, got.Outputs[i], got.Dimensions[i], want.Outputs[i], want.Dimensions[i])
		}
	}
	return got
}

// Owners are the devices of the steps of a compilation.
func Owners(c *nnrt.Compilation) string {
	var list []string
	for i := range c.Steps() {
		list = append(list, c.Step(i).Device)
	}
	return fmt.Sprint(list)
}

func Floats(v ...float32) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return b
}
