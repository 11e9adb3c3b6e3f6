package testvectors

import (
	"os"
	"path/filepath"
	"sort"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
)

// CorpusDir is where the corpus lies below the folder of shared data.
const CorpusDir = "vectors/nnapi"

// SharedDir is the folder of shared data: $NNSOC_SHARED, else the folder
// "shared" beside the module root, "" when there is none.
func SharedDir() string {
	if d := os.Getenv("NNSOC_SHARED"); d != "" {
		return d
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			d := filepath.Join(filepath.Dir(dir), "shared")
			if _, err := os.Stat(d); err == nil {
				return d
			}
			return ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Files lists the documents of the corpus, sorted; none when it is absent.
func Files() []string {
	dir := SharedDir()
	if dir == "" {
		return nil
	}
	list, err := filepath.Glob(filepath.Join(dir, CorpusDir, "*.json.gz"))
	if err != nil {
		return nil
	}
	sort.Strings(list)
	return list
}

// Uses reports whether every operation of a case passes the filter.
func Uses(c *vectors.Case, ok func(nn.OperationType) bool) bool {
	if c.Model == nil {
		return false
	}
	for i := range c.Model.Main.Operations {
		if !ok(c.Model.Main.Operations[i].Type) {
			return false
		}
	}
	for k := range c.Model.Referenced {
		for i := range c.Model.Referenced[k].Operations {
			if !ok(c.Model.Referenced[k].Operations[i].Type) {
				return false
			}
		}
	}
	return true
}
