package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// libraryName is the file that programs load.
const libraryName = "libneuralnetworks.so"

// besides are the folders in which the library is looked for, seen from that of nnsoc: where make puts it first.
var besides = []string{"out/android", ".", "../lib", "../lib/nnsoc"}

// library returns the folder of the library: that of --library, which is a folder or the file, or one beside nnsoc.
func library(flag string) (dir string, err error) {
	if flag != "" {
		if filepath.Base(flag) == libraryName {
			flag = filepath.Dir(flag)
		}
		if !isFile(filepath.Join(flag, libraryName)) {
			return "", cli.Usage(fmt.Errorf("--library %s: no %s there; `make libneuralnetworks` builds it into out/android", flag, libraryName))
		}
		return filepath.Abs(flag)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	for _, dir := range besides {
		if dir = filepath.Join(filepath.Dir(self), dir); isFile(filepath.Join(dir, libraryName)) {
			return dir, nil
		}
	}
	return "", cli.Usage(errors.New("no " + libraryName + " beside nnsoc: `make libneuralnetworks` builds it into out/android; --library names another folder"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
