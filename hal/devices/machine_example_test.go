package devices_test

import (
	"fmt"
	"log"
	"slices"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Two applications on one phone: both of their networks run on the DSP, whose time they
// share, so that each waits for the other. Devices of devices.Open know nothing of each other.
func ExampleMachine() {
	config, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	m, err := devices.NewMachine(config, hal.FastSingleAnswer)
	if err != nil {
		log.Fatal(err)
	}
	dsp := slices.IndexFunc(m.Devices(), func(d hal.Device) bool { return d.Name() == "dsp" })

	const executions = 5
	// application prepares a network and returns what its client does, and the sum of its latencies.
	application := func(network string) (func(*devices.Client) error, *int64) {
		model, err := zoo.Build(network)
		if err != nil {
			log.Fatal(err)
		}
		p, err := m.Devices()[dsp].PrepareModel(model, hal.PrepareOptions{})
		if err != nil {
			log.Fatal(err)
		}
		b := &hal.Buffers{Inputs: [][]byte{tensor.SyntheticInput(&model.Main, 0, 1)}}
		for _, x := range model.Main.Outputs {
			b.Outputs = append(b.Outputs, make([]byte, model.Main.Operands[x].Bytes()))
		}
		total := new(int64)
		return func(as *devices.Client) error {
			b.Client = as
			for range executions {
				r, err := hal.Execute(p, b)
				if err != nil {
					return err
				}
				*total += r.Stats.LatencyFs
			}
			return nil
		}, total
	}
	camera, cameraTook := application("mobilenet_v2_0.35_96_quant")
	voice, voiceTook := application("mlperf_tiny_kws_quant")

	if _, err := m.RunConcurrent(voice); err != nil {
		log.Fatal(err)
	}
	alone := *voiceTook
	*voiceTook = 0
	m.Reset() // a cold phone again
	if _, err := m.RunConcurrent(camera, voice); err != nil {
		log.Fatal(err)
	}
	fmt.Println("both computed:", *cameraTook > 0 && *voiceTook > 0)
	fmt.Println("the voice waited for the camera:", *voiceTook > alone)
	// Output:
	// both computed: true
	// the voice waited for the camera: true
}
