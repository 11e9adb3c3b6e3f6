package asm

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestGenerated: the committed assembly is what its generator writes.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs a test without -short, since it builds the generator")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("skipped: needs go")
	}
	dir := t.TempDir()
	files := []string{"zrow_amd64.s", "zrow_amd64.go", "ztable_amd64.go"}
	cmd := exec.Command(tool, "run", "../asmgen", "-out", filepath.Join(dir, files[0]), "-stubs", filepath.Join(dir, files[1]), "-pkg", "asm", "-table", filepath.Join(dir, files[2]))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range files {
		got := require.File(t, filepath.Join(dir, f))
		want := require.File(t, f)
		// The first line names the command with its arguments.
		_, got, _ = bytes.Cut(got, []byte("\n"))
		_, want, _ = bytes.Cut(want, []byte("\n"))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date; run go generate", f)
		}
	}
}
