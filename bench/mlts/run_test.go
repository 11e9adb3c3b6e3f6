package mlts

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// bench is a benchmark of a list on pixel4, its devices wrapped.
func bench(t *testing.T, l *List, wrap func(hal.Device) hal.Device) *Benchmark {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	m := require.V(devices.NewMachine(c, hal.FastSingleAnswer))(t)
	list := slices.Clone(m.Devices())
	for i := range list {
		if wrap != nil {
			list[i] = wrap(list[i])
		}
	}
	r := require.V(registry.New(list[0], list[1:]...))(t)
	r.SetMachine(m)
	return &Benchmark{List: l, Registry: r, Machine: m, Span: Span{WarmUp: 3 * sim.Millisecond, Run: 10 * sim.Millisecond}, Accelerators: []string{"gpu", "npu"}, GPU: "gpu"}
}

func run(t *testing.T, b *Benchmark) map[string]*Result {
	t.Helper()
	list := require.V(b.Run())(t)
	require.Same(t, BackendCPU, list[0].Backend, "the first result is of")
	all := map[string]*Result{}
	for _, r := range list {
		all[r.Backend] = r
	}
	return all
}

func little(values ...float32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// accumulator adds its input to a state and returns the sum: y = x + s, s' = y.
type accumulator struct{ steps [][]Input }

func (accumulator) network() (*nn.Model, error) {
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 2}}), "x")
	s := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 2}}), "s")
	b.Output(b.Apply(nn.OpAdd, nn.TensorFloat32, builder.Quant{}, x, s, b.Int32(0)), "y")
	b.Output(b.Apply(nn.OpAdd, nn.TensorFloat32, builder.Quant{}, x, s, b.Int32(0)), "s_out")
	m, err := b.Model("accumulator")
	if err != nil {
		return nil, err
	}
	feedBack(m)
	return m, nil
}

func (a accumulator) testSet(*nn.Model) (*TestSet, error) {
	t := &TestSet{sequence: func(i int) ([]Input, error) { return a.steps[i], nil }}
	for _, s := range a.steps {
		t.lengths = append(t.lengths, len(s))
		t.Steps += len(s)
	}
	return t, nil
}

// TestStates: states are carried from step to step and begin anew with each sequence, on every backend, in timed and in
// untimed inferences.
func TestStates(t *testing.T) {
	step := func(in, out float32) Input {
		return Input{Data: little(in, 1), Expected: [][]byte{little(out, 0)}, Class: -1}
	}
	a := accumulator{[][]Input{{step(1, 1), step(2, 3), step(3, 6), step(4, 10)}, {step(5, 5), step(6, 11)}}}
	for _, r := range run(t, bench(t, &List{Models: []Model{{TestName: "accumulator", source: a}}}, nil)) {
		if strings.Contains(r.Backend, "npu") {
			require.Check(t, strings.Contains(r.Skipped, "npu supports none of the 2 operations: "), "%s: skipped %q", r.Backend, r.Skipped)
			continue
		}
		// The second value counts the steps: 1 to 4, then 1 and 2, half of whose squares are
		// the mean square errors.
		if want := (1. + 4 + 9 + 16 + 1 + 4) / 2 / 6; r.MeanSquareError != want || r.MaxSingleError != 4 || r.TestSetSize != 6 || r.Failed != "" {
			t.Errorf("%s: mean square error %v, want %v; largest %v, want 4; %d steps; %s", r.Backend, r.MeanSquareError, want, r.MaxSingleError, r.TestSetSize, r.Failed)
		}
		if mhz := r.ClocksMHz["gpu"]; r.Backend == BackendCPU && len(r.ClocksMHz) > 0 || r.Device == "gpu" && mhz < 257 {
			t.Errorf("%s: clocks %v", r.Backend, r.ClocksMHz)
		}
		if l := r.Inference; l == nil || l.TotalSec < 0.01 || l.TotalSec > 0.02 || l.MeanSec <= 0 {
			t.Errorf("%s: %+v", r.Backend, l)
		}
	}
}

func relu(shape ...int32) []byte {
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{{
		Tensors: []tflitefile.Tensor{{Shape: shape}, {Shape: shape}}, Inputs: []int32{0}, Outputs: []int32{1},
		Operators: []tflitefile.Operator{{Code: 19, Inputs: []int32{0}, Outputs: []int32{1}}},
	}}}
	return m.Bytes()
}

// put writes files of a list into a folder.
func put(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, b, 0o666))
	}
	return dir
}

