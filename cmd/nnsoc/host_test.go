package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// writeDetector writes a network whose middle NNAPI does not express: boxes and their scores come from a product, then
// NonMaxSuppression chooses some of 16 boxes, whose coordinates are gathered and scaled.
func writeDetector(t *testing.T) string {
	t.Helper()
	node := func(op string, in []string, out string, attributes ...*onnxfile.Attribute) *onnxfile.Node {
		return &onnxfile.Node{Op: op, Name: op + " of " + out, Inputs: in, Outputs: []string{out}, Attributes: attributes}
	}
	ints := func(name string, dims []int64, list ...int64) *onnxfile.Tensor {
		return &onnxfile.Tensor{Name: name, Type: onnxfile.Int64, Dims: dims, Int64s: list}
	}
	floats := func(name string, dims []int64, list ...float32) *onnxfile.Tensor {
		return &onnxfile.Tensor{Name: name, Type: onnxfile.Float, Dims: dims, Floats: list}
	}
	weights := make([]float32, 32*32)
	for i := range weights {
		weights[i] = float32(i*7%11) / 11
	}
	value := func(name string, dims ...int64) *onnxfile.Value {
		v := &onnxfile.Value{Name: name, Type: onnxfile.Float}
		for _, d := range dims {
			v.Dims = append(v.Dims, onnxfile.Dim{Size: d})
		}
		return v
	}
	g := &onnxfile.Graph{
		Name: "detector",
		Nodes: []*onnxfile.Node{
			node("MatMul", []string{"x", "w"}, "m"),
			node("Sigmoid", []string{"m"}, "s"),
			node("Reshape", []string{"s", "scored"}, "scores"),
			node("NonMaxSuppression", []string{"boxes", "scores", "limit", "overlap", "least"}, "chosen"),
			node("Slice", []string{"chosen", "two", "three", "one"}, "column"),
			node("Squeeze", []string{"column", "one"}, "index"),
			node("Gather", []string{"all", "index"}, "picked"),
			node("Relu", []string{"picked"}, "detections"),
		},
		Initializers: []*onnxfile.Tensor{
			floats("w", []int64{32, 32}, weights...), ints("scored", []int64{3}, 1, 2, 16), ints("limit", []int64{1}, 3), floats("overlap", []int64{1}, 0.5),
			floats("least", []int64{1}, 0.3), ints("two", []int64{1}, 2), ints("three", []int64{1}, 3), ints("one", []int64{1}, 1),
		},
		Inputs:  []*onnxfile.Value{value("x", 1, 32), value("boxes", 1, 16, 4), value("all", 16, 4)},
		Outputs: []*onnxfile.Value{value("detections", 0, 4)},
	}
	path := filepath.Join(t.TempDir(), "detector.onnx")
	data := onnxfile.Append(nil, &onnxfile.Model{IRVersion: 8, Opsets: []onnxfile.Opset{{Version: 13}}, Graph: g})
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return path
}

