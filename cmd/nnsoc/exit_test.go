package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.tflite")
	require.NoError(t, os.WriteFile(text, []byte("not a model at all"), 0o644))
	sparse := filepath.Join(dir, "sparse") // larger than any limit
	require.NoError(t, os.WriteFile(sparse, nil, 0o644))
	require.NoError(t, os.Truncate(sparse, 6<<30))
	source := func(name, code string) string {
		path := filepath.Join(dir, name+".s")
		require.NoError(t, os.WriteFile(path, []byte("_start: "+code+"\n"), 0o644))
		return path
	}
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"dsp", "exec", source("status", "{ r6 = #93 ; r0 = #77 }\n trap0(#1)")}, 77},
		{[]string{"dsp", "exec", source("illegal", ".word 0xffffffff")}, 132},
		{[]string{"dsp", "exec", source("misaligned", "{ r0 = #3 }\n{ r1 = memw(r0+#0) }")}, 135},
		{[]string{"dsp", "exec", source("memory", "{ r0 = #4 }\n{ r1 = memw(r0+#0) }")}, 139},
		{[]string{"dsp", "exec", source("jump", "{ r0 = #4 }\n jumpr r0")}, 139},
		{[]string{"dsp", "exec", "--max-packets", "9", source("limit", "jump _start")}, 152},
		{[]string{"dsp", "exec", source("call", "{ r6 = #63 }\n trap0(#1)")}, 159},
		{[]string{"dsp", "exec", source("syntax", "frob")}, cli.ExitUsage},
		{[]string{"dsp", "asm", filepath.Join(dir, "none.s")}, cli.ExitUsage},
		{[]string{"dsp", "disasm", text}, cli.ExitUsage},
		{[]string{"dsp", "disasm", sparse}, cli.ExitUsage},
		{[]string{"dsp", "exec", sparse}, cli.ExitUsage},
		{[]string{"gpu", "exec", sparse}, cli.ExitUsage},
		{[]string{"npu", "disasm", sparse}, cli.ExitUsage},
		{[]string{"run", sparse}, cli.ExitUsage},
		{[]string{"vts", sparse}, cli.ExitUsage},
		{[]string{"vts", text}, cli.ExitUsage},
		{[]string{"dsp", "pipeline", source("line", "{ r6 = #93 ; r0 = #1 }\n trap0(#1)"), "--loop"}, cli.ExitUsage},
		{[]string{}, cli.ExitOK},
		{[]string{"version"}, cli.ExitOK},
		{[]string{"devices"}, cli.ExitOK},
		{[]string{"run", "--help"}, cli.ExitOK},
		{[]string{"run", "missing.tflite"}, cli.ExitUsage},
		{[]string{"run", text}, cli.ExitUsage},
		{[]string{"run", "a", "b"}, cli.ExitUsage},
		{[]string{"run", "--device", "tpu"}, cli.ExitUsage},
		{[]string{"run", "--soc", "nothing"}, cli.ExitUsage},
		{[]string{"run", "--input", "x.npy"}, cli.ExitUsage},
		{[]string{"run", "--labels", "missing.txt"}, cli.ExitUsage},
		{[]string{"run", "--trace", filepath.Join(dir, "no", "such", "folder.json")}, cli.ExitUsage},
		{[]string{"compile", "--device", "tpu"}, cli.ExitUsage},
		{[]string{"bench", "gemm", "--repeat", "0"}, cli.ExitUsage},
		{[]string{"nonsense"}, cli.ExitUsage},
		{[]string{"devices", "extra"}, cli.ExitUsage},
	} {
		require.Same(t, c.want, execute(c.args, io.Discard, io.Discard), "nnsoc", c.args, "exit code")
	}
}

// TestPrintableErrors: names and contents of files cannot control a terminal, and no error fills a screen.
func TestPrintableErrors(t *testing.T) {
	for name, want := range map[string]string{"a\x1b[31mb\rc\u009bd\te.tflite": `a\x1b[31mb\x0dc\x9bd` + "\te.tflite", strings.Repeat("x", 100_000): "xx...\n"} {
		var stderr bytes.Buffer
		require.Same(t, cli.ExitUsage, execute([]string{"run", name, "-q"}, io.Discard, &stderr), "code")
		if got := stderr.String(); !strings.Contains(got, want) || len(got) > 2*maxLine {
			t.Errorf("%d bytes: %.200q", len(got), got)
		}
	}
}
