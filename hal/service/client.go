package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"weak"

	"google.golang.org/grpc"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/internal/unixpeer"
	"github.com/nnsoc/nnsoc/hal/service/internal/wire"
	"github.com/nnsoc/nnsoc/nn"
)

// Device is a device whose driver is another process. It implements hal.Device.
type Device struct {
	path   string
	about  *pb.Attached
	caps   hal.Capabilities
	conn   *grpc.ClientConn
	client pb.DriverClient
	ctx    context.Context // of the session
	cancel context.CancelFunc
	closed chan struct{} // closed when the stream has ended
	shared sharedMemories
	// released counts requests to the driver to free objects.
	released atomic.Int64
	// held says of the driver's objects that are freed when nobody refers to them, by id, whether somebody does: func() bool.
	held sync.Map
}

// DriverError is an error that a driver in another process returned.
type DriverError = wire.DriverError

// Dial connects a driver that serves a socket and opens a session.
func Dial(path string) (*Device, error) { return DialWithin(path, attachTimeout) }

// DialWithin is Dial that gives up after a time, or after 10 seconds where that is shorter.
func DialWithin(path string, limit time.Duration) (*Device, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	if err := served(path, min(limit, attachTimeout)); err != nil {
		return nil, hal.Errorf(hal.DeviceUnavailable, "service: %w", err)
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	conn, err := grpc.NewClient("unix://"+abs, grpc.WithContextDialer(dial), grpc.WithTransportCredentials(unixpeer.Credentials{}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, hal.Errorf(hal.DeviceUnavailable, "service: %s: %w", path, err)
	}
	d := &Device{path: path, conn: conn, client: pb.NewDriverClient(conn), closed: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.shared.device = d
	if err := d.attach(min(limit, attachTimeout)); err != nil {
		d.cancel()
		_ = conn.Close()
		return nil, err
	}
	return d, nil
}

// maxSocketPath is the longest path of a socket, in bytes.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// usable is why no socket can be at a path.
func usable(path string) error {
	switch {
	case path == "":
		return errors.New("the path of the socket is empty")
	case len(path) > maxSocketPath:
		return fmt.Errorf("%s has %d bytes, the path of a socket at most %d: a shorter one is a path relative to the working directory or a link", path, len(path), maxSocketPath)
	}
	return nil
}

// served is why nobody serves a path: gRPC would try it again.
func served(path string, limit time.Duration) error {
	if err := usable(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is no socket", path)
	}
	return connectError(path, limit)
}

// connectError dials a socket and returns why no driver accepts the connection, nil if one does.
func connectError(path string, limit time.Duration) error {
	c, err := net.DialTimeout("unix", path, limit)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no driver serves %s any more", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s belongs to another user: a driver is for processes of the user that runs it, and of root: %w", path, err)
	case err != nil:
		return err
	}
	return c.Close()
}

// attachTimeout bounds the wait for a driver that accepts a connection and does not answer.
const attachTimeout = 10 * time.Second

// attach opens the session.
func (d *Device) attach(limit time.Duration) error {
	stop := time.AfterFunc(limit, d.cancel)
	stream, err := d.client.Attach(d.ctx, &pb.AttachRequest{Pid: uint32(os.Getpid())})
	if err == nil {
		d.about, err = stream.Recv()
	}
	if !stop.Stop() {
		return hal.Errorf(hal.DeviceUnavailable, "service: %s does not answer within %v", d.path, limit)
	}
	if err != nil {
		return wire.FromStatus(d.path, err)
	}
	if err := errors.Join(hal.CheckName(d.about.Name), hal.CheckText("version", d.about.Version), hal.CheckText("description", d.about.Description)); err != nil {
		d.cancel()
		return hal.Errorf(hal.GeneralFailure, "service: %s: %w", d.path, err)
	}
	d.caps = wire.Capabilities(d.about)
	go func() {
		defer close(d.closed)
		for {
			if _, err := stream.Recv(); err != nil {
				return
			}
		}
	}()
	return nil
}

// Close ends the session; the driver frees what it held.
func (d *Device) Close() error {
	d.cancel()
	<-d.closed
	d.shared.close()
	if err := d.conn.Close(); err != nil {
		return fmt.Errorf("service: %w", err)
	}
	return nil
}

// DialAll connects to all drivers of a folder: every socket in it, in the order of file
// names. Sockets on which no driver answers are left out, with their errors in dead; it is
// an error when there is no other.
func DialAll(folder string) (list []*Device, dead []error, err error) {
	return DialAllWithin(folder, attachTimeout)
}

// DialAllWithin is DialAll that gives each driver up after a time, as DialWithin does.
func DialAllWithin(folder string, limit time.Duration) (list []*Device, dead []error, err error) {
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return nil, nil, fmt.Errorf("service: %w", err)
	}
	for _, e := range entries {
		if e.Type() != os.ModeSocket {
			continue
		}
		if d, err := DialWithin(filepath.Join(folder, e.Name()), limit); err == nil {
			list = append(list, d)
		} else {
			dead = append(dead, fmt.Errorf("%s: %w", e.Name(), err))
		}
	}
	if len(list) == 0 {
		return nil, nil, errors.Join(append([]error{fmt.Errorf("service: no driver serves a socket in %s", folder)}, dead...)...)
	}
	return list, dead, nil
}

