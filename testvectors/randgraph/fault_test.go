package randgraph

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
)

// faulty is the reference CPU as a device with one fault in it.
type faulty struct {
	hal.Device
	// fault damages the outputs of a model.
	fault func(m *nn.Model, r *hal.Buffers) error
}

func newFaulty(fault func(m *nn.Model, r *hal.Buffers) error) hal.Device {
	return &faulty{cpudriver.New(cpudriver.Config{Description: "a CPU with a fault"}), fault}
}

func (f *faulty) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := f.Device.PrepareModel(m, o)
	return &faultyModel{p, m, f.fault}, err
}

type faultyModel struct {
	hal.PreparedModel
	m     *nn.Model
	fault func(m *nn.Model, r *hal.Buffers) error
}

func (p *faultyModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	if err == nil {
		b := &hal.Buffers{}
		if b.Inputs, b.Outputs, err = r.Buffers(); err == nil {
			err = p.fault(p.m, b)
		}
	}
	return res, err
}

func (p *faultyModel) WriteListing(io.Writer) error { return nil }
func (p *faultyModel) WriteProgram(io.Writer) error { return nil }

// outputOf is the operand and the buffer that an operation writes, if it is an
// output of the model.
func outputOf(m *nn.Model, op *nn.Operation, r *hal.Buffers) (*nn.Operand, []byte) {
	for i, x := range m.Main.Outputs {
		if x == op.Outputs[0] {
			return &m.Main.Operands[x], r.Outputs[i]
		}
	}
	return nil, nil
}

// wrongMax corrupts one element of quantized MAX_POOL_2D results of at least 3
// channels.
func wrongMax(m *nn.Model, r *hal.Buffers) error {
	for i := range m.Main.Operations {
		op := &m.Main.Operations[i]
		if op.Type != nn.OpMaxPool2D {
			continue
		}
		if o, b := outputOf(m, op, r); o != nil && o.Type.IsQuant8() && o.Dimensions[3] >= 3 {
			b[2] ^= 0x40
		}
	}
	return nil
}

// small is a device that declines more than four elements, which an open shape does not show.
type small struct{ hal.Device }

func (d *small) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	o := &m.Main.Operands[m.Main.Inputs[0]]
	return []hal.Support{{OK: !o.Known() || o.Elements() <= 4, Reason: "too large"}}, nil
}

// TestDeclinedShape: an execution whose shapes a device declines is unsupported where the model leaves them open.
func TestDeclinedShape(t *testing.T) {
	d := &small{newFaulty(func(m *nn.Model, r *hal.Buffers) error {
		if len(r.Inputs[0]) > 4 {
			return errors.New("too large")
		}
		return nil
	})}
	for n, want := range map[uint32]bool{4: true, 5: false} {
		tensor := func(l nn.Lifetime) nn.Operand {
			return nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 1, Dimensions: []uint32{0}, Lifetime: l}
		}
		c := &Case{Model: &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{tensor(nn.SubgraphInput), tensor(nn.SubgraphOutput)},
			Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}}, Inputs: []uint32{0}, Outputs: []uint32{1}}},
			Inputs: [][]byte{make([]byte, n)}, Dimensions: [][]uint32{{n}}}
		if supported, err := judge(d, c, Options{Functional: true}); supported != want || err != nil {
			t.Errorf("%d elements: supported %v, %v", n, supported, err)
		}
	}
}

func run(t *testing.T, d hal.Device, o Options) *Report {
	t.Helper()
	o.Functional = true
	r := require.V(Run(d, o))(t)
	return r
}

