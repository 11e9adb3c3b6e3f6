package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

// TestSupportLibrary: a framework that loads the library by its path gets its devices through the support library interface.
func TestSupportLibrary(t *testing.T) {
	lib := libraries(t, "gcc")
	framework := program(t, lib, "testdata/support.c", "-ldl")
	if out, _ := run(t, lib, nil, framework, filepath.Join(lib, "libneuralnetworks.so")); out != "4 devices, 0 failures\n" {
		t.Error(out)
	}
}

// lanes compiles the example of a driver in C.
func lanes(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "liblanes.so")
	text, err := exec.CommandContext(t.Context(), "gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-Iinclude", "../../docs/examples/cdriver/lanes.c", "-o", out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// host loads a driver in a process of its own and returns its devices, by name.
func host(t *testing.T, lib, driver string) map[string]*service.Device {
	t.Helper()
	c := exec.Command(filepath.Join(lib, "driverhost"), driver) // it ends with its standard input, after t.Context
	in := require.V(c.StdinPipe())(t)
	out := require.V(c.StdoutPipe())(t)
	c.Stderr = os.Stderr
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("driverhost: %v", err)
		}
	})
	devices := map[string]*service.Device{}
	for s := bufio.NewScanner(out); s.Scan(); {
		name, socket, _ := strings.Cut(s.Text(), " ")
		d := require.V(service.Dial(socket))(t)
		if devices[name] = d; d.Name() != name {
			t.Errorf("%s serves %s", name, d.Name())
		}
	}
	return devices
}

// TestDriverInC: the example keeps the contract, and computes what it declares.
func TestDriverInC(t *testing.T) {
	lib := libraries(t, "gcc")
	d := host(t, lib, lanes(t))["lanes"]
	if d == nil {
		t.Fatal("no device lanes")
	}
	s := conformance.Run(t, d)
	t.Logf("%d checks, skipped: %s", s.Passed, strings.Join(s.Skipped, "; "))
	if v := testvectors.Run(t, d, nil); v.Passed == 0 {
		t.Errorf("no vector concerns the driver: %+v", v)
	}
}

// TestOwnDrivers: the library's own devices, through the interface and a process of their own.
func TestOwnDrivers(t *testing.T) {
	lib := libraries(t)
	devices := host(t, lib, filepath.Join(lib, "libneuralnetworks.so"))
	if len(devices) != 3 || devices["npu"] == nil {
		t.Fatalf("%d devices", len(devices))
	}
	some := func(c *vectors.Case) bool { // a runtime leaves loops with values of unknown size to its CPU
		return testvectors.AsSpecified(c) && !strings.Contains(c.Name, "unknown_rank") && slices.ContainsFunc([]string{"while", "mul", "fully_connected"}, func(s string) bool { return strings.Contains(c.Name, s) })
	}
	if v := testvectors.Run(t, devices["gpu"], some); v.Passed == 0 {
		t.Errorf("%+v", v)
	}
}
