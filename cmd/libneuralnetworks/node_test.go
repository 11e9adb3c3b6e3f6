package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestNode: networks of the zoo through the interface of tfjs-tflite-node: see testdata/node_client.js. The package has no way to
// ask for NNAPI, so that testdata/usennapi.c is preloaded.
func TestNode(t *testing.T) {
	c := newClient(t)
	libraries(t, "node", "npm", "g++")
	addon(t)
	use := filepath.Join(t.TempDir(), "libusennapi.so")
	if text, err := exec.Command("gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "testdata/usennapi.c", "-o", use, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, said := range map[string]string{"mobilenet_v1_0.25_128_quant": "int32 1x1001\n", "mlperf_tiny_ad_float": "float32 1x640\n"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, m, inputs := zooFile(t, name, dir)
			log := filepath.Join(dir, "log")
			out, _ := run(t, c.lib, []string{"NNSOC_APPLOG=" + log, "NNSOC_APPCHECK=1", "LD_PRELOAD=" + use}, "node", "testdata/node_client.js", tflitePackages, file, dir)
			if out != said {
				t.Errorf("said %q, want %q", out, said)
			}
			if l := readLog(t, log); len(l.Executions) != 2 {
				t.Errorf("%d executions on NNAPI, want 2", len(l.Executions))
			}
			compareOutputs(t, name, dir, m, c.expected(t, m, inputs))
		})
	}
}

// addon compiles the package's part in C++ where its JavaScript looks for it, as its installation would with node-gyp.
func addon(t *testing.T) {
	t.Helper()
	include := strings.TrimSpace(string(require.V(exec.Command("node", "-p", `require("path").join(process.execPath, "../../include/node")`).Output())(t)))
	if _, err := os.Stat(filepath.Join(include, "node_api.h")); err != nil {
		t.Skip("skipped: needs node_api.h beside node")
	}
	modules := filepath.Join(tflitePackages, "node_modules")
	pkg := filepath.Join(modules, "tfjs-tflite-node")
	release := filepath.Join(pkg, "build", "Release")
	require.NoError(t, os.MkdirAll(release, 0o755))
	api := filepath.Join(pkg, "node_modules", "node-addon-api")
	if _, err := os.Stat(api); err != nil {
		api = filepath.Join(modules, "node-addon-api")
	}
	text, err := exec.Command("g++", "-shared", "-fPIC", "-std=c++17", "-DNAPI_CPP_EXCEPTIONS", "-DNAPI_VERSION=8",
		"-I"+include, "-I"+filepath.Join(pkg, "cc_deps", "include"), "-I"+api, filepath.Join(pkg, "binding", "node_tflite_binding.cc"),
		"-o", filepath.Join(release, "node_tflite_binding.node"), "-L"+filepath.Dir(tfliteLibrary), "-l:libtensorflowlite_c.so", "-l:libexternal_delegate_obj.so",
		"-Wl,-rpath,$ORIGIN/../../cc_deps/linux_amd64").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}
