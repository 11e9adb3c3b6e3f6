package input

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Flags are the flags of a network's inputs.
type Flags struct {
	Inputs     []string
	Choice     ChoiceFlags
	Relaxed    bool
	Norm       tensor.Normalization
	Normalized bool // norm is the user's
}

// Form is a network with its inputs and, once computed, the results of the reference CPU.
type Form = session.Network

// Workload is the network that run executes and, for the embedded default, its float form for devices that have no
// 8-bit integers.
type Workload struct {
	Primary *Form
	Other   func() (*Form, error) // nil when there is no other form
}

// NewWorkload reads the network that arguments name, the embedded one without any.
func NewWorkload(a *cli.App, args []string, f *Flags) (*Workload, error) {
	if len(args) == 0 {
		if len(f.Inputs) > 0 {
			return nil, cli.Usage(errors.New("--input needs a MODEL"))
		}
		if err := f.Choice.NeedModel(); err != nil {
			return nil, err
		}
		primary, err := NewForm(EmbeddedNetwork(true), f)
		if err != nil {
			return nil, err
		}
		var float *Form
		return &Workload{primary, func() (*Form, error) {
			var err error
			if float == nil {
				float, err = NewForm(EmbeddedNetwork(false), f)
			}
			return float, err
		}}, nil
	}
	choice, err := f.Choice.Parse()
	if err != nil {
		return nil, err
	}
	m, err := ReadModel(a, args[0], choice)
	if err != nil {
		return nil, err
	}
	primary, err := NewForm(m, f)
	return &Workload{Primary: primary}, err
}

// NewForm checks a network and makes its inputs ready.
func NewForm(m *nn.Model, f *Flags) (*Form, error) {
	m.Relaxed = f.Relaxed
	if err := nnrt.Validate(m); err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", m.Name, err))
	}
	g := &m.Main
	positions := nnrt.NonStateInputs(m)
	var operands []*nn.Operand
	for _, i := range positions {
		operands = append(operands, &g.Operands[g.Inputs[i]])
	}
	if f.Normalized {
		if err := CheckNormalization(operands, f.Inputs, f.Norm); err != nil {
			return nil, cli.Usage(err)
		}
	}
	var given [][]byte
	var err error
	if len(f.Inputs) > 0 {
		if given, err = tensor.ReadAll(f.Inputs, operands, f.Norm); err != nil {
			return nil, cli.Usage(fmt.Errorf("%s: %w", m.Name, err))
		}
	}
	return session.NewNetwork(m, given)
}

// CheckNormalization demands a picture for a float input, which alone --mean
// and --std apply to.
func CheckNormalization(operands []*nn.Operand, paths []string, n tensor.Normalization) error {
	if !(n.Std > 0) {
		return fmt.Errorf("--std %v: want a number above 0", n.Std)
	}
	for k, path := range paths[:min(len(paths), len(operands))] {
		t := operands[k].Type
		if real := t == nn.TensorFloat32 || t == nn.TensorFloat16; real && tensor.IsPicture(path) {
			return nil
		}
	}
	return errors.New("--mean and --std do nothing: no float input is given as a picture")
}

// Form is the form of the workload that a device runs: the one of which it
// supports more operations.
func (w *Workload) Form(device string, m *machine.Machine) (*Form, error) {
	d, err := m.Find(device)
	if err != nil || w.Other == nil { // auto runs the primary
		return w.Primary, nil
	}
	primary, err := Supported(d, w.Primary.Model)
	if err != nil || primary == len(w.Primary.Model.Main.Operations) {
		return w.Primary, err
	}
	other, err := w.Other()
	if err != nil {
		return nil, err
	}
	n, err := Supported(d, other.Model)
	if err != nil || n <= primary {
		return w.Primary, err
	}
	return other, nil
}

// Supported counts the operations that a device supports.
func Supported(d hal.Device, m *nn.Model) (int, error) {
	answers, err := d.SupportedOperations(m)
	n := 0
	for _, s := range answers {
		if s.OK {
			n++
		}
	}
	return n, err
}

// Reference computes the expected outputs once.
func Reference(f *Form) error {
	if f.Expected != nil {
		return nil
	}
	err := f.Reference()
	if err == nil && large(f.Model) {
		// The reference's copies of them are freed before a device makes its own: memory in pools outlives one
		// collection.
		runtime.GC()
		debug.FreeOSMemory()
		collectEarlier()
	}
	if err != nil && f.Noise {
		err = fmt.Errorf("%s: %w; its inputs are noise, since none are given: give some that it takes with --input", f.Model.Name, err)
	}
	return cli.Usage(err)
}

// collectEarlier limits garbage to half of the live heap, unless GOGC is smaller, or off.
func collectEarlier() {
	const percent = 50
	if p := debug.SetGCPercent(percent); p < percent {
		debug.SetGCPercent(p)
	}
}

// large reports whether a model has too many constants to wait for the collector: its next cycle is when as much memory
// again is in use.
func large(m *nn.Model) bool {
	const many = 64 << 20
	n := int64(0)
	for i := range m.Main.Operands {
		if o := &m.Main.Operands[i]; o.IsConst() {
			n += o.Bytes()
		}
	}
	return n > many
}