// TestHostParts: an operator that NNAPI does not express is a part of the host between those of a device, in every
// command, and a result of open length passes through.
func TestHostParts(t *testing.T) {
	path := writeDetector(t)
	output := func(code int, args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		if got := execute(args, &out, &errs); got != code {
			t.Fatalf("%v: exit code %d: %s", args, got, errs.String())
		}
		return out.String()
	}
	var r struct {
		Runs []struct {
			Device, Status string
			Operations     []struct{ Type, Device string }
			Outputs        []struct {
				Name  string
				Shape []uint32
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(output(0, "run", path, "--device", "cpu,gpu", "--invocations", "2", "--json", "-q")), &r))
	for _, x := range r.Runs {
		devices := map[string]string{}
		for _, o := range x.Operations {
			devices[o.Type] = o.Device
		}
		require.Check(t, x.Status == "ok" && len(x.Outputs) == 1 && devices["LOGISTIC"] == x.Device && devices["HOST_NON_MAX_SUPPRESSION"] == "cpu", "%s: %s, by device %v", x.Device, x.Status, devices)
		if len(x.Outputs) != 1 {
			continue
		}
		shape := x.Outputs[0].Shape
		require.Check(t, len(shape) == 2 && shape[0] > 0 && shape[0] < 7 && shape[1] == 4, "%s: %d boxes of %v", x.Device, len(x.Outputs), shape)
	}
	for _, line := range []struct {
		args []string
		want string
	}{
		{[]string{"supported", path, "--device", "gpu"}, "HOST_NON_MAX_SUPPRESSION"},
		{[]string{"compile", path, "--device", "gpu"}, "HOST_NON_MAX_SUPPRESSION"},
		{[]string{"graph", path, "--device", "gpu"}, "HOST_NON_MAX_SUPPRESSION"},
		{[]string{"run", path, "--device", "gpu", "--invocations", "2", "--all", "-q"}, "NonMaxSuppression of chosen  on the host, outside NNAPI, unpriced"},
		{[]string{"run", path, "--device", "gpu", "--functional", "-q"}, "4 of 8 operations run on the host, outside NNAPI: HOST_NON_MAX_SUPPRESSION, HOST_SLICE, HOST_SQUEEZE, HOST_GATHER. Unpriced, with their launch and memory traffic alone (D-2500): HOST_NON_MAX_SUPPRESSION."},
		{[]string{"supported", path, "--device", "gpu"}, "on the host, outside NNAPI, unpriced"},
		{[]string{"supported", path, "--device", "gpu", "--json"}, `"node": "NonMaxSuppression of chosen"`},
		{[]string{"compile", path, "--device", "gpu"}, "on the host, outside NNAPI, unpriced"},
		{[]string{"compile", path, "--device", "gpu", "--json"}, `"unpriced": true`},
		{[]string{"partition", path, "--strategies", "single:gpu", "-q"}, "operations run on the host, outside NNAPI: HOST_NON_MAX_SUPPRESSION"},
		{[]string{"models", "check", path, "--device", "cpu", "-q"}, "1 of 1 files open"},
	} {
		text := output(0, line.args...)
		require.Check(t, strings.Contains(text, line.want), "%v: no %s in\n%s", line.args, line.want, text)
	}
	page := filepath.Join(t.TempDir(), "out.html")
	output(0, "report", path, "--device", "gpu", "-o", page, "-q")
	require.Check(t, strings.Contains(string(require.File(t, page)), "HOST_NON_MAX_SUPPRESSION"), "the report does not name the host's part")
}

// TestPlace: an operation named by number, node, tensor or type runs where --place says, whatever device the run is of and
// whatever a strategy plans.
func TestPlace(t *testing.T) {
	path := writeDetector(t)
	var m struct {
		Devices []struct {
			Operations []struct {
				Index              int
				Type, Node, Tensor string
			}
		}
	}
	var out, errs strings.Builder
	require.Check(t, execute([]string{"supported", path, "--device", "cpu", "--json"}, &out, &errs) == 0, "%s", errs.String())
	require.NoError(t, json.Unmarshal([]byte(out.String()), &m))
	logistic := ""
	for _, o := range m.Devices[0].Operations {
		if o.Type == "LOGISTIC" {
			logistic = strconv.Itoa(o.Index)
			require.Check(t, o.Node == "Sigmoid of s" && o.Tensor == "s", "LOGISTIC is %+v", o)
		}
	}
	for _, flags := range [][]string{{"--place", logistic + "=gpu"}, {"--place", "Sigmoid of s=gpu"}, {"--place", "s=gpu"}, {"--place", "LOGISTIC=cpu", "--place", "LOGISTIC=gpu"}} {
		for _, device := range []string{"cpu", "auto"} {
			out.Reset()
			var r struct {
				Runs []struct {
					Operations []struct{ Type, Device string }
				}
			}
			args := append([]string{"run", path, "--device", device, "--functional", "--json", "-q"}, flags...)
			require.Check(t, execute(args, &out, &errs) == 0, "%v: %s", args, errs.String())
			require.NoError(t, json.Unmarshal([]byte(out.String()), &r))
			on := map[string]string{}
			for _, o := range r.Runs[0].Operations {
				on[o.Type] = o.Device
			}
			require.Check(t, on["LOGISTIC"] == "gpu" && (device != "cpu" || on["FULLY_CONNECTED"] == "cpu"), "%v: by device %v", args, on)
		}
	}
	out.Reset()
	require.Check(t, execute([]string{"compile", path, "--device", "gpu", "--force-unsupported", "Sigmoid of s:gpu"}, &out, &errs) == 0, "%s", errs.String())
	require.Check(t, strings.Contains(out.String(), "(LOGISTIC): Sigmoid of s is forced unsupported"), "no refusal in\n%s", out.String())
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"run", path, "--place", "sigmoid=gpu"}, `no operation "sigmoid" in "sigmoid=gpu": detector has operations 0 to`},
		{[]string{"run", path, "--place", "CONV_2D=gpu"}, `no operation "CONV_2D"`},
		{[]string{"compile", path, "--place", "99=gpu"}, "named MatMul of m, m, Sigmoid of s"},
		{[]string{"partition", path, "--place", "s=tpu"}, `no device "tpu"; this SoC has cpu, gpu, dsp, npu`},
		{[]string{"run", path, "--place", "s"}, "want OP=DEVICE, such as 3=dsp"},
		{[]string{"run", path, "--place", "NonMaxSuppression of chosen=gpu", "-q"}, "it runs on cpu"},
		{[]string{"run", path, "--force-unsupported", "99:gpu"}, `no operation "99" in "99:gpu"`},
	} {
		errs.Reset()
		code := execute(x.args, &out, &errs)
		require.Check(t, code == 2 && strings.Contains(errs.String(), x.want), "%v: exit code %d: %s, want %s", x.args, code, errs.String(), x.want)
	}
}
