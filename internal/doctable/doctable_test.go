package doctable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// failures counts the reports of a test.
type failures struct {
	testing.TB
	n int
}

func (*failures) Helper()                 {}
func (*failures) Name() string            { return "TestTable" }
func (f *failures) Errorf(string, ...any) { f.n++ }

// TestHold: each row that differs, is missing or too many is reported, and written when asked for.
func TestHold(t *testing.T) {
	const page = "# Page\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\nText.\n"
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	for _, c := range []struct {
		rows string
		want int
	}{{"| 1 | 2 |,| 3 | 4 |", 0}, {"| 1 | 2 |,| 3 | 5 |", 1}, {"| 1 | 2 |", 1}, {"| 0 | 2 |,| 3 | 4 |,| 5 | 6 |", 2}} {
		f := &failures{TB: t}
		if Check(f, path, "| a | b |", strings.Split(c.rows, ",")); f.n != c.want {
			t.Errorf("%s: %d rows are reported, want %d", c.rows, f.n, c.want)
		}
	}
	require.Same(t, "4", Cell(t, path, "| a | b |", "3", 1), "cell")
	*update = true
	defer func() { *update = false }()
	Check(t, path, "| a | b |", []string{"| 7 | 8 |"})
	have, err := os.ReadFile(path)
	require.Check(t, err == nil && string(have) == strings.Replace(page, "| 1 | 2 |\n| 3 | 4 |", "| 7 | 8 |", 1), "written:\n%s", have)
}
