package mlts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/bench/mlts/crash"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// MltsRuleChecks vary one thing of a model list, a result or a driver under stress at a time.
func RuleChecks() []check.Check {
	return []check.Check{
		{Name: "ties, limits, signs and edits of evaluators", Rows: []string{"F1-8", "F1-9", "F1-11"}, Run: evaluatorLimits},
		{Name: "speech that is normalized, and voices on one side", Rows: []string{"F1-10"}, Run: normalizedSpeech},
		{Name: "files that do not fit a network", Rows: []string{"F1-2", "F1-14", "F1-15"}, Run: filesThatDoNotFit},
		{Name: "commas and missing baselines in the file of results", Rows: []string{"F1-13"}, Run: resultCells},
		{Name: "each fault under stress is told", Rows: []string{"F2-7", "F2-8", "F2-9", "F2-11"}, Run: stressVerdicts},
		{Name: "what is heard of a test", Rows: []string{"F2-11"}, Run: printedOutcomes},
	}
}

func evaluatorLimits(t *check.T) {
	phones := func(s string) (v []float32) {
		for _, c := range s {
			one := make([]float32, 3)
			one[c-'a'] = 1
			v = append(v, one...)
		}
		return v
	}
	for _, c := range []struct {
		printed, message string
		rate             float64
	}{{"abbca", "abcab", 40}, {"abcab", "abcab", 0}, {"bcabc", "abcab", 40}, {"abcac", "abcab", 20}, {"cabba", "cabab", 20 * 2}} {
		files := map[string][]byte{"m.tflite": identityFile(1, 3), "in": check.Floats(phones(c.printed)...), "out": check.Floats(phones(c.message)...)}
		for _, r := range benchmark(t, files, `"name": "m", "inputSize": [1, 1, 1, 3], "evaluator": {"className": "PhoneErrorRate"}, "inputOutputs": [{"input": "in", "output": "out"}]`)[:1] {
			t.Check(len(r.Values) == 1 && r.Values[0].Value == c.rate, "%s for %s: %v, want %v %%", c.printed, c.message, r.Values, c.rate)
		}
	}
	// One value is larger by 1, one smaller by 2: only the first counts for the largest error.
	files := map[string][]byte{"m.tflite": identityFile(1, 3), "in": check.Floats(3, 1, 1), "out": check.Floats(2, 3, 1)}
	for _, r := range benchmark(t, files, `"name": "m", "inputSize": [1, 1, 1, 3], "inputOutputs": [{"input": "in", "output": "out"}]`) {
		if r.MaxSingleError != 1 || !(math.Abs(r.MeanSquareError-5./3) <= 1e-9) {
			t.Errorf("%s: mean square error %v, largest %v, want 5/3 and 1", r.Backend, r.MeanSquareError, r.MaxSingleError)
		}
	}
	// All values are equal: the first class is the largest.
	pictures := map[string][]byte{"m.tflite": identityFile(1, 1, 1, 3), "p/a.png": pngOf(t, 6, 2, 255), "p/b.png": pngOf(t, 8, 4, 200), "labels": []byte("cat\ndog\nbird\n")}
	const entry = `"name": "m", "inputSize": [1, 1, 1, 3], "evaluator": {"className": "TopK", "expectedTop1": %v},
		"dataset": {"inputPath": "p", "groundTruth": "truth", "labels": "labels", "preprocessor": "MobilenetV1"}`
	for _, c := range []struct {
		truth    string
		expected float64
		top      [3]float64
		errors   int
	}{{"cat\ncat\n", 1, [3]float64{1, 1, 1}, 0}, {"bird\nbird\n", 0.04, [3]float64{0, 0, 1}, 0}, {"bird\nbird\n", 0.06, [3]float64{0, 0, 1}, 1}, {"cat\nbird\n", 0.54, [3]float64{0.5, 0.5, 1}, 0}} {
		pictures["truth"] = []byte(c.truth)
		r := benchmark(t, pictures, fmt.Sprintf(entry, c.expected))[0]
		if len(r.Values) != 5 || [3]float64{r.Values[0].Value, r.Values[1].Value, r.Values[2].Value} != c.top || len(r.ValidationErrors) != c.errors {
			t.Errorf("classes %q, %v expected: %s%v, %v, want %v and %d errors", c.truth, c.expected, r.Failed, r.Values, r.ValidationErrors, c.top, c.errors)
		}
	}
}

