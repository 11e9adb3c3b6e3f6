package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// variable names the folder of the libraries, for the tests that `make apps` runs.
const variable = "NNSOC_APPS"

// libraries is the folder of the libraries; tests are skipped without it or without tools.
func libraries(t testing.TB, tools ...string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skip("skipped: needs make apps")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("skipped: needs " + tool)
		}
	}
	return dir
}

// program compiles a program in C and links it with the libraries.
func program(t testing.TB, lib, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	args := slices.Concat([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Iinclude", source, "-o", out, "-L" + lib}, flags)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, text)
	}
	return out
}

// run runs a program that finds the libraries, and returns what it prints to stdout and stderr.
func run(t testing.TB, lib string, env []string, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+lib), env...)
	c.Stdout, c.Stderr = &o, &e
	if err := c.Run(); err != nil {
		t.Errorf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, o.String(), e.String())
	}
	return o.String(), e.String()
}

// TestTwoOperations: the example of NNAPI's programming guide.
func TestTwoOperations(t *testing.T) {
	lib := libraries(t, "gcc")
	example := program(t, lib, "../../docs/examples/apps/two_operations.c", "-lneuralnetworks", "-landroid")
	for _, env := range [][]string{nil, {"NNSOC_DEVICE=gpu"}, {"NNSOC_SOC=sd888"}} {
		if out, _ := run(t, lib, env, example); out != "0 of 24 results are wrong\n" {
			t.Errorf("%v: %s", env, out)
		}
	}
}

// TestSanitized: a program under the address and leak sanitizers finds nothing in the library.
func TestSanitized(t *testing.T) {
	lib := libraries(t, "gcc")
	flags := []string{"-fsanitize=address,undefined", "-lneuralnetworks", "-landroid"}
	empty := filepath.Join(t.TempDir(), "empty.c")
	require.NoError(t, os.WriteFile(empty, []byte("int main(void) { return 0; }\n"), 0o600))
	if exec.Command("gcc", empty, "-o", empty+".out", flags[0]).Run() != nil || exec.Command(empty+".out").Run() != nil {
		t.Skip("skipped: needs gcc's sanitizers")
	}
	example := program(t, lib, "../../docs/examples/apps/two_operations.c", flags...)
	if out, errors := run(t, lib, nil, example); out != "0 of 24 results are wrong\n" || errors != "" {
		t.Errorf("%s%s", out, errors)
	}
}

// TestCalls: see testdata/calls.c. The one panic that it causes leaves its line.
func TestCalls(t *testing.T) {
	lib := libraries(t, "gcc")
	calls := program(t, lib, "testdata/calls.c", "-lneuralnetworks", "-landroid", "-lnativewindow", "-lpthread")
	out, errors := run(t, lib, nil, calls)
	if out != "0 failures\n" {
		t.Error(out)
	}
	if strings.Count(errors, "\n") != 1 || !strings.HasPrefix(errors, "nnsoc: ANeuralNetworksModel_finish: internal error") {
		t.Errorf("stderr: %s", errors)
	}
}

// TestNullPointers: what each call returns for a null pointer, see testdata/nulls.c.
func TestNullPointers(t *testing.T) {
	lib := libraries(t, "gcc")
	out, _ := run(t, lib, nil, program(t, lib, "testdata/nulls.c", "-lneuralnetworks", "-landroid"))
	doctable.Check(t, "../../docs/Contract.md", "| call | pointer | code |", strings.Split(strings.TrimSuffix(out, "\n"), "\n"))
}

// measured runs executions of six calls by a program in C: the time of one, and how much memory the process takes for the last four
// fifths.
func measured(t testing.TB, lib, calls string, n int) (us float64, kb int) {
	t.Helper()
	out, _ := run(t, lib, nil, calls, "bench", strconv.Itoa(n))
	if _, err := fmt.Sscanf(out, "%f us per execution, %d KB more", &us, &kb); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return us, kb
}

// TestGrowth: 100,000 executions leave nothing behind.
func TestGrowth(t *testing.T) {
	lib := libraries(t, "gcc")
	us, kb := measured(t, lib, program(t, lib, "testdata/calls.c", "-lneuralnetworks", "-landroid", "-lnativewindow", "-lpthread"), 100_000)
	t.Logf("%.2f us per execution, %d KB more", us, kb)
	if kb > 16<<10 { // a heap that the collector lets grow between two collections
		t.Errorf("the process takes %d KB more after 20,000 of 100,000 executions", kb)
	}
}

