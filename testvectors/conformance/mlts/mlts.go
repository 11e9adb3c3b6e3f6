// Package mlts proves the behaviour of the ML Test Suite.
package mlts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/bench/mlts/crash"
	"github.com/nnsoc/nnsoc/bench/mlts/page"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// Checks returns the checks of the ML Test Suite: benchmarks and crash tests.
func Checks() []check.Check {
	return []check.Check{
		{Name: "models of the benchmark", Rows: []string{"F1-1", "F1-2"}, Run: benchmarkModels},
		{Name: "loops, latencies and errors of the benchmark", Rows: []string{"F1-4", "F1-5", "F1-6", "F1-8", "F1-11", "F1-14", "F1-15"}, Run: benchmarkLoops},
		{Name: "compiling with and without a cache", Rows: []string{"F1-7"}, Run: benchmarkCaches},
		{Name: "pictures and the best classes", Rows: []string{"F1-9", "F1-12"}, Run: benchmarkPictures},
		{Name: "distortion of speech", Rows: []string{"F1-10"}, Run: benchmarkSpeech},
		{Name: "the page and the file of results", Rows: []string{"F1-13"}, Run: benchmarkPage},
		{Name: "modes of the crash tests", Rows: []string{"F2-1", "F2-3", "F2-4", "F2-5", "F2-10"}, Run: crashModes},
		{Name: "a driver lives through stress, and a wrong result is told", Rows: []string{"F2-2", "F2-6", "F2-7", "F2-8", "F2-9", "F2-11"}, Run: stress},
	}
}

func benchmarkModels(t *check.T) {
	var names []string
	for _, size := range []string{"1.0_224", "0.75_192", "0.5_160", "0.25_128"} {
		names = append(names, "mobilenet_v1_"+size+"_topk_aosp", "mobilenet_v1_"+size+"_quant_topk_aosp")
	}
	for _, size := range []string{"0.35_128", "0.5_160", "0.75_192", "1.0_224", "1.0_224_quant"} {
		names = append(names, "mobilenet_v2_"+size+"_topk_aosp")
	}
	have := map[string]bool{}
	for _, m := range mlts.Builtin().Models {
		have[m.TestName] = true
	}
	for _, name := range append(names, "tts_float", "asr_float") {
		t.Check(have[name], "%s is no built-in model", name)
	}
	l, err := mlts.ParseList([]byte(`{"models": [{"name": "n", "testName": "t", "modelFile": "f", "baselineSec": 0.5, "minSdkVersion": 29, "inputSize": [1, 2, 2, 3],
		"dataSize": 1, "inputScale": 0.5, "inputZeroPoint": 3, "evaluator": {"className": "com.example.TopK", "outputMeanStdDev": "o", "expectedTop1": 0.7},
		"inputOutputs": [{"input": "i", "output": "o"}, {"input": "j", "outputs": ["p", "q"]}]}]}`))
	t.OK("a list", err)
	m := l.Models[0]
	if m.Name != "n" || m.TestName != "t" || m.ModelFile != "f" || m.BaselineSec != 0.5 || m.MinSDKVersion != 29 || !slices.Equal(m.InputSize, []int{1, 2, 2, 3}) ||
		m.DataSize != 1 || m.InputScale != 0.5 || m.InputZero != 3 || m.Evaluator.ExpectedTop1 != 0.7 || m.Evaluator.OutputMeanStdDev != "o" || len(m.InputOutputs) != 2 ||
		!slices.Equal(m.InputOutputs[1].Files(), []string{"p", "q"}) {
		t.Errorf("the list is %+v", m)
	}
	for _, bad := range []string{`{}`, `{"models": [{"name": "n"}]}`, `{"models": [{"name": "n", "baselineSec": 1, "inputSize": [1, 1, 1, 1], "dataSize": 4}]}`} {
		t.Check(check.Err(mlts.ParseList([]byte(bad))) != nil, "%s is a list", bad)
	}
}

// identityFile is a network that returns its input where that is not negative.
func identityFile(shape ...int32) []byte {
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{{
		Tensors: []tflitefile.Tensor{{Shape: shape}, {Shape: shape}}, Inputs: []int32{0}, Outputs: []int32{1},
		Operators: []tflitefile.Operator{{Code: 19, Inputs: []int32{0}, Outputs: []int32{1}}},
	}}}
	return m.Bytes()
}

