package input

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestExternalFiles: data beside a network and in folders below it opens, other paths are refused by name.
func TestExternalFiles(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "net", "below")
	require.NoError(t, os.MkdirAll(below, 0o755))
	for _, path := range []string{filepath.Join(dir, "outside.bin"), filepath.Join(dir, "net", "w.bin"), filepath.Join(below, "w.bin")} {
		require.NoError(t, os.WriteFile(path, []byte("data"), 0o600))
	}
	open := externalFiles(filepath.Join(dir, "net", "m.onnx"))
	for _, location := range []string{"w.bin", "below/w.bin", "./below/../w.bin"} {
		f, err := open(location)
		require.Check(t, err == nil && f.Len() == 4, "%s: %v", location, err)
	}
	for location, want := range map[string]string{
		"missing.bin": filepath.Join(dir, "net", "missing.bin") + ", which does not exist", "../outside.bin": `"../outside.bin", which is no file in the folder of the network`,
		"/etc/hostname": `"/etc/hostname", which is no file in the folder`,
	} {
		_, err := open(location)
		require.ErrorContains(t, err, want)
	}
}
