//go:build unix

package cost

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestStoreReadsNoPipe: a pipe where a record belongs is no record, and opening it does
// not wait for a writer.
func TestStoreReadsNoPipe(t *testing.T) {
	s := NewStore(t.TempDir(), "m")
	key := strings.Repeat("ab", 32)
	path := s.path(key)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, unix.Mkfifo(path, 0o666))
	require.Check(t, !s.get(key, &Record{}), "a record from a pipe")
}
