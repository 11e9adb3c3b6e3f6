package sample_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// mixed is ADD of floats, then QUANTIZE, then RELU of codes, then REQUANTIZE of a vendor.
func mixed(t testing.TB) *nn.Model {
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 4}}), "x")
	q := builder.Quant{Scale: 0.5, ZeroPoint: 10}
	s := b.Apply(nn.OpAdd, nn.TensorFloat32, builder.Quant{}, x, b.Floats([]uint32{4}, 1, 2, 3, 4), b.Int32(0))
	y := b.Apply(nn.OpQuantize, nn.TensorQuant8Asymm, q, s)
	y = b.Apply(nn.OpRelu, nn.TensorQuant8Asymm, q, y)
	b.Output(b.Apply(nn.OpRequantize, nn.TensorQuant8Asymm, builder.Quant{Scale: 1, ZeroPoint: 3}, y), "y")
	m := require.V(b.Model("mixed"))(t)
	return m
}

// Each driver accepts its operations and refuses the others with a reason.
func TestSupport(t *testing.T) {
	for name, want := range map[string]string{
		"sample_all":        "yyy-",
		"sample_float_fast": "yy--",
		"sample_float_slow": "yy--",
		"sample_quant":      "--y-",
		"sample_minimal":    "y---",
	} {
		d := require.V(sample.New(name, cpudriver.Config{}))(t)
		m := mixed(t)
		s := require.V(d.SupportedOperations(m))(t)
		got := ""
		for i, x := range s {
			got += map[bool]string{true: "y", false: "-"}[x.OK]
			if !x.OK && !strings.Contains(x.Reason, m.Main.Operations[i].Type.String()) {
				t.Errorf("%s: operation %d is declined with %q", name, i, x.Reason)
			}
		}
		require.Same(t, want, got, name, "supports")
		if _, err := d.PrepareModel(m, hal.PrepareOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%s prepares what it does not support: %v", name, err)
		}
	}
	if len(sample.Names()) != 5 {
		t.Errorf("names %v", sample.Names())
	}
	require.ErrorContains(t, require.Err(sample.New("sample_none", cpudriver.Config{})), "sample_quant", "unknown name")
}

// The figures are those of the Android tree.
func TestCapabilities(t *testing.T) {
	for _, c := range []struct {
		name                  string
		typ                   nn.OperandType
		time, power, relaxedT float32
	}{
		{"sample_all", nn.TensorInt32, 1.1, 1.1, 1.1},
		{"sample_float_fast", nn.TensorFloat32, 0.8, 1.2, 0.7},
		{"sample_float_fast", nn.TensorQuant8Asymm, 1, 1, 0.7},
		{"sample_float_slow", nn.Float32, 1.3, 0.7, 1.2},
		{"sample_quant", nn.TensorQuant8Asymm, 50, 1, 50},
		{"sample_minimal", nn.TensorFloat32, 0.4, 0.5, 0.4},
		{"sample_minimal", nn.TensorQuant8Asymm, 1, 1, 0.4},
	} {
		d := require.V(sample.New(c.name, cpudriver.Config{}))(t)
		caps := d.Capabilities()
		if p := caps.Lookup(c.typ); p.ExecTime != c.time || p.PowerUsage != c.power || caps.RelaxedTensor.ExecTime != c.relaxedT {
			t.Errorf("%s: %s %+v, relaxed %+v", c.name, c.typ, p, caps.RelaxedTensor)
		}
		if caps.Lookup(nn.SubgraphRef) != hal.Slowest {
			t.Errorf("%s promises something for SUBGRAPH", c.name)
		}
	}
}

