// Package doctable compares tables of Markdown files with the results of tests, so that a page of docs shows the output
// of the command.
package doctable

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

var update = flag.Bool("update-docs", false, "write tables of docs again")

// Check fails unless the table of a Markdown file whose first line is header has these rows.
// With -update-docs it writes them.
func Check(t testing.TB, path, header string, rows []string) {
	t.Helper()
	data := require.V(os.ReadFile(path))(t)
	lines := strings.SplitAfter(string(data), "\n")
	begin, end, ok := find(lines, header)
	if !ok {
		t.Fatalf("%s has no table %s", path, header)
	}
	if *update {
		text := strings.Join(lines[:begin], "") + strings.Join(rows, "\n") + "\n" + strings.Join(lines[end:], "")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	for i := range max(len(rows), end-begin) {
		have, want := "nothing", "nothing"
		if i < end-begin {
			have = strings.TrimSuffix(lines[begin+i], "\n")
		}
		if i < len(rows) {
			want = rows[i]
		}
		if have != want {
			t.Errorf("%s, row %d of %s is\n%s, not\n%s\n(go test -run %s -update-docs writes it)", path, i, header, have, want, t.Name())
		}
	}
}

// Rows are the cells of the table of a Markdown file whose first line is header, by row.
func Rows(t testing.TB, path, header string) (rows [][]string) {
	t.Helper()
	data := require.V(os.ReadFile(path))(t)
	lines := strings.SplitAfter(string(data), "\n")
	begin, end, ok := find(lines, header)
	if !ok {
		t.Fatalf("%s has no table %s", path, header)
	}
	for _, l := range lines[begin:end] {
		cells := strings.Split(strings.Trim(strings.TrimSpace(l), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

// Cell is the cell of a column in the row that begins with first.
func Cell(t testing.TB, path, header, first string, column int) string {
	t.Helper()
	for _, r := range Rows(t, path, header) {
		if strings.HasPrefix(r[0], first) && column < len(r) {
			return r[column]
		}
	}
	t.Fatalf("%s: %s has no row %q with %d columns", path, header, first, column+1)
	return ""
}

// find is the lines of the rows of a table, after its header and its rule.
func find(lines []string, header string) (begin, end int, ok bool) {
	for i := 0; i+1 < len(lines); i++ {
		if strings.TrimSuffix(lines[i], "\n") == header && strings.HasPrefix(lines[i+1], "|-") {
			for begin, end = i+2, i+2; end < len(lines) && strings.HasPrefix(lines[end], "|"); end++ {
			}
			return begin, end, true
		}
	}
	return 0, 0, false
}
