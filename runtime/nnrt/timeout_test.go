package nnrt

import (
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// stuck is a device with a call that does not return before the test lets it.
type stuck struct {
	picky
	in   string // the call
	free chan struct{}
	did  chan struct{} // closed when the call has returned at last
}

func (d *stuck) wait(call string) {
	if d.in == call {
		<-d.free
	}
}

func (d *stuck) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	d.wait("SupportedOperations")
	return d.picky.SupportedOperations(m)
}

func (d *stuck) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	d.wait("PrepareModel")
	p, err := d.picky.PrepareModel(m, o)
	return &stuckModel{p, d}, err
}

type stuckModel struct {
	hal.PreparedModel
	device *stuck
}

func (p *stuckModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	if p.device.in == "Execute" {
		defer close(p.device.did)
	}
	p.device.wait("Execute")
	for i := range r.Pools { // late, it writes wherever it can
		for k := range r.Pools[i].Memory.Data {
			r.Pools[i].Memory.Data[k] ^= 0x55
		}
	}
	return p.PreparedModel.Execute(r, o)
}

// values are inputs of model(), and its outputs for them, which are not those that a device leaves alone.
func values(t *testing.T, m *nn.Model) (in [][]byte, want []compare.Tensor) {
	t.Helper()
	in = [][]byte{input()}
	want = require.V(cpudriver.ReferenceTensors(m, in))(t)
	return in, want
}

// TestHangingDeviceIsGivenUp: whichever call of a device hangs, the CPU replaces it after
// the limit, results are right, later executions do not wait again, and the device has no
// effect when it wakes up.
func TestHangingDeviceIsGivenUp(t *testing.T) {
	for _, call := range []string{"SupportedOperations", "PrepareModel", "Execute"} {
		d := &stuck{picky: picky{name: "x"}, in: call, free: make(chan struct{}), did: make(chan struct{})}
		w := WithTimeout(d, 200*time.Millisecond)
		r := require.V(registry.New(testCPU(), w))(t)
		m := model()
		c := require.V(Compile(r, m, ByStrategy, CompileOptions{}))(t)
		in, want := values(t, m)
		for k := range 3 {
			res := require.V(c.Execute(in, ExecuteOptions{}))(t, call)
			if k == 1 {
				close(d.free)
				if call == "Execute" {
					<-d.did
				}
			}
			require.Report(t, compare.Err(Compare(m, want, res)), call)
			moved := append(c.Fallbacks[:len(c.Fallbacks):len(c.Fallbacks)], res.Fallbacks...)
			require.Check(t, len(moved) != 0 && strings.Contains(moved[0].Reason, "given up"), "%s: fallbacks %v", call, moved)
		}
		require.Same(t, hal.DeviceOffline, w.Status(), call, "the device is")
	}
}

// TestWatchedDevice: a device that answers in time is as without the watch.
func TestWatchedDevice(t *testing.T) {
	r := require.V(registry.New(testCPU(), WithTimeout(&picky{name: "x"}, time.Hour)))(t)
	m := model()
	c := require.V(Compile(r, m, ByStrategy, CompileOptions{}))(t)
	in, want := values(t, m)
	res := require.V(c.Execute(in, ExecuteOptions{}))(t)
	if err := compare.Err(Compare(m, want, res)); err != nil || len(res.Fallbacks)+len(c.Fallbacks) > 0 || res.On("x").Parts != 1 {
		t.Errorf("%v, fallbacks %v %v, devices %+v", err, c.Fallbacks, res.Fallbacks, res.Devices)
	}
}
