//go:build unix

package nnapi

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// share maps bytes of a file, which then are the file's own: what either side writes the
// other sees. Maps begin on pages, so the first begins before an offset within a page. A
// file that was opened for reading alone makes memory for reading alone.
func (m *Memory) share(f *os.File, size int, offset int64) error {
	within := int(offset % int64(os.Getpagesize()))
	connection, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var whole []byte
	mapAs := func(protection int) (err error) {
		controlled := connection.Control(func(fd uintptr) {
			whole, err = unix.Mmap(int(fd), offset-int64(within), within+size, protection, unix.MAP_SHARED)
		})
		return errors.Join(controlled, err)
	}
	if !m.readOnly {
		err = mapAs(unix.PROT_READ | unix.PROT_WRITE)
		m.readOnly = errors.Is(err, unix.EACCES)
	}
	if m.readOnly {
		err = mapAs(unix.PROT_READ)
	}
	if err != nil {
		return err
	}
	m.data = whole[within : within+size : within+size]
	runtime.AddCleanup(m, func(whole []byte) { _ = unix.Munmap(whole) }, whole)
	return nil
}
