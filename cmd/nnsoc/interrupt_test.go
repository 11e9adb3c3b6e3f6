//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestInterrupt ends a run while it writes a trace, on one engine and on several beside each
// other: no file is left, and the exit code is the shell's.
func TestInterrupt(t *testing.T) {
	self := require.V(os.Executable())(t)
	dir := t.TempDir()
	command := filepath.Join(dir, "nnsoc") // TestMain runs main by this name
	require.NoError(t, os.Symlink(self, command))
	const network = "mobilenet_v2_1.0_224_quant"
	for _, x := range []struct {
		sig  os.Signal
		want int
		args []string
	}{
		{os.Interrupt, 130, []string{"--device", "gpu", "--output", "$WORK/a/b"}},
		{syscall.SIGTERM, 143, []string{"--device", "gpu"}},
		{syscall.SIGHUP, 129, []string{"--device", "gpu", "--output", "$WORK/a/b"}},
		{syscall.SIGQUIT, 131, []string{"--device", "gpu"}},
		{os.Interrupt, 130, []string{network, network, network, "--concurrent", "--device", "dsp,npu,cpu"}},
	} {
		if signal.Ignored(x.sig) && x.sig == syscall.SIGHUP {
			continue // the tests run by nohup
		}
		sig, want, work := x.sig, x.want, t.TempDir()
		for i := range x.args {
			x.args[i] = strings.Replace(x.args[i], "$WORK", work, 1)
		}
		cmd := exec.Command(command, append([]string{"run", "--trace", filepath.Join(work, "t.json")}, x.args...)...)
		require.NoError(t, cmd.Start())
		for begun := false; !begun; time.Sleep(time.Millisecond) {
			list := require.V(filepath.Glob(filepath.Join(work, ".nnsoc-*")))(t)
			begun = len(list) > 0
		}
		require.NoError(t, cmd.Process.Signal(sig))
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want {
			t.Errorf("%v: %v, want exit code %d", sig, err, want)
		}
		if left, _ := os.ReadDir(work); len(left) != 0 {
			t.Errorf("%v: left behind: %v", sig, left)
		}
	}
}

// TestInterruptFuzz ends a search that has found nothing: its folder is removed.
func TestInterruptFuzz(t *testing.T) {
	self := require.V(os.Executable())(t)
	command := filepath.Join(t.TempDir(), "nnsoc")
	require.NoError(t, os.Symlink(self, command))
	work := t.TempDir()
	cmd := exec.Command(command, "fuzz", "--device", "cpu", "--count", "1000000", "--out", filepath.Join(work, "a", "finds"))
	require.NoError(t, cmd.Start())
	for begun := false; !begun; time.Sleep(time.Millisecond) {
		_, err := os.Stat(filepath.Join(work, "a", "finds"))
		begun = err == nil
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("%v, want exit code 130", err)
	}
	if left, _ := os.ReadDir(work); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestInterruptTemporaries ends commands that make sockets and folders for their tests, including drivers in separate
// processes: nothing of these is left.
func TestInterruptTemporaries(t *testing.T) {
	self := require.V(os.Executable())(t)
	command := filepath.Join(t.TempDir(), "nnsoc")
	require.NoError(t, os.Symlink(self, command))
	for _, args := range []string{"conformance --device cpu", "vts --via service --device cpu", "bench service --repeat 1000000", "mlts crash model-load-random-stress -f cpu --reference --via service"} {
		temp := t.TempDir()
		cmd := exec.Command(command, strings.Fields(args)...)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		require.NoError(t, cmd.Start())
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if sockets(temp) > 0 || time.Now().After(deadline) {
				break
			}
		}
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
			t.Errorf("%s: %v", args, err)
		}
		if left, _ := os.ReadDir(temp); len(left) != 0 {
			t.Errorf("%s: left behind: %v", args, left)
		}
	}
}

// sockets counts those in a folder and below it.
func sockets(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type() == os.ModeSocket {
			n++
		}
		return nil
	})
	return n
}
