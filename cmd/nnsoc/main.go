// Command nnsoc simulates the neural-network engines of a phone SoC: it runs a network on each, compares the results
// with the reference CPU and reports latency, cycles and energy. The commands are in packages under internal.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/spelling"
)

func main() {
	cli.ExitOnInterrupt(os.Exit)
	idle := postponeCollection()
	remove := cli.OwnTemporaries(os.Args[1:])
	code := execute(os.Args[1:], os.Stdout, os.Stderr)
	remove()
	runtime.KeepAlive(idle)
	os.Exit(code)
}

// idleBytes of the heap count as live but are never touched, so that they occupy no memory.
const idleBytes = 64 << 20

// postponeCollection sets the first collection to a heap of twice idleBytes, later ones to twice the live heap,
// including idleBytes and the returned object: a command whose heap stays below spends nothing on them. The runtime
// uses GOGC percent of 4 MiB as the first goal, and only allocating idleBytes would begin a collection.
func postponeCollection() any {
	percent := debug.SetGCPercent(2 * idleBytes / (4 << 20) * 100)
	if percent < 0 { // GOGC=off
		debug.SetGCPercent(percent)
		return nil
	}
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, percent)
	return make([]byte, idleBytes)
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
	root := root(&cli.App{Out: out, Err: stderr}, args)
	root.SetArgs(args)
	err := root.Execute()
	if out.Err != nil {
		err = cli.Usage(fmt.Errorf("standard output: %w", out.Err))
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintf(stderr, "nnsoc: %s\n", printable(err.Error()))
	}
	return cli.ExitCode(err)
}

// maxLine bounds a line of an error, in bytes: it may quote a file.
const maxLine = 2000

// printable is a text of names and words from files without characters that control a terminal, and without the rest of
// lines too long to read.
func printable(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + "...\n"
		}
		for k, words := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			if k > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(spelling.Printable(words))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
