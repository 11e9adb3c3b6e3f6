package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestOwnCapabilities: the devices of a SoC file that is no preset are measured when first queried, and known
// afterwards; those of a preset are known.
func TestOwnCapabilities(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(machine.CacheVariable, cache)
	text := require.V(soc.Text("ethos-u55-32"))(t)
	own := filepath.Join(t.TempDir(), "own.toml")
	require.NoError(t, os.WriteFile(own, []byte(strings.Replace(string(text), `name = "ethos-u55-32"`, `name = "own"`, 1)), 0o666))
	type answer struct {
		code      int
		out, errs string
	}
	ask := func() (x answer) {
		x.code, x.out, x.errs = command(nil, "devices", "--soc", own)
		return x
	}
	// Two at once on an empty cache, then one that finds all, then one that finds
	// files which were cut off.
	beside := make(chan answer)
	go func() { beside <- ask() }()
	first := ask()
	second := <-beside
	if first.code != 0 || second.code != 0 || second.out != first.out || !strings.Contains(first.errs+second.errs, "npu: CONV_2D 3x3/2 224x224x3 to 32") {
		t.Errorf("exit codes %d and %d, nothing was measured, or something else\n%s%s\n%s%s", first.code, second.code, first.errs, first.out, second.errs, second.out)
	}
	if x := ask(); x.code != 0 || x.errs != "" || x.out != first.out {
		t.Errorf("exit code %d, measured again\n%s%s", x.code, x.errs, x.out)
	}
	files, err := filepath.Glob(filepath.Join(cache, "costs", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in the cache, error %v", len(files), err)
	}
	for _, file := range files {
		require.NoError(t, os.Truncate(file, 20))
	}
	if x := ask(); x.code != 0 || x.out != first.out || !strings.Contains(x.errs, "npu: CONV_2D") {
		t.Errorf("with damaged files: exit code %d, not measured again, or something else\n%s%s", x.code, x.errs, x.out)
	}
	// The name has no influence on the measurement.
	other := filepath.Join(t.TempDir(), "other.toml")
	require.NoError(t, os.WriteFile(other, []byte(strings.Replace(string(text), `name = "ethos-u55-32"`, `name = "other"`, 1)), 0o666))
	_, renamed, _ := command(nil, "devices", "--soc", other)
	figures := func(s string) string { return s[strings.Index(s, "device "):] }
	require.Check(t, figures(renamed) == figures(first.out), "the same machine by another name reports\n%s\nnot\n%s", renamed, first.out)
}
