package service

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/nnsoc/nnsoc/hal"
)

// unixCredentials are gRPC credentials that ask the kernel who is at the other end of a
// Unix socket. They encrypt nothing: nobody else can read the socket.
type unixCredentials struct{}

// peerInfo is the connection of a process. There is one of it for each connection.
type peerInfo struct {
	credentials.CommonAuthInfo
	pid int // of the process at the other end
}

// AuthType implements credentials.AuthInfo.
func (*peerInfo) AuthType() string { return "unix" }

// ServerHandshake implements credentials.TransportCredentials.
func (unixCredentials) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	pid, err := peerPID(c)
	if err != nil {
		return nil, nil, err
	}
	return c, &peerInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, pid}, nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (unixCredentials) ClientHandshake(_ context.Context, _ string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c, &peerInfo{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, nil
}

// Info implements credentials.TransportCredentials.
func (unixCredentials) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "unix"}
}

// Clone implements credentials.TransportCredentials.
func (c unixCredentials) Clone() credentials.TransportCredentials { return c }

// OverrideServerName implements credentials.TransportCredentials.
func (unixCredentials) OverrideServerName(string) error { return nil }

// caller is the connection that a call came through.
func caller(ctx context.Context) (*peerInfo, error) {
	if p, ok := peer.FromContext(ctx); ok {
		if i, ok := p.AuthInfo.(*peerInfo); ok && i.pid > 0 {
			return i, nil
		}
	}
	return nil, hal.Errorf(hal.InvalidArgument, "service: %w", fmt.Errorf("the caller is unknown"))
}