// Socket is the path of the socket that the driver serves.
func (d *Device) Socket() string { return d.path }

// Name implements hal.Device.
func (d *Device) Name() string { return d.about.Name }

// Description implements hal.Device.
func (d *Device) Description() string { return d.about.Description }

// Version implements hal.Device.
func (d *Device) Version() string { return d.about.Version }

// Type implements hal.Device.
func (d *Device) Type() hal.DeviceType { return hal.DeviceType(d.about.Type) }

// Capabilities implements hal.Device.
func (d *Device) Capabilities() hal.Capabilities { return d.caps }

// SupportedExtensions implements hal.Device.
func (d *Device) SupportedExtensions() []hal.Extension { return wire.Extensions(d.about) }

// NumberOfCacheFilesNeeded implements hal.Device.
func (d *Device) NumberOfCacheFilesNeeded() (model, data int) {
	return int(d.about.ModelCacheFiles), int(d.about.DataCacheFiles)
}

// statusTimeout bounds GetStatus, which must never block.
const statusTimeout = time.Second

// status requests the status and the clock.
func (d *Device) status() (*pb.StatusReply, error) {
	ctx, cancel := context.WithTimeout(d.ctx, statusTimeout)
	defer cancel()
	return d.client.GetStatus(ctx, &pb.SessionRequest{Session: d.about.Session})
}

// Status implements hal.Device. A driver that is gone is OFFLINE.
func (d *Device) Status() hal.DeviceStatus {
	r, err := d.status()
	if err != nil {
		return hal.DeviceOffline
	}
	return hal.DeviceStatus(r.Status)
}

// Now implements hal.Device; 0 when the driver is gone.
func (d *Device) Now() hal.TimePoint {
	r, err := d.status()
	if err != nil {
		return 0
	}
	return hal.TimePoint(r.Now)
}

// failed is the error of a call. A device whose stream has ended is unavailable whatever
// the status of the call.
func (d *Device) failed(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-d.closed:
		return hal.Errorf(hal.DeviceUnavailable, "%s: the driver is gone: %w", d.path, err)
	default:
		return wire.FromStatus(d.path, err)
	}
}

// send puts a model into shared memory for one call.
func (d *Device) send(m *nn.Model, call func(*pb.Model) error) error {
	if m == nil {
		return hal.Errorf(hal.InvalidArgument, "service: no model")
	}
	head, constants, err := wire.ToModel(m)
	if err != nil {
		return err
	}
	s, err := d.shared.get(len(head) + len(constants))
	if err != nil {
		return err
	}
	defer d.shared.put(s)
	copy(s.region.Data, head)
	copy(s.region.Data[len(head):], constants)
	return call(&pb.Model{Memory: s.id, ModelBytes: uint64(len(head)), ConstantBytes: uint64(len(constants))})
}

