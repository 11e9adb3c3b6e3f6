package mapped_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/mapped"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestFile: a mapped file reads as its bytes.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	require.NoError(t, os.WriteFile(path, want, 0o600))
	f := require.V(mapped.Open(path))(t)
	defer f.Close()
	if got, err := io.ReadAll(f.Reader()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	var b [16]byte
	if _, err := f.ReadAt(b[:], int64(len(want))-8); !errors.Is(err, io.EOF) {
		t.Errorf("a read beyond the end: %v", err)
	}
}

// TestUse: the bytes of a file are there while they are used; a fault of another kind stays one.
func TestUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, want := range []string{"", "some bytes"} {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
		got, end := "none", errors.New("end")
		if err := mapped.Use(path, func(b []byte) error { got = string(b); return end }); err != end || got != want {
			t.Errorf("%q, want %q: %v", got, want, err)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none"), os.DevNull} {
		require.Fails(t, mapped.Use(path, func([]byte) error { return nil }), path)
	}
	defer func() {
		require.Same(t, "planted", recover(), "recovered")
	}()
	_ = mapped.Use(path, func([]byte) error { panic("planted") })
}

// TestOpen: other than regular files are refused.
func TestOpen(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none"), os.DevNull} {
		require.Fails(t, require.Err(mapped.Open(path)), path)
	}
}