// A model whose operations a driver accepts computes what the reference does.
func TestExecute(t *testing.T) {
	m := mixed(t)
	m.Main.Operations = m.Main.Operations[:3]
	m.Main.Outputs = []uint32{m.Main.Operations[2].Outputs[0]}
	m.Main.Operands[m.Main.Outputs[0]].Lifetime = nn.SubgraphOutput
	last := &m.Main.Operands[len(m.Main.Operands)-1]
	last.Lifetime = nn.TemporaryVariable
	m.Main.Operands = m.Main.Operands[:len(m.Main.Operands)-1]
	d := require.V(sample.New("sample_all", cpudriver.Config{}))(t)
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	in := make([]byte, 16)
	want := require.V(cpudriver.Reference(m, [][]byte{in}))(t)
	b := hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{make([]byte, 4)}}
	b.Functional = true
	if _, err := hal.Execute(p, &b); err != nil || !bytes.Equal(b.Outputs[0], want[0]) {
		t.Errorf("%v, %v, want %v", err, b.Outputs[0], want[0])
	}
}

// Each fault shows at its call, and at no other.
func TestSynthetic(t *testing.T) {
	all := require.V(sample.New("sample_all", cpudriver.Config{}))(t)
	m := mixed(t)
	m.Main.Operations[3].Type = nn.OpRelu // of the NNAPI, so that all is supported
	last := m.Main.Operations[3].Outputs[0]
	m.Main.Operands[last].Scale, m.Main.Operands[last].ZeroPoint = 0.5, 10
	run := func(faults map[sample.Call]sample.Fault) (*sample.Synthetic, int, *hal.Result, error) {
		d := require.V(sample.NewSynthetic("faulty", all, faults))(t)
		s, err := d.SupportedOperations(m)
		if err != nil {
			return d, 0, nil, err
		}
		p, err := d.PrepareModel(m, hal.PrepareOptions{})
		if err != nil {
			return d, len(s), nil, err
		}
		b := hal.Buffers{Inputs: [][]byte{make([]byte, 16)}, Outputs: [][]byte{make([]byte, 4)}}
		b.Functional = true
		r, err := hal.Execute(p, &b)
		return d, len(s), r, err
	}
	if d, n, r, err := run(nil); err != nil || n != 4 || len(r.OutputDimensions) != 1 || d.Name() != "faulty" || d.Calls(sample.CallExecute) != 1 {
		t.Errorf("without a fault: %d answers, %v, %v", n, r, err)
	}
	for c := sample.CallSupportedOperations; c <= sample.CallExecute; c++ {
		_, _, _, err := run(map[sample.Call]sample.Fault{c: {Status: hal.ResourceExhaustedTransient}})
		if hal.StatusOf(err) != hal.ResourceExhaustedTransient || !strings.Contains(err.Error(), c.String()) {
			t.Errorf("%s: %v", c, err)
		}
		if _, _, _, err := run(map[sample.Call]sample.Fault{c: {Status: hal.GeneralFailure, After: 1}}); err != nil {
			t.Errorf("%s fails before its time: %v", c, err)
		}
	}
	if _, n, _, _ := run(map[sample.Call]sample.Fault{sample.CallSupportedOperations: {WrongCount: true}}); n != 3 {
		t.Errorf("%d answers, want one too few", n)
	}
	if _, _, r, err := run(map[sample.Call]sample.Fault{sample.CallExecute: {WrongCount: true}}); err != nil || len(r.OutputDimensions) != 0 {
		t.Errorf("shapes %v, %v", r, err)
	}
	for _, c := range []sample.Call{0, 99} {
		require.Fails(t, require.Err(sample.NewSynthetic("x", all, map[sample.Call]sample.Fault{c: {}})), "call", c, "is taken")
	}

	func() {
		defer func() {
			if v := recover(); v == nil || !strings.Contains(v.(string), "prepareModel") {
				t.Errorf("recovered %v", v)
			}
		}()
		_, _, _, _ = run(map[sample.Call]sample.Fault{sample.CallPrepareModel: {Panic: true}})
	}()

	d, err := sample.NewSynthetic("hanging", all, map[sample.Call]sample.Fault{sample.CallSupportedOperations: {Hang: true, Late: time.Millisecond}})
	require.NoError(t, err)
	answer := make(chan error)
	go func() { _, err := d.SupportedOperations(m); answer <- err }()
	select {
	case err := <-answer:
		t.Errorf("a device that hangs answers %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	d.Release()
	d.Release()
	if err := <-answer; hal.StatusOf(err) != hal.DeviceUnavailable {
		t.Errorf("after Release: %v", err)
	}
}