// TestCorruptElement: a device that corrupts one element under one condition
// is caught, and the failure shrinks to that condition.
func TestCorruptElement(t *testing.T) {
	d := newFaulty(wrongMax)
	r := run(t, d, Options{Seed: 3, Count: 600, Operations: regexp.MustCompile("POOL|RELU|ADD$")})
	if r.Failed == 0 || r.Passed == 0 || r.Failed+r.Passed != r.Cases {
		t.Fatalf("%d failed, %d passed of %d", r.Failed, r.Passed, r.Cases)
	}
	small := 0
	for i := range r.Failures {
		f := &r.Failures[i]
		found := false
		for _, v := range f.Variants {
			found = found || v.Op == nn.OpMaxPool2D
		}
		require.Check(t, found, "case %d has no MAX_POOL_2D: %v", f.Index, f.Err)
		if f.Small == nil {
			continue
		}
		small++
		g := &f.Small.Model.Main
		if len(g.Operations) != 1 || g.Operations[0].Type != nn.OpMaxPool2D {
			t.Errorf("case %d shrinks to %d operations, the first %v", f.Index, len(g.Operations), g.Operations[0].Type)
			continue
		}
		if n := g.Operands[g.Outputs[0]].Elements(); n != 3 {
			t.Errorf("case %d: the smallest output has %d elements, 3 suffice", f.Index, n)
		}
		var diff *compare.Difference
		require.Check(t, errors.As(f.SmallErr, &diff) && diff.Index == 2, "case %d: %v", f.Index, f.SmallErr)
		require.Check(t, Reproduces(d, f.Small), "case %d does not fail as a test vector", f.Index)
		require.Check(t, !Reproduces(cpudriver.New(cpudriver.Config{}), f.Small), "case %d fails without the fault", f.Index)
		var b strings.Builder
		if err := WriteSpec(&b, f.Small, "a fault"); err != nil || !strings.Contains(b.String(), `model.Operation("MAX_POOL_2D"`) {
			t.Errorf("%v: %s", err, b.String())
		}
	}
	require.Check(t, small != 0 && small <= 2, "%d different failures, one per type expected", small)
}

// TestDeviceErrorAndPanic: errors and panics of the device are failures.
func TestDeviceErrorAndPanic(t *testing.T) {
	for kind, fault := range map[Kind]func(*nn.Model, *hal.Buffers) error{
		DeviceError: func(*nn.Model, *hal.Buffers) error { return errors.New("out of order") },
		Panic:       func(*nn.Model, *hal.Buffers) error { panic("index out of range") },
	} {
		r := run(t, newFaulty(fault), Options{Seed: 1, Count: 8, Operations: regexp.MustCompile("^ABS$")})
		if r.Failed != r.Cases || r.Failures[0].Kind() != kind || r.Failures[0].Small == nil {
			t.Errorf("%v: %d of %d failed, the first with %v", kind, r.Failed, r.Cases, r.Failures[0].Err)
		}
	}
}

// TestDeterminism: the same report at any number of workers.
func TestDeterminism(t *testing.T) {
	var first []byte
	for _, workers := range []int{1, 7} {
		r := run(t, newFaulty(wrongMax), Options{Seed: 9, Count: 120, Workers: workers, Operations: regexp.MustCompile("POOL|CONV|MUL")})
		b := require.V(json.Marshal(r))(t)
		for i := range r.Failures {
			if f := &r.Failures[i]; f.Small != nil {
				var s strings.Builder
				require.NoError(t, WriteSpec(&s, f.Small, f.Name))
				b = append(b, s.String()...)
			}
		}
		require.Check(t, first == nil || bytes.Equal(first, b), "%d workers give another report", workers)
		first = b
	}
}

