package service

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// TestSilentDriver: a driver whose socket is open and that says nothing is told from one that
// is gone.
func TestSilentDriver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(unixCredentials{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	d := &Device{path: path, conn: conn, client: pb.NewDriverClient(conn), gone: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(t.Context())
	defer d.cancel()
	if err := d.attach(100 * time.Millisecond); hal.StatusOf(err) != hal.DeviceUnavailable || !strings.Contains(err.Error(), "does not answer within 100ms") {
		t.Errorf("error %v", err)
	}
}
