package tflite

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
)

// strange are networks whose inputs and outputs are named in ways that few files have.
var strange = []struct {
	name            string
	tensors         []arg
	inputs, outputs []int32
	operators       []tflitefile.Operator
}{
	{"an output that is an input", []arg{f32(dims(3), 1, -2, 3), f32(dims(3))}, []int32{0}, []int32{1, 0}, []tflitefile.Operator{apply("RELU", []int32{0}, []int32{1})}},
	{"an output that is a constant", []arg{f32(dims(3), 1, -2, 3), f32(dims(3)), k(f32(dims(2), 7, 8))}, []int32{0}, []int32{1, 2}, []tflitefile.Operator{apply("RELU", []int32{0}, []int32{1})}},
	{"an output twice", []arg{f32(dims(3), 1, -2, 3), f32(dims(3))}, []int32{0}, []int32{1, 1}, []tflitefile.Operator{apply("RELU", []int32{0}, []int32{1})}},
	{"an input that nothing reads", []arg{f32(dims(3), 1, -2, 3), f32(dims(3)), f32(dims(2), 5, 6)}, []int32{2, 0}, []int32{1}, []tflitefile.Operator{apply("RELU", []int32{0}, []int32{1})}},
	{"a result that nothing reads", []arg{f32(dims(3), 1, -2, 3), f32(dims(3)), f32(dims(3))}, []int32{0}, []int32{1}, []tflitefile.Operator{apply("RELU", []int32{0}, []int32{1}), apply("NEG", []int32{0}, []int32{2})}},
	{"scalars all the way", []arg{f32(nil, -3), f32(nil, 5), f32(nil), f32(nil)}, []int32{0, 1}, []int32{3}, []tflitefile.Operator{with(apply("ADD", []int32{0, 1}, []int32{2}), "AddOptions", nil), apply("NEG", []int32{2}, []int32{3})}},
	{"constants alone", []arg{f32(dims(1), 4), k(f32(dims(2), 7, 8)), f32(dims(2)), f32(dims(1))}, []int32{0}, []int32{2, 3}, []tflitefile.Operator{apply("NEG", []int32{1}, []int32{2}), apply("NEG", []int32{0}, []int32{3})}},
	{"an intermediate that is an output too", []arg{f32(dims(3), 1, -2, 3), f32(dims(3)), f32(dims(3))}, []int32{0}, []int32{2, 1}, []tflitefile.Operator{apply("RELU", []int32{0}, []int32{1}), apply("NEG", []int32{1}, []int32{2})}},
}

// TestOracleTFLiteStrange holds them against TensorFlow Lite.
func TestOracleTFLiteStrange(t *testing.T) {
	oracle.Need(t, "gcc")
	j := newJudge(t)
	var list []*judgement
	for _, c := range strange {
		n := &judgement{file: network(c.tensors, c.inputs, c.outputs, c.operators...), outputs: len(c.outputs)}
		for _, i := range c.inputs {
			n.given = append(n.given, c.tensors[i].bytes())
		}
		list = append(list, n)
	}
	j.run(t, list)
	for i, c := range strange {
		if list[i].refused != "" {
			t.Errorf("%s: TensorFlow Lite does not run it: %s", c.name, list[i].refused)
			continue
		}
		m, err := Import(list[i].file, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := execute(t, m, list[i].given)
		for k, o := range c.outputs {
			d := list[i].differs(k, c.tensors[o].Type, &got[k], m.Main.Operands[m.Main.Outputs[k]].Type, 0)
			require.Check(t, d.text == "", "%s: output %d: %s", c.name, k, d.text)
		}
	}
}
