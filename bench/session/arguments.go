package session

import (
	"cmp"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Argument is an input of an operation.
type Argument struct {
	Name   string `json:"name"`                      // that the table of operations gives it
	Scalar string `json:"scalar,omitempty"`          // value of a constant scalar, of enumerations in words
	From   *int   `json:"operation_index,omitempty"` // that computes it; missing for inputs and constants of the network
}

// codes are the words for the values of arguments that are enumerations of NNAPI.
var codes = map[string]map[string]string{
	"activation": {"0": "NONE", "1": "RELU", "2": "RELU1", "3": "RELU6", "4": "TANH", "6": "SIGMOID"},
	"padding":    {"1": "SAME", "2": "VALID"},
}

// arguments are the inputs of each operation of a network; nil for an operation that the table does not know.
func arguments(m *nn.Model) [][]Argument {
	m = opspec.Standard().Localize(m)
	g, v := &m.Main, opspec.ModelView(&m.Main)
	v.Table = opspec.Standard()
	of := map[uint32]*int{}
	list := make([][]Argument, len(g.Operations))
	for i := range g.Operations {
		op := &g.Operations[i]
		for k, name := range v.InputNames(op) {
			x := op.Inputs[k]
			list[i] = append(list[i], Argument{name, argumentValue(name, &g.Operands[x]), of[x]})
		}
		for _, x := range op.Outputs {
			of[x] = &i
		}
	}
	return list
}

func argumentValue(name string, o *nn.Operand) string {
	if !o.IsConst() || !o.Type.IsScalar() {
		return ""
	}
	text := opspec.ScalarText(o)
	return cmp.Or(codes[name][text], text)
}
