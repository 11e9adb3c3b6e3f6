// Command nnsoc simulates the neural-network engines of a phone SoC: it runs
// a network on each, compares the results with the reference CPU and reports
// latency, cycles and energy.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

func main() {
	exitOnInterrupt(os.Exit)
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "nnsoc: internal error: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	out := &checkedWriter{Writer: stdout}
	root := newRoot(out, stderr)
	root.SetArgs(args)
	err := root.Execute()
	if out.err != nil {
		err = usage(fmt.Errorf("standard output: %w", out.err))
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintf(stderr, "nnsoc: %v\n", err)
	}
	return exitCode(err)
}