// SupportedOperations implements hal.Device.
func (d *Device) SupportedOperations(m *nn.Model) (list []hal.Support, err error) {
	err = d.send(m, func(sent *pb.Model) error {
		reply, err := d.client.GetSupportedOperations(d.ctx, &pb.SupportRequest{Session: d.about.Session, Model: sent})
		if err != nil {
			return d.failed(err)
		}
		for _, reason := range reply.Refusals {
			list = append(list, hal.Support{OK: reason == "", Reason: wire.Text(reason)})
		}
		return nil
	})
	return list, err
}

// Passes implements hal.PassPrinter.
func (d *Device) Passes(m *nn.Model) (list []hal.PassResult, err error) {
	err = d.send(m, func(sent *pb.Model) error {
		reply, err := d.client.GetPasses(d.ctx, &pb.SupportRequest{Session: d.about.Session, Model: sent})
		if err != nil {
			return d.failed(err)
		}
		for _, p := range reply.Passes {
			list = append(list, hal.PassResult{Pass: p.GetName(), Changed: p.GetChanged(), Graph: p.GetGraph()})
		}
		return nil
	})
	return list, err
}

// PrepareModel implements hal.Device. When the client's quota is exhausted, models without
// references are freed first, again where other threads took what was free by then.
func (d *Device) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	for {
		before := d.released.Load()
		p, err := d.prepareModel(m, o)
		if hal.StatusOf(err) != hal.ResourceExhaustedTransient || !d.collect(before) {
			return p, err
		}
	}
}

// collectTime is how long a client waits for what it has released to be free, in host time.
const collectTime = time.Second

// collect releases what nobody refers to; false when there is nothing, and nothing was released since the count was before.
func (d *Device) collect(before int64) bool {
	runtime.GC()
	for end := time.Now().Add(collectTime); d.released.Load() == before && d.unreferenced() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return d.released.Load() != before
}

// hold remembers what the client has of the driver's object of an id until that is released.
func hold[T any](d *Device, id uint64, handle *T) {
	p := weak.Make(handle)
	d.held.Store(id, func() bool { return p.Value() != nil })
}

// unreferenced reports whether nobody refers to some object that is not released yet.
func (d *Device) unreferenced() (found bool) {
	d.held.Range(func(_, referred any) bool {
		found = !referred.(func() bool)()
		return !found
	})
	return found
}

func (d *Device) prepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	files, err := passCache(&o.Cache, false)
	if err != nil {
		return nil, err
	}
	defer files.close()
	var p *prepared
	err = d.send(m, func(sent *pb.Model) error {
		h, err := d.client.PrepareModel(d.ctx, &pb.PrepareRequest{
			Session: d.about.Session, Model: sent, Preference: int32(o.Preference), Priority: int32(o.Priority),
			Deadline: (*uint64)(o.Deadline), Cache: files.message,
		})
		if err != nil {
			return d.failed(err)
		}
		p = newPrepared(d, h)
		p.outputs = signature(m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	files.saved()
	return p, nil
}

// PrepareModelFromCache implements hal.Device.
func (d *Device) PrepareModelFromCache(deadline *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	files, err := passCache(&c, true)
	if err != nil {
		return nil, err
	}
	defer files.close()
	h, err := d.client.PrepareModelFromCache(d.ctx, &pb.PrepareFromCacheRequest{
		Session: d.about.Session, Deadline: (*uint64)(deadline), Cache: files.message,
	})
	if err != nil {
		return nil, d.failed(err)
	}
	return newPrepared(d, h), nil
}

// release frees something in the driver, which may be gone.
func (d *Device) release(id uint64) {
	ctx, cancel := context.WithTimeout(d.ctx, statusTimeout)
	defer cancel()
	_, _ = d.client.Release(ctx, &pb.HandleRequest{Session: d.about.Session, Id: id})
	d.released.Add(1)
	d.held.Delete(id)
}

// sharedMemories are the regions that a client shares with its driver.
type sharedMemories struct {
	device *Device
	mu     sync.Mutex
	closed bool
	owned  map[*hal.Memory]*sharedRegion // of NewMemory
	free   []*sharedRegion               // of calls before, smallest first
}
