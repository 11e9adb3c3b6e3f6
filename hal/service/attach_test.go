package service

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/internal/unixpeer"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestSilentDriver: a driver whose socket is open and that does not answer is distinguished from
// one that is gone.
func TestSilentDriver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l := require.V(net.Listen("unix", path))(t)
	defer l.Close()
	conn := require.V(grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(unixpeer.Credentials{})))(t)
	defer conn.Close()
	d := &Device{path: path, conn: conn, client: pb.NewDriverClient(conn), closed: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(t.Context())
	defer d.cancel()
	if err := d.attach(100 * time.Millisecond); hal.StatusOf(err) != hal.DeviceUnavailable || !strings.Contains(err.Error(), "does not answer within 100ms") {
		t.Errorf("error %v", err)
	}
}

// TestNoDriverThere: clients and servers report at once, with the reason, a path that is no socket of a driver.
func TestNoDriverThere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	long := strings.Repeat("x", maxSocketPath+1)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	dead := require.V(net.ListenUnix("unix", &net.UnixAddr{Name: "dead"}))(t)
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	for _, x := range []struct{ path, client, server string }{
		{long, "at most", "at most"},
		{"", "empty", "empty"},
		{dir, "is no socket", "is no socket"},
		{file, "is no socket", "is no socket"},
		{os.DevNull, "is no socket", "is no socket"},
		{"none", "no such file", ""},
		{filepath.Join(file, "x"), "not a directory", "not a directory"},
		{"dead", "no driver serves dead any more", ""},
	} {
		start := time.Now()
		d, err := DialWithin(x.path, time.Hour)
		require.Check(t, hal.StatusOf(err) == hal.DeviceUnavailable && strings.Contains(err.Error(), x.client), "client of %q: %v", x.path, err)
		require.Check(t, time.Since(start) <= attachTimeout/2, "client of %q waited", x.path)
		if err == nil {
			_ = d.Close()
		}
		if l, err := Listen(x.path); err == nil {
			_ = l.Close()
			require.Check(t, x.server == "", "a server has %q", x.path)
		} else if !strings.Contains(err.Error(), x.server) || x.server == "" {
			t.Errorf("server of %q: %v", x.path, err)
		}
	}
}

// TestShortPathOfALongFolder: a driver in a folder whose absolute path is too long is reached by a relative one.
func TestShortPathOfALongFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("y", maxSocketPath))
	require.NoError(t, os.Mkdir(dir, 0o700))
	t.Chdir(dir)
	l := require.V(Listen("s"))(t)
	s := NewServer(cpudriver.New(cpudriver.Config{}), Quotas{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	d := require.V(Dial("s"))(t)
	require.Same(t, "cpu", d.Name(), "serves it")
	_ = d.Close()
	s.Close()
	<-served
}
