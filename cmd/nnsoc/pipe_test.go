//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// awaited is a stderr that calls then when a command reports that it waits for a pipe.
type awaited struct {
	bytes.Buffer
	then func()
}

func (a *awaited) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("is a pipe: waiting for")) {
		go a.then()
	}
	return a.Buffer.Write(b)
}

// throughPipe executes a command and opens the other end of a pipe when it reports that it waits.
func throughPipe(t *testing.T, args []string, other func()) (code int, out, errs string) {
	t.Helper()
	var stdout bytes.Buffer
	var ended sync.WaitGroup
	ended.Add(1)
	once := sync.OnceFunc(func() { other(); ended.Done() })
	defer time.AfterFunc(30*time.Second, once).Stop() // of a command that waits without a report
	stderr := &awaited{then: once}
	code = execute(args, &stdout, stderr)
	if !strings.Contains(stderr.String(), "is a pipe: waiting for") {
		t.Errorf("nnsoc %q waits for a pipe in silence: %q", args, stderr)
		return code, stdout.String(), stderr.String()
	}
	ended.Wait()
	return code, stdout.String(), stderr.String()
}

// TestPipes: a command that opens a pipe without another end reports what it waits for. Data through it is treated as
// any file: a whole network runs, one that ends too early is refused, and no file is left.
func TestPipes(t *testing.T) {
	files := truncated(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("folder", 0o777))
	require.NoError(t, syscall.Mkfifo("pipe", 0o600))
	write := func(data []byte) func() {
		return func() {
			if err := os.WriteFile("pipe", data, 0); err != nil && !strings.Contains(err.Error(), "broken pipe") {
				t.Error(err)
			}
		}
	}
	for _, data := range [][]byte{files["first0.tflite"], files["first7.tflite"], files["first137720.tflite"], files["first139139.onnx"]} {
		for _, command := range readers {
			args := strings.Fields(strings.ReplaceAll(command, "FILE", "pipe"))
			code, out, errs := throughPipe(t, args, write(data))
			last := errs[strings.LastIndex(strings.TrimSuffix(errs, "\n"), "\n")+1:]
			if code != cli.ExitUsage || out != "" || !strings.HasPrefix(last, "nnsoc: pipe: ") && (len(data) > 0 || last != "nnsoc: pipe is empty, no network\n") {
				t.Errorf("nnsoc %q, %d bytes: exit code %d, stdout %.100q, stderr %.500q", args, len(data), code, out, errs)
			}
		}
	}
	whole := "whole.tflite"
	if code := execute([]string{"models", "export", "mlperf_tiny_ad_quant", "-o", whole}, io.Discard, io.Discard); code != cli.ExitOK {
		t.Fatal(code)
	}
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	if code, out, errs := throughPipe(t, []string{"graph", "pipe"}, write(data)); code != cli.ExitOK || !strings.HasPrefix(out, "// pipe\ndigraph {") {
		t.Errorf("graph of a pipe: exit code %d, %.100q, %.300q", code, out, errs)
	}
	var got []byte
	read := func() { got, err = os.ReadFile("pipe") }
	if code, _, errs := throughPipe(t, []string{"graph", whole, "-o", "pipe"}, read); code != cli.ExitOK || err != nil || !bytes.HasPrefix(got, []byte("// whole\ndigraph {")) {
		t.Errorf("graph to a pipe: exit code %d, %.100q, %v, %.300q", code, got, err, errs)
	}
	after, err := os.ReadDir(".")
	require.Check(t, err == nil && len(after) == 3, "files %v, error %v", after, err)
}
