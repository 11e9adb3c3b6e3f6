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
	for _, c := range []struct {
		args []string
		want int
	}{
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