// benchmark measures the models of a list on the CPU and the GPU of a phone. Files lie in its folder; the
// entry has no braces around it.
func benchmark(t *check.T, files map[string][]byte, entry string) []*mlts.Result {
	dir := check.V(os.MkdirTemp("", "nnsoc-mlts"))(t, "folder")
	defer os.RemoveAll(dir)
	files["list.json"] = []byte(`{"models": [{"baselineSec": 0.001, "dataSize": 4, ` + entry + `}]}`)
	for name, b := range files {
		t.OK("folder", os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		t.OK(name, os.WriteFile(filepath.Join(dir, name), b, 0o666))
	}
	l := check.V(mlts.ReadList(filepath.Join(dir, "list.json")))(t, "list")
	c := check.V(soc.Load("pixel4"))(t, "phone")
	m := check.V(devices.NewMachine(c, hal.FastSingleAnswer))(t, "machine")
	list := m.Devices()
	r := check.V(registry.New(list[0], list[1:]...))(t, "registry")
	r.SetMachine(m)
	b := mlts.Benchmark{List: l, Registry: r, Machine: m, Span: mlts.Span{WarmUp: 3 * sim.Millisecond, Run: 10 * sim.Millisecond}, Accelerators: []string{"gpu"}, GPU: "gpu"}
	results := check.V(b.Run())(t, "benchmark")
	return results
}

func benchmarkLoops(t *check.T) {
	check.Equal(t, "spans", [2]mlts.Span{mlts.Long, mlts.ShortSpan},
		[2]mlts.Span{{WarmUp: 2 * sim.Second, Run: 10 * sim.Second, Steady: devices.SteadySpan}, {WarmUp: 300 * sim.Millisecond, Run: sim.Second, Steady: devices.SteadySpan}})
	phones := func(s string) (v []float32) { // a step has the phone with the largest value
		for _, c := range s {
			one := make([]float32, 3)
			one[c-'a'] = 1
			v = append(v, one...)
		}
		return v
	}
	// Two sequences of five steps; the second is two edits away from the expected one.
	files := map[string][]byte{"m.tflite": identityFile(1, 3), "a.in": check.Floats(phones("aabca")...), "a.out": check.Floats(phones("aabca")...),
		"b.in": check.Floats(phones("abcab")...), "b.out": check.Floats(phones("bcabc")...)}
	const entry = `"name": "m", "inputSize": [1, 1, 1, 3], "evaluator": {"className": "PhoneErrorRate"}, "inputOutputs": [{"input": "a.in", "output": "a.out"}, {"input": "b.in", "output": "%s"}]`
	backends := []string{mlts.BackendCPU, mlts.BackendNNAPI, mlts.BackendNNAPI + "_gpu", mlts.BackendGPU}
	for _, r := range benchmark(t, files, fmt.Sprintf(entry, "b.out")) {
		t.Check(slices.Contains(backends, r.Backend), "backend %s", r.Backend)
		backends = slices.DeleteFunc(backends, func(s string) bool { return s == r.Backend })
		if r.Failed != "" || r.Skipped != "" || r.Inference == nil {
			t.Errorf("%s: failed %q, skipped %q", r.Backend, r.Failed, r.Skipped)
			continue
		}
		// Every step of the second sequence has two of three elements wrong by one.
		if want := 0.5 * 2. / 3; !(math.Abs(r.MeanSquareError-want) <= 1e-9) || r.MaxSingleError != 1 || r.TestSetSize != 10 {
			t.Errorf("%s: mean square error %v, largest %v of %d steps", r.Backend, r.MeanSquareError, r.MaxSingleError, r.TestSetSize)
		}
		if len(r.Values) != 1 || r.Values[0] != (mlts.Value{Key: "max_phone_error_rate", Value: 40}) || len(r.ValidationErrors) != 1 {
			t.Errorf("%s: %v, %v, want two edits of five steps", r.Backend, r.Values, r.ValidationErrors)
		}
		l := r.Inference
		count := 0.
		for _, n := range l.Counts {
			count += n
		}
		if len(l.Counts) != 32 || l.Iterations < 1 || count != float64(l.Iterations) || !(math.Abs(l.MeanSec*float64(l.Iterations)-l.TotalSec) <= 1e-9*l.TotalSec) || l.StdSec < 0 || l.TotalSec < 0.01 {
			t.Errorf("%s: %+v", r.Backend, l)
		}
	}
	check.Equal(t, "backends that are missing", len(backends), 0)
	for _, r := range benchmark(t, files, fmt.Sprintf(entry, "lost")) {
		t.Check(strings.Contains(r.Skipped, "lost") && r.Inference == nil, "%s without a file: skipped %q", r.Backend, r.Skipped)
	}
	for _, r := range benchmark(t, files, `"minSdkVersion": 99, `+fmt.Sprintf(entry, "b.out")) {
		t.Check(strings.Contains(r.Skipped, "SDK 99"), "%s of a later Android: skipped %q", r.Backend, r.Skipped)
	}
}

func benchmarkCaches(t *check.T) {
	files := map[string][]byte{"m.tflite": identityFile(1, 64), "in": check.Floats(make([]float32, 64)...), "out": check.Floats(make([]float32, 64)...)}
	for _, r := range benchmark(t, files, `"name": "m", "inputSize": [1, 1, 1, 64], "inputOutputs": [{"input": "in", "output": "out"}]`) {
		c := r.Compilation
		switch {
		case c == nil || c.WithoutCache == nil || !(c.WithoutCache.MeanSec > 0):
			t.Errorf("%s: compilation %+v", r.Backend, c)
		case r.Backend == mlts.BackendCPU || r.Accelerated == 0: // the runtime may choose the CPU
			check.Equal(t, "bytes that the CPU caches", c.CacheBytes, 0)
		case c.SaveToCache == nil || c.FromCache == nil || c.CacheBytes <= 0 || !(c.FromCache.MeanSec < c.WithoutCache.MeanSec && c.WithoutCache.MeanSec < c.SaveToCache.MeanSec):
			t.Errorf("%s: compilation %+v, want less from a cache and more to one", r.Backend, c)
		}
	}
}

// pngOf is a grey picture of one value.
func pngOf(t *check.T, w, h int, v byte) []byte {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = v
	}
	img.SetGray(0, 0, color.Gray{Y: 0}) // outside of the square in the middle
	var b bytes.Buffer
	t.OK("picture", png.Encode(&b, img))
	return b.Bytes()
}

