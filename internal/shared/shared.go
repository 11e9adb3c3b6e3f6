// Package shared finds data that tests may use beyond what the repository carries: published networks with recorded
// results, larger recorded sets. It is in $NNSOC_SHARED or in a folder "shared" beside the clone; a clone without it is
// complete, and tests that need more are skipped.
package shared

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// Variable names the folder, where set.
const Variable = "NNSOC_SHARED"

// Dir is the folder, "" when there is none.
func Dir() string {
	if d := os.Getenv(Variable); d != "" {
		return existing(d)
	}
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return existing(filepath.Join(filepath.Dir(dir), "shared"))
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}

func existing(dir string) string {
	dir, err := filepath.Abs(dir)
	if _, e := os.Stat(dir); err != nil || e != nil {
		return ""
	}
	return dir
}

// Path is a file or folder below Dir; the test is skipped without it.
func Path(t testing.TB, elements ...string) string {
	t.Helper()
	dir := Dir()
	path := filepath.Join(append([]string{dir}, elements...)...)
	if _, err := os.Stat(path); dir == "" || err != nil {
		t.Skip("skipped: needs shared data: " + filepath.Join(elements...))
	}
	return path
}

// Glob lists the files below Dir that match; the test is skipped without any.
func Glob(t testing.TB, elements ...string) []string {
	t.Helper()
	dir := Dir()
	list := require.V(filepath.Glob(filepath.Join(append([]string{dir}, elements...)...)))(t)
	if dir == "" || len(list) == 0 {
		t.Skip("skipped: needs shared data: " + filepath.Join(elements...))
	}
	return list
}
