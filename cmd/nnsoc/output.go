package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/tensor"
	nnrt "github.com/nnsoc/nnsoc/runtime"
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
		if err := o.addTensor(device, i, t.Type, r.Dimensions[i], r.Outputs[i]); err != nil {
			return err
		}
	}
	return nil
}

// addTensors adds outputs of fixed shapes.
func (o *output) addTensors(device string, operands []*nn.Operand, data [][]byte) error {
	if o == nil {
		return nil
	}
	for i, t := range operands {
		if err := o.addTensor(device, i, t.Type, t.Dimensions, data[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) addTensor(device string, i int, t nn.OperandType, dims []uint32, data []byte) error {
	var b bytes.Buffer
	if err := tensor.WriteNpy(&b, t, dims, data); err != nil {
		return fmt.Errorf("output %d: %w", i, err)
	}
	name := fmt.Sprintf("%s.out%d.npy", device, i)
	o.files[name] = b.Bytes()
	o.order = append(o.order, name)
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
	f, err := createFile(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.discard()
		return err
	}
	return f.commit(mode)
}

// newFile is a file under construction. It takes its path in one step; what is
// no regular file, a device or a pipe, is written to as it is.
type newFile struct {
	*os.File
	path   string
	direct bool
}

func createFile(path string) (*newFile, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	fi, err := os.Stat(path)
	f := &newFile{path: path, direct: err == nil && !fi.Mode().IsRegular()}
	if f.direct {
		f.File, err = os.OpenFile(path, os.O_WRONLY, 0)
	} else {
		f.File, err = temporaries.create(func() (*os.File, error) { return os.CreateTemp(filepath.Dir(path), ".nnsoc-*") })
	}
	if err != nil {
		return nil, usage(err)
	}
	return f, nil
}

func (f *newFile) commit(mode os.FileMode) error {
	if f.direct {
		return f.Close()
	}
	err := f.Chmod(mode)
	if e := f.Close(); err == nil {
		err = e
	}
	return temporaries.settle(f.Name(), func() error {
		if err == nil {
			err = os.Rename(f.Name(), f.path)
		}
		if err != nil {
			os.Remove(f.Name())
		}
		return err
	})
}

// discard leaves the path as it was.
func (f *newFile) discard() {
	f.Close()
	if !f.direct {
		_ = temporaries.settle(f.Name(), func() error { return os.Remove(f.Name()) })
	}
}
