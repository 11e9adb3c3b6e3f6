package input

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/importer/modpy"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// SpecSuffixes are the names of documents that vts reads.
var SpecSuffixes = []string{".json", ".json.gz", ModpySuffix}

// ModpySuffix ends the name of an Android test specification.
const ModpySuffix = ".mod.py"

// ReadSpec reads a document by the suffix of its name.
func ReadSpec(path string) (*vectors.File, error) {
	if strings.HasSuffix(path, ModpySuffix) {
		return modpy.Load(path)
	}
	return vectors.Load(path)
}

// UnreadableSpec is a file that states no cases.
type UnreadableSpec struct {
	Path string
	Err  error // names the file
}

// CorpusName names the public corpus that the program carries, where no file
// has that name: all of it, or CorpusName/PATTERN the documents that match.
const CorpusName = "nnapi"

// corpus lists the documents that a path names; ok reports whether it is of the public corpus.
func corpus(name string) (names []string, ok bool, err error) {
	pattern, below := strings.CutPrefix(name, CorpusName+"/")
	if _, err := os.Stat(name); err == nil || !below && name != CorpusName {
		return nil, false, nil
	}
	if !below {
		return nnapi.Names(), true, nil
	}
	for _, n := range nnapi.Names() {
		match, err := path.Match(strings.TrimSuffix(pattern, ".json"), strings.TrimSuffix(n, ".json"))
		if err != nil {
			return nil, true, fmt.Errorf("%s: %w", name, err)
		}
		if match {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return nil, true, fmt.Errorf("%s: no document of the public corpus matches, for example %s/%s", name, CorpusName,
			strings.TrimSuffix(nnapi.Names()[0], ".json"))
	}
	return names, true, nil
}

// CompleteCorpus completes a PATH of vectors: documents of the public corpus and, by the shell, files.
func CompleteCorpus(_ *cobra.Command, _ []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
	for _, n := range append([]string{""}, nnapi.Names()...) {
		name := strings.TrimSuffix(strings.TrimSuffix(CorpusName+"/"+n, "/"), ".json")
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// ReadSpecs reads documents, the documents inside folders, and those of the
// public corpus. A path that does not exist is an error; a file that cannot be
// read is listed.
func ReadSpecs(paths []string, show *cli.Progress) (files []*vectors.File, unreadable []UnreadableSpec, err error) {
	for _, root := range paths {
		names, ok, err := corpus(root)
		if err != nil {
			return nil, nil, cli.Usage(err)
		}
		if ok {
			show.Update("read %s", root)
			for _, name := range names {
				f, err := testvectors.Document(name)
				if err != nil {
					return nil, nil, err
				}
				files = append(files, f)
			}
			continue
		}
		info, err := os.Stat(root)
		if err != nil {
			return nil, nil, cli.Usage(err)
		}
		show.Update("read %s", root)
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil { // a folder without permission: the walk continues beside it
				unreadable = append(unreadable, UnreadableSpec{path, err})
				return nil
			}
			if d.IsDir() || info.IsDir() && !HasSuffix(path, SpecSuffixes) {
				return nil
			}
			f, err := ReadSpec(path)
			if err != nil {
				unreadable = append(unreadable, UnreadableSpec{path, err})
				return nil
			}
			files = append(files, f)
			return nil
		})
	}
	return files, unreadable, nil
}

// ReadAllSpecs is ReadSpecs for commands that need every file.
func ReadAllSpecs(paths []string, show *cli.Progress) ([]*vectors.File, error) {
	files, unreadable, err := ReadSpecs(paths, show)
	if err == nil {
		if err = UnreadableError(unreadable); err != nil {
			err = cli.Usage(err)
		}
	}
	return files, err
}

// UnreadableError sums up the files that cannot be read, nil for none.
func UnreadableError(list []UnreadableSpec) error {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0].Err
	}
	return fmt.Errorf("%d files are unreadable, the first: %w", len(list), list[0].Err)
}

// HasSuffix reports whether s ends with one of the suffixes.
func HasSuffix(s string, suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}
