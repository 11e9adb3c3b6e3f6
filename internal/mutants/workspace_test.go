package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestMain runs the tool itself in a process that TestInterrupted starts.
func TestMain(m *testing.M) {
	if args := os.Getenv("NNSOC_MUTANTS_ARGS"); args != "" {
		os.Args = strings.Fields(args)
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// builds is a go command that writes where it may write and is slow to build.
const builds = `#!/bin/sh
case $1 in
list) exec "$REAL_GO" "$@" ;;
esac
mkdir -p "$GOCACHE" "$GOTMPDIR/a"
touch "$GOCACHE/b" "$TMPDIR/a/c"
exec sleep 600
`

// TestInterrupted: a run that a signal stops, or whose parent is stopped, leaves no files, and none in the user's
// cache.
func TestInterrupted(t *testing.T) {
	real := require.V(exec.LookPath("go"))(t)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(builds), 0o755))
	const sample = "mutants -areas npu -within npu/time -n 1 -near"
	for _, c := range []struct {
		name, args, parent string
		signal             os.Signal
	}{
		{"interrupted", sample, "", os.Interrupt},
		{"terminated", sample, "", syscall.SIGTERM},
		{"table", "mutants -planted internal/mutants/planted.txt", "", syscall.SIGTERM},
		{"parent killed", sample, `"$0" & wait`, os.Kill},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			temporary, cache := t.TempDir(), t.TempDir()
			p := exec.Command(os.Args[0])
			if c.parent != "" {
				p = exec.Command("sh", "-c", c.parent, os.Args[0])
			}
			p.Dir = "../.."
			p.Env = append(os.Environ(), "NNSOC_MUTANTS_ARGS="+c.args, "REAL_GO="+real, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+temporary, "GOCACHE="+cache)
			var text strings.Builder
			p.Stderr = &text
			require.NoError(t, p.Start())
			has := func(pattern string) bool {
				list, _ := filepath.Glob(filepath.Join(temporary, pattern))
				return len(list) > 0
			}
			ended := make(chan error, 1)
			go func() { ended <- p.Wait() }()
			wait(t, "the build begins", func() bool {
				if len(ended) > 0 {
					t.Fatalf("ends before the build: %v: %q", <-ended, text.String())
				}
				return has("*/tmp/a/c") && has("*/cache/b")
			})
			require.NoError(t, p.Process.Signal(c.signal))
			if err := <-ended; c.parent == "" && (p.ProcessState.ExitCode() != 3 || text.String() != errInterrupted.Error()+"\n") {
				t.Errorf("ends with %v: %q", err, text.String())
			}
			wait(t, "no file is left", func() bool { return !has("*") })
			require.Fails(t, require.Err(os.Stat(filepath.Join(cache, "b"))), "a build wrote into the user's cache")
		})
	}
}

// wait waits for a condition to become true.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 600 {
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("within 30 s not: %s", what)
}
