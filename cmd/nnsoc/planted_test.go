package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// plants are faults in the first output of an execution, float32 of at least one element, and the required report.
var plants = []struct {
	name  string
	plant func(r *hal.Buffers, res *hal.Result)
	want  string
}{
	{"finite", setFirst(12345), "is 12345, expected"},
	{"nan", setFirst(float32(math.NaN())), "is NaN, expected"},
	{"infinity", setFirst(float32(math.Inf(1))), "is +Inf, expected"},
	{"missing", func(r *hal.Buffers, res *hal.Result) {
		d := append([]uint32(nil), res.OutputDimensions[0]...)
		d[len(d)-1]--
		res.OutputDimensions[0] = d
		r.Outputs[0] = r.Outputs[0][:len(r.Outputs[0])-4]
	}, ""},
	{"extra", func(r *hal.Buffers, res *hal.Result) {
		d := append([]uint32(nil), res.OutputDimensions[0]...)
		d[len(d)-1]++
		res.OutputDimensions[0] = d
		r.Outputs[0] = append(r.Outputs[0][:len(r.Outputs[0]):len(r.Outputs[0])], 0, 0, 0, 0)
	}, ""},
	{"shape", func(r *hal.Buffers, res *hal.Result) {
		res.OutputDimensions[0] = append([]uint32{1}, res.OutputDimensions[0]...)
	}, "shape [1 "},
	{"no output", func(r *hal.Buffers, res *hal.Result) {
		r.Outputs, res.OutputDimensions = r.Outputs[1:], res.OutputDimensions[1:]
	}, ""},
}

func setFirst(v float32) func(*hal.Buffers, *hal.Result) {
	return func(r *hal.Buffers, _ *hal.Result) { binary.LittleEndian.PutUint32(r.Outputs[0], math.Float32bits(v)) }
}

// planted is a device with a fault in executions of float32 models.
type planted struct {
	hal.Device
	plant func(*hal.Buffers, *hal.Result)
}

func (d *planted) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	if err != nil || m.Main.Operands[m.Main.Outputs[0]].Type != nn.TensorFloat32 {
		return p, err
	}
	return &plantedModel{p, d.plant}, nil
}

type plantedModel struct {
	hal.PreparedModel
	plant func(*hal.Buffers, *hal.Result)
}

func (p *plantedModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	if err == nil {
		b := &hal.Buffers{}
		if b.Inputs, b.Outputs, err = r.Buffers(); err == nil {
			p.plant(b, res)
		}
	}
	return res, err
}

// command runs a command line whose GPU has a fault, nil for none.
func command(plant func(*hal.Buffers, *hal.Result), args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	a := &cli.App{Out: &out, Err: &errs}
	if plant != nil {
		a.Wrap = func(d hal.Device) hal.Device {
			if d.Name() == "gpu" {
				return &planted{d, plant}
			}
			return d
		}
	}
	root := root(a, args)
	root.SetArgs(args)
	err := root.Execute()
	if err != nil {
		errs.WriteString(err.Error())
	}
	return cli.ExitCode(err), out.String(), errs.String()
}

// reluNetwork writes a TensorFlow Lite network of one RELU on four floats.
func reluNetwork(t *testing.T) string {
	t.Helper()
	shape := []int32{1, 4}
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{{
		Tensors: []tflitefile.Tensor{{Name: "x", Shape: shape}, {Name: "y", Shape: shape}}, Inputs: []int32{0}, Outputs: []int32{1},
		Operators: []tflitefile.Operator{{Code: 19, Inputs: []int32{0}, Outputs: []int32{1}}}, // RELU
	}}}
	path := filepath.Join(t.TempDir(), "relu.tflite")
	require.NoError(t, os.WriteFile(path, m.Bytes(), 0o600))
	return path
}

const absSpec = `x = Input("x", "TENSOR_FLOAT32", "{1, 4}")
y = Output("y", "TENSOR_FLOAT32", "{1, 4}")
model = Model().Operation("ABS", x).To(y)
Example({x: [-1, 2, -3, 4], y: [1, 2, 3, 4]}).DisableLifeTimeVariation()
`

// TestPlantedFaults: run, vts, fuzz and bench report each kind of wrong output of
// a device with exit code 1, and nothing without a fault.
func TestPlantedFaults(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "abs.mod.py")
	require.NoError(t, os.WriteFile(spec, []byte(absSpec), 0o600))
	for _, c := range []struct {
		name    string
		args    []string
		says    bool // the report describes the fault
		outputs bool // a wrong number of outputs is a device error, exit code 3
	}{
		{"run", []string{"run", reluNetwork(t), "--device", "gpu"}, true, true},
		{"vts", []string{"vts", spec, "--device", "gpu"}, true, false},
		{"fuzz", []string{"fuzz", "--device", "gpu", "--operations", "^ABS$", "--count", "6"}, true, false},
		{"bench", []string{"bench", "gemm", "--device", "gpu", "--type", "f32", "--size", "8", "--repeat", "1"}, false, true},
	} {
		for _, functional := range []string{"", "--functional"} {
			args := c.args
			if functional != "" {
				args = append(args, functional)
			}
			if code, out, errs := command(nil, args...); code != 0 {
				t.Errorf("%v: exit code %d without a fault\n%s%s", args, code, out, errs)
			}
			for _, p := range plants {
				want := cli.ExitMismatch
				switch {
				case p.name == "no output" && c.outputs:
					want = cli.ExitInternal
				case p.name == "no output" && c.name == "vts": // a shape that the model has already need not be reported
					want = cli.ExitOK
				}
				code, out, errs := command(p.plant, args...)
				require.Check(t, code == want, "%s, %s: exit code %d, want %d\n%s%s", c.name, p.name, code, want, out, errs)
				require.Check(t, !c.says || strings.Contains(out, p.want), "%s, %s: %q is not in\n%s", c.name, p.name, p.want, out)
				code, out, _ = command(p.plant, append(args, "--json")...)
				if code != want || want == cli.ExitMismatch && !json.Valid([]byte(out)) {
					t.Errorf("%s --json, %s: exit code %d, want %d\n%s", c.name, p.name, code, want, out)
				}
			}
		}
	}
}

// TestExpectedNonFinite: vts reports a device that returns a number where the expected value is none, and passes one
// that returns the same.
func TestExpectedNonFinite(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		in, want string
		code     int
	}{
		"nan":         {`float("nan")`, `float("nan")`, 0},
		"number":      {"1", `float("nan")`, cli.ExitMismatch},
		"infinity":    {`float("-inf")`, `float("inf")`, 0},
		"finite":      {"-3e38", `float("inf")`, cli.ExitMismatch},
		"minus":       {`float("inf")`, `float("-inf")`, cli.ExitMismatch},
		"nan instead": {`float("nan")`, "1", cli.ExitMismatch},
	} {
		path := filepath.Join(dir, "x.mod.py")
		text := strings.ReplaceAll(strings.ReplaceAll(absSpec, "[-1,", "["+c.in+","), "y: [1,", "y: ["+c.want+",")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		for _, device := range []string{"reference", "cpu", "gpu"} {
			if code, out, errs := command(nil, "vts", path, "--device", device, "--json"); code != c.code || !json.Valid([]byte(out)) {
				t.Errorf("%s on %s: exit code %d, want %d\n%s%s", name, device, code, c.code, out, errs)
			}
		}
	}
}