func normalizedSpeech(t *check.T) {
	const frame, values = 49, 4 * 49
	const deviation = 0.5
	var scale []float32
	for i := range values {
		if i%frame >= 47 { // log F0 and voicing
			scale = append(scale, 0, 1)
		} else {
			scale = append(scale, 2, deviation)
		}
	}
	speech := func(amplitude, f0 float32, voiced bool) []byte {
		v := make([]float32, values)
		for i := 1; i < 40; i++ {
			v[i] = amplitude
		}
		v[47], v[48] = f0, 1
		if voiced { // another frame, on this side alone
			v[frame+47], v[frame+48] = 5, 1
		}
		return check.Floats(v...)
	}
	for _, side := range []bool{false, true} {
		files := map[string][]byte{"m.tflite": identityFile(1, values), "in": speech(4, 1./128, side), "out": speech(0, 0, !side), "scale": check.Floats(scale...)}
		const entry = `"name": "m", "inputSize": [1, 1, 1, 196], "evaluator": {"className": "MelCepLogF0"%s}, "inputOutputs": [{"input": "in", "output": "out"}]`
		for option, distortion := range map[string]float64{"": 2, `, "outputMeanStdDev": "scale"`: 2 * deviation} {
			r := benchmark(t, files, fmt.Sprintf(entry, option))[0]
			if len(r.Values) != 2 || !(math.Abs(r.Values[0].Value-distortion) <= 1e-5) || !(math.Abs(r.Values[1].Value-1./128) <= 1e-6) {
				t.Errorf("with %q: %s%v, want %v and 1/128", option, r.Failed, r.Values, distortion)
			}
		}
	}
}

func filesThatDoNotFit(t *check.T) {
	good := func() map[string][]byte {
		return map[string][]byte{"m.tflite": identityFile(1, 3), "in": check.Floats(1, 2, 3, 4, 5, 6), "out": check.Floats(1, 2, 3, 4, 5, 6)}
	}
	const entry = `"name": "m", "inputSize": [1, 1, 1, %d], "inputOutputs": [{"input": "in", "output": "out"}]`
	told := func(what string, files map[string][]byte, entry, text string) {
		for _, r := range benchmark(t, files, entry) {
			if said := r.Skipped + r.Failed; (said != "") != (text != "") || !strings.Contains(said, text) {
				t.Errorf("%s on %s: %q, want %q", what, r.Backend, said, text)
			}
		}
	}
	told("two steps", good(), fmt.Sprintf(entry, 3), "")
	told("an input of another size than the network's", good(), fmt.Sprintf(entry, 2), "the network takes")
	for _, n := range []int{0, 13, 23} {
		files := good()
		files["in"] = make([]byte, n)
		told(fmt.Sprint("a file of ", n, " bytes"), files, fmt.Sprintf(entry, 3), "multiple")
	}
	files := good()
	files["out"] = check.Floats(1, 2, 3)
	told("outputs of one step for two", files, fmt.Sprintf(entry, 3), "steps of")
}

func resultCells(t *check.T) {
	l := &mlts.Latency{Iterations: 2, TotalSec: 1, MeanSec: 0.5, StartSec: 0.5}
	l.Counts[0] = 2
	results := []*mlts.Result{
		{Model: "a,b", Backend: mlts.BackendCPU, Inference: l, TestSetSize: 1}, {Model: "a,b", Backend: mlts.BackendNNAPI, Inference: l, TestSetSize: 1, ValidationErrors: []string{"one, two\nthree"}},
		{Model: "lone", Backend: mlts.BackendNNAPI, Inference: l}, {Model: "failed", Backend: mlts.BackendCPU, Failed: "x"}, {Model: "failed", Backend: mlts.BackendNNAPI, Inference: l},
	}
	var b bytes.Buffer
	t.OK("file", mlts.WriteCSV(&b, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "build, 7", results))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	check.Equal(t, "lines", len(lines), 4)
	check.Equal(t, "the first line", lines[0], "20260102_030405,build  7")
	cells := 2 + 5 + 32 + 4 + 4 // without compilations
	for i, line := range lines[2:] {
		check.Equal(t, fmt.Sprint("cells of line ", i), strings.Count(line, ",")+1, cells+i) // the second has an error's text
		t.Check(strings.HasPrefix(line, "a b,"), "line %d is %s", i, line)
	}
}

