package driver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/service"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// ServiceChecks returns the checks of drivers as services.
func ServiceChecks() []check.Check {
	return []check.Check{
		{Name: "each driver is a service of its own", Rows: []string{"J-1", "J-2", "H2-10", "H3-9"}, Run: registration},
		{Name: "what a client may hold is limited", Rows: []string{"A8-9"}, Run: quotas, EachDevice: true},
		{Name: "a disconnected client leaves nothing, and the driver goes on", Rows: []string{"A1-8", "J-9"}, Run: clientDisconnected, EachDevice: true},
		{Name: "models, programs and device memory count until they are released", Rows: []string{"A8-9"}, Run: quotaOfModel, EachDevice: true},
		{Name: "the status waits for no other call", Rows: []string{"A1-6"}, Run: statusAtOnce},
		{Name: "no call uses the session of another connection", Rows: []string{"J-12", "A0-9"}, Run: foreignSessions},
		{Name: "a client has nothing of what another holds", Rows: []string{"J-12"}, Run: clientsIsolated, EachDevice: true},
	}
}

func registration(t *check.T) {
	var drivers []hal.Device
	for _, name := range sample.Names() {
		d := check.V(sample.New(name, cpudriver.Config{}))(t, name)
		drivers = append(drivers, d)
	}
	second, err := sample.NewSynthetic("sample_all_2", drivers[0], nil) // another instance of a driver
	t.OK("a second instance", err)
	drivers = append(drivers, second)
	for range 2 { // the same answers after all services have been restarted
		_, folder, stop := t.ServiceOf(service.Quotas{}, drivers...)
		list, dead, err := service.DialAll(folder)
		t.OK("the registry", errors.Join(append(dead, err)...))
		check.Equal(t, "drivers", len(list), len(drivers))
		found := map[string]hal.Device{}
		for _, d := range list {
			found[d.Name()] = d
		}
		for _, d := range drivers {
			there := found[d.Name()]
			if there == nil {
				t.Errorf("%s is not there", d.Name())
				continue
			}
			check.Equal(t, d.Name()+": type", there.Type(), d.Type())
			check.Equal(t, d.Name()+": version", there.Version(), d.Version())
			check.Equal(t, d.Name()+": capabilities", fmt.Sprint(there.Capabilities()), fmt.Sprint(d.Capabilities()))
			check.Equal(t, d.Name()+": extensions", fmt.Sprint(there.SupportedExtensions()), fmt.Sprint(d.SupportedExtensions()))
			am, ad := there.NumberOfCacheFilesNeeded()
			bm, bd := d.NumberOfCacheFilesNeeded()
			check.Equal(t, d.Name()+": cache files", [2]int{am, ad}, [2]int{bm, bd})
			check.Equal(t, d.Name()+": status", there.Status(), hal.DeviceAvailable)
			for _, m := range []*nn.Model{check.AddModel(nn.TensorFloat32), check.AddModel(nn.TensorQuant8Asymm), lookupModel(), check.RequantModel()} {
				want := check.V(d.SupportedOperations(m))(t, d.Name())
				got := check.V(there.SupportedOperations(m))(t, d.Name())
				t.Check(slices.Equal(got, want), "%s answers %v for %s, through the service %v", d.Name(), want, m.Name, got)
			}
		}
		for _, d := range list {
			_ = d.Close()
		}
		stop()
	}
}

