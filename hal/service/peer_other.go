//go:build !linux

package service

import (
	"net"

	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// peerPID is the process that connected a Unix socket.
func peerPID(net.Conn) (int, error) { return 0, shm.ErrUnsupported }
