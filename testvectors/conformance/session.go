package conformance

import (
	"context"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpu"
	"github.com/nnsoc/nnsoc/hal/service"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// connect opens a connection to a service, below the client of package service.
func (t *T) connect(socket string) (conn *grpc.ClientConn, session uint64, end func()) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	t.OK("connection", err)
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := pb.NewDriverClient(conn).Attach(ctx, &pb.AttachRequest{})
	t.OK("attach", err)
	about, err := stream.Recv()
	t.OK("attach", err)
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

// foreignSessions: no call of the protocol takes the number of a session that another connection has
// opened, or one that nobody has.
func foreignSessions(t *T) {
	_, folder, stop := t.serviceOf(service.Quotas{}, cpu.New(cpu.Config{}))
	defer stop()
	socket := filepath.Join(folder, "cpu")
	own, session, end := t.connect(socket)
	defer end()
	other, second, end := t.connect(socket)
	defer end()
	if session == second || session == 0 {
		t.Errorf("sessions %d and %d", session, second)
	}
	call := func(conn *grpc.ClientConn, m protoreflect.MethodDescriptor, session uint64) hal.Status {
		in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
		in.Set(m.Input().Fields().ByName("session"), protoreflect.ValueOfUint64(session))
		name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
		return statusIn(conn.Invoke(context.Background(), name, in, out))
	}
	methods := pb.File_driver_proto.Services().ByName("Driver").Methods()
	Equal(t, "its own session", call(own, methods.ByName("GetStatus"), session), hal.StatusNone)
	for i := range methods.Len() {
		m := methods.Get(i)
		if m.IsStreamingClient() || m.IsStreamingServer() {
			continue
		}
		Equal(t, string(m.Name())+" in a session of another", call(other, m, session), hal.InvalidArgument)
		Equal(t, string(m.Name())+" in no session", call(own, m, session+2), hal.InvalidArgument)
		switch m.Name() {
		case "GetStatus", "GetPasses", "PrepareModelFromCache": // need nothing that the session holds
		default:
			Equal(t, string(m.Name())+" of nothing that is held", call(own, m, session), hal.InvalidArgument)
		}
	}
	stream, err := pb.NewDriverClient(other).ExecuteFenced(context.Background())
	t.OK("executeFenced", err)
	t.OK("executeFenced", stream.Send(&pb.FencedRequest{Part: &pb.FencedRequest_Launch{Launch: &pb.FencedLaunch{Request: &pb.ExecuteRequest{Session: session}}}}))
	_, err = stream.Recv()
	Equal(t, "ExecuteFenced in a session of another", statusIn(err), hal.InvalidArgument)
}
