package service

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/internal/unixpeer"
	"github.com/nnsoc/nnsoc/hal/service/internal/wire"
)

// maxMessage bounds the reply to a control call, maxRequest the call: models and tensors do
// not travel in them. A request with 10,000 arguments takes half of it.
const (
	maxMessage = 16 << 20
	maxRequest = 1 << 20
)

// Server offers a device to other processes.
type Server struct {
	pb.UnimplementedDriverServer
	device hal.Device
	quotas Quotas
	all    usage // of all clients
	wire   *wireCodec
	grpc   *grpc.Server

	mu       sync.Mutex
	sessions map[uint64]*session
	clients  map[int]*client // by process
	ending   sync.WaitGroup  // sessions that are being freed
}

// NewServer returns a server for a device after querying its capabilities: a device that
// measures them first does so here, while no client waits. Serve starts the server.
func NewServer(d hal.Device, q Quotas) *Server {
	measureCapabilities(d)
	s := &Server{device: d, quotas: q.withDefaults(), sessions: map[uint64]*session{}, clients: map[int]*client{}}
	s.all = usage{whose: "all clients have", limits: cost{openBursts: maxBursts, memoryBytes: s.quotas.All}}
	s.wire = newWireCodec(&s.all)
	s.grpc = grpc.NewServer(grpc.Creds(unixpeer.Credentials{}), grpc.MaxRecvMsgSize(maxRequest), grpc.ForceServerCodecV2(s.wire), grpc.MaxConcurrentStreams(1024),
		grpc.UnaryInterceptor(s.intercept))
	pb.RegisterDriverServer(s.grpc, s)
	return s
}

// measureCapabilities makes a device measure its capabilities. A panic is left to Attach, which queries again and reports it.
func measureCapabilities(d hal.Device) {
	defer func() { _ = recover() }()
	d.Capabilities()
}

// Listen makes the socket of a server. One that a server left behind is replaced; one
// that answers, or that this user may not use, is an error, as is a file that is no socket.
func Listen(path string) (net.Listener, error) {
	if err := usable(path); err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("service: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("service: %s is there and is no socket", path)
	default:
		err := connectError(path, time.Second)
		var busy net.Error // too many wait for it, or it does not accept
		if errors.Is(err, fs.ErrPermission) || errors.As(err, &busy) && busy.Timeout() {
			return nil, fmt.Errorf("service: %w", err)
		}
		if err == nil {
			return nil, fmt.Errorf("service: a driver serves %s already", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("service: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("service: %w", err)
	}
	return l, nil
}

// Serve answers clients until Close.
func (s *Server) Serve(l net.Listener) error {
	if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("service: %w", err)
	}
	return nil
}

// Close ends the server: calls that run end with DEVICE_UNAVAILABLE, sessions are freed.
func (s *Server) Close() {
	s.grpc.Stop()
	s.ending.Wait()
}

// Held counts what all clients hold.
func (s *Server) Held() (h Holdings) {
	s.mu.Lock()
	list := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, x := range list {
		x.count(&h)
	}
	return h
}

// intercept finds the session of a call, contains panics and gives errors their HAL
// status.
func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (res any, err error) {
	defer s.wire.free(req)
	defer func() { err = wire.ToStatus(err) }()
	defer hal.Contain(&err, s.device.Name(), info.FullMethod)
	r, ok := req.(interface{ GetSession() uint64 })
	if !ok {
		return nil, hal.Errorf(hal.InvalidArgument, "service: %s has no session", info.FullMethod)
	}
	x, err := s.session(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	if info.FullMethod != pb.Driver_GetStatus_FullMethodName { // which never waits
		select {
		case x.client.calls <- struct{}{}:
			defer func() { <-x.client.calls }()
		case <-ctx.Done():
			return nil, hal.Errorf(hal.DeviceUnavailable, "service: %w", ctx.Err())
		}
	}
	return handle(context.WithValue(ctx, sessionKey{}, x), req)
}

// session is the session with a number that the calling connection has opened.
func (s *Server) session(ctx context.Context, id uint64) (*session, error) {
	from, err := unixpeer.Caller(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.sessions[id]
	if x == nil || x.from != from {
		return nil, hal.Errorf(hal.InvalidArgument, "service: no session of this client has that number")
	}
	return x, nil
}

// open makes a session of a connection.
func (s *Server) open(from *unixpeer.Process) (*session, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "service: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[from.PID]
	if c == nil {
		c = &client{pid: from.PID, calls: make(chan struct{}, s.quotas.Calls)}
		c.usage = usage{whose: "a client has", all: &s.all, limits: s.quotas.limits()}
	}
	if err := c.reserve(cost{openSessions: 1}); err != nil {
		return nil, err
	}
	x := newSession(binary.LittleEndian.Uint64(random[:])|1, from, c)
	c.sessions++
	s.clients[from.PID], s.sessions[x.id] = c, x
	s.ending.Add(1)
	return x, nil
}

// close frees a session, and the last one its client.
func (s *Server) close(x *session) {
	defer s.ending.Done()
	x.end()
	x.client.free(cost{openSessions: 1})
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.id)
	if x.client.sessions--; x.client.sessions == 0 {
		delete(s.clients, x.client.pid)
	}
}

// Attach implements the service: it opens a session and frees it when the stream ends.
func (s *Server) Attach(_ *pb.AttachRequest, stream grpc.ServerStreamingServer[pb.Attached]) error {
	from, err := unixpeer.Caller(stream.Context())
	if err != nil {
		return wire.ToStatus(err)
	}
	x, err := s.open(from)
	if err != nil {
		return wire.ToStatus(err)
	}
	defer s.close(x)
	about, err := s.describe(x.id)
	if err != nil {
		return wire.ToStatus(err)
	}
	if err := stream.Send(about); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// describe queries the device for the reply to Attach.
func (s *Server) describe(session uint64) (about *pb.Attached, err error) {
	defer hal.Contain(&err, "service", pb.Driver_Attach_FullMethodName) // the device may not even have a name
	return wire.Describe(s.device, session), nil
}
