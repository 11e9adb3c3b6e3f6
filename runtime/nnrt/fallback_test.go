package nnrt

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// failing prepares what it is given and fails every execution.
type failing struct {
	picky
	err error // nil panics
}

// errNothing stands for an execution that returns neither result nor error.
var errNothing = errors.New("nothing")

func (d *failing) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.picky.PrepareModel(m, o)
	return &failingModel{p, d.err}, err
}

type failingModel struct {
	hal.PreparedModel
	err error
}

func (p *failingModel) Execute(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) {
	if p.err == nil {
		panic("out of bounds")
	}
	if p.err == errNothing {
		return nil, nil
	}
	return nil, p.err
}

// TestExecutionFallsBack: a part whose device fails or crashes runs on the CPU
// and is reported; a missed deadline, an explicit device and WithoutFallback are errors.
func TestExecutionFallsBack(t *testing.T) {
	gone := hal.Errorf(hal.DeviceUnavailable, "it is gone")
	late := hal.Errorf(hal.MissedDeadlinePersistent, "too late")
	for _, c := range []struct {
		name, device string
		err          error
		mode         Partitioning
		want         string // of the fallback; "" is an error
	}{
		{"fails", Auto, gone, WithFallback, "it is gone"},
		{"crashes", Auto, nil, WithFallback, "panic in Execute: out of bounds"},
		{"returns nothing", Auto, errNothing, WithFallback, "without a result and without an error"},
		{"misses its deadline", Auto, late, WithFallback, ""},
		{"fails, asked for by name", "bad", gone, WithFallback, ""},
		{"fails, without fallback", Auto, gone, WithoutFallback, ""},
	} {
		r := require.V(registry.New(testCPU(), &failing{picky{name: "bad"}, c.err}))(t)
		m := model()
		x := require.V(Compile(r, m, c.device, CompileOptions{Partitioning: c.mode}))(t)
		res, err := x.Execute([][]byte{input()}, ExecuteOptions{})
		if c.want == "" {
			require.Check(t, hal.StatusOf(err) == hal.StatusOf(c.err), "%s: error %v, want %v", c.name, err, c.err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := require.V(cpudriver.ReferenceTensors(m, [][]byte{input()}))(t)
		require.Report(t, compare.Err(Compare(m, want, res)), c.name)
		if len(res.Fallbacks) != len(m.Main.Operations) || !strings.Contains(res.Fallbacks[0].Reason, c.want) {
			t.Errorf("%s: fallbacks %v, want %q", c.name, res.Fallbacks, c.want)
		}
		for _, p := range res.Parts {
			require.Same(t, "cpu", p.Device, c.name, "a part on")
		}
	}
}
