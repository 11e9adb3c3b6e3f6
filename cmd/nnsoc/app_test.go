package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestAppScripts runs testdata/apps/*.txtar, on programs that load libneuralnetworks.so: `make apps` builds it.
func TestAppScripts(t *testing.T) {
	lib := os.Getenv("NNSOC_APPS")
	if lib == "" {
		t.Skip("skipped: needs make apps")
	}
	examples := require.V(filepath.Abs(filepath.Join("..", "..", "docs", "examples", "apps")))(t)
	include := require.V(filepath.Abs(filepath.Join("..", "libneuralnetworks", "include")))(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "apps"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("APPS", lib)
			e.Setenv("INCLUDE", include)
			e.Setenv("EXAMPLES", examples)
			return nil
		},
	})
}
