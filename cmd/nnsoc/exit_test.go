package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
)

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.tflite")
	if err := os.WriteFile(text, []byte("not a model at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	source := func(name, code string) string {
		path := filepath.Join(dir, name+".s")
		if err := os.WriteFile(path, []byte("_start: "+code+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
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
		{[]string{"dsp", "exec", source("syntax", "frob")}, exitUsage},
		{[]string{"dsp", "asm", filepath.Join(dir, "none.s")}, exitUsage},
		{[]string{"dsp", "disasm", text}, exitUsage},
		{[]string{"dsp", "pipeline", source("line", "{ r6 = #93 ; r0 = #1 }\n trap0(#1)"), "--loop"}, exitUsage},
		{[]string{}, exitOK},
		{[]string{"version"}, exitOK},
		{[]string{"devices"}, exitOK},
		{[]string{"run", "--help"}, exitOK},
		{[]string{"run", "missing.tflite"}, exitUsage},
		{[]string{"run", text}, exitUsage},
		{[]string{"run", "a", "b"}, exitUsage},
		{[]string{"run", "--device", "tpu"}, exitUsage},
		{[]string{"run", "--soc", "nothing"}, exitUsage},
		{[]string{"run", "--input", "x.npy"}, exitUsage},
		{[]string{"run", "--labels", "missing.txt"}, exitUsage},
		{[]string{"run", "--trace", filepath.Join(dir, "no", "such", "folder.json")}, exitUsage},
		{[]string{"compile", "--device", "tpu"}, exitUsage},
		{[]string{"bench", "gemm", "--repeat", "0"}, exitUsage},
		{[]string{"nonsense"}, exitUsage},
		{[]string{"devices", "extra"}, exitUsage},
	} {
		if got := execute(c.args, io.Discard, io.Discard); got != c.want {
			t.Errorf("nnsoc %v: exit code %d, want %d", c.args, got, c.want)
		}
	}
}

func TestExitCodeOfError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{usage(errors.New("x")), exitUsage},
		{fmt.Errorf("wrapped: %w", usage(errors.New("x"))), exitUsage},
		{&exitError{exitMismatch, errors.New("x")}, exitMismatch},
		{hal.Errorf(hal.InvalidArgument, "x"), exitUsage},
		{hal.Errorf(hal.GeneralFailure, "x"), exitInternal},
		{errors.New("x"), exitInternal},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}
