//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestCreateFileNamesItsPath: an error names the file that was asked for.
func TestCreateFileNamesItsPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "out.csv")
	if _, err := CreateFile(path); err == nil || err.Error() != "open "+path+": no such file or directory" {
		t.Errorf("%v, want one about %s", err, path)
	}
}

// TestWriteFile: links and pipes remain links and pipes, and a directory is an error that leaves nothing behind.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("target"), []byte("before, and longer"), 0o600))
	require.NoError(t, os.Symlink("target", at("link")))
	require.NoError(t, WriteFile(at("link"), []byte("after")))
	require.Same(t, "after", string(require.V(os.ReadFile(at("target")))(t)), "behind a link")
	if fi, err := os.Lstat(at("link")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", fi.Mode(), err)
	}
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	reader := require.V(os.OpenFile(at("pipe"), os.O_RDWR, 0))(t)
	defer reader.Close()
	require.NoError(t, WriteFile(at("pipe"), []byte("piped")))
	if fi, err := os.Stat(at("pipe")); err != nil || fi.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe: %v, %v", fi.Mode(), err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(reader, b); err != nil || string(b) != "piped" {
		t.Errorf("through a pipe: %q, %v", b, err)
	}
	require.Fails(t, WriteFile(dir, nil), "a directory was written")
	if list, _ := os.ReadDir(dir); len(list) != 3 {
		t.Errorf("left behind: %v", list)
	}
}

// TestOutputFolder: a folder that was made for tensors is removed when there are none, with the parents made for it;
// one with tensors, or one that existed, stays.
func TestOutputFolder(t *testing.T) {
	dir := t.TempDir()
	outer, inner := filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	o, err := OpenOutput(inner)
	if err != nil || !exists(inner) {
		t.Fatalf("no folder, error %v", err)
	}
	if o.Discard(); exists(outer) {
		t.Error("empty folders are left")
	}
	if o, err = OpenOutput(inner); err != nil {
		t.Fatal(err)
	}
	o.files["x.npy"], o.order = []byte("x"), []string{"x.npy"}
	require.NoError(t, o.Commit())
	if o.Discard(); !exists(filepath.Join(inner, "x.npy")) {
		t.Error("tensors are gone")
	}
	if o, err = OpenOutput(dir); err != nil {
		t.Fatal(err)
	}
	if o.Discard(); !exists(dir) {
		t.Error("a folder that was there is gone")
	}
	require.Fails(t, require.Err(OpenOutput(filepath.Join(inner, "x.npy", "c"))), "a folder inside a file")
}
