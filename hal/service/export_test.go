package service

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// LeaveOut makes the driver of a device one without bursts and fences.
func LeaveOut(d *Device) { d.client = leavesOut{d.client} }

// leavesOut is what a client sees of a driver without bursts and fences.
type leavesOut struct{ pb.DriverClient }

var errNoMethod = status.Error(codes.Unimplemented, "not here")

func (leavesOut) ConfigureExecutionBurst(context.Context, *pb.BurstRequest, ...grpc.CallOption) (*pb.Handle, error) {
	return nil, errNoMethod
}

func (c leavesOut) ExecuteFenced(ctx context.Context, o ...grpc.CallOption) (grpc.BidiStreamingClient[pb.FencedRequest, pb.FencedReply], error) {
	s, err := c.DriverClient.ExecuteFenced(ctx, o...)
	return leftStream{s}, err
}

// leftStream ends as a stream of a call that a server does not have.
type leftStream struct {
	grpc.BidiStreamingClient[pb.FencedRequest, pb.FencedReply]
}

func (leftStream) Send(*pb.FencedRequest) error   { return nil }
func (leftStream) Recv() (*pb.FencedReply, error) { return nil, errNoMethod }

// Used lists what all clients use of the driver's quotas, as "3 sessions".
func (s *Server) Used() (list []string) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	for r, n := range s.all.used {
		if n != 0 {
			list = append(list, fmt.Sprintf("%d %s", n, resourceNames[r]))
		}
	}
	return list
}
