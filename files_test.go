package nnsoc

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// maxFiles is how many files a package may have, tests not counted. docs/RATIONALE.md says why, under
// "Why has no package more than 20 files?".
const maxFiles = 20

// TestPackageFiles keeps packages small enough to be read as one thing.
func TestPackageFiles(t *testing.T) {
	count := map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() != "." && d.Name()[0] == '.'):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			count[filepath.ToSlash(filepath.Dir(path))]++
		}
		return nil
	})
	require.NoError(t, err)
	require.Check(t, len(count) >= 10, "only %d packages seen", len(count))
	for _, problem := range tooLarge(count) {
		t.Error(problem)
	}
}

// tooLarge lists the packages with more files than they may have.
func tooLarge(count map[string]int) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if n := count[name]; n > maxFiles {
			problems = append(problems, fmt.Sprintf("%s has %d files, at most %d", name, n, maxFiles))
		}
	}
	return problems
}

func TestPackageFilesCanFail(t *testing.T) {
	got := tooLarge(map[string]int{"a": 20, "b": 21, "c": 26, "d": 19})
	want := []string{"b has 21 files, at most 20", "c has 26 files, at most 20"}
	require.Equal(t, want, got)
}

// TestOneFile: an extension of codes is added, changed or taken away in one file.
func TestOneFile(t *testing.T) {
	var found []string
	_, files := goFiles(t)
	for path := range files {
		if !strings.HasSuffix(path, "_test.go") && strings.Contains(strings.ToLower(string(require.File(t, path))), "codebook") {
			found = append(found, filepath.ToSlash(path))
		}
	}
	if want := []string{"nn/codebook.go"}; !slices.Equal(found, want) {
		t.Errorf("codebooks are in %q, want %q", found, want)
	}
}
