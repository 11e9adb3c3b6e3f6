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
		return nil, fmt.Errorf("shm: a region of %d bytes, takes 1 to %d", n, MaxBytes)
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

// Open maps the region behind a descriptor of another process: n bytes that cannot go
// away.
func Open(pid, fd int, n uint64, readOnly bool) (*Region, error) {
	if n == 0 || n > MaxBytes {
		return nil, fmt.Errorf("shm: a region of %d bytes, takes 1 to %d", n, MaxBytes)
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