func stressVerdicts(t *check.T) {
	plain := check.TimedCPU()
	for _, c := range []struct {
		fault, mode string
		scale       float64
		text        string // of the failure, "" is a success
		graphs      string // a result of random models that must be there
	}{
		{"wrong-after=6", "inference-stress", 1e-4, "is not what it was at first", ""},
		{"fail-after=1", "model-loading-stress", 1e-5, "liveness check: ", ""},
		{"leak-goroutines", "inference-stress", 1e-4, "goroutines more", ""},
		{"slow=4", "performance-degradation-stress", 0.004, "beside a thread that compiles", ""},
		{"fail-after=1", "inference-random-stress", 1e-5, "liveness check: ", "FailedExecution"},
		{"fail-after=100000", "inference-random-stress", 1e-5, "", "Success"},
	} {
		d := check.V(sample.NewFaulty(sample.FaultyPrefix+c.fault, plain))(t, "driver")
		var last crash.Message
		for range 12 { // a short test may see nothing of a fault that needs two threads at once
			hold, end := io.Pipe() // stays open: its end would end the process
			var said bytes.Buffer
			p := crash.Program{In: hold, Out: &said, Open: func(string) (hal.Device, hal.Device, error) { return d, plain, nil }}
			t.OK(c.mode, p.Work(&crash.Request{Role: crash.RoleTest, Mode: c.mode, Device: d.Name(), Models: []string{crash.SmallFloat, crash.SmallQuant}, Seed: 1, Scale: c.scale}))
			_ = end
			for line := range bytes.Lines(said.Bytes()) {
				last = crash.Message{}
				t.OK("a message", json.Unmarshal(line, &last))
			}
			if last.Kind == crash.KindFailure || c.text == "" {
				break
			}
		}
		if (last.Kind == crash.KindFailure) != (c.text != "") || !strings.Contains(last.Text, c.text) || c.graphs != "" && last.Count.Graphs[c.graphs] == 0 {
			t.Errorf("%s of a driver with the fault %s: %+v, want %q %s", c.mode, c.fault, last, c.text, c.graphs)
		}
	}
}

// printedOutcomes runs programs in the place of a test that print little or nothing.
func printedOutcomes(t *check.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("there is no shell: %v", err)
	}
	for script, want := range map[string]crash.Outcome{
		`read x; echo '{"kind": "success", "count": {"inferences": 1}}'`: crash.Success, `read x; echo '{"kind": "success"}'`: crash.Failure, // nothing ran
		`read x; echo '{"kind": "failure", "text": "no"}'`: crash.Failure,
		`read x; exit 0`: crash.Crash, `read x; exit 3`: crash.Crash, `read x; kill -9 $$`: crash.Crash,
		`read x; cat`: crash.Hang, `read x; echo '{"kind": "progress"}'; cat`: crash.Hang, `read x; echo '{"kind": "ready"}'; cat`: crash.Hang,
		`read x; echo '{"kind": "progress"}'; echo '{"kind": "ready"}'; echo '{"kind": "success", "count": {"inferences": 1}}'; echo '{"kind": "failure"}'`: crash.Success,
	} {
		c := crash.Coordinator{Modes: []string{"scoring"}, Devices: []string{"x"}, Scale: 1e-6, Margin: 300 * time.Millisecond, Seed: 1,
			Command: func() *exec.Cmd { return exec.Command("sh", "-c", script) }}
		if want != crash.Hang {
			c.Margin = check.DisconnectLimit
		}
		list := check.V(c.Run())(t, "run")
		check.Equal(t, "the outcome of "+script, list[0].Outcome, want)
	}
	for pattern, want := range map[string]string{"^(d|n)": "[dsp npu]", "p": "[gpu dsp npu]", "^dsp$": "[dsp]", "u$": "[gpu npu]"} {
		got := check.V(crash.Filter([]string{"gpu", "dsp", "npu"}, pattern))(t, "filter")
		check.Equal(t, "devices that match "+pattern, fmt.Sprint(got), want)
	}
}
