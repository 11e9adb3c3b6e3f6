//go:build unix

package mapped_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/mapped"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestLostBytes: bytes of a file that shrinks while it is mapped are an error. Windows
// refuses to shrink it.
func TestLostBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, make([]byte, 1<<16), 0o600))
	f := require.V(mapped.Open(path))(t)
	defer f.Close()
	require.NoError(t, os.Truncate(path, 0))
	var b [16]byte
	if _, err := f.ReadAt(b[:], 1<<14); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a read of lost bytes: %v", err)
	}
	require.NoError(t, os.Truncate(path, 1<<16))
	err := mapped.Use(path, func(data []byte) error {
		if err := os.Truncate(path, 0); err != nil {
			return err
		}
		copy(b[:], data)
		return nil
	})
	require.Check(t, errors.Is(err, io.ErrUnexpectedEOF), "a use of lost bytes: %v", err)
}
