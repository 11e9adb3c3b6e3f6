package export_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/testvectors"
)

// again writes a model and reads it.
func again(t *testing.T, m *nn.Model) *nn.Model {
	t.Helper()
	file := require.V(export.Bytes(m))(t, m.Name)
	r := require.V(tflite.Import(file, nil))(t, m.Name)
	require.NoError(t, validate.Model(r), m.Name)
	return r
}

func results(t *testing.T, m *nn.Model, inputs [][]byte) []refcpu.Tensor {
	t.Helper()
	p := require.V(refcpu.Compile(m))(t)
	var in []refcpu.Tensor
	for i, x := range m.Main.Inputs {
		in = append(in, refcpu.Tensor{Dimensions: m.Main.Operands[x].Dimensions, Data: inputs[i]})
	}
	out := require.V(p.Execute(in, refcpu.Options{}))(t)
	return out
}

// TestNetworks: networks of the zoo written and read again compute the same bytes.
func TestNetworks(t *testing.T) {
	for _, name := range []string{
		"mlperf_tiny_ad_quant", "mlperf_tiny_ad_float", "mlperf_tiny_ic_quant", "mlperf_tiny_ic_float", "mlperf_tiny_kws_quant", "mlperf_tiny_kws_float",
		"mlperf_tiny_vww_quant", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_0.35_96_float", "mobilenet_v3_small_float", "squeezenet_quant",
		"nasnet_mobile_float",
	} {
		m := require.V(zoo.Build(name))(t)
		in := [][]byte{tensor.SyntheticInput(&m.Main, 0, 3)}
		want, got := results(t, m, in), results(t, again(t, m), in)
		require.Check(t, len(got) == len(want) && bytes.Equal(got[0].Data, want[0].Data), "%s: the file computes something else", name)
	}
}

// TestEveryNetwork: the format can express the zoo's networks.
func TestEveryNetwork(t *testing.T) {
	for _, n := range zoo.Networks() {
		m, _ := require.V2(n.Outline())(t)
		require.Report(t, require.Err(export.Bytes(m)), n.Name)
	}
}

// TestStates: the states of a recurrent network become variables, with which the file computes, frame by frame, the
// results of the network whose states are fed back.
func TestStates(t *testing.T) {
	m := zoo.MustBuild("tts_float")
	r := again(t, m)
	if len(r.States) != 7 || len(nnrt.NonStateInputs(r)) != 1 {
		t.Fatalf("%d states and %d inputs", len(r.States), len(nnrt.NonStateInputs(r)))
	}
	states := nnrt.NewStates(r)
	fed := make([][]byte, len(m.Main.Inputs))
	for i, x := range m.Main.Inputs {
		fed[i] = make([]byte, m.Main.Operands[x].Bytes())
	}
	for frame := range 3 {
		fed[0] = tensor.SyntheticInput(&m.Main, 0, uint32(frame))
		want := results(t, m, fed)
		in := require.V(states.Inputs([][]byte{fed[0]}))(t)
		got := results(t, r, in)
		require.Check(t, bytes.Equal(got[0].Data, output(m, want, "frames")), "frame %d differs", frame)
		var next [][]byte
		for _, o := range got {
			next = append(next, o.Data)
		}
		states.Update(next)
		for i, x := range m.Main.Inputs[1:] {
			fed[1+i] = output(m, want, m.Main.Operands[x].Name+"_out")
		}
	}
}

// output is the output of a model with that name.
func output(m *nn.Model, outputs []refcpu.Tensor, name string) []byte {
	for i, x := range m.Main.Outputs {
		if m.Main.Operands[x].Name == name {
			return outputs[i].Data
		}
	}
	return nil
}

// TestCorpus writes the cases of the public corpus that the format can express
// and demands the results of the model they were.
func TestCorpus(t *testing.T) {
	passed, refused := map[nn.OperationType]int{}, map[string]int{}
	cases := 0
	for f := range testvectors.Corpus() {
		for i, c := range f.Cases {
			if c.Model == nil || c.ExpectFailure || c.Multinomial > 0 || i%2 != 0 {
				continue
			}
			if slices.ContainsFunc(c.Inputs, func(v vectors.Value) bool { return len(v.Data) == 0 }) {
				continue // inputs that the call omits
			}
			file, err := export.Bytes(c.Model)
			if err != nil {
				reason := err.Error()[strings.LastIndex(err.Error(), ": ")+2:]
				refused[reason]++
				continue
			}
			if sameResults(t, c, file) {
				cases++
				for g := range c.Model.Subgraphs() {
					for _, op := range g.Operations {
						passed[op.Type]++
					}
				}
			}
		}
	}
	t.Logf("%d cases, %d operations; refused: %v", cases, len(passed), refused)
	require.Check(t, cases >= 500 && len(passed) >= 60, "only %d cases of %d operations", cases, len(passed))
}

func sameResults(t *testing.T, c *vectors.Case, file []byte) bool {
	t.Helper()
	r, err := tflite.Import(file, nil)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return false
	}
	p, err := refcpu.Compile(r)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return false
	}
	given := nnrt.NonStateInputs(r)
	var in []refcpu.Tensor
	for i, x := range r.Main.Inputs {
		o := &r.Main.Operands[x]
		data := make([]byte, o.Bytes())
		for k, g := range given {
			if g == i {
				data = c.Inputs[k].Data
			}
		}
		in = append(in, refcpu.Tensor{Dimensions: o.Dimensions, Data: data})
	}
	out, err := p.Execute(in, refcpu.Options{})
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return false
	}
	var got [][]byte
	for i := range out {
		got = append(got, out[i].Data)
	}
	kept := *c
	if len(r.States) > 0 { // their outputs follow the network's own, which were last
		kept.Outputs = c.Outputs[len(c.Outputs)-(len(got)-len(r.States)):]
		got = got[:len(kept.Outputs)]
	}
	if err := testvectors.Check(&kept, nil, got); err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return false
	}
	return true
}

// TestRefusals: operations that the format cannot express are named.
func TestRefusals(t *testing.T) {
	for name, want := range map[string]string{
		"nchw":   "its images are in NCHW order",
		"halves": "does not compute in float16",
		"op":     "no such builtin operator",
	} {
		m := zoo.MustBuild("mlperf_tiny_kws_float")
		op := &m.Main.Operations[0]
		switch name {
		case "nchw":
			m.Main.Operands = append(m.Main.Operands, nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{1}})
			op.Inputs = append(op.Inputs, uint32(len(m.Main.Operands)-1))
		case "halves":
			for i := range m.Main.Operands {
				if m.Main.Operands[i].Type == nn.TensorFloat32 {
					m.Main.Operands[i].Type = nn.TensorFloat16
				}
			}
		case "op":
			op.Type = nn.OpChannelShuffle
		}
		require.ErrorContains(t, require.Err(export.Bytes(m)), want, name)
	}
}

// TestConstantsAligned: readers that map the file find constants at multiples of 16.
func TestConstantsAligned(t *testing.T) {
	m := zoo.MustBuild("mlperf_tiny_kws_float")
	file := require.V(export.Bytes(m))(t)
	seen := 0
	for _, o := range m.Main.Operands {
		if o.IsConst() && len(o.Data) > 64 {
			seen++
			if at := bytes.Index(file, o.Data); at%16 != 0 {
				t.Errorf("%s is at %d", o.Name, at)
			}
		}
	}
	require.Check(t, seen >= 10, "only %d constants", seen)
}
