package base_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/cpu"
	"github.com/nnsoc/nnsoc/nn"
)

// shapes records the shapes that a driver is asked for.
type shapes struct {
	base.Compiler
	supported, compiled [][]uint32
}

func (s *shapes) Supports(m *nn.Model) ([]hal.Support, error) {
	s.supported = append(s.supported, m.Main.Operands[1].Dimensions)
	return []hal.Support{{OK: true}}, nil
}

func (s *shapes) Compile(m *nn.Model, _ hal.PrepareOptions) (base.Program, error) {
	s.compiled = append(s.compiled, m.Main.Operands[1].Dimensions)
	p, err := cpu.New(cpu.Config{}).PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		return nil, err
	}
	return base.Unwrap(p), nil
}

// TestResolvesOutputs: a driver sees the shape of an output that the model
// leaves open, and a request learns it.
func TestResolvesOutputs(t *testing.T) {
	for _, dims := range [][]uint32{nil, {0}} {
		s := &shapes{}
		d := base.New(base.Config{Name: "toy"}, s)
		m := relu()
		m.Main.Operands[1].Dimensions = dims
		p, err := d.PrepareModel(m, hal.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.compiled) != 1 || !slices.Equal(s.compiled[0], []uint32{4}) {
			t.Errorf("compiled for %v", s.compiled)
		}
		if m.Main.Operands[1].Known() {
			t.Error("the caller's model was changed")
		}
		if _, err := d.SupportedOperations(m); err != nil || len(s.supported) != 1 || !slices.Equal(s.supported[0], []uint32{4}) {
			t.Errorf("asked for %v: %v", s.supported, err)
		}
		r := request()
		r.Functional = true
		if res, err := hal.Execute(p, r); err != nil || !slices.Equal(res.OutputDimensions[0], []uint32{4}) {
			t.Errorf("%v, %v", res, err)
		}
		r.Outputs[0] = r.Outputs[0][1:]
		if res, err := hal.Execute(p, r); hal.StatusOf(err) != hal.OutputInsufficientSize || !slices.Equal(res.OutputDimensions[0], []uint32{4}) {
			t.Errorf("one byte short: %v, %v", res, err)
		}
	}
}

// TestOpenInput: a request completes the shape of an input, which the length of a buffer does
// not tell; each size is compiled once, and an empty batch gives empty outputs.
func TestOpenInput(t *testing.T) {
	s := &shapes{}
	d := base.New(base.Config{Name: "toy"}, s)
	m := relu()
	m.Main.Operands[0].Dimensions, m.Main.Operands[1].Dimensions = []uint32{0, 4}, nil
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{2, 3, 2, 0} {
		r := &hal.Buffers{Inputs: [][]byte{make([]byte, 16*batch)}, Outputs: [][]byte{make([]byte, 16*batch)}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
		if batch > 0 {
			if _, err := hal.Execute(p, r); hal.StatusOf(err) != hal.InvalidArgument {
				t.Errorf("batch %d that only the length tells: %v", batch, err)
			}
			r.InputDimensions = [][]uint32{{uint32(batch), 4}}
		}
		res, err := hal.Execute(p, r)
		if err != nil || !slices.Equal(res.OutputDimensions[0], []uint32{uint32(batch), 4}) {
			t.Errorf("batch %d: %v, %v", batch, res, err)
		}
	}
	want := [][]uint32{{1, 4}, {2, 4}, {3, 4}}
	if !slices.EqualFunc(s.compiled, want, slices.Equal[[]uint32]) {
		t.Errorf("compiled for %v, want %v", s.compiled, want)
	}
	for _, bytes := range []int{4, 17} {
		r := &hal.Buffers{Inputs: [][]byte{make([]byte, bytes)}, Outputs: [][]byte{make([]byte, 64)}, InputDimensions: [][]uint32{{1, 4}}}
		if _, err := hal.Execute(p, r); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
	m.Main.Operands[0].Dimensions = []uint32{0, 0, 4}
	if p, err = d.PrepareModel(m, hal.PrepareOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := hal.Execute(p, request()); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("two unknown dimensions: %v", err)
	}
}
