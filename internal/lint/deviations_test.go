package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// Forms of docs/DEVIATIONS.md.
const (
	maxDeviationRow   = 360 // characters of an entry; the rest is in its section
	deviationColumns  = 5   // id, what, why, effect, place
	deviationsFile    = "docs/DEVIATIONS.md"
	fewestDeviations  = 200
	fewestAssumptions = 20
)

var (
	deviationID   = regexp.MustCompile(`\bD-\d{2,4}\b`)
	deviationLink = regexp.MustCompile(`\]\(([^)]+)\)`)
	assumedWord   = regexp.MustCompile(`(^|[^"\w])assumed\b[^"]?`)
)

// deviationProblems lists what is wrong with the form of a text of deviations: rows that are too long, ids that
// stand twice, links to files or sections that do not exist, and sections without a row.
func deviationProblems(text string, exists func(path string) bool) (problems []string, ids map[string]bool) {
	failf := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	ids = map[string]bool{}
	sections := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			name = strings.TrimSpace(name)
			if sections[name] {
				failf("two sections %s", name)
			}
			sections[name] = true
		}
	}
	linked := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "| D-") && !strings.HasPrefix(line, "| [D-") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		id := deviationID.FindString(cells[0])
		if n := len([]rune(line)); n > maxDeviationRow {
			failf("%s: a row of %d characters, at most %d: the rest belongs into a section ### %s below", id, n, maxDeviationRow, id)
		}
		if len(cells) != deviationColumns {
			failf("%s: %d columns, want %d: id, what, why, effect, place", id, len(cells), deviationColumns)
			continue
		}
		if ids[id] {
			failf("two rows %s", id)
		}
		ids[id] = true
		place := deviationLink.FindStringSubmatch(cells[deviationColumns-1])
		if place == nil {
			failf("%s: no link to its place in code or docs", id)
		} else if !exists(filepath.Join("docs", place[1])) {
			failf("%s: no file %s", id, place[1])
		}
		if m := deviationLink.FindStringSubmatch(cells[0]); m != nil {
			linked[id] = true
			if m[1] != "#"+strings.ToLower(id) || !sections[id] {
				failf("%s: no section %s", id, m[1])
			}
		}
	}
	for name := range sections {
		if !linked[name] {
			failf("section %s has no row that links to it", name)
		}
	}
	slices.Sort(problems)
	return problems, ids
}

// TestDeviations holds the form of the deviations, and that every id and every assumption in the code has its row.
func TestDeviations(t *testing.T) {
	text := require.V(os.ReadFile(deviationsFile))(t)
	problems, ids := deviationProblems(string(text), func(path string) bool { _, err := os.Stat(path); return err == nil })
	for _, p := range problems {
		t.Error(p)
	}
	require.Check(t, len(ids) >= fewestDeviations, "only %d entries seen", len(ids))
	set, files := goFiles(t)
	assumptions := 0
	for path, f := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, group := range f.Comments {
			comment := group.Text()
			named := deviationID.FindAllString(comment, -1)
			for _, id := range named {
				require.Check(t, ids[id], "%s: no entry %s", set.Position(group.Pos()), id)
			}
			if !assumedWord.MatchString(comment) || strings.HasPrefix(path, "docs"+string(filepath.Separator)) {
				continue
			}
			if assumptions++; len(named) == 0 {
				t.Errorf("%s: assumed without an entry", set.Position(group.Pos()))
			}
		}
	}
	require.Check(t, assumptions >= fewestAssumptions, "only %d assumptions seen", assumptions)
}

func TestDeviationsCanFail(t *testing.T) {
	row := func(id, place string) string { return "| " + id + " | what | why | effect | " + place + " |\n" }
	good := "[a.go](../a.go)"
	for _, c := range []struct{ text, want string }{
		{row("D-01", good), ""},
		{row("[D-01](#d-01)", good) + "### D-01\n", ""},
		{row("D-01", good) + row("D-01", good), "two rows D-01"},
		{row("D-01", "[b.go](../b.go)"), "no file ../b.go"},
		{row("D-01", ""), "D-01: no link to its place"},
		{row("D-01", "somewhere"), "no link to its place"},
		{row("[D-01](#d-01)", good), "no section #d-01"},
		{row("D-01", good) + "### D-02\n", "section D-02 has no row"},
		{strings.Replace(row("D-01", good), "what", strings.Repeat("x", maxDeviationRow), 1), "characters, at most"},
	} {
		problems, _ := deviationProblems(c.text, func(path string) bool { return path == "a.go" })
		if got := strings.Join(problems, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
