package asm

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestGenerated checks that the committed assembly is the generator's output.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs a test without -short, since it builds the generator")
	}
	dir := t.TempDir()
	asm, table := filepath.Join(dir, "zasm_amd64.s"), filepath.Join(dir, "zasmtable_amd64.go")
	if out, err := exec.Command("go", "run", "../asmgen", "-out", asm, "-table", table).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, path := range []string{asm, table} {
		got := require.File(t, path)
		want := require.File(t, filepath.Base(path))
		// The first line names the output path.
		_, got, _ = bytes.Cut(got, []byte("\n"))
		_, want, _ = bytes.Cut(want, []byte("\n"))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./dsp/internal/asm", filepath.Base(path))
		}
	}
}
