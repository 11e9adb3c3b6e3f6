//go:build unix

package linux

import "syscall"

// reserve is zeroed memory that the host backs page by page as it is touched,
// however often a process requests it.
func reserve(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// release unmaps memory of reserve.
func release(b []byte) {
	if b != nil {
		_ = syscall.Munmap(b)
	}
}