func quotas(t *check.T) {
	m := t.Supported(check.AddModel)
	servers, folder, stop := t.ServiceOf(service.Quotas{Memory: 1 << 20, Sessions: 2, Prepared: 3, Buffers: 2, Bursts: 1, Fenced: 1}, t.Device)
	defer stop()
	d := t.Dial(folder)
	defer d.Close()
	own := t.On(d)
	p := own.Prepare(m, hal.PrepareOptions{})
	more := func(what string, produce func() (func(), error), most int) {
		var free []func()
		for range most {
			f := check.V(produce())(t, what)
			free = append(free, f)
		}
		t.Status("one "+what+" too many", check.Err(produce()), hal.ResourceExhaustedTransient)
		for _, f := range free {
			f()
		}
		f, err := produce() // there is space again
		t.OK(what+" afterwards", err)
		f()
	}
	more("session", func() (func(), error) {
		x, err := service.Dial(filepath.Join(folder, d.Name()))
		if err != nil {
			return nil, err
		}
		return func() {
			_ = x.Close()
			for end := time.Now().Add(check.DisconnectLimit); servers[0].Held().Sessions > 1 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}, nil
	}, 1)
	more("burst", func() (func(), error) {
		b, err := p.ConfigureExecutionBurst()
		if err != nil {
			return nil, err
		}
		return func() { t.OK("close", b.Close()) }, nil
	}, 1)
	if b := own.TryAllocate(p, 1, 0); b != nil {
		b.Release()
		more("buffer", func() (func(), error) {
			b, err := d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil)
			if err != nil {
				return nil, err
			}
			return b.Release, nil
		}, 2)
	}
	more("memory", func() (func(), error) {
		_, release, err := d.NewMemory(600 << 10)
		return release, err
	}, 1) // two exceed the quota beside those of calls
	more("execution with a fence", func() (func(), error) {
		fence := hal.NewSyncFence()
		b, _ := check.Sums(m)
		f, err := p.ExecuteFenced(b.Request(), []*hal.SyncFence{fence}, hal.ExecuteOptions{}, 0)
		if err != nil {
			return nil, err
		}
		return func() {
			fence.Signal(d.Now(), nil)
			<-f.Fence.Done()
		}, nil
	}, 1)
	endedSession(t, servers[0], filepath.Join(folder, d.Name()), d)
	_, _, err := d.NewMemory(1 << 21)
	t.Status("memory that never fits", err, hal.ResourceExhaustedPersistent)
	held := []hal.PreparedModel{own.Prepare(m, hal.PrepareOptions{}), own.Prepare(m, hal.PrepareOptions{})}
	t.Status("one prepared model too many", check.Err(d.PrepareModel(m, hal.PrepareOptions{})), hal.ResourceExhaustedTransient)
	for _, p := range append(held, p) { // held objects still work
		own.Compute("a held model", p, m)
	}
}

// endedSession checks that a session at socket which ends returns its memory to that of d.
func endedSession(t *check.T, server *service.Server, socket string, d *service.Device) {
	gone := check.V(service.Dial(socket))(t, "a second session")
	_, _, err := gone.NewMemory(600 << 10)
	t.OK("memory of a session that ends", err)
	t.OK("its end", gone.Close())
	eventually(t, "sessions", func() int { return server.Held().Sessions }, 1)
	_, release := check.V2(d.NewMemory(600<<10))(t, "memory after it")
	release()
	eventually(t, "device memories", func() int { return server.Held().Buffers }, 0)
}

// quotaOfModel compares a quota of 3 MiB with the memory of a model of 1 MiB, its program and device memory.
func quotaOfModel(t *check.T) {
	var bytes int
	m := t.Supported(func(typ nn.OperandType) *nn.Model {
		n := uint32(1<<20) / uint32(typ.ElementBytes())
		m := check.AddModel(typ)
		for i := range 3 {
			m.Main.Operands[i].Dimensions = []uint32{n}
		}
		m.Main.Operands[1].Lifetime, m.Main.Operands[1].Data = nn.ConstantCopy, make([]byte, 1<<20)
		m.Main.Inputs = m.Main.Inputs[:1]
		bytes = int(m.Main.Operands[0].Bytes())
		return m
	})
	_, folder, stop := t.ServiceOf(service.Quotas{Memory: 7 << 20}, t.Device)
	defer stop()
	d := t.Dial(folder)
	defer d.Close()
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	t.OK("prepareModel", err)
	for range 9 { // each is released
		b := t.DeviceMemory(d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil))
		if b == nil {
			break
		}
		if b.(interface{ Bytes() int }).Bytes() != bytes {
			t.Errorf("%d bytes of device memory for %d", b.(interface{ Bytes() int }).Bytes(), bytes)
		}
		b.Release()
	}
	var held []hal.PreparedModel
	for err == nil && len(held) < 8 {
		var p hal.PreparedModel
		if p, err = d.PrepareModel(m, hal.PrepareOptions{}); err == nil {
			held = append(held, p)
		}
	}
	t.Status("one model too many", err, hal.ResourceExhaustedTransient)
	programs := 0 // a compiled program may have the constants once more; a process boundary hides it
	own := check.V(t.Device.PrepareModel(m, hal.PrepareOptions{}))(t, "prepareModel")
	if x, ok := hal.As[interface{ ProgramBytes() int64 }](own); ok && x.ProgramBytes() >= 1<<20 {
		programs = 1
	}
	if most := 6 / (1 + programs); len(held) >= most {
		t.Errorf("%d models of 1 MiB beside the first are prepared within 7 MiB", len(held))
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(p)
}

