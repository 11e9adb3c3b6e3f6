package testvectors

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// careless is the reference CPU with faults that only variations find.
type careless struct {
	hal.Device
	decline func(m *nn.Model) bool
	execute func(m *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error)
}

func (d *careless) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s, err := d.Device.SupportedOperations(m)
	if err == nil && d.decline != nil && d.decline(m) {
		s[0] = hal.Support{Reason: "on a whim"}
	}
	return s, err
}

func (d *careless) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	if err != nil || d.execute == nil {
		return p, err
	}
	return &carelessModel{p, m, d.execute}, nil
}

type carelessModel struct {
	hal.PreparedModel
	m       *nn.Model
	execute func(m *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error)
}

func (p *carelessModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	return p.execute(p.m, p.PreparedModel, r, o)
}

// reluCase is a RELU on 2x3 quantized elements.
func reluCase() *vectors.Case {
	o := nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2, 3}, Scale: 1, ZeroPoint: 2, Lifetime: nn.SubgraphInput}
	out := o
	out.Lifetime = nn.SubgraphOutput
	m := &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{o, out},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
	value := func(b ...byte) []vectors.Value {
		return []vectors.Value{{Type: o.Type, Dimensions: o.Dimensions, Data: b}}
	}
	return &vectors.Case{Name: "relu", Model: m, Inputs: value(0, 1, 2, 3, 4, 5), Outputs: value(2, 2, 2, 3, 4, 5)}
}

// TestVariations: each variation passes on a conforming device and fails on one that does not conform.
func TestVariations(t *testing.T) {
	good := cpudriver.New(cpudriver.Config{})
	isDynamic := func(m *nn.Model) bool { return !m.Main.Operands[1].Known() }
	for _, c := range []struct {
		name string
		d    careless
		fail []string // the variations that fail
		want string
	}{
		{"none", careless{}, nil, ""},
		{"declines open shapes", careless{decline: isDynamic},
			[]string{"dynamic_output_shape", "zero_sized_batch"}, "declined, though it runs the model with known shapes"},
		{"declines signed types", careless{decline: func(m *nn.Model) bool { return m.Main.Operands[0].Type == nn.TensorQuant8AsymmSigned }},
			[]string{"quant8_signed_coupling"}, "declines the signed form"},
		{"an empty output", careless{execute: func(m *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
			res, err := p.Execute(r, o)
			if isDynamic(m) && err == nil {
				res.OutputDimensions[0] = []uint32{0, 0}
			}
			return res, err
		}}, []string{"dynamic_output_shape", "zero_sized_batch"}, "shape [0 0]"},
		{"takes a short buffer", careless{execute: func(_ *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
			in, out, err := r.Buffers()
			if err != nil {
				return nil, err
			}
			long := &hal.Buffers{Inputs: in, Outputs: [][]byte{make([]byte, 6)}, ExecuteOptions: o}
			res, err := hal.Execute(p, long)
			copy(out[0], long.Outputs[0])
			return res, err
		}}, []string{"output_one_byte_short", "dynamic_output_one_byte_short"}, "one byte short ends in NONE, not "},
		{"tells no shapes of a short buffer", careless{execute: func(_ *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
			res, err := p.Execute(r, o)
			if err != nil {
				res = nil
			}
			return res, err
		}}, []string{"dynamic_output_one_byte_short"}, "without the shapes"},
		{"tells no shapes that the model states", careless{execute: func(m *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
			res, err := p.Execute(r, o)
			if err == nil && m.Main.Operands[m.Main.Outputs[0]].Known() {
				res.OutputDimensions = nil
			}
			return res, err
		}}, nil, ""},
		{"tells no shapes", careless{execute: func(_ *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
			res, err := p.Execute(r, o)
			if err == nil {
				res.OutputDimensions = nil
			}
			return res, err
		}}, []string{"dynamic_output_shape", "zero_sized_batch"}, "shapes of 0 outputs"},
		{"calls an open output too small that fits", careless{execute: func(m *nn.Model, p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
			res, err := p.Execute(r, o)
			if err == nil && !m.Main.Operands[m.Main.Outputs[0]].Known() {
				res.Insufficient = []bool{true}
			}
			return res, err
		}}, []string{"dynamic_output_shape", "zero_sized_batch"}, "NONE, with a buffer that is called too small"},
	} {
		unsupported := 0
		if c.name == "declines open shapes" {
			unsupported = 1 // one of the short buffers
		}
		c.d.Device = good
		p := Plan{Device: &c.d, Files: []*vectors.File{{Cases: []*vectors.Case{reluCase()}}}, Functional: true, Variations: true}
		r := p.Execute()
		if r.Cases != 1+len(variations) || r.Failed != len(c.fail) || r.Unsupported != unsupported || r.Skipped != 0 {
			t.Errorf("%s: %d cases, %d failed, %d unsupported: %+v", c.name, r.Cases, r.Failed, r.Unsupported, r.Failures)
			continue
		}
		for i, f := range r.Failures {
			if f.Name != "relu_"+c.fail[i] || !strings.Contains(f.Err.Error(), c.want) {
				t.Errorf("%s: %s: %v, want %q", c.name, f.Name, f.Err, c.want)
			}
		}
	}
}

// TestMalformed: a case at fault fails on a device that declines everything.
func TestMalformed(t *testing.T) {
	d := &careless{Device: cpudriver.New(cpudriver.Config{}), decline: func(*nn.Model) bool { return true }}
	for name, damage := range map[string]func(c *vectors.Case){
		"no model":             func(c *vectors.Case) { c.Model = nil },
		"operand out of range": func(c *vectors.Case) { c.Model.Main.Operations[0].Inputs = []uint32{7} },
		"unknown operation":    func(c *vectors.Case) { c.Model.Main.Operations[0].Type = 9999 },
		"empty expectation":    func(c *vectors.Case) { c.Outputs[0].Data = nil },
		"short expectation":    func(c *vectors.Case) { c.Outputs[0].Data = c.Outputs[0].Data[1:] },
		"no expectation":       func(c *vectors.Case) { c.Outputs = nil },
		"short input":          func(c *vectors.Case) { c.Inputs[0].Data = c.Inputs[0].Data[1:] },
	} {
		c := reluCase()
		damage(c)
		p := Plan{Device: d, Files: []*vectors.File{{Cases: []*vectors.Case{c}}}, Functional: true, Variations: true}
		if r := p.Execute(); r.Failed != 1 || r.Unsupported != 0 {
			t.Errorf("%s: %d failed, %d unsupported", name, r.Failed, r.Unsupported)
		}
	}
	right := Plan{Device: d, Files: []*vectors.File{{Cases: []*vectors.Case{reluCase()}}}, Functional: true}
	if r := right.Execute(); r.Unsupported != 1 {
		t.Errorf("a right case: %+v", r)
	}
}

// TestMultinomialNaN: logits that are no numbers match no frequencies.
func TestMultinomialNaN(t *testing.T) {
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	c := &vectors.Case{Multinomial: 0.1, Model: &nn.Model{},
		Inputs:  []vectors.Value{{Type: nn.TensorFloat32, Dimensions: []uint32{1, 2}, Data: append(nan, nan...)}},
		Outputs: []vectors.Value{{Type: nn.TensorInt32, Dimensions: []uint32{1, 1}, Data: make([]byte, 4)}}}
	require.Check(t, Check(c, nil, [][]byte{make([]byte, 4)}) != nil, "passes")
}
