package base_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// journal is a Logger of all tags that keeps the events.
type journal []string

func (*journal) Enabled(string) bool { return true }
func (j *journal) Log(tag, device, message string) {
	*j = append(*j, fmt.Sprintf("%s %s %s", tag, device, message))
}

// TestLog: a device logs its events, each under its tag.
func TestLog(t *testing.T) {
	d, j := behaved(), &journal{}
	dev := device(d)
	dev.SetLogger(j)
	d.support = func() ([]hal.Support, error) { return []hal.Support{{Reason: "too long"}}, nil }
	_, err := dev.SupportedOperations(relu())
	require.NoError(t, err)
	file := []hal.CacheHandle{{require.V(os.Create(filepath.Join(t.TempDir(), "data")))(t)}}
	p := require.V(dev.PrepareModel(relu(), hal.PrepareOptions{Preference: hal.SustainedSpeed, Cache: hal.Cache{Data: file}}))(t)
	_, err = dev.PrepareModel(relu(), hal.PrepareOptions{}) // nowhere to save it
	require.NoError(t, err)
	d.execute = func(*hal.Buffers) (*hal.Result, error) {
		return &hal.Result{OutputDimensions: [][]uint32{{4}}, Stats: hal.Stats{LatencyFs: 7e6}}, nil
	}
	for range 2 {
		require.NoError(t, require.Err(hal.Execute(p, request())))
	}
	b, err := dev.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, []hal.BufferRole{{Frequency: 1}})
	require.NoError(t, err)
	b.Release()
	want := []string{
		"driver toy getSupportedOperations: operation 0 (RELU): too long",
		fmt.Sprintf("driver toy prepareModel: 1 operations, preference %d, priority %d", hal.SustainedSpeed, 0),
		"driver toy prepareModel: not saved: nothing to save",
		"driver toy prepareModel: 1 operations, preference 0, priority 0",
		"driver toy execute: from 0s to 7ns",
		"driver toy execute: from 7ns to 14ns",
		"memory toy allocate: token 1, 16 bytes, 2 roles",
		"memory toy release: token 1",
	}
	if !slices.Equal(*j, want) {
		t.Errorf("%q\nwant %q", *j, want)
	}
	dev.SetLogger(nil)
	if dev.Logs(vlog.Driver) {
		t.Error("nobody reads events")
	}
}

// TestForeign: an OEM operation is declined by name, wherever it stands, and no driver gets it.
func TestForeign(t *testing.T) {
	for at := range 2 {
		m := relu()
		m.Main.Operations = append(m.Main.Operations, nn.Operation{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{2}})
		m.Main.Operands = append(m.Main.Operands, m.Main.Operands[1])
		m.Main.Outputs = []uint32{1, 2}
		m.Main.Operations[at].Type = nn.OpOEM
		d := behaved()
		dev := device(d)
		_, err := dev.PrepareModel(m, hal.PrepareOptions{})
		if want := fmt.Sprintf("toy driver: operation %d (OEM_OPERATION): OEM_OPERATION is not supported", at); err == nil || err.Error() != want || d.calls > 0 {
			t.Errorf("%v, want %s; %d calls", err, want, d.calls)
		}
		s := require.V(dev.SupportedOperations(m))(t)
		if s[at] != (hal.Support{Reason: "OEM_OPERATION is not supported"}) || !s[1-at].OK {
			t.Errorf("OEM_OPERATION at %d: %+v", at, s)
		}
	}
}
