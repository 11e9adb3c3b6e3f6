//go:build unix

package mapped_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/mapped"
)

// TestLostBytes: bytes of a file that shrinks while it is mapped are an error. Windows
// refuses to shrink it.
func TestLostBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var b [16]byte
	if _, err := f.ReadAt(b[:], 1<<14); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a read of lost bytes: %v", err)
	}
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	err = mapped.Use(path, func(data []byte) error {
		if err := os.Truncate(path, 0); err != nil {
			return err
		}
		copy(b[:], data)
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a use of lost bytes: %v", err)
	}
}
