//go:build linux

package service

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestSocketOfAnother: a user without permission for a driver's socket gets an error, as a client and as a server of the same
// path, which does not replace it in a folder where the user may.
func TestSocketOfAnother(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		require.NoError(t, os.Chmod(d, 0o777))
	}
	path := filepath.Join(dir, "s")
	l, err := Listen(path)
	require.NoError(t, err)
	s := NewServer(cpudriver.New(cpudriver.Config{}), Quotas{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread of another user ends here
		if os.Geteuid() != 0 {
			err = os.Chmod(path, 0)
		} else if err = syscall.Setfsuid(65534); err == nil {
			err = syscall.Setfsgid(65534)
		}
		if err != nil {
			t.Error(err)
			return
		}
		const want = "belongs to another user"
		if _, err := Dial(path); hal.StatusOf(err) != hal.DeviceUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("client: %v", err)
		}
		l, err := Listen(path)
		if err == nil {
			_ = l.Close()
		}
		require.ErrorContains(t, err, want, "server")
	}()
	<-done
	require.NoError(t, os.Chmod(path, 0o600), "the socket is gone")
	d := require.V(Dial(path))(t)
	_ = d.Close()
	s.Close()
	<-served
}

// TestBusySocket: a socket whose driver accepts no more is not replaced.
func TestBusySocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd := require.V(syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0))(t)
	defer syscall.Close(fd)
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}))
	require.NoError(t, syscall.Listen(fd, 0))
	for range 2 { // the one that fits waits; Listen reports the same for both
		if l, err := Listen(path); err == nil {
			_ = l.Close()
			t.Fatal("it was replaced")
		}
		c, err := net.Dial("unix", path)
		if err == nil {
			defer c.Close()
		}
	}
}
