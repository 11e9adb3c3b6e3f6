package shm

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Region is a shared memory file and its mapping in this process.
type Region struct {
	Data []byte
	file *os.File
	once sync.Once
}

// Create makes a region of n bytes, all zero.
func Create(n int) (*Region, error) {
	if n <= 0 || n > MaxBytes {
		return nil, fmt.Errorf("shm: a region of %d bytes, want 1 to %d", n, MaxBytes)
	}
	fd, err := unix.MemfdCreate("nnsoc", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("shm: memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "nnsoc")
	if err := f.Truncate(int64(n)); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("shm: %w", err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("shm: sealing: %w", err)
	}
	return mapped(f, n, false)
}

// Open maps the region behind a descriptor of another process: n bytes that cannot be
// truncated.
func Open(pid, fd int, n uint64, readOnly bool) (*Region, error) {
	if n == 0 || n > MaxBytes {
		return nil, fmt.Errorf("shm: a region of %d bytes, want 1 to %d", n, MaxBytes)
	}
	if pid <= 0 || fd < 0 {
		return nil, fmt.Errorf("shm: descriptor %d of process %d", fd, pid)
	}
	flags := unix.O_RDWR
	if readOnly {
		flags = unix.O_RDONLY
	}
	h, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("shm: descriptor %d of process %d: %w", fd, pid, err)
	}
	f := os.NewFile(uintptr(h), "nnsoc")
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		_ = f.Close()
		return nil, fmt.Errorf("shm: descriptor %d of process %d is no memory file sealed against shrinking", fd, pid)
	}
	info, err := f.Stat()
	if err != nil || uint64(info.Size()) < n {
		_ = f.Close()
		return nil, fmt.Errorf("shm: descriptor %d of process %d has fewer than %d bytes", fd, pid, n)
	}
	return mapped(f, int(n), readOnly)
}

func mapped(f *os.File, n int, readOnly bool) (*Region, error) {
	protection := unix.PROT_READ | unix.PROT_WRITE
	if readOnly {
		protection = unix.PROT_READ
	}
	data, err := unix.Mmap(int(f.Fd()), 0, n, protection, unix.MAP_SHARED)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("shm: mapping %d bytes: %w", n, err)
	}
	return &Region{Data: data, file: f}, nil
}

// FD is the descriptor in this process.
func (r *Region) FD() int { return int(r.file.Fd()) }

// Close unmaps the region. Nobody may use Data afterwards.
func (r *Region) Close() error {
	var err error
	r.once.Do(func() {
		if e := unix.Munmap(r.Data); e != nil {
			err = fmt.Errorf("shm: %w", e)
		}
		r.Data = nil
		if e := r.file.Close(); e != nil && err == nil {
			err = fmt.Errorf("shm: %w", e)
		}
	})
	return err
}

// NewFile makes an anonymous file that can grow and shrink.
func NewFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("nnsoc-cache", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("shm: memfd_create: %w", err)
	}
	return os.NewFile(uintptr(fd), "nnsoc-cache"), nil
}

// Access reports how a file of this process is open.
func Access(f *os.File) (read, write bool, err error) {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return false, false, fmt.Errorf("shm: %w", err)
	}
	mode := flags & unix.O_ACCMODE
	return mode != unix.O_WRONLY, mode != unix.O_RDONLY, nil
}

// OpenFile opens the regular file behind a descriptor of another process once more.
func OpenFile(pid, fd int, read, write bool) (*os.File, error) {
	if pid <= 0 || fd < 0 || !read && !write {
		return nil, fmt.Errorf("shm: descriptor %d of process %d", fd, pid)
	}
	flags := unix.O_RDONLY
	switch {
	case read && write:
		flags = unix.O_RDWR
	case write:
		flags = unix.O_WRONLY
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a device may do something
		return nil, fmt.Errorf("shm: descriptor %d of process %d is no regular file", fd, pid)
	}
	h, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("shm: descriptor %d of process %d: %w", fd, pid, err)
	}
	f := os.NewFile(uintptr(h), path)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, fmt.Errorf("shm: descriptor %d of process %d is no regular file", fd, pid)
	}
	return f, nil
}
