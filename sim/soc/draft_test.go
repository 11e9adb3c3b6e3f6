package soc

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// draftOf is a preset in three tables.
const draftOf = `[a]
x = 1 # one
list = [
  {mhz = 1}, # [a] bracket
  {mhz = 2},
]
y = {p = 1, q = 2}
[b]
x = 3
[b.c]
x = 4
`

// TestDraft: lines of a variant meet each other's results, of one line and of several, added, removed and of tables.
func TestDraft(t *testing.T) {
	for lines, want := range map[string]string{
		"a.x=2 # two|b.x=5":             "[a]\nx = 2 # two\nlist = [\n  {mhz = 1}, # [a] bracket\n  {mhz = 2},\n]\ny = {p = 1, q = 2}\n[b]\nx = 5\n[b.c]\nx = 4\n",
		"a.list=[]|b.x=5|b.c.x=6":       "[a]\nx = 1 # one\nlist = []\ny = {p = 1, q = 2}\n[b]\nx = 5\n[b.c]\nx = 6\n",
		"a.list=none|b.z=7|b.c.x=6":     "[a]\nx = 1 # one\ny = {p = 1, q = 2}\n[b]\nz = 7\nx = 3\n[b.c]\nx = 6\n",
		"b.c=none|a.list=none|a.y=none": "[a]\nx = 1 # one\n[b]\nx = 3\n",
	} {
		d := draft{lines: strings.SplitAfter(draftOf, "\n")}
		for line := range strings.SplitSeq(lines, "|") {
			key, value, _ := strings.Cut(line, "=")
			require.NoError(t, d.replace(key, value), lines)
		}
		require.Same(t, want, d.text(), lines)
	}
	for _, key := range []string{"b.unknown", "unknown.x", "unknown"} {
		d := draft{lines: strings.SplitAfter(draftOf, "\n")}
		require.ErrorContains(t, d.replace(key, "none"), "the preset has no "+key)
	}
}
