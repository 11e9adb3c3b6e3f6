package unixpeer

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// pidOf is the process that connected a Unix socket.
func pidOf(c net.Conn) (int, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, fmt.Errorf("service: %T is no Unix socket", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("service: %w", err)
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		err = e
	}
	if err != nil {
		return 0, fmt.Errorf("service: who connects: %w", err)
	}
	return int(cred.Pid), nil
}
