// Package unixpeer identifies the process at the other end of a Unix socket under gRPC.
package unixpeer

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/nnsoc/nnsoc/hal"
)

// Credentials are gRPC credentials that query the kernel for the process at the other end
// of a Unix socket. They encrypt nothing: no other process can read the socket.
type Credentials struct{}

// Process is the connection of a process. There is one of it for each connection.
type Process struct {
	credentials.CommonAuthInfo
	PID int // of the process at the other end
}

// AuthType implements credentials.AuthInfo.
func (*Process) AuthType() string { return "unix" }

// ServerHandshake implements credentials.TransportCredentials.
func (Credentials) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	pid, err := pidOf(c)
	if err != nil {
		return nil, nil, err
	}
	return c, &Process{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, pid}, nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (Credentials) ClientHandshake(_ context.Context, _ string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c, &Process{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, nil
}

// Info implements credentials.TransportCredentials.
func (Credentials) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "unix"}
}

// Clone implements credentials.TransportCredentials.
func (c Credentials) Clone() credentials.TransportCredentials { return c }

// OverrideServerName implements credentials.TransportCredentials.
func (Credentials) OverrideServerName(string) error { return nil }

// Caller is the connection that a call came through.
func Caller(ctx context.Context) (*Process, error) {
	if p, ok := peer.FromContext(ctx); ok {
		if i, ok := p.AuthInfo.(*Process); ok && i.PID > 0 {
			return i, nil
		}
	}
	return nil, hal.Errorf(hal.InvalidArgument, "service: %w", fmt.Errorf("the caller is unknown"))
}
