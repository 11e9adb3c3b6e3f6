package driver_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
	"github.com/nnsoc/nnsoc/testvectors/fuzzing"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// TestConformance: the driver keeps the contract, in this process and in another one.
func TestConformance(t *testing.T) {
	d := driver.New()
	there, stop, err := service.Loopback(d)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	direct, served := conformance.Run(t, d), conformance.Run(t, there)
	t.Logf("%d checks in process, %d through the service", direct.Passed, served.Passed)
	for _, s := range direct.Skipped {
		t.Log("skipped: ", s)
	}
}

// TestNetwork: of a published network, resnet8, the driver takes the residual additions with the RELU that is fused to
// them, and leaves the rest to the CPU.
func TestNetwork(t *testing.T) {
	model, err := zoo.Build("mlperf_tiny_ic_float")
	if err != nil {
		t.Fatal(err)
	}
	support, err := driver.New().SupportedOperations(model)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range support {
		if op := model.Main.Operations[i].Type; s.OK != (op == nn.OpAdd) {
			t.Errorf("operation %d, %s: supported %v, %s", i, op, s.OK, s.Reason)
		}
	}
}

// TestVectors: what the driver declares, it computes.
func TestVectors(t *testing.T) {
	if s := testvectors.Run(t, driver.New(), nil); s.Passed == 0 {
		t.Errorf("no vector concerns the driver: %+v", s)
	}
}

// FuzzDevice looks for models that the driver gets wrong, guided by what they cover of it.
func FuzzDevice(f *testing.F) { fuzzing.Device(f, nil, driver.New()) }

// TestRandom: random models against the reference CPU.
func TestRandom(t *testing.T) {
	r, err := randgraph.Run(driver.New(), randgraph.Options{Seed: 1, Count: 200})
	if err != nil || r.Failed != 0 {
		t.Errorf("%d of %d failed, %v", r.Failed, r.Cases, err)
	}
}
