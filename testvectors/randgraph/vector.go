package randgraph

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
)

// Vector is a case as a test vector: the expected outputs are the reference's.
func Vector(c *Case) (*vectors.Case, error) {
	want, err := reference(c)
	if err != nil {
		return nil, err
	}
	m := *c.Model
	g := &m.Main
	g.Operands = append([]nn.Operand(nil), g.Operands...)
	for i, x := range g.Outputs { // also those that only an execution knows
		g.Operands[x].Dimensions = want[i].Dimensions
	}
	v := &vectors.Case{Name: c.Name, MinVersion: "V1_3", Model: &m}
	for i, x := range g.Inputs {
		o := &g.Operands[x]
		v.Inputs = append(v.Inputs, vectors.Value{Type: o.Type, Dimensions: o.Dimensions, Data: c.Inputs[i]})
	}
	undefined := scratch(g)
	for i, x := range g.Outputs {
		v.Outputs = append(v.Outputs, vectors.Value{Type: g.Operands[x].Type, Dimensions: want[i].Dimensions, Data: want[i].Data, Ignored: undefined[i]})
	}
	return v, nil
}

// Reproduces reports whether a case also fails as a test vector, whose
// tolerance has no bound on means.
func Reproduces(d hal.Device, c *Case) (fails bool) {
	defer func() {
		if recover() != nil {
			fails = true
		}
	}()
	v, err := Vector(c)
	if err != nil {
		return false
	}
	declined, err := testvectors.RunCaseOf(c.table().operations.Spec(), d, v, true)
	return declined == "" && err != nil
}
