package devices_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// A network built by hand runs on every device of a phone that supports it; the results
// are those of the reference CPU.
func Example() {
	b := builder.New(builder.Config{Format: builder.Quant8})
	x := b.Conv(b.Image(16), builder.Conv{Out: 8, Kernel: 3, Act: builder.ReLU6})
	x = b.Dense(b.Reshape(b.GlobalPool(x), 1, 8), 4, builder.Logits)
	b.Output(b.Softmax(x), "probabilities")
	m, err := b.Model("tiny")
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
	registry, err := registry.New(list[0], list[1:]...)
	if err != nil {
		log.Fatal(err)
	}
	image := bytes.Repeat([]byte{10, 200, 90}, 16*16)
	want, err := cpudriver.Reference(m, [][]byte{image})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"cpu", "dsp", "npu"} {
		c, err := nnrt.Compile(registry, m, name, nnrt.CompileOptions{})
		if err != nil {
			log.Fatal(err)
		}
		r, err := c.Execute([][]byte{image}, nnrt.ExecuteOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, "equals the reference:", bytes.Equal(r.Outputs[0], want[0]), "- took time:", r.LatencyFs > 0)
	}
	// Output:
	// cpu equals the reference: true - took time: true
	// dsp equals the reference: true - took time: true
	// npu equals the reference: true - took time: true
}
