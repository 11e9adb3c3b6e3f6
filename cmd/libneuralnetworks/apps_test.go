package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// variable names the folder of the libraries, for the tests that `make apps` runs.
const variable = "NNSOC_APPS"

// libraries is the folder of the libraries; tests are skipped without it or without tools.
func libraries(t *testing.T, tools ...string) string {
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
func program(t *testing.T, lib, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	args := slices.Concat([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Iinclude", source, "-o", out, "-L" + lib}, flags)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, text)
	}
	return out
}

// run runs a program that finds the libraries, and returns what it prints to stdout and stderr.
func run(t *testing.T, lib string, env []string, name string, args ...string) (stdout, stderr string) {
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
	out, _ = run(t, lib, nil, calls, "bench", "20000")
	t.Log(out)
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
	libraryFunction = regexp.MustCompile(`(?m)^//export (\w+)$`)
)

// TestSymbols: the library has the functions of the header.
func TestSymbols(t *testing.T) {
	names := func(r *regexp.Regexp, files ...string) (list []string) {
		for _, file := range files {
			for _, m := range r.FindAllSubmatch(require.V(os.ReadFile(file))(t), -1) {
				list = append(list, string(m[1]))
			}
		}
		slices.Sort(list)
		return list
	}
	header, functions := names(headerFunction, "include/android/NeuralNetworks.h"), names(libraryFunction, require.V(filepath.Glob("*.go"))(t)...)
	if len(header) < 70 || !slices.Equal(header, functions) {
		t.Errorf("the header declares\n%s\nthe library has\n%s", header, functions)
	}
}