// releasedMemories counts device memories that a driver logs as released. It implements base.Logger.
type releasedMemories struct{ n atomic.Int32 }

func (l *releasedMemories) Enabled(tag string) bool { return tag == vlog.Memory }
func (l *releasedMemories) Log(_, _, message string) {
	if strings.HasPrefix(message, "release") {
		l.n.Add(1)
	}
}

// statusAtOnce requests the status while another call occupies the client's only slot.
func statusAtOnce(t *check.T) {
	hangs, err := sample.NewSynthetic("hangs", check.NewPicky("hangs", nn.OpRelu), map[sample.Call]sample.Fault{sample.CallSupportedOperations: {Hang: true}})
	t.OK("driver", err)
	_, folder, stop := t.ServiceOf(service.Quotas{Calls: 1}, hangs)
	defer stop()
	d := t.Dial(folder)
	defer d.Close()
	ended := make(chan struct{})
	go func() {
		_, _ = d.SupportedOperations(check.ReluModel(nn.TensorFloat32, 2, 3))
		close(ended)
	}()
	for end := time.Now().Add(check.DisconnectLimit); hangs.Calls(sample.CallSupportedOperations) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	told := make(chan hal.DeviceStatus, 1)
	go func() { told <- d.Status() }()
	select {
	case s := <-told:
		check.Equal(t, "status", s, hal.DeviceAvailable)
	case <-time.After(check.DisconnectLimit / 4):
		t.Errorf("getStatus waits for another call")
	}
	hangs.Release()
	<-ended
}

// eventually waits until a value is the wanted one, once: what the collector frees may move it again a moment later.
func eventually[V comparable](t *check.T, what string, now func() V, want V) {
	value := now()
	for end := time.Now().Add(check.DisconnectLimit); value != want && time.Now().Before(end); value = now() {
		time.Sleep(time.Millisecond)
	}
	check.Equal(t, what, value, want)
}

func clientDisconnected(t *check.T) {
	m := t.Supported(check.AddModel)
	servers, folder, stop := t.ServiceOf(service.Quotas{}, t.Device)
	defer stop()
	stays := t.Dial(folder)
	defer stays.Close()
	other := t.On(stays)
	p := other.Prepare(m, hal.PrepareOptions{})
	other.Compute("before", p, m)
	before, threads := servers[0].Held(), working("/hal/burst.", "/hal/service.")
	gone := t.Dial(folder)
	own := t.On(gone)
	q := own.Prepare(m, hal.PrepareOptions{})
	burst := check.V(q.ConfigureExecutionBurst())(t, "configureExecutionBurst")
	b, _ := check.Sums(m)
	_, err := burst.Execute(b.Request(), hal.ExecuteOptions{})
	t.OK("burst", err)
	var told releasedMemories
	logs, logged := t.Device.(interface{ SetLogger(base.Logger) })
	if logged {
		logs.SetLogger(&told)
		defer logs.SetLogger(nil)
	}
	buffers := 0
	if own.TryAllocate(q, 1, 0) != nil {
		buffers = 1
	}
	_, release := check.V2(gone.NewMemory(1<<12))(t, "memory")
	defer release()
	f, err := q.ExecuteFenced(b.Request(), []*hal.SyncFence{hal.NewSyncFence()}, hal.ExecuteOptions{}, 0)
	t.OK("an execution whose fence never signals", err)
	if h := servers[0].Held(); h.Sessions != 2 || h.Bursts != 1 || h.Buffers != buffers || h.Prepared != 2 {
		t.Errorf("two clients hold %+v", h)
	}
	runtime.KeepAlive(burst) // an unreferenced one ends
	t.OK("the client ends", gone.Close())
	eventually(t, "held after a client has gone", servers[0].Held, before)
	if logged {
		eventually(t, "device memories that the driver has back", func() int { return int(told.n.Load()) }, buffers)
	}
	<-f.Fence.Done()
	t.Status("its execution", check.Err(f.ExecutionInfo()), hal.DeviceUnavailable)
	t.Status("a call after its session", check.Err(hal.Execute(q, b)), hal.DeviceUnavailable)
	other.Compute("afterwards", p, m)
	left := func() int { return max(0, working("/hal/burst.", "/hal/service.")-threads) }
	eventually(t, "goroutines of a client that has gone, also of its burst", left, 0)
}