func benchmarkPictures(t *check.T) {
	files := func(dims ...int32) map[string][]byte {
		// Equal values: the first class is the largest, the third the third.
		return map[string][]byte{"m.tflite": identityFile(dims...), "p/a.png": pngOf(t, 6, 2, 255), "p/b.png": pngOf(t, 8, 4, 200),
			"truth": []byte("cat\nbird\n"), "labels": []byte("cat\ndog\nbird\n")}
	}
	const entry = `"name": "m", "inputSize": [1, 1, 1, 3], "evaluator": {"className": "TopK", "expectedTop1": %v},
		"dataset": {"inputPath": "p", "groundTruth": "truth", "labels": "labels", "preprocessor": "MobilenetV1"}`
	for top1, errors := range map[float64]int{0.5: 0, 0.56: 1} {
		for _, r := range benchmark(t, files(1, 1, 1, 3), fmt.Sprintf(entry, top1)) {
			want := []mlts.Value{{Key: "top_1", Value: 0.5}, {Key: "top_2", Value: 0.5}, {Key: "top_3", Value: 1}, {Key: "top_4", Value: 1}, {Key: "top_5", Value: 1}}
			if r.Failed != "" || !slices.Equal(r.Values, want) || len(r.ValidationErrors) != errors {
				t.Errorf("%s: %s%v, %v, want %v and %d errors", r.Backend, r.Failed, r.Values, r.ValidationErrors, want, errors)
			}
		}
	}
}

