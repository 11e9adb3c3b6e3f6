package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/tensor"
	nnrt "github.com/nnsoc/nnsoc/runtime"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// output collects the tensors of a command and writes them when it succeeded.
type output struct {
	dir   string
	files map[string][]byte
	order []string
}

// openOutput makes the folder now, so that a bad path fails before the work.
func openOutput(dir string) (*output, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, usage(err)
	}
	return &output{dir: dir, files: map[string][]byte{}}, nil
}

func (o *output) add(device string, m *nn.Model, r *nnrt.Result) error {
	if o == nil || r == nil {
		return nil
	}
	for i, t := range outputsOf(m) {
		var b bytes.Buffer
		if err := tensor.WriteNpy(&b, t.Type, r.Dimensions[i], r.Outputs[i]); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		name := fmt.Sprintf("%s.out%d.npy", device, i)
		o.files[name] = b.Bytes()
		o.order = append(o.order, name)
	}
	return nil
}

func (o *output) commit() error {
	if o == nil {
		return nil
	}
	for _, name := range o.order {
		if err := writeFile(filepath.Join(o.dir, name), o.files[name]); err != nil {
			return err
		}
	}
	return nil
}

// writeFile replaces a file in one step: it is whole or as it was.
func writeFile(path string, data []byte) error { return writeFileMode(path, data, 0o644) }

func writeFileMode(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".nnsoc-*")
	if err != nil {
		return usage(err)
	}
	_, err = f.Write(data)
	if e := f.Chmod(mode); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// timeline is the trace file of a command; nil without one.
type timeline struct {
	path   string
	file   *os.File
	chrome *trace.Chrome
}

func openTrace(path string) (*timeline, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".nnsoc-*")
	if err != nil {
		return nil, usage(err)
	}
	return &timeline{path: path, file: f, chrome: trace.NewChrome(f)}, nil
}

func (t *timeline) commit() error {
	if t == nil {
		return nil
	}
	err := t.chrome.Close()
	if e := t.file.Chmod(0o644); err == nil {
		err = e
	}
	if e := t.file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(t.file.Name(), t.path)
	}
	if err == nil {
		t.file = nil
	}
	return err
}

// discard removes an uncommitted trace.
func (t *timeline) discard() {
	if t != nil && t.file != nil {
		t.file.Close()
		os.Remove(t.file.Name())
	}
}
