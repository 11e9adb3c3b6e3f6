package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// A driver that is a process of its own takes the place of the device of its name, by its
// socket and by the folder of sockets; an interrupt ends it and removes the socket.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "npu")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out bytes.Buffer
	server := newRoot(&out, io.Discard)
	server.SetArgs([]string{"serve", "--device", "npu", "--socket", socket, "-q"})
	done := make(chan error, 1)
	go func() { done <- server.ExecuteContext(ctx) }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no socket")
		}
	}
	for _, flag := range [][]string{{"--driver", socket}, {"--drivers", dir}} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"bench", "gemm", "--device", "npu", "--type", "u8", "--size", "32", "-q"}, flag...)
		if code := execute(args, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "32") {
			t.Errorf("%v: code %d, %s%s", args, code, stdout.String(), stderr.String())
		}
	}
	var stderr bytes.Buffer
	if code := execute([]string{"serve", "--device", "npu", "--socket", socket, "-q"}, io.Discard, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), "already") {
		t.Errorf("a second driver on the socket: code %d, %s", code, stderr.String())
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is still there")
	}
	if !strings.Contains(out.String(), "npu serves") {
		t.Errorf("printed %q", out.String())
	}
	stderr.Reset()
	if code := execute([]string{"devices", "--driver", socket, "-q"}, io.Discard, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), "--driver") {
		t.Errorf("a driver that is gone: code %d, %s", code, stderr.String())
	}
}
