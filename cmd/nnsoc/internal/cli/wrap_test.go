package cli

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWrap: lines are filled as far as they reach, and no word is cut or lost.
func TestWrap(t *testing.T) {
	require.Equal(t, "a short line", Wrap("a short  line"))
	full := strings.Repeat("x", Columns-2)
	require.Equal(t, full+" y", Wrap(full+" y"))
	require.Equal(t, full+"\n  yz", Wrap(full+" yz"))
	require.Equal(t, "a\n  "+strings.Repeat("é", Columns)+"\n  b", Wrap("a "+strings.Repeat("é", Columns)+" b"))
	require.Equal(t, "", Wrap(""))
}

// TestCount: one is singular.
func TestCount(t *testing.T) {
	require.Same(t, "1 part", Count(1, "part"))
	require.Same(t, "0 parts", Count(int64(0), "part"))
}
