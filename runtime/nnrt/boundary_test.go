package nnrt

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// broken is a picky device that misbehaves as a test requests.
type broken struct {
	picky
	support func() ([]hal.Support, error)
	panics  bool // in PrepareModel
}

func (d *broken) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	if d.support != nil {
		return d.support()
	}
	return d.picky.SupportedOperations(m)
}

func (d *broken) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	if d.panics {
		panic("no kernel")
	}
	return d.picky.PrepareModel(m, o)
}

// TestFallbackReasons: what a device declines, cannot answer or cannot prepare
// runs on the CPU, is listed with the reason, for a named device and for ByStrategy,
// and the other devices continue.
func TestFallbackReasons(t *testing.T) {
	all := []int{0, 1, 2, 3}
	for name, c := range map[string]struct {
		device *broken
		moved  []int
		reason string
	}{
		"all supported":    {&broken{}, nil, ""},
		"declined":         {&broken{picky: picky{declines: map[nn.OperationType]bool{nn.OpMul: true}}}, []int{1}, "declined"},
		"query fails":      {&broken{support: func() ([]hal.Support, error) { return nil, errors.New("lost") }}, all, "support query failed: lost"},
		"query panics":     {&broken{support: func() ([]hal.Support, error) { panic("gone") }}, all, "x: panic in SupportedOperations: gone"},
		"too few answers":  {&broken{support: func() ([]hal.Support, error) { return make([]hal.Support, 3), nil }}, all, "x: answers for 3 of 4"},
		"preparing fails":  {&broken{picky: picky{prepare: errors.New("too large")}}, all, "preparing its part of the model: too large"},
		"preparing panics": {&broken{panics: true}, all, "x: panic in PrepareModel: no kernel"},
	} {
		c.device.name = "x"
		r := require.V(registry.New(testCPU(), c.device))(t)
		for _, device := range []string{"x", ByStrategy} {
			compiled, err := Compile(r, model(), device, CompileOptions{})
			if err != nil {
				t.Errorf("%s on %s: %v", name, device, err)
				continue
			}
			var moved []int
			for _, f := range compiled.Fallbacks {
				moved = append(moved, f.Operation)
				if !strings.Contains(f.Reason, c.reason) {
					t.Errorf("%s on %s: operation %d moved because of %q, want %q", name, device, f.Operation, f.Reason, c.reason)
				}
			}
			if !slices.Equal(moved, c.moved) || compiled.Accelerated("cpu") != 4-len(c.moved) {
				t.Errorf("%s on %s: moved %v, want %v; %d accelerated", name, device, moved, c.moved, compiled.Accelerated("cpu"))
			}
			if _, err := compiled.Execute([][]byte{input()}, ExecuteOptions{}); err != nil {
				t.Errorf("%s on %s: %v", name, device, err)
			}
		}
	}
}

// slow is a device that promises to be slower than the CPU.
type slow struct{ picky }

func (d *slow) Capabilities() hal.Capabilities {
	return hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: {ExecTime: 30, PowerUsage: 30}}}
}

// TestSlowDeviceIsNoFallback: an operation that ByStrategy leaves on the CPU because
// no device promises to be faster did not move.
func TestSlowDeviceIsNoFallback(t *testing.T) {
	r := require.V(registry.New(testCPU(), &slow{picky{name: "x", declines: map[nn.OperationType]bool{nn.OpMul: true}}}))(t)
	c := require.V(Compile(r, model(), ByStrategy, CompileOptions{}))(t)
	require.Check(t, len(c.Fallbacks) == 0, "fallbacks %v", c.Fallbacks)
}

// TestCompileValidates: bad models and options never reach a device.
func TestCompileValidates(t *testing.T) {
	d := &broken{support: func() ([]hal.Support, error) { panic("asked") }}
	d.name = "x"
	r := require.V(registry.New(testCPU(), d))(t)
	bad := model()
	bad.Main.Operations[1].Outputs[0] = 99
	for name, c := range map[string]struct {
		model   *nn.Model
		options CompileOptions
	}{
		"no model":     {nil, CompileOptions{}},
		"bad model":    {bad, CompileOptions{}},
		"preference 3": {model(), CompileOptions{Preference: Prefer(3)}},
		"priority -1":  {model(), CompileOptions{Priority: Rank(-1)}},
	} {
		for _, device := range []string{"x", ByStrategy} {
			if _, err := Compile(r, c.model, device, c.options); hal.StatusOf(err) != hal.InvalidArgument {
				t.Errorf("%s on %s: status %s: %v", name, device, hal.StatusOf(err), err)
			}
		}
	}
}
