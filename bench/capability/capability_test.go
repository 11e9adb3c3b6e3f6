package capability

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nnrt/partition/cost"
	"github.com/nnsoc/nnsoc/sim/soc"
)

const how = "run make capabilities"

// TestShippedCapabilities: what the devices of presets report is what they are
// measured at. make sweep measures all presets, otherwise the smallest is.
func TestShippedCapabilities(t *testing.T) {
	sweep := os.Getenv("NNSOC_SWEEP") != ""
	for _, name := range soc.Names() {
		c, err := soc.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if !devices.Measured(c) {
			t.Errorf("%s: the SoC file changed after its devices were measured: %s", name, how)
			continue
		}
		if name != "ethos-u55-32" && !sweep {
			continue
		}
		list, err := devices.Open(c, hal.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		x := Meter{Store: cost.NewStore("", name), Options: hal.PrepareOptions{Preference: hal.FastSingleAnswer}}
		for _, d := range list[1:] {
			f, err := x.Measure(d, list[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f.Capabilities(), d.Capabilities()); diff != "" {
				t.Errorf("%s, %s (-measured +reported), %s:\n%s", name, d.Name(), how, diff)
			}
		}
	}
}

// TestCPUIsOne: the CPU relates to itself as 1 in everything, control flow too,
// and runs all of the suite.
func TestCPUIsOne(t *testing.T) {
	c, err := soc.Load("ethos-u55-32")
	if err != nil {
		t.Fatal(err)
	}
	list, err := devices.Open(c, hal.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	x := Meter{Store: cost.NewStore("", "")}
	f, err := x.Measure(list[0], list[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list[0].Capabilities(), f.Capabilities()); diff != "" {
		t.Errorf("(-reported +measured):\n%s", diff)
	}
	for operand, x := range f.Operand {
		if len(x.MeasuredOn) == 0 {
			t.Errorf("%v was measured on nothing", operand)
		}
	}
}

// TestSuiteIsValid: every workload obeys the rules of the HAL.
func TestSuiteIsValid(t *testing.T) {
	var models []*nn.Model
	for _, s := range suites {
		list, err := workloads(s.operand, false)
		if err != nil {
			t.Fatal(err)
		}
		weight := 0.0
		for _, w := range list {
			models = append(models, w.Model)
			weight += w.Weight
		}
		if weight != operations {
			t.Errorf("%v: weights add up to %v, want %v", s.operand, weight, operations)
		}
	}
	for _, op := range []nn.OperationType{nn.OpIf, nn.OpWhile} {
		whole, body := control(op)
		models = append(models, whole, body)
	}
	for _, m := range models {
		if err := validate.Model(m); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
