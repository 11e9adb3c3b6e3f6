//go:build linux

package service

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/internal/wire"
	"github.com/nnsoc/nnsoc/hal/service/shm"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// fuzzModel is one ADD of bytes.
func fuzzModel(tb testing.TB) *nn.Model {
	b := builder.New(builder.Config{Format: builder.Quant8})
	x := b.Values("x", 1, 8)
	b.Output(b.Add(x, x, builder.ReLU), "y")
	m := require.V(b.Model("add"))(tb)
	return m
}

// alive fails unless the driver still executes a good request.
func alive(t *testing.T, p hal.PreparedModel) {
	t.Helper()
	b := &hal.Buffers{Inputs: [][]byte{make([]byte, 8)}, Outputs: [][]byte{make([]byte, 8)}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
	require.V(hal.Execute(p, b))(t, "a good request afterwards")
}

// FuzzCalls: every method of the service answers any message, with or without the right
// session, and serves others afterwards.
func FuzzCalls(f *testing.F) {
	there, stop := require.V2(Loopback(cpudriver.New(cpudriver.Config{})))(f)
	f.Cleanup(stop)
	m := fuzzModel(f)
	p := require.V(there.PrepareModel(m, hal.PrepareOptions{}))(f)
	methods := pb.Driver_ServiceDesc.Methods
	file := pb.File_driver_proto.Services().Get(0).Methods()
	head, constants := require.V2(wire.ToModel(m))(f)
	for _, x := range []proto.Message{
		&pb.ExecuteRequest{Prepared: 2, Inputs: []*pb.Argument{{Length: 8}}, Outputs: []*pb.Argument{{Pool: 1, Length: 8}}, Pools: []*pb.Pool{{Memory: 1, Name: "ashmem"}, {Memory: 1, Name: "ashmem"}}},
		&pb.PrepareRequest{Model: &pb.Model{Memory: 1, ModelBytes: uint64(len(head)), ConstantBytes: uint64(len(constants))}},
		&pb.ShareMemoryRequest{Fd: 3, Bytes: 4096}, &pb.BurstRequest{Prepared: 2, Memory: 1, Requests: 16, Results: 16}, &pb.SlotRequest{Burst: 3, Slot: 1, Memory: 1},
		&pb.AllocateRequest{Prepared: []uint64{2}, Inputs: []*pb.Role{{Frequency: 1}}}, &pb.CopyRequest{Buffer: 3, Memory: 1, Bytes: 8, Name: "ashmem"},
		&pb.PrepareFromCacheRequest{Cache: &pb.Cache{Model: []*pb.CacheHandle{{Files: []*pb.CacheFile{{Fd: 1, Write: true}}}}, Data: []*pb.CacheHandle{{}}, Token: []byte("token")}},
	} {
		data := require.V(proto.Marshal(x))(f)
		for i := range methods {
			f.Add(uint8(i), true, data)
		}
	}
	f.Add(uint8(0), false, []byte{8, 1})
	f.Fuzz(func(t *testing.T, method uint8, session bool, data []byte) {
		x := methods[int(method)%len(methods)]
		if x.MethodName == "Release" {
			return // of the objects that the test itself needs
		}
		d := file.ByName(protoreflect.Name(x.MethodName))
		types := pb.File_driver_proto.Messages()
		request := messageOf(t, types.ByName(d.Input().Name()))
		if proto.Unmarshal(data, request) != nil {
			return
		}
		if field := request.ProtoReflect().Descriptor().Fields().ByName("session"); session && field != nil {
			request.ProtoReflect().Set(field, protoreflect.ValueOfUint64(there.about.Session))
		}
		ctx, cancel := context.WithTimeout(there.ctx, 20*time.Second)
		defer cancel()
		err := there.conn.Invoke(ctx, "/"+pb.Driver_ServiceDesc.ServiceName+"/"+x.MethodName, request, messageOf(t, types.ByName(d.Output().Name())))
		if err != nil && (strings.Contains(err.Error(), "panic in ") || ctx.Err() != nil) {
			t.Errorf("%s: %v", x.MethodName, err)
		}
		alive(t, p)
	})
}

// messageOf is an empty message of a type.
func messageOf(t *testing.T, d protoreflect.MessageDescriptor) proto.Message {
	m := require.V(protoregistry.GlobalTypes.FindMessageByName(d.FullName()))(t)
	return m.New().Interface()
}

// FuzzFenced: any stream of messages to an execution with fences is answered or ended.
func FuzzFenced(f *testing.F) {
	there, stop := require.V2(Loopback(cpudriver.New(cpudriver.Config{})))(f)
	f.Cleanup(stop)
	p := require.V(there.PrepareModel(fuzzModel(f), hal.PrepareOptions{}))(f)
	memory, release := require.V2(there.NewMemory(64))(f)
	f.Cleanup(release)
	id := there.shared.own(memory).id
	f.Add(uint32(0), uint64(8), uint32(8), []byte{}, int64(0))
	f.Add(uint32(2), uint64(8), uint32(8), []byte{0, 1}, int64(5))
	f.Add(uint32(3), uint64(0), uint32(70), []byte{2, 2, 9, 0, 1}, int64(-1))
	f.Fuzz(func(t *testing.T, fences uint32, at uint64, length uint32, signals []byte, after int64) {
		ctx, cancel := context.WithTimeout(there.ctx, 20*time.Second)
		defer cancel()
		stream, err := there.client.ExecuteFenced(ctx)
		require.NoError(t, err)
		request := &pb.ExecuteRequest{
			Session: there.about.Session, Prepared: p.(*prepared).id, Functional: true,
			Inputs: []*pb.Argument{{Length: length}}, Outputs: []*pb.Argument{{Offset: 16, Length: length}}, Pools: []*pb.Pool{{Memory: id, Name: "ashmem"}},
		}
		_ = stream.Send(&pb.FencedRequest{Part: &pb.FencedRequest_Launch{Launch: &pb.FencedLaunch{Request: request, Fences: fences, AfterFenceNs: after}}})
		for _, s := range signals {
			x := &pb.FenceSignal{Fence: uint32(s % 16), At: at}
			if s >= 128 {
				x.Error = "lost"
			}
			_ = stream.Send(&pb.FencedRequest{Part: &pb.FencedRequest_Signal{Signal: x}})
		}
		_ = stream.CloseSend()
		for err == nil {
			_, err = stream.Recv()
		}
		if err != io.EOF && (strings.Contains(err.Error(), "panic in ") || ctx.Err() != nil) {
			t.Error(err)
		}
		alive(t, p)
	})
}

// FuzzRing: whatever the other end writes into a ring, reading and writing end, inside
// the ring.
func FuzzRing(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 3, 0, 0, 0}, uint8(1))
	f.Add([]byte{255, 255, 255, 255, 2, 0, 0, 0, 1}, uint8(4))
	f.Fuzz(func(t *testing.T, header []byte, n uint8) {
		region := require.V(shm.Create(shm.RingBytes(4)))(t)
		defer func() { _ = region.Close() }() // last
		ring := require.V(shm.NewRing(region.Data, 4))(t)
		copy(region.Data[:16], header)
		ended := make(chan struct{})
		timer := time.AfterFunc(5*time.Millisecond, func() {
			defer close(ended)
			ring.Invalidate()
		})
		defer func() {
			if !timer.Stop() {
				<-ended // before the memory is unmapped
			}
		}()
		list, err := ring.Read(0)
		if err == nil && (len(list) == 0 || len(list) > 4) {
			t.Errorf("%d datums of a ring of 4", len(list))
		}
		_ = ring.Write(list[:min(len(list), int(n))])
	})
}