// TestCriteria: each criterion can fail and can pass.
func TestCriteria(t *testing.T) {
	f32 := func(v ...float32) []byte {
		var b []byte
		for _, x := range v {
			b = append(b, simplestOf(x)...)
		}
		return b
	}
	many := func(x float32) []byte {
		var b []byte
		for range 16 {
			b = append(b, simplestOf(x)...)
		}
		return b
	}
	for _, c := range []struct {
		name  string
		class Class
		typ   nn.OperandType
		e, a  []byte
		ok    bool
	}{
		{"equal", Strict, nn.TensorFloat32, f32(1, 2), f32(1, 2), true},
		{"element", Strict, nn.TensorFloat32, f32(1, 2), f32(1, 2.0001), false},
		{"element, loose", Relaxed, nn.TensorFloat32, f32(1, 2), f32(1, 2.0001), true},
		{"mean error", Relaxed, nn.TensorFloat32, many(1), many(1.0005), false},
		{"mean error of few", Relaxed, nn.TensorFloat32, f32(1, 1), f32(1.0005, 1.0005), true},
		{"huge", Strict, nn.TensorFloat32, f32(1e6), f32(2e6), false},
		{"nan", Strict, nn.TensorFloat32, f32(1), f32(nan()), false},
		{"quant", Strict, nn.TensorQuant8Asymm, []byte{5}, []byte{6}, true},
		{"quant by 2", Strict, nn.TensorQuant8Asymm, []byte{5}, []byte{7}, false},
		{"signed", Strict, nn.TensorQuant8AsymmSigned, []byte{0}, []byte{255}, true},
		{"int", Medium, nn.TensorInt32, []byte{1, 0, 0, 0}, []byte{3, 0, 0, 0}, false},
		{"bool", SmallGraph, nn.TensorBool8, make([]byte, 20), append([]byte{1, 1}, make([]byte, 18)...), true},
		{"bools", SmallGraph, nn.TensorBool8, make([]byte, 20), append([]byte{1, 1, 1}, make([]byte, 17)...), false},
		{"one bool", Strict, nn.TensorBool8, make([]byte, 20), append([]byte{1}, make([]byte, 19)...), false},
		{"length", Strict, nn.TensorBool8, make([]byte, 2), make([]byte, 3), false},
	} {
		e, a := compare.Tensor{Type: c.typ, Data: c.e}, compare.Tensor{Type: c.typ, Data: c.a}
		r := compare.Tensors(e, a, rule(c.class, false, false)(c.typ))
		require.Same(t, c.ok, r.Err() == nil, c.name, r.Err())
		exact := compare.Tensors(e, a, rule(c.class, true, false)(c.typ))
		if float := c.typ == nn.TensorFloat32; !float && exact.Err() == nil {
			t.Errorf("%s: exact accepts a difference", c.name)
		}
	}
}

func simplestOf(x float32) []byte {
	return binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))
}

func nan() float32 { return float32(math.NaN()) }

// TestDeclared: what a device refuses in every form is not drawn, what it supports is; a device that supports nothing is an
// error.
func TestDeclared(t *testing.T) {
	d := &choosy{cpudriver.New(cpudriver.Config{Description: "a CPU that adds"}), nn.OpAdd}
	r := require.V(Run(d, Options{Seed: 1, Count: 8, Functional: true, Declared: true, Operations: regexp.MustCompile("^(ADD|MUL|CONV_2D)$")}))(t)
	require.Check(t, r.Undeclared > 0 && r.Unsupported == 0, "%d not declared, %d models unsupported", r.Undeclared, r.Unsupported)
	for _, c := range r.Coverage {
		require.Same(t, nn.OpAdd, c.Variant.Op, "is drawn")
	}
	_, err := Run(d, Options{Seed: 1, Count: 8, Functional: true, Declared: true, Operations: regexp.MustCompile("^MUL$")})
	require.Check(t, err != nil && strings.Contains(err.Error(), "declares none of the"), "%v", err)
}

// choosy is the reference as a device that supports one type of operation.
type choosy struct {
	hal.Device
	accepts nn.OperationType
}

func (d *choosy) SupportedOperations(m *nn.Model) (list []hal.Support, err error) {
	for i := range m.Main.Operations {
		list = append(list, hal.Support{OK: m.Main.Operations[i].Type == d.accepts, Reason: "not an addition"})
	}
	return list, nil
}