// TestFiles runs a model from files as AOSP lays them out, with one expected value that is wrong, and reports a missing
// file by name.
func TestFiles(t *testing.T) {
	files := map[string][]byte{
		"models_list/relu.json": []byte(`{"models": [
  {"name": "relu", "baselineSec": 0.001, "inputSize": [1, 1, 1, 4], "dataSize": 4, "evaluator": {"className": "PhoneErrorRate"},
   "inputOutputs": [{"input": "in", "output": "out"}]},
  {"name": "future", "modelFile": "relu", "minSdkVersion": 99, "baselineSec": 0.001, "inputSize": [1, 1, 1, 4], "dataSize": 4, "inputOutputs": [{"input": "in", "output": "out"}]},
  {"name": "gone", "baselineSec": 1, "inputSize": [1, 1, 1, 4], "dataSize": 4, "inputOutputs": [{"input": "in", "output": "lost"}]},
  {"name": "short", "modelFile": "relu", "baselineSec": 1, "inputSize": [1, 1, 1, 4], "dataSize": 4, "inputOutputs": [{"input": "in", "output": "cut"}]},
  {"name": "other", "modelFile": "relu", "baselineSec": 1, "inputSize": [1, 1, 1, 8], "dataSize": 4, "inputOutputs": [{"input": "in", "output": "out"}]}
]}`),
		"assets/relu.tflite": relu(1, 4),
		"in":                 little(-1, 2, 3, -4, 8, -7, 6, 5),
		"out":                little(0, 2, 3, 0, 8, 0, 6, 4.5),
		"cut":                little(0, 2, 3, 0, 8, 0, 6),
	}
	dir := put(t, files)
	l := require.V(ReadList(filepath.Join(dir, "models_list", "relu.json")))(t)
	list := require.V(bench(t, l, nil).Run())(t)
	for _, r := range list {
		switch r.Model {
		case "relu":
			if strings.Contains(r.Backend, "npu") {
				continue
			}
			if r.Failed != "" || r.MaxSingleError != 0.5 || r.MeanSquareError != 0.25/4/2 || r.TestSetSize != 2 || len(r.Values) != 1 || r.Values[0].Value != 0 {
				t.Errorf("%s: %+v", r.Backend, r)
			}
			if r.Inference == nil || !(math.Abs(r.Score*r.Inference.MeanSec-0.001) <= 1e-12) {
				t.Errorf("%s: score %v, want 1 ms / mean", r.Backend, r.Score)
			}
		default:
			want := map[string]string{"future": "needs Android's SDK 99", "gone": "missing: [gone.tflite lost]", "short": "cut: 28 bytes, 2 steps", "other": "the network takes TENSOR_FLOAT32[1 4]"}[r.Model]
			require.Check(t, strings.Contains(r.Skipped, want) && r.Inference == nil, "%s: skipped %q, want %q", r.Model, r.Skipped, want)
		}
	}
	entries := l.Describe(nil)
	if len(entries) != 5 || entries[0].TestSet != 2 || entries[0].Problem != "" || !strings.Contains(entries[1].Problem, "SDK 99") || len(entries[2].Missing) != 2 {
		t.Errorf("%+v", entries)
	}
}