func clientsIsolated(t *check.T) {
	m := t.Supported(check.AddModel)
	_, folder, stop := t.ServiceOf(service.Quotas{}, t.Device)
	defer stop()
	var own [2]*check.T
	var p [2]hal.PreparedModel
	for i := range own {
		d := t.Dial(folder)
		defer d.Close()
		own[i] = t.On(d)
		p[i] = own[i].Prepare(m, hal.PrepareOptions{})
	}
	buffer := own[0].Allocate(p[0], 1, 0)
	defer buffer.Release()
	_, _ = check.ShareOutput(m, buffer) // sets the value of the buffer
	r, out, want := check.ShareInput(m, buffer)
	t.Status("the token of another client", check.Err(p[1].Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
	_, err := p[1].ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0)
	t.Status("the token of another client, fenced", err, hal.InvalidArgument)
	_, err = own[1].Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p[0]}, []hal.BufferRole{{Frequency: 1}}, nil)
	t.Status("the prepared model of another client", err, hal.InvalidArgument)
	_, err = p[0].Execute(r, hal.ExecuteOptions{})
	t.OK("its own token", err)
	t.Same("its own token", out, want)
}

// connect opens a connection to a service, below the client of package service.
func connect(t *check.T, socket string) (conn *grpc.ClientConn, session uint64, end func()) {
	conn = check.V(grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials())))(t, "connection")
	ctx, cancel := context.WithCancel(context.Background())
	stream := check.V(pb.NewDriverClient(conn).Attach(ctx, &pb.AttachRequest{}))(t, "attach")
	about := check.V(stream.Recv())(t, "attach")
	return conn, about.Session, func() {
		cancel()
		_ = conn.Close()
	}
}

// statusIn is the HAL status that an error of a call carries.
func statusIn(err error) hal.Status {
	if err == nil {
		return hal.StatusNone
	}
	for _, d := range status.Convert(err).Details() {
		if r, ok := d.(*pb.StatusReply); ok {
			return hal.Status(r.Status)
		}
	}
	return hal.GeneralFailure
}

// foreignSessions: no call of the protocol accepts the number of a session that another connection has opened, or that
// does not exist.
func foreignSessions(t *check.T) {
	_, folder, stop := t.ServiceOf(service.Quotas{}, cpudriver.New(cpudriver.Config{}))
	defer stop()
	socket := filepath.Join(folder, "cpu")
	own, session, end := connect(t, socket)
	defer end()
	other, second, end := connect(t, socket)
	defer end()
	t.Check(session != second && session != 0, "sessions %d and %d", session, second)
	call := func(conn *grpc.ClientConn, m protoreflect.MethodDescriptor, session uint64) hal.Status {
		in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
		in.Set(m.Input().Fields().ByName("session"), protoreflect.ValueOfUint64(session))
		name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
		return statusIn(conn.Invoke(context.Background(), name, in, out))
	}
	methods := pb.File_driver_proto.Services().ByName("Driver").Methods()
	check.Equal(t, "its own session", call(own, methods.ByName("GetStatus"), session), hal.StatusNone)
	for i := range methods.Len() {
		m := methods.Get(i)
		if m.IsStreamingClient() || m.IsStreamingServer() {
			continue
		}
		check.Equal(t, string(m.Name())+" in a session of another", call(other, m, session), hal.InvalidArgument)
		check.Equal(t, string(m.Name())+" in no session", call(own, m, session+2), hal.InvalidArgument)
		switch m.Name() {
		case "GetStatus", "GetPasses", "PrepareModelFromCache": // need nothing that the session holds
		default:
			check.Equal(t, string(m.Name())+" of nothing that is held", call(own, m, session), hal.InvalidArgument)
		}
	}
	stream := check.V(pb.NewDriverClient(other).ExecuteFenced(context.Background()))(t, "executeFenced")
	t.OK("executeFenced", stream.Send(&pb.FencedRequest{Part: &pb.FencedRequest_Launch{Launch: &pb.FencedLaunch{Request: &pb.ExecuteRequest{Session: session}}}}))
	_, err := stream.Recv()
	check.Equal(t, "ExecuteFenced in a session of another", statusIn(err), hal.InvalidArgument)
}
