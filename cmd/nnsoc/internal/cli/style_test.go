package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestStyle: text is marked for a terminal alone.
func TestStyle(t *testing.T) {
	require.Same(t, "\x1b[1mnpu\x1b[0m", Style{true}.Bold("npu"))
	require.Same(t, "\x1b[31mwrong\x1b[0m", Style{true}.Bad("wrong"))
	require.Same(t, "\x1b[32mfaster\x1b[0m", Style{true}.Good("faster"))
	require.Same(t, "", Style{true}.Bold(""))
	require.Same(t, "npu", Style{}.Bold("npu"))
	file := require.V(os.Create(t.TempDir() + "/out"))(t)
	defer file.Close()
	for _, a := range []*App{{Out: new(strings.Builder)}, {Out: file}} {
		require.Check(t, !a.Style().on, "%T is no terminal", a.Out)
	}
}
