package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestJournalLines: a line without end, which no command has written, is refused and leaves the file alone.
func TestJournalLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	text := append([]byte("{\"of\":1}\n"), bytes.Repeat([]byte{' '}, maxJournalLine+1)...)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	type head struct{ Of int }
	_, err := OpenJournal(path, JournalKind{"rows", "model"}, head{1}, func(was head) bool { return was == head{1} }, func(int) {})
	require.Check(t, err != nil && strings.Contains(err.Error(), "line 2: a line of more than 1048576 bytes"), "%v", err)
	require.Same(t, len(text), len(require.File(t, path)), "bytes of the file")
}