// benchmarkSpeech: 40 amplitudes, 7 values of aperiodicity, log F0 and voicing of each of 4 frames. The first
// amplitude does not count; of the frames that are voiced one differs.
func benchmarkSpeech(t *check.T) {
	const frame, values = 49, 4 * 49
	speech := func(amplitude, f0 float32) []byte {
		v := make([]float32, values)
		v[0] = 100 * amplitude
		for i := 1; i < 40; i++ {
			v[i] = amplitude
		}
		v[47], v[48] = f0, 1
		v[frame+47] = 5 * f0 // of a frame without a voice
		return check.Floats(v...)
	}
	for _, c := range []struct {
		amplitude, f0, distortion, pitch float64
		errors                           int
	}{{8, 1. / 128, 4, 1. / 128, 0}, {8.25, 1. / 128, 4.125, 1. / 128, 1}, {8.25, 1. / 64, 4.125, 1. / 64, 2}} {
		files := map[string][]byte{"m.tflite": identityFile(1, values), "in": speech(float32(c.amplitude), float32(c.f0)), "out": speech(0, 0)}
		for _, r := range benchmark(t, files, `"name": "m", "inputSize": [1, 1, 1, 196], "evaluator": {"className": "MelCepLogF0"}, "inputOutputs": [{"input": "in", "output": "out"}]`) {
			if len(r.Values) != 2 || !(math.Abs(r.Values[0].Value-c.distortion) <= 1e-5) || !(math.Abs(r.Values[1].Value-c.pitch) <= 1e-6) || len(r.ValidationErrors) != c.errors {
				t.Errorf("%s: %v, %v, want %v, %v and %d errors", r.Backend, r.Values, r.ValidationErrors, c.distortion, c.pitch, c.errors)
			}
		}
	}
}

