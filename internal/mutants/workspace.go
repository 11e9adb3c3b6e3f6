package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// workspace is the temporary folder of a run: the files with faults, the programs of the tests and all that the go
// command and the tests write, the go command's cache included. Packages with faults fit no other build, so that the
// user's cache would only grow by them.
type workspace struct {
	ctx context.Context
	dir string
	env []string // of every command
}

// newWorkspace makes a folder; with a cache the go command uses that one and keeps its builds there.
func newWorkspace(ctx context.Context, cache string) (*workspace, error) {
	dir, err := os.MkdirTemp("", "nnsoc-mutants")
	if err != nil {
		return nil, err
	}
	w := &workspace{ctx: ctx, dir: dir}
	temporary := filepath.Join(dir, "tmp")
	if cache == "" {
		cache = filepath.Join(dir, "cache")
	}
	if cache, err = filepath.Abs(cache); err == nil {
		err = os.Mkdir(temporary, 0o755)
	}
	if err != nil {
		w.remove()
		return nil, err
	}
	w.env = append(os.Environ(), "GOCACHE="+cache, "GOTMPDIR="+temporary, "TMPDIR="+temporary)
	return w, nil
}

// remove removes the folder. What a command that was ended just now still writes may need another attempt.
func (w *workspace) remove() {
	for range 20 {
		if os.RemoveAll(w.dir) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// goCommand is a go command, which ends in its own way when the run is interrupted: it waits for its compilers and
// removes its files.
func (w *workspace) goCommand(args ...string) *exec.Cmd {
	c := exec.CommandContext(w.ctx, "go", args...)
	c.Env = w.env
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	return c
}

// interruptible is a context that ends with a signal to stop, or with the process that started this one: who stops
// make or go run by a signal stops those alone.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		for ctx.Err() == nil {
			if os.Getppid() != parent {
				cancel()
			}
			time.Sleep(time.Second)
		}
	}()
	return ctx, func() { cancel(); stop() }
}
