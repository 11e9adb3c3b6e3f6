//go:build !unix

package nnapi

import (
	"io"
	"os"
)

// share copies bytes of a file, since this system has no mmap: memory for reading alone,
// of the bytes as they are now. See D-2600.
func (m *Memory) share(f *os.File, size int, offset int64) error {
	m.data, m.readOnly = make([]byte, size), true
	_, err := f.ReadAt(m.data, offset)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
