package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/verify"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// broken is a CPU whose TRANSPOSE_CONV_2D with NCHW has a wrong first element.
type broken struct{ hal.Device }

type brokenModel struct {
	hal.PreparedModel
	m *nn.Model
}

func (d broken) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return brokenModel{p, m}, err
}

func (p brokenModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	_, outputs, _ := r.Buffers()
	for i := range p.m.Main.Operations {
		op := &p.m.Main.Operations[i]
		layout := &p.m.Main.Operands[op.Inputs[len(op.Inputs)-1]]
		for k, x := range p.m.Main.Outputs {
			if op.Type == nn.OpTransposeConv2D && x == op.Outputs[0] && layout.Data[0] == 1 {
				b := outputs[k]
				b[len(b)-1] ^= 0x40
			}
		}
	}
	return res, err
}

func (p brokenModel) WriteListing(io.Writer) error { return nil }
func (p brokenModel) WriteProgram(io.Writer) error { return nil }

// TestFuzzFind: a fault is found, shrunk to one operation and written; both
// files fail on the broken device and pass on a good one.
func TestFuzzFind(t *testing.T) {
	good := cpudriver.New(cpudriver.Config{})
	bad := broken{good}
	dir := t.TempDir()
	r := require.V(randgraph.Run(bad, randgraph.Options{Seed: 1, Count: 40, Functional: true, Operations: regexp.MustCompile("CONV")}))(t)
	out := require.V(verify.DescribeFuzz(bad, "broken", dir, 1, r))(t)
	if out.Failed == 0 || out.Passed == 0 {
		t.Fatalf("%d failed, %d passed", out.Failed, out.Passed)
	}
	written := 0
	for _, f := range out.Failures {
		if f.Spec == "" {
			continue
		}
		written++
		require.Check(t, len(f.SmallOperations) == 1 && f.Reproduces, "%s: %v, reproduces: %v", f.Spec, f.SmallOperations, f.Reproduces)
		for _, path := range []string{f.Spec, strings.TrimSuffix(f.Spec, input.ModpySuffix) + ".json"} {
			file := require.V(input.ReadSpec(path))(t)
			for _, d := range []struct {
				device hal.Device
				fails  int
			}{{bad, 1}, {good, 0}} {
				p := testvectors.Plan{Device: d.device, Files: []*vectors.File{file}, Functional: true}
				if got := p.Execute(); got.Failed != d.fails || got.Cases != 1 {
					t.Errorf("%s: %d of %d cases failed, %d expected", filepath.Base(path), got.Failed, got.Cases, d.fails)
				}
			}
			var o, e strings.Builder
			if code := execute([]string{"vts", path, "--device", "reference"}, &o, &e); code != 0 {
				t.Errorf("%s: exit code %d: %s", path, code, e.String())
			}
		}
	}
	require.Check(t, written != 0, "nothing written")
	if b, err := json.Marshal(out); err != nil || !strings.Contains(string(b), `"reproduces_with_vts":true`) {
		t.Errorf("%v: %s", err, b)
	}
}