// BenchmarkCalls compares an execution of six calls in C with the same calls of package nnapi.
func BenchmarkCalls(b *testing.B) {
	const n = 20_000
	lib := libraries(b, "gcc")
	calls := program(b, lib, "testdata/calls.c", "-lneuralnetworks", "-landroid", "-lnativewindow", "-lpthread")
	phone := require.V(devices.NewMachine(require.V(soc.Load(soc.Default))(b), hal.FastSingleAnswer))(b)
	r := require.V(nnapi.NewRuntime(phone.Devices()[0]))(b)
	m := nnapi.NewModel()
	vector := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{8}}
	for _, o := range []nnapi.OperandType{vector, vector, {Type: nn.Int32}, vector} {
		require.NoError(b, m.AddOperand(o))
	}
	require.NoError(b, m.SetOperandValue(2, make([]byte, 4)))
	require.NoError(b, m.AddOperation(nn.OpAdd, []uint32{0, 1, 2}, []uint32{3}))
	require.NoError(b, m.IdentifyInputsAndOutputs([]uint32{0, 1}, []uint32{3}))
	require.NoError(b, m.Finish())
	c := require.V(r.NewCompilationForDevices(m, []*nnapi.Device{require.V(r.Device(0))(b)}))(b)
	require.NoError(b, c.Finish())
	x, y := make([]byte, 32), make([]byte, 32)
	for b.Loop() {
		inC, _ := measured(b, lib, calls, n)
		began := time.Now()
		for range n {
			e := require.V(nnapi.NewExecution(c))(b)
			require.NoError(b, e.SetInput(0, nil, x))
			require.NoError(b, e.SetInput(1, nil, x))
			require.NoError(b, e.SetOutput(0, nil, y))
			require.NoError(b, e.Compute())
		}
		inGo := float64(time.Since(began).Microseconds()) / n
		b.ReportMetric(inC, "us/execution")
		b.ReportMetric((inC-inGo)/6, "us-more-than-Go/call")
	}
}

// TestEnvironment: a phone that does not exist is a message and a result code.
func TestEnvironment(t *testing.T) {
	lib := libraries(t, "gcc")
	example := program(t, lib, "../../docs/examples/apps/two_operations.c", "-lneuralnetworks", "-landroid")
	for env, want := range map[string]string{
		"NNSOC_SOC=pixel0":         "pixel0",
		"NNSOC_SET=dram.nothing=1": "dram.nothing",
		"NNSOC_DEVICE=tpu":         `no device "tpu"; there are gpu, dsp, npu, cpu`,
	} {
		c := exec.CommandContext(t.Context(), example)
		c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib, env)
		text, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), "result code 5") {
			t.Errorf("%s: %v\n%s", env, err, text)
		}
	}
}

var (
	headerFunction  = regexp.MustCompile(`\b(ANeuralNetworks\w*_\w+)\(`)
	supportFunction = regexp.MustCompile(`\b(SL_ANeuralNetworks\w*_\w+)\(`)
	libraryFunction = regexp.MustCompile(`(?m)^//export (\w+)$`)
)

// TestSymbols: the library has the functions of the header and those that only its table as a support library names.
func TestSymbols(t *testing.T) {
	names := func(r *regexp.Regexp, files ...string) (list []string) {
		for _, file := range files {
			for _, m := range r.FindAllSubmatch(require.V(os.ReadFile(file))(t), -1) {
				list = append(list, string(m[1]))
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	header := names(headerFunction, "include/android/NeuralNetworks.h")
	support := names(supportFunction, "support.c")
	declared, functions := slices.Sorted(slices.Values(slices.Concat(header, support))), names(libraryFunction, require.V(filepath.Glob("*.go"))(t)...)
	if len(header) < 70 || len(support) < 8 || !slices.Equal(declared, functions) {
		t.Errorf("declared are\n%s\nthe library has\n%s", declared, functions)
	}
}

// TestChoices: an accelerator by name, results of FLOAT16 where they are allowed, an output whose size the execution tells, and a
// compilation that the second process takes from the folder of the first. See testdata/choices.c.
func TestChoices(t *testing.T) {
	lib := libraries(t, "gcc")
	choices := program(t, lib, "testdata/choices.c", "-lneuralnetworks")
	folder := t.TempDir()
	for i, x := range []struct {
		device, relaxed, count, open, said string
		hits                               int
	}{
		{"gpu", "0", "3", "0", "1 dimension, 3 elements, sum 3.00073242\n", 0},
		{"gpu", "0", "3", "0", "1 dimension, 3 elements, sum 3.00073242\n", 1},
		{"gpu", "1", "3", "0", "1 dimension, 3 elements, sum 3\n", 0}, // 1 + 2^-12 is 1 in FLOAT16
		{"gpu", "1", "3", "0", "1 dimension, 3 elements, sum 3\n", 1},
		{"gpu", "0", "5", "1", "1 dimension, 5 elements, sum 5.0012207\n", 0}, // open sizes are not kept
		{"nnapi-reference", "1", "3", "0", "1 dimension, 3 elements, sum 3.00073242\n", 0},
	} {
		file := filepath.Join(t.TempDir(), "log")
		out, _ := run(t, lib, []string{"NNSOC_APPLOG=" + file, "NNSOC_APPCHECK=1"}, choices, x.device, folder, x.relaxed, x.count, x.open)
		l := readLog(t, file)
		if out != x.said || len(l.Compilations) != 1 || len(l.Executions) != 1 {
			t.Fatalf("%d: %s%d compilations, %d executions", i, out, len(l.Compilations), len(l.Executions))
		}
		if c := l.Compilations[0]; c.CacheHits != x.hits || len(c.Parts) != 1 || c.Parts[0].Device != strings.ReplaceAll(x.device, "nnapi-reference", "cpu") {
			t.Errorf("%d: %+v, want %d hits on %s", i, c, x.hits, x.device)
		}
	}
}
