package run

import (
	"io"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// gone is a device whose process has ended.
type gone struct{ hal.Device }

func (gone) Name() string             { return "gone" }
func (gone) Status() hal.DeviceStatus { return hal.DeviceOffline }
func (gone) SupportedOperations(*nn.Model) ([]hal.Support, error) {
	return nil, hal.Errorf(hal.DeviceUnavailable, "the connection is closed")
}

// refuser is a driver that fails to prepare with a status.
type refuser struct {
	hal.Device
	status hal.Status
}

func (refuser) Name() string { return "refuser" }
func (d refuser) PrepareModel(*nn.Model, hal.PrepareOptions) (hal.PreparedModel, error) {
	return nil, hal.Errorf(d.status, "because")
}

// TestFailuresOfOthers: whatever status a driver in another process returns, it is that driver's failure and no internal
// error or wrong usage; the same of a device in this process is not.
func TestFailuresOfOthers(t *testing.T) {
	m := require.V(machine.OpenLive(&cli.App{SoC: "pixel4", Err: io.Discard}, hal.FastSingleAnswer))(t)
	for s := hal.DeviceUnavailable; s <= hal.ResourceExhaustedPersistent; s++ {
		inside := refuser{m.Registry.CPU(), s}
		d, stop := require.V2(service.Loopback(inside))(t)
		_, err := d.PrepareModel(require.V(bench.Gemm("f32", 16))(t), hal.PrepareOptions{})
		stop()
		_, own := inside.PrepareModel(nil, hal.PrepareOptions{})
		if hal.StatusOf(err) != s || !m.Lost("refuser", err) || cli.ExitCode(err) != cli.ExitMismatch {
			t.Errorf("%v: %v, lost %v, exit code %d", s, err, m.Lost("refuser", err), cli.ExitCode(err))
		}
		if m.Lost("refuser", own) != (s == hal.DeviceUnavailable) {
			t.Errorf("%v of a device in this process: lost %v", s, !m.Lost("refuser", own))
		}
	}
}

// TestGoneBeforeAsked: a driver that has ended before it is queried has failed; it is not a driver that supports
// nothing.
func TestGoneBeforeAsked(t *testing.T) {
	m := require.V(machine.OpenLive(&cli.App{SoC: "pixel4", Err: io.Discard}, hal.FastSingleAnswer))(t)
	require.NoError(t, m.Registry.Add(gone{m.Registry.CPU()}))
	model := require.V(bench.Gemm("f32", 16))(t)
	form := require.V(input.NewForm(model, &input.Flags{}))(t)
	r := &report{machine: m, data: *session.NewReport(m.Phone, model)}
	r.data.Add(require.V(m.Run(form, session.RunOptions{Device: "gone"}))(t))
	if e := r.data.Runs[0]; len(r.data.Runs) != 1 || e.Status != session.StatusFailed || !strings.Contains(e.Error, "the connection is closed") {
		t.Errorf("%d rows, status %q, error %q", len(r.data.Runs), e.Status, e.Error)
	}
	require.Check(t, r.verdict() != nil, "all is well")
}
