package sample_test

import (
	"fmt"
	"log"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// A runtime over a sample driver and one that fails every execution: a registry accepts
// them like any device.
func Example() {
	quick, err := sample.New("sample_float_fast", cpudriver.Config{})
	if err != nil {
		log.Fatal(err)
	}
	failing, err := sample.NewSynthetic("failing", quick, map[sample.Call]sample.Fault{
		sample.CallExecute: {Status: hal.GeneralFailure},
	})
	if err != nil {
		log.Fatal(err)
	}
	registry, err := registry.New(cpudriver.New(cpudriver.Config{}), quick, failing)
	if err != nil {
		log.Fatal(err)
	}
	b := builder.New(builder.Config{Format: builder.Float32})
	b.Output(b.Softmax(b.Dense(b.Values("x", 1, 4), 2, builder.Logits)), "y")
	m, err := b.Model("two operations")
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range registry.Devices() {
		s, err := d.SupportedOperations(m)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.Name(), "takes FULLY_CONNECTED:", s[0].OK)
	}
	p, err := failing.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = hal.Execute(p, &hal.Buffers{Inputs: [][]byte{make([]byte, 16)}, Outputs: [][]byte{make([]byte, 8)}})
	fmt.Println(err)
	// Output:
	// cpu takes FULLY_CONNECTED: true
	// sample_float_fast takes FULLY_CONNECTED: true
	// failing takes FULLY_CONNECTED: true
	// failing fails execute on purpose
}
