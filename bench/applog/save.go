package applog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/nn"
)

// save writes a model to a folder. Its name begins with the number of operations and ends with a hash of the file, so
// that what is compiled again is the same file.
func save(dir string, m *nn.Model) *Saved {
	data, err := export.Bytes(m)
	if err != nil {
		return &Saved{Error: err.Error()}
	}
	sum := sha256.Sum256(data)
	path := filepath.Join(dir, fmt.Sprintf("%d-operations-%s.tflite", len(m.Main.Operations), hex.EncodeToString(sum[:4])))
	if _, err := os.Stat(path); err == nil {
		return &Saved{File: path}
	}
	if err := replace(path, data); err != nil {
		return &Saved{Error: err.Error()}
	}
	return &Saved{File: path}
}

// replace writes a file in one step: other processes may write the same.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".nnsoc-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
