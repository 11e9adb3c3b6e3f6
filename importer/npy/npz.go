package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of an archive.
const (
	maxEntries = 1 << 12
	maxBytes   = 256 << 20 // of all arrays together
)

// Named is an array of an archive.
type Named struct {
	Name string // without .npy
	*Array
}

// IsArchive reports whether data begins as an .npz file does, a ZIP archive of .npy files.
func IsArchive(data []byte) bool { return bytes.HasPrefix(data, []byte("PK\x03\x04")) }

// ParseArchive reads the arrays of an .npz file, as numpy.savez and savez_compressed write
// it, in their order.
func ParseArchive(data []byte) ([]Named, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("npz: %w", err)
	}
	if len(r.File) > maxEntries {
		return nil, fmt.Errorf("npz: %d arrays, at most %d", len(r.File), maxEntries)
	}
	var list []Named
	left := int64(maxBytes)
	for _, f := range r.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("npz: %q is no .npy file", f.Name)
		}
		b, err := expanded(f, left)
		if err != nil {
			return nil, fmt.Errorf("npz: %q: %w", f.Name, err)
		}
		left -= int64(len(b))
		a, err := Parse(b)
		if err != nil {
			return nil, fmt.Errorf("npz: %q: %w", f.Name, err)
		}
		list = append(list, Named{name, a})
	}
	if len(list) == 0 {
		return nil, errors.New("npz: no arrays")
	}
	return list, nil
}

// expanded is the content of a file of an archive, at most so many bytes, whatever its header states.
func expanded(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("arrays of more than %d MiB", maxBytes>>20)
	}
	return b, err
}

// WriteArchive writes arrays as an .npz file, stored as numpy.savez does.
func WriteArchive(w io.Writer, list []Named) error {
	z := zip.NewWriter(w)
	for _, a := range list {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := a.Write(f); err != nil {
			return err
		}
	}
	return z.Close()
}
