package nnsoc

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxFiles is how many files a package may have, tests not counted.
const maxFiles = 25

// large are the packages with more, and how many at most. docs/RATIONALE.md says why, under
// "Why do some packages have more than 25 files?".
var large = map[string]int{
	"dsp": 27,
}

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
	if err != nil {
		t.Fatal(err)
	}
	if len(count) < 10 {
		t.Errorf("only %d packages seen", len(count))
	}
	for _, problem := range tooLarge(count, large) {
		t.Error(problem)
	}
}

// tooLarge lists the packages with more files than they may have, and exceptions that none needs.
func tooLarge(count, large map[string]int) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if n, most := count[name], max(large[name], maxFiles); n > most {
			problems = append(problems, fmt.Sprintf("%s has %d files, at most %d", name, n, most))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(large)) {
		if count[name] <= maxFiles {
			problems = append(problems, fmt.Sprintf("%s has %d files and is no exception any more", name, count[name]))
		}
	}
	return problems
}

func TestPackageFilesCanFail(t *testing.T) {
	got := tooLarge(map[string]int{"a": 25, "b": 26, "c": 30, "d": 31, "e": 25}, map[string]int{"c": 30, "d": 30, "e": 30})
	want := []string{"b has 26 files, at most 25", "d has 31 files, at most 30", "e has 25 files and is no exception any more"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
