// Package mapped reads files through the address space: files larger than memory, of which
// little is needed.
package mapped

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/exp/mmap"
)

// File is a file in the address space. Its methods may be called from several goroutines.
type File struct{ *mmap.ReaderAt }

// Open maps the regular file at path. The caller closes it.
func Open(path string) (*File, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	m, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	return &File{m}, nil
}

// ReadAt implements io.ReaderAt. Bytes that the file lost since it was opened are an error
// here, where a load of them would end the process.
func (f *File) ReadAt(b []byte, at int64) (n int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer lost(&err)
	return f.ReaderAt.ReadAt(b, at)
}

// Reader reads the file from its beginning.
func (f *File) Reader() io.Reader { return io.NewSectionReader(f, 0, int64(f.Len())) }
