package conformance_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

func open(t testing.TB) []hal.Device {
	t.Helper()
	c, err := soc.Load("pixel4")
	if err != nil {
		t.Fatal(err)
	}
	list, err := devices.Open(c, hal.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestChecks runs every check on every device.
func TestChecks(t *testing.T) {
	list := open(t)
	for _, c := range conformance.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			on := []hal.Device{nil}
			if c.EachDevice {
				on = list
			}
			ran := 0
			for _, d := range on {
				o := c.RunOn(d)
				if o.Err != nil {
					name := ""
					if d != nil {
						name = d.Name() + ": "
					}
					t.Errorf("%s%v", name, o.Err)
				}
				if o.Skipped == "" {
					ran++
				}
			}
			if ran == 0 {
				t.Error("it concerns no device")
			}
		})
	}
}
