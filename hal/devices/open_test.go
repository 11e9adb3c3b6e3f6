package devices_test

import (
	"fmt"
	"log"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func ExampleOpen() {
	config, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	list, err := devices.Open(config, hal.FastSingleAnswer)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range list {
		fmt.Println(d.Name(), d.Type())
	}
	// Output:
	// cpu CPU
	// gpu GPU
	// dsp ACCELERATOR
	// npu ACCELERATOR
}

// TestOpen opens every SoC at every preference: one device per section.
func TestOpen(t *testing.T) {
	for _, name := range soc.Names() {
		c := require.V(soc.Load(name))(t)
		want := 0
		for _, section := range []bool{c.CPU != nil, c.GPU != nil, c.DSP != nil, c.NPU != nil} {
			if section {
				want++
			}
		}
		for _, p := range []hal.Preference{hal.LowPower, hal.FastSingleAnswer, hal.SustainedSpeed} {
			list, err := devices.Open(c, p)
			require.Check(t, err == nil && len(list) == want, "%s, preference %d: %d devices, want %d: %v", name, p, len(list), want, err)
			for i, d := range list {
				if i == 0 && c.CPU != nil && d.Type() != hal.DeviceCPU {
					t.Errorf("%s: the first device is %s", name, d.Name())
				}
				require.Check(t, d.Description() != "" && len(d.Capabilities().Operand) != 0, "%s: %s says nothing about itself", name, d.Name())
			}
		}
	}
}
