// Command nnsoc simulates the neural-network engines of a phone SoC: it runs
// a network on each, compares the results with the reference CPU and reports
// latency, cycles and energy. The commands stand in packages under internal.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

func main() {
	cli.ExitOnInterrupt(os.Exit)
	// Bytes that are never touched, and so take no memory, count as live: the first collection comes at twice their
	// size, and a command whose heap stays below spends nothing on it.
	idle := make([]byte, 64<<20)
	remove := cli.OwnTemporaries(os.Args[1:])
	code := execute(os.Args[1:], os.Stdout, os.Stderr)
	remove()
	runtime.KeepAlive(idle)
	os.Exit(code)
}

// execute runs one command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "nnsoc: internal error: %v\n%s", p, debug.Stack())
			code = cli.ExitInternal
		}
	}()
	out := &cli.CheckedWriter{Writer: stdout}
	root := newRoot(out, stderr)
	root.SetArgs(args)
	err := root.Execute()
	if out.Err != nil {
		err = cli.Usage(fmt.Errorf("standard output: %w", out.Err))
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintf(stderr, "nnsoc: %v\n", err)
	}
	return cli.ExitCode(err)
}
