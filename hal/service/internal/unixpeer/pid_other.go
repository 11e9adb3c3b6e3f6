//go:build !linux

package unixpeer

import (
	"net"

	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// pidOf is the process that connected a Unix socket.
func pidOf(net.Conn) (int, error) { return 0, shm.ErrUnsupported }
