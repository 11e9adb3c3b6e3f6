package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ReadFile reads a file of at most limit bytes. A larger one is refused by its size before a byte is read; a file
// without a size, a device or a pipe, by its bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Usage(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, Usage(err)
	}
	if fi.Mode().IsRegular() && fi.Size() > limit {
		return nil, tooLarge(path, limit)
	}
	return readSized(path, f, limit, fi.Size())
}

// ReadAll reads at most limit bytes; name is used in errors.
func ReadAll(name string, r io.Reader, limit int64) ([]byte, error) {
	return readSized(name, r, limit, 0)
}

// readSized is ReadAll of a reader with an expected size, so that memory is allocated once. A longer one is read in
// pieces that are joined at its end: refused data is never copied.
func readSized(name string, r io.Reader, limit, size int64) ([]byte, error) {
	var pieces [][]byte
	total, next := int64(0), min(size, limit)+bytes.MinRead
	for {
		piece := make([]byte, next)
		n, err := io.ReadFull(r, piece)
		pieces, total = append(pieces, piece[:n]), total+int64(n)
		switch {
		case total > limit:
			return nil, tooLarge(name, limit)
		case err == nil:
			next = min(total, limit+1-total)
		case err != io.EOF && err != io.ErrUnexpectedEOF:
			return nil, Usage(err)
		case len(pieces) == 1:
			return pieces[0], nil
		default:
			return slices.Concat(pieces...), nil
		}
	}
}

func tooLarge(name string, limit int64) error {
	return Usage(fmt.Errorf("%s: larger than %d MiB", name, limit>>20))
}

// WriteFile replaces a file in one step: it is whole or as it was.
func WriteFile(path string, data []byte) error { return WriteFileMode(path, data, 0o644) }

// WriteFileMode is WriteFile with permissions.
func WriteFileMode(path string, data []byte, mode os.FileMode) error {
	f, err := CreateFile(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Discard()
		return err
	}
	return f.Commit(mode)
}

// File is a file under construction. It replaces its path in one step; other than regular files, a device or a pipe,
// are written directly.
type File struct {
	*os.File
	Path   string
	direct bool
}

// CreateFile begins a file; Commit or Discard ends it.
func CreateFile(path string) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	fi, err := os.Stat(path)
	f := &File{Path: path, direct: err == nil && !fi.Mode().IsRegular()}
	if f.direct {
		f.File, err = os.OpenFile(path, os.O_WRONLY, 0)
	} else {
		f.File, err = Temporaries.create(func() (*os.File, error) { return os.CreateTemp(filepath.Dir(path), ".nnsoc-*") })
	}
	if err != nil {
		return nil, Usage(f.named(err))
	}
	return f, nil
}

// Write implements io.Writer. Its errors name the path, not the temporary file.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.named(err)
}

// named is an error of the file with its path, which the user knows.
func (f *File) named(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		e.Path = f.Path
	}
	return err
}

// Commit puts the file in its place.
func (f *File) Commit(mode os.FileMode) error {
	if f.direct {
		return f.Close()
	}
	err := f.named(f.Chmod(mode))
	if e := f.Close(); err == nil {
		err = f.named(e)
	}
	return Temporaries.finish(f.Name(), func() error {
		if err == nil {
			err = os.Rename(f.Name(), f.Path)
		}
		if err != nil {
			os.Remove(f.Name())
		}
		return err
	})
}

// Discard leaves the path as it was.
func (f *File) Discard() {
	f.Close()
	if !f.direct {
		_ = Temporaries.finish(f.Name(), func() error { return os.Remove(f.Name()) })
	}
}
