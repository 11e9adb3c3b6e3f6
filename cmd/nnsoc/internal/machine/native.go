package machine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// NativeVariable names the folder of what `make libneuralnetworks` builds.
const NativeVariable = "NNSOC_LIBRARY"

// besides are the folders in which it is looked for, seen from that of nnsoc: where make puts it first.
var besides = []string{"out/android", ".", "../lib", "../lib/nnsoc"}

// Native returns the folder with a file that `make libneuralnetworks` builds: that of a flag, which is the folder or the file, that of
// the environment, or one beside nnsoc.
func Native(flag, file string) (dir string, err error) {
	if from := cmp.Or(flag, os.Getenv(NativeVariable)); from != "" {
		if filepath.Base(from) == file {
			from = filepath.Dir(from)
		}
		if !isFile(filepath.Join(from, file)) {
			return "", cli.Usage(fmt.Errorf("--library %s: no %s there; `make libneuralnetworks` builds it into out/android", from, file))
		}
		return filepath.Abs(from)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	for _, dir := range besides {
		if dir = filepath.Join(filepath.Dir(self), dir); isFile(filepath.Join(dir, file)) {
			return dir, nil
		}
	}
	return "", cli.Usage(fmt.Errorf("no %s beside nnsoc: `make libneuralnetworks` builds it into out/android; --library of app, or %s, names another folder", file, NativeVariable))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
