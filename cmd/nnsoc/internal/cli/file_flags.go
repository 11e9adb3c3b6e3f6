package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// writtenFile annotates flags that name a file to write.
const writtenFile = "nnsoc_written_file"

// MarkFile marks a flag as naming a file to write, which CheckFiles tries before the command runs. A value of a list
// may have the form N:FILE.
func MarkFile(fl *pflag.FlagSet, name string) {
	if err := fl.SetAnnotation(name, writtenFile, nil); err != nil {
		panic(err) // the flag is not there
	}
}

// CheckFiles refuses a command whose files cannot be written, or two of which are one: a failure after the work is done
// has wasted it.
func CheckFiles(cmd *cobra.Command) error {
	flags := map[string]string{} // by path
	var bad error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, ok := f.Annotations[writtenFile]; !ok || bad != nil {
			return
		}
		paths := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			paths = nil
			for _, v := range list.GetSlice() {
				if _, file, ok := strings.Cut(v, ":"); ok {
					paths = append(paths, file)
				}
			}
		}
		for _, path := range paths {
			if path == "" || path == "-" {
				continue
			}
			at := filepath.Clean(path)
			if other, ok := flags[at]; ok && regular(path) {
				bad = Usage(fmt.Errorf("%s: --%s and --%s write the same file", path, other, f.Name))
				return
			}
			flags[at] = f.Name
			if bad = writable(path); bad != nil {
				return
			}
		}
	})
	return bad
}

// regular reports whether a path is a regular file or none yet.
func regular(path string) bool {
	fi, err := os.Stat(path)
	return err != nil || fi.Mode().IsRegular()
}

// writable returns why a file cannot be written. A device or a pipe is not tried, since opening
// one may wait.
func writable(path string) error {
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		return Usage(&os.PathError{Op: "open", Path: path, Err: syscall.EISDIR})
	}
	if !regular(path) {
		return nil
	}
	f, err := CreateFile(path)
	if err != nil {
		return err
	}
	f.Discard()
	return nil
}

// ReportPipes reports the named pipes among a command's files: it waits for the process that opens the other end. Those
// that a shell makes for the command are in /dev and have one.
func (a *App) ReportPipes(cmd *cobra.Command, args []string) {
	paths := slices.Clone(own(cmd, args))
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			paths = append(paths, list.GetSlice()...)
		} else {
			paths = append(paths, f.Value.String())
		}
	})
	for _, path := range paths {
		fi, err := os.Stat(path)
		if err == nil && fi.Mode()&os.ModeNamedPipe != 0 && !strings.HasPrefix(path, "/dev/") && !a.Quiet {
			fmt.Fprintf(a.Err, "%s is a pipe: waiting for the process at its other end ...\n", path)
		}
	}
}
