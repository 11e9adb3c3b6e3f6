package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// debianPython is the Python that Debian's packages are for.
const debianPython = "/usr/bin/python3"

// TestPyTorch: networks of PyTorch 1.13 through its NNAPI backend, which loads libneuralnetworks.so by itself: see
// testdata/torch_networks.py. It compares the results with PyTorch's own kernels and with the reference.
func TestPyTorch(t *testing.T) {
	lib := libraries(t)
	if exec.Command(debianPython, "-c", "import torch.backends._nnapi.prepare").Run() != nil {
		t.Skip("skipped: needs Debian's python3-torch")
	}
	file := filepath.Join(t.TempDir(), "log")
	out, _ := run(t, lib, []string{"NNSOC_APPLOG=" + file, "NNSOC_APPCHECK=1"}, debianPython, "testdata/torch_networks.py")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	allowed := []struct {
		network    string
		difference float64
	}{{"towers", 1e-4}, {"quantized", 1.01}, {"mobilenet_v2", 1e-3}}
	if len(lines) != len(allowed) {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	for i, want := range allowed {
		var name string
		var difference float64
		if _, err := fmt.Sscan(lines[i], &name, &difference); err != nil || name != want.network || !(difference <= want.difference) {
			t.Errorf("%q, want %s within %g (%v)", lines[i], want.network, want.difference, err)
		}
	}
	l := readLog(t, file)
	if len(l.Compilations) != len(allowed) || len(l.Executions) != len(allowed) {
		t.Errorf("%d compilations and %d executions, want %d", len(l.Compilations), len(l.Executions), len(allowed))
	}
}
