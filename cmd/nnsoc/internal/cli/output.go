package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Output collects the tensors of a command and writes them when it succeeded.
type Output struct {
	dir   string // or an .npz file
	empty func() // removes the folders that the output has made, but those with files
	files map[string][]byte
	order []string
	// arrays are the tensors of an .npz file.
	arrays []npy.Named
}

// OpenOutput makes the folder now, so that a bad path fails before the work. Discard, which
// may follow Commit, ends the output.
func OpenOutput(dir string) (*Output, error) {
	if dir == "" {
		return nil, nil
	}
	o := &Output{dir: dir, empty: func() {}, files: map[string][]byte{}}
	if o.isArchive() {
		f, err := CreateFile(dir) // fails now where it cannot be written
		if err != nil {
			return nil, Usage(err)
		}
		f.Discard()
		return o, nil
	}
	var err error
	if o.empty, err = MakeFolder(dir); err != nil {
		return nil, err
	}
	return o, nil
}

// MakeFolder makes a folder, and those above it. Those that were not there go with a signal that ends the process, and with empty,
// but for those with files.
func MakeFolder(dir string) (empty func(), err error) {
	var made []string // from the innermost on
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
		Temporaries.Add(at)
	}
	empty = func() {
		for _, d := range made {
			_ = Temporaries.finish(d, func() error { return os.Remove(d) })
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		empty()
		return nil, Usage(err)
	}
	return empty, nil
}

// isArchive reports whether all tensors go to one file.
func (o *Output) isArchive() bool { return filepath.Ext(o.dir) == ".npz" }

// Discard removes the folders that the output has made, but those with files.
func (o *Output) Discard() {
	if o != nil {
		o.empty()
	}
}

// Add adds the outputs of a run of a model.
func (o *Output) Add(device string, m *nn.Model, r *nnrt.Result) error {
	if o == nil || r == nil {
		return nil
	}
	for i, t := range OutputsOf(m) {
		if err := o.addTensor(device, i, t.Type, t.Unmerge(r.Dimensions[i]), r.Outputs[i]); err != nil {
			return err
		}
	}
	return nil
}

// AddTensors adds outputs of fixed shapes.
func (o *Output) AddTensors(device string, operands []*nn.Operand, data [][]byte) error {
	if o == nil {
		return nil
	}
	for i, t := range operands {
		if err := o.addTensor(device, i, t.Type, t.Unmerge(t.Dimensions), data[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o *Output) addTensor(device string, i int, t nn.OperandType, dims []uint32, data []byte) error {
	a, err := tensor.Array(t, dims, data)
	if err != nil {
		return fmt.Errorf("output %d: %w", i, err)
	}
	name := fmt.Sprintf("%s.out%d", device, i)
	if o.isArchive() {
		o.arrays = append(o.arrays, npy.Named{Name: name, Array: a})
		return nil
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		return fmt.Errorf("output %d: %w", i, err)
	}
	name += ".npy"
	o.files[name] = b.Bytes()
	o.order = append(o.order, name)
	return nil
}

// Commit writes the tensors.
func (o *Output) Commit() error {
	if o == nil {
		return nil
	}
	if o.isArchive() {
		var b bytes.Buffer
		if err := npy.WriteArchive(&b, o.arrays); err != nil {
			return err
		}
		return WriteFile(o.dir, b.Bytes())
	}
	for _, name := range o.order {
		if err := WriteFile(filepath.Join(o.dir, name), o.files[name]); err != nil {
			return err
		}
	}
	return nil
}

// OutputsOf lists the operands that a model's outputs are.
func OutputsOf(m *nn.Model) []*nn.Operand {
	var l []*nn.Operand
	for _, x := range m.Main.Outputs {
		l = append(l, &m.Main.Operands[x])
	}
	return l
}
