package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compare"
	"github.com/nnsoc/nnsoc/hal/driver/cpu"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite"
	nnrt "github.com/nnsoc/nnsoc/runtime"
)

// form is a network with its inputs and, once computed, what the reference
// CPU makes of them.
type form struct {
	model    *nn.Model
	inputs   [][]byte
	expected []compare.Tensor
}

// workload is what run executes: a network and, for the embedded default, its
// float form for devices that have no 8-bit integers.
type workload struct {
	primary *form
	other   func() (*form, error) // nil when there is no other form
}

func newWorkload(args []string, f *runFlags) (*workload, error) {
	if len(args) == 0 {
		if len(f.inputs) > 0 {
			return nil, usage(errors.New("--input needs a MODEL"))
		}
		if err := f.shapes.needModel(); err != nil {
			return nil, err
		}
		primary, err := newForm(embeddedNetwork(true), f)
		if err != nil {
			return nil, err
		}
		var float *form
		return &workload{primary, func() (*form, error) {
			var err error
			if float == nil {
				float, err = newForm(embeddedNetwork(false), f)
			}
			return float, err
		}}, nil
	}
	shapes, err := f.shapes.parse()
	if err != nil {
		return nil, err
	}
	m, err := readModel(args[0], shapes)
	if err != nil {
		return nil, err
	}
	primary, err := newForm(m, f)
	return &workload{primary: primary}, err
}

// maxModelFile bounds a model file.
const maxModelFile = 1 << 30

// readModelFile reads a file that may be a model.
func readModelFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usage(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxModelFile+1))
	if err != nil {
		return nil, usage(err)
	}
	if len(data) > maxModelFile {
		return nil, usage(fmt.Errorf("%s: larger than %d MiB", path, maxModelFile>>20))
	}
	return data, nil
}

// importModel reads a model file.
func importModel(path string, shapes map[string][]uint32) (*nn.Model, error) {
	data, err := readModelFile(path)
	if err != nil {
		return nil, err
	}
	if err := compiledAhead(path, data); err != nil {
		return nil, err
	}
	m, err := tflite.Import(data, &tflite.Options{Shapes: shapes})
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", path, err))
	}
	m.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if m.Name == "model" { // a generic file name: the folder says more
		if abs, err := filepath.Abs(path); err == nil {
			m.Name = filepath.Base(filepath.Dir(abs))
		}
	}
	return m, nil
}

func newForm(m *nn.Model, f *runFlags) (*form, error) {
	m.Relaxed = f.relaxed
	w := &form{model: m}
	if err := nnrt.Validate(m); err != nil {
		return nil, usage(fmt.Errorf("%s: %w", m.Name, err))
	}
	g := &m.Main
	positions := nnrt.GivenInputs(m)
	if len(f.inputs) > 0 && len(f.inputs) != len(positions) {
		return nil, usage(fmt.Errorf("%s has %d inputs, --input gives %d", m.Name, len(positions), len(f.inputs)))
	}
	if f.normalized {
		if err := checkNormalization(g, positions, f); err != nil {
			return nil, usage(err)
		}
	}
	var given [][]byte
	for k, i := range positions {
		if len(f.inputs) == 0 {
			given = append(given, tensor.SyntheticInput(g, i, 0x9E3779B9^uint32(i)))
			continue
		}
		b, err := tensor.Read(f.inputs[k], &g.Operands[g.Inputs[i]], f.norm)
		if err != nil {
			return nil, usage(fmt.Errorf("input %d: %w", k, err))
		}
		given = append(given, b)
	}
	var err error
	w.inputs, err = nnrt.NewStates(m).Inputs(given)
	return w, err
}

// checkNormalization demands a picture for a float input, which alone --mean
// and --std apply to.
func checkNormalization(g *nn.Subgraph, positions []int, f *runFlags) error {
	if !(f.norm.Std > 0) {
		return fmt.Errorf("--std %v: want a number above 0", f.norm.Std)
	}
	for k, path := range f.inputs {
		t := g.Operands[g.Inputs[positions[k]]].Type
		if real := t == nn.TensorFloat32 || t == nn.TensorFloat16; real && tensor.IsPicture(path) {
			return nil
		}
	}
	return errors.New("--mean and --std do nothing: no float input is given as a picture")
}

// form is the form of the workload that a device runs: the one of which it
// supports more operations.
func (w *workload) form(device string, m *machine) (*form, error) {
	d, err := m.registry.Find(device)
	if err != nil || w.other == nil { // auto runs the primary
		return w.primary, nil
	}
	primary, err := supported(d, w.primary.model)
	if err != nil || primary == len(w.primary.model.Main.Operations) {
		return w.primary, err
	}
	other, err := w.other()
	if err != nil {
		return nil, err
	}
	n, err := supported(d, other.model)
	if err != nil || n <= primary {
		return w.primary, err
	}
	return other, nil
}

// supported counts the operations that a device supports.
func supported(d hal.Device, m *nn.Model) (int, error) {
	answers, err := d.SupportedOperations(m)
	n := 0
	for _, s := range answers {
		if s.OK {
			n++
		}
	}
	return n, err
}

// reference computes the expected outputs once.
func (f *form) reference(m *machine) (err error) {
	if f.expected == nil {
		f.expected, err = cpu.ReferenceTensors(f.model, f.inputs)
	}
	return err
}