func benchmarkPage(t *check.T) {
	latency := func(ms float64) *mlts.Latency {
		l := &mlts.Latency{Iterations: 1000, TotalSec: ms, MeanSec: ms / 1e3, StartSec: ms / 1e3, StepSec: ms / 1e5}
		l.Counts[0] = 1000
		return l
	}
	results := []*mlts.Result{
		{Model: "tts_float", Backend: mlts.BackendCPU, Inference: latency(2), TestSetSize: 16, Values: []mlts.Value{{Key: "max_mel_cep_distortion", Value: 1.25}, {Key: "max_log_f0_error", Value: 0.002}}},
		{Model: "tts_float", Backend: "TFLite_NNAPI_gpu", Inference: latency(3), TestSetSize: 16, Values: []mlts.Value{{Key: "max_mel_cep_distortion", Value: 4.5}, {Key: "max_log_f0_error", Value: 0.003}},
			ValidationErrors: []string{"too much <distortion>"}, Compilation: &mlts.Compilation{WithoutCache: latency(30), SaveToCache: latency(40), FromCache: latency(3), CacheBytes: 4321}},
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var text bytes.Buffer
	t.OK("page", page.Write(&text, page.About{SoC: "pixel4", Build: "build 7", At: at, WarmUp: 2, Run: 10}, results))
	html := text.String()
	last := -1
	for _, want := range []string{"pixel4", "build 7", ">Backend<", ">Iterations<", ">Test set size<", ">Average latency ms<", "too much &lt;distortion&gt;", "Prepare from cache", "4321"} {
		t.Check(strings.Contains(html, want), "the page has no %s", want)
	}
	// Columns of speech have separate headings, in the order of their values.
	for _, want := range []string{"Max mel-cep distortion", "Max log F0", "1.25", "0.002"} {
		at := strings.Index(html[last+1:], want)
		if at < 0 {
			t.Errorf("the page has no %s behind byte %d", want, last)
			break
		}
		last += 1 + at
	}
	for _, bad := range []string{"http://", "https://", "<script", "too much <"} {
		t.Check(!strings.Contains(html, bad), "the page has %s", bad)
	}
	text.Reset()
	t.OK("file", mlts.WriteCSV(&text, at, "build 7", results))
	lines := strings.Split(text.String(), "\n")
	if len(lines) != 5 || lines[0] != "20260102_030405,build 7" || !strings.HasPrefix(lines[1], "#") || !strings.HasPrefix(lines[2], "tts_float,TFLite_CPU,1000,2.0,0.002,") || !strings.HasSuffix(lines[3], ",4321") {
		t.Errorf("the file of results is\n%s", text.String())
	}
}

// crashModes are threads, processes, durations and chances of a kill as AOSP has them.
func crashModes(t *check.T) {
	const minute = time.Minute
	want := map[string][]crash.Config{
		"parallel-inference-stress":            {{Threads: 8, Duration: 30 * minute}, {Threads: 12, Duration: 20 * minute}},
		"parallel-inference-stress-in-process": {{Threads: 8, Duration: 30 * minute}, {Threads: 12, Duration: 20 * minute}},
		"client-early-termination-stress":      {{Threads: 4, Processes: 1, KillPercent: 100, Duration: 70 * time.Second}},
		"multi-process-inference-stress":       {{Threads: 10, Processes: 6, Duration: 30 * minute}, {Threads: 10, Processes: 6, KillPercent: 80, Duration: 20 * minute}},
		"multi-process-model-load-stress": {{Threads: 10, Processes: 6, Duration: 20 * minute}, {Threads: 10, Processes: 6, KillPercent: 50, Duration: 20 * minute},
			{Threads: 10, Processes: 6, KillPercent: 100, Duration: 10 * minute}},
		"memory-mapped-model-load-stress": {{Threads: 4, Duration: 70 * time.Second}},
		"model-load-random-stress":        {{Graphs: 600, Size: 10, Range: 1000, Duration: 15 * minute}, {Graphs: 600, Size: 600, Range: 10, Duration: 15 * minute}},
		"inference-random-stress":         {{Graphs: 600, Size: 10, Range: 1000, Duration: 15 * minute}, {Graphs: 600, Size: 600, Range: 10, Duration: 15 * minute}},
	}
	check.Equal(t, "modes", len(crash.Modes()), 12)
	for _, m := range crash.Modes() {
		if w, ok := want[m.Name]; ok && !slices.Equal(m.Configs, w) {
			t.Errorf("%s: %+v, want %+v", m.Name, m.Configs, w)
		}
		delete(want, m.Name)
	}
	check.Equal(t, "modes that are missing", len(want), 0)
	got := check.V(crash.Filter([]string{"gpu", "dsp", "npu"}, "^(d|n)"))(t, "filter")
	check.Equal(t, "devices by a pattern", fmt.Sprint(got), "[dsp npu]")
	_, err := crash.Filter([]string{"gpu"}, "x")
	t.Check(err != nil, "a pattern that nothing matches is taken")
}

// stress runs the modes that need no further process, for a moment each.
func stress(t *check.T) {
	c := check.V(soc.Load("pixel4"))(t, "phone")
	samples := check.V(devices.Samples(c, hal.FastSingleAnswer))(t, "drivers")
	plain := samples[0]
	run := func(mode string, d hal.Device) crash.Message {
		hold, end := io.Pipe() // stays open: its end would end the process
		defer func() { _ = end }()
		var said bytes.Buffer
		p := crash.Program{In: hold, Out: &said, Open: func(string) (hal.Device, hal.Device, error) { return d, plain, nil }}
		t.OK(mode, p.Work(&crash.Request{Role: crash.RoleTest, Mode: mode, Device: d.Name(), Models: []string{crash.SmallFloat, crash.SmallQuant}, Seed: 1, Scale: 1e-5}))
		var last crash.Message
		for line := range bytes.Lines(said.Bytes()) {
			last = crash.Message{}
			t.OK("a message", json.Unmarshal(line, &last))
		}
		return last
	}
	for _, mode := range []string{"parallel-inference-stress-in-process", "memory-mapped-model-load-stress", "model-load-random-stress", "inference-random-stress",
		"performance-degradation-stress", "scoring", "inference-stress", "model-loading-stress"} {
		if m := run(mode, plain); m.Kind != crash.KindSuccess || m.Count.Compilations == 0 {
			t.Errorf("%s: %+v", mode, m)
		}
	}
	wrong := check.V(sample.NewFaulty("faulty:wrong", plain))(t, "a driver with a fault")
	for _, mode := range []string{"inference-stress", "parallel-inference-stress-in-process", "performance-degradation-stress"} {
		if m := run(mode, wrong); m.Kind != crash.KindFailure || !strings.Contains(m.Text, "wrong result") {
			t.Errorf("%s of a driver that computes wrong: %+v", mode, m)
		}
	}
}
