package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// temporaryFolder begins the name of a folder of OwnTemporaries.
const temporaryFolder = "nnsoc-"

// makeTemporaries are the commands that make temporary files, by sockets and caches of their tests.
var makeTemporaries = []string{"bench", "conformance", "mlts", "vts"}

// OwnTemporaries creates a separate folder for the temporary files of a process with such a command among its
// arguments. It is removed with the process, also when a signal ends that, with all leftovers of programs that the
// process started and killed: they inherit it.
func OwnTemporaries(args []string) (remove func()) {
	inherited := strings.HasPrefix(filepath.Base(os.TempDir()), temporaryFolder)
	if inherited || !slices.ContainsFunc(args, func(s string) bool { return slices.Contains(makeTemporaries, s) }) {
		return func() {}
	}
	dir, err := os.MkdirTemp("", temporaryFolder)
	if err != nil {
		return func() {} // whoever needs one finds out
	}
	Temporaries.own(dir)
	for _, name := range [...]string{"TMPDIR", "TMP"} { // of Unix and of Windows
		if err := os.Setenv(name, dir); err != nil {
			break
		}
	}
	return func() { _ = os.RemoveAll(dir) }
}