// TestPictures: the square in the middle of a picture, scaled, in the order of the names.
func TestPictures(t *testing.T) {
	picture := func(w, h int, at func(x, y int) byte) []byte {
		img := image.NewGray(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				img.SetGray(x, y, color.Gray{Y: at(x, y)})
			}
		}
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, img))
		return b.Bytes()
	}
	columns := func(x, _ int) byte { return byte(10 * x) }
	norm := preprocessors["MobilenetV1"]
	got, err := preprocess(picture(6, 4, columns), 2, nn.TensorQuant8Asymm, norm)
	// Columns 1 to 4 remain: samples are between 1 and 2, and between 3 and 4.
	want := []byte{15, 15, 15, 35, 35, 35, 15, 15, 15, 35, 35, 35}
	require.Check(t, err == nil && bytes.Equal(got, want), "%v, %v; want %v", got, err, want)
	if got, err = preprocess(picture(1, 1, func(int, int) byte { return 255 }), 2, nn.TensorFloat32, norm); err != nil || !bytes.Equal(got, bytes.Repeat(little(1), 12)) {
		t.Errorf("%v, %v; want ones", got, err)
	}
	if got, err = preprocess(picture(2, 2, func(int, int) byte { return 3 }), 1, nn.TensorQuant8AsymmSigned, norm); err != nil || !bytes.Equal(got, []byte{131, 131, 131}) {
		t.Errorf("%v, %v; want 3 - 128", got, err)
	}
	for _, bad := range [][]byte{nil, []byte("no picture"), picture(4, 4, columns)[:40]} {
		require.Fails(t, require.Err(preprocess(bad, 2, nn.TensorFloat32, norm)), len(bad), "bytes were taken for a picture")
	}

	// The network returns its input: 3 values for a picture of one pixel.
	dir := put(t, map[string][]byte{
		"relu.tflite": relu(1, 1, 1, 3),
		"p/a.png":     picture(1, 1, func(int, int) byte { return 255 }), "p/b.png": picture(3, 3, func(int, int) byte { return 200 }),
		"truth": []byte("cat\nbird\n"), "labels": []byte("cat\ndog\nbird\n"), "wrong": []byte("cat\nhorse\n"),
		"list.json": []byte(`{"models": [{"name": "relu", "baselineSec": 0, "inputSize": [1, 1, 1, 3], "dataSize": 4, "evaluator": {"className": "TopK"},
  "dataset": {"inputPath": "p", "groundTruth": "truth", "labels": "labels", "preprocessor": "MobilenetV1"}}]}`),
	})
	l := require.V(ReadList(filepath.Join(dir, "list.json")))(t)
	r := run(t, bench(t, l, nil))[BackendCPU]
	// Equal values: the first is the largest, the third the third.
	if r.Failed != "" || len(r.Values) != 5 || r.Values[0].Value != 0.5 || r.Values[1].Value != 0.5 || r.Values[2].Value != 1 {
		t.Errorf("%+v", r)
	}
	l.Models[0].Dataset.GroundTruth = "wrong"
	if r = run(t, bench(t, l, nil))[BackendCPU]; !strings.Contains(r.Skipped, `wrong, line 2: "horse" is not in labels`) {
		t.Errorf("%+v", r)
	}
}

// wrong is a device whose outputs are all 0.
type wrong struct{ hal.Device }

func (d wrong) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return &wrongModel{p}, err
}

type wrongModel struct{ hal.PreparedModel }

func (p *wrongModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	if err != nil {
		return nil, err
	}
	_, outputs, err := r.Buffers()
	for _, b := range outputs {
		clear(b)
	}
	return res, err
}

// TestSynthetic: a built-in model agrees with the reference on every backend, and a network that does not is reported.
func TestSynthetic(t *testing.T) {
	l := require.V(Named([]string{"mobilenet_v1_0.25_128_quant_topk_aosp"}))(t)
	b := bench(t, l, func(d hal.Device) hal.Device {
		if d.Name() == "npu" {
			return wrong{d}
		}
		return d
	})
	b.GPU = ""
	for name, r := range run(t, b) {
		switch c := r.Compilation; {
		case name == BackendCPU:
			if c == nil || c.WithoutCache == nil || c.SaveToCache != nil || c.FromCache != nil || c.CacheBytes != 0 {
				t.Errorf("%s: compilation %+v, want one without a cache", name, c)
			}
		case name == "TFLite_NNAPI_npu": // the wrong device hides its supported operations
			require.Check(t, c == nil, "%s: compilation %+v of a driver that does not tell", name, c)
		}
		if r.Accelerated > 0 && name != "TFLite_NNAPI_gpu" { // on the NPU
			require.Check(t, r.Failed == "" && len(r.ValidationErrors) == 1 && r.Values[0].Value <= 0.5, "%s: zeros were taken: %+v", name, r)
			continue
		}
		if r.Failed != "" || r.Skipped != "" || r.MaxSingleError != 0 || len(r.ValidationErrors) != 0 || r.Values[0].Value != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	require.ErrorContains(t, require.Err(Named([]string{"mobilenet_v9"})), "similar networks")
	c := run(t, bench(t, l, nil))["TFLite_NNAPI_npu"].Compilation
	if c == nil || c.SaveToCache == nil || c.FromCache == nil || !(c.FromCache.MeanSec < c.WithoutCache.MeanSec && c.WithoutCache.MeanSec < c.SaveToCache.MeanSec) || c.CacheBytes < 400_000 {
		t.Errorf("compilation %+v, want less from a cache and more to one", c)
	}
	w := require.V(l.open(&l.Models[0]))(t)
	classes := map[int]bool{}
	require.NoError(t, w.expect(b.Registry))
	for _, s := range w.expected {
		v := require.V(numbers(outputsOf(w.net)[0], s[0][0]))(t)
		classes[largest(v)] = true
	}
	require.Check(t, len(classes) >= 2, "all pictures are of class %v: a wrong one would not be noticed", classes)
}
