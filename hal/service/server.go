package service

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/nn"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// maxMessage bounds a control call; models and tensors do not travel in them.
const maxMessage = 16 << 20

// Server offers a device to other processes.
type Server struct {
	pb.UnimplementedDriverServer
	device hal.Device
	quotas Quotas
	grpc   *grpc.Server

	mu       sync.Mutex
	sessions map[uint64]*session
	ending   sync.WaitGroup // sessions that are being freed
}

// NewServer returns a server for a device. Serve starts it.
func NewServer(d hal.Device, q Quotas) *Server {
	s := &Server{device: d, quotas: q.withDefaults(), sessions: map[uint64]*session{}}
	s.grpc = grpc.NewServer(grpc.Creds(unixCredentials{}), grpc.MaxRecvMsgSize(maxMessage), grpc.MaxConcurrentStreams(64),
		grpc.UnaryInterceptor(s.intercept))
	pb.RegisterDriverServer(s.grpc, s)
	return s
}

// Listen makes the socket of a server. One that a server left behind is replaced; one
// that answers is an error, as is a file that is no socket.
func Listen(path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("service: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("service: %s is there and is no socket", path)
	default:
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = c.Close()
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
func (s *Server) Held() (sessions, memories, prepared, bursts int) {
	s.mu.Lock()
	list := make([]*session, 0, len(s.sessions))
	for _, x := range s.sessions {
		list = append(list, x)
	}
	s.mu.Unlock()
	for _, x := range list {
		m, p, b := x.held()
		memories, prepared, bursts = memories+m, prepared+p, bursts+b
	}
	return len(list), memories, prepared, bursts
}

// intercept contains panics and gives errors their HAL status.
func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (res any, err error) {
	defer func() { err = toStatus(err) }()
	defer hal.Contain(&err, s.device.Name(), info.FullMethod)
	return handle(ctx, req)
}

// Attach implements the service: it opens a session and frees it when the stream ends.
func (s *Server) Attach(_ *pb.AttachRequest, stream grpc.ServerStreamingServer[pb.Attached]) error {
	pid, err := callerPID(stream.Context())
	if err != nil {
		return toStatus(err)
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return toStatus(hal.Errorf(hal.GeneralFailure, "service: %w", err))
	}
	x := newSession(binary.LittleEndian.Uint64(random[:])|1, pid, s.quotas)
	s.mu.Lock()
	s.sessions[x.id] = x
	s.ending.Add(1)
	s.mu.Unlock()
	defer func() {
		defer s.ending.Done()
		x.end()
		s.mu.Lock()
		delete(s.sessions, x.id)
		s.mu.Unlock()
	}()
	if err := stream.Send(describe(s.device, x.id)); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// session is the session of a call; done ends the call's part in it.
func (s *Server) session(ctx context.Context, id uint64) (x *session, done func(), err error) {
	pid, err := callerPID(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	x = s.sessions[id]
	s.mu.Unlock()
	if x == nil || x.pid != pid {
		return nil, nil, hal.Errorf(hal.InvalidArgument, "service: no session of this client has that number")
	}
	select {
	case x.calls <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, hal.Errorf(hal.DeviceUnavailable, "service: %w", ctx.Err())
	}
	x.running.RLock()
	return x, func() {
		x.running.RUnlock()
		<-x.calls
	}, nil
}

// GetStatus implements the service.
func (s *Server) GetStatus(ctx context.Context, r *pb.SessionRequest) (*pb.StatusReply, error) {
	_, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	return &pb.StatusReply{Status: int32(s.device.Status()), Now: uint64(s.device.Now())}, nil
}

// ShareMemory implements the service.
func (s *Server) ShareMemory(ctx context.Context, r *pb.ShareMemoryRequest) (*pb.Handle, error) {
	x, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	id, err := x.share(r.Fd, r.Bytes, r.ReadOnly)
	return &pb.Handle{Id: id}, err
}

// model reads a model that a client has put into a memory.
func (x *session) model(r *pb.ModelRequest) (*nn.Model, error) {
	m, err := find(x, "memory", x.memories, r.GetMemory())
	if err != nil {
		return nil, err
	}
	head, constants := r.GetModelBytes(), r.GetConstantBytes()
	if head > uint64(m.bytes) || constants > uint64(m.bytes)-head {
		return nil, hal.Errorf(hal.InvalidArgument, "service: a model of %d and %d bytes in a memory of %d", head, constants, m.bytes)
	}
	data := make([]byte, head+constants)
	if err := m.copyOut(data, 0); err != nil {
		return nil, err
	}
	in := cache.NewReader(data[:head], data[head:])
	model := in.Model()
	if err := in.End(); err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "service: the model: %w", err)
	}
	return model, nil
}

// GetSupportedOperations implements the service.
func (s *Server) GetSupportedOperations(ctx context.Context, r *pb.ModelRequest) (*pb.SupportReply, error) {
	x, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	m, err := x.model(r)
	if err != nil {
		return nil, err
	}
	list, err := s.device.SupportedOperations(m)
	if err != nil {
		return nil, err
	}
	reply := &pb.SupportReply{}
	for _, a := range list {
		reply.Refusals = append(reply.Refusals, a.Reason)
	}
	return reply, nil
}

// PrepareModel implements the service.
func (s *Server) PrepareModel(ctx context.Context, r *pb.PrepareRequest) (*pb.Handle, error) {
	x, done, err := s.session(ctx, r.GetModel().GetSession())
	if err != nil {
		return nil, err
	}
	defer done()
	m, err := x.model(r.Model)
	if err != nil {
		return nil, err
	}
	p, err := s.device.PrepareModel(m, hal.PrepareOptions{
		Preference: hal.Preference(r.Preference), Priority: hal.Priority(r.Priority), Deadline: deadline(r.Deadline),
	})
	if err != nil {
		return nil, err
	}
	id, err := keep(x, "prepared models", x.prepared, x.quotas.Prepared, p)
	return &pb.Handle{Id: id}, err
}

func deadline(t *uint64) *hal.TimePoint {
	if t == nil {
		return nil
	}
	d := hal.TimePoint(*t)
	return &d
}

// Execute implements the service.
func (s *Server) Execute(ctx context.Context, r *pb.ExecuteRequest) (*pb.ExecuteReply, error) {
	x, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := find(x, "prepared model", x.prepared, r.Prepared)
	if err != nil {
		return nil, err
	}
	pools := make([]*memory, len(r.Pools))
	for i, id := range r.Pools {
		if pools[i], err = find(x, "memory", x.memories, id); err != nil {
			return nil, err
		}
	}
	res, err := execute(p, &hal.Request{Inputs: fromArguments(r.Inputs), Outputs: fromArguments(r.Outputs)}, pools, hal.ExecuteOptions{
		MeasureTiming: r.MeasureTiming, Deadline: deadline(r.Deadline), LoopTimeout: time.Duration(r.LoopTimeoutNs),
		Functional: r.Functional, Detail: r.Detail,
	})
	reply := &pb.ExecuteReply{Status: int32(hal.StatusOf(err))}
	if err != nil {
		if hal.StatusOf(err) != hal.OutputInsufficientSize {
			return nil, err
		}
		reply.Message = err.Error()
	}
	for _, o := range res.OutputShapes() {
		reply.Shapes = append(reply.Shapes, &pb.Shape{Dimensions: o.Dimensions, Insufficient: !o.IsSufficient})
	}
	if res != nil {
		reply.TimeOnDevice, reply.TimeInDriver = res.Timing.OnDevice, res.Timing.InDriver
		if reply.Stats, err = toStats(&res.Stats); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// text answers with what a prepared model writes.
func (s *Server) text(ctx context.Context, r *pb.HandleRequest, write func(hal.PreparedModel, io.Writer) error) (*pb.Text, error) {
	x, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := find(x, "prepared model", x.prepared, r.Id)
	if err != nil {
		return nil, err
	}
	b := &bounded{most: maxMessage - 1<<10}
	if err := write(p, b); err != nil {
		return nil, err
	}
	return &pb.Text{Text: b.data}, nil
}

// bounded collects bytes up to a limit.
type bounded struct {
	data []byte
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.most-len(b.data) {
		return 0, hal.Errorf(hal.ResourceExhaustedPersistent, "service: the text is longer than %d bytes", b.most)
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// WriteListing implements the service.
func (s *Server) WriteListing(ctx context.Context, r *pb.HandleRequest) (*pb.Text, error) {
	return s.text(ctx, r, hal.PreparedModel.WriteListing)
}

// WriteProgram implements the service.
func (s *Server) WriteProgram(ctx context.Context, r *pb.HandleRequest) (*pb.Text, error) {
	return s.text(ctx, r, hal.PreparedModel.WriteProgram)
}

// ConfigureExecutionBurst implements the service.
func (s *Server) ConfigureExecutionBurst(ctx context.Context, r *pb.BurstRequest) (*pb.Handle, error) {
	x, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := find(x, "prepared model", x.prepared, r.Prepared)
	if err != nil {
		return nil, err
	}
	m, err := find(x, "memory", x.memories, r.Memory)
	if err != nil {
		return nil, err
	}
	b, err := x.openBurst(p, m)
	if err != nil {
		return nil, err
	}
	id, err := keep(x, "bursts", x.bursts, x.quotas.Bursts, b)
	if err != nil {
		b.close()
	}
	return &pb.Handle{Id: id}, err
}

// SetSlot implements the service.
func (s *Server) SetSlot(ctx context.Context, r *pb.SlotRequest) (*pb.Empty, error) {
	x, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	b, err := find(x, "burst", x.bursts, r.Burst)
	if err != nil {
		return nil, err
	}
	var m *memory
	if r.Memory != 0 {
		if m, err = find(x, "memory", x.memories, r.Memory); err != nil {
			return nil, err
		}
	}
	b.set(r.Slot, m)
	return &pb.Empty{}, nil
}

// Release implements the service.
func (s *Server) Release(ctx context.Context, r *pb.HandleRequest) (*pb.Empty, error) {
	x, done, err := s.session(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	defer done()
	return &pb.Empty{}, x.release(r.Id)
}
