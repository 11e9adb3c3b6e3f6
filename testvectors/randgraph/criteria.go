package randgraph

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/testvectors"
)

// Class is how exact the results of an operation or a graph must be.
type Class uint8

// Classes of CTS, from exact to loose.
const (
	Strict  Class = iota // data movement, comparison, logic
	Medium               // simple arithmetic
	Relaxed              // transcendental functions, pooling, normalisation, reduction
	Conv                 // convolutions
	SmallGraph
	LargeGraph
)

// bounds are the bounds of CTS on an element (absolute and relative), on the
// mean difference and on the mean squared difference.
type bounds struct{ element, mean, square float64 }

// criteria of CTS: for float32, float16 and 8- and 16-bit quantized results.
var criteria = [...][3]bounds{
	Strict:     {{1e-6, 1e-7, 1e-10}, {1e-3, 1e-4, 1e-8}, {1, 0.1, 0.1}},
	Medium:     {{1e-5, 1e-6, 1e-8}, {1e-2, 1e-3, 1e-5}, {2, 1.2, 1.2}},
	Relaxed:    {{1e-3, 3e-5, 1e-6}, {1, 5e-3, 1e-3}, {10, 1.5, 1.5}},
	Conv:       {{2e-2, 4e-4, 1e-5}, {1, 5e-2, 1e-2}, {10, 1.5, 1.5}},
	SmallGraph: {{1e-2, 4e-4, 1e-5}, {1, 5e-2, 1e-2}, {12, 2, 2}},
	LargeGraph: {{1e-1, 1e-2, 1e-4}, {1, 1e-1, 5e-2}, {12, 2, 2}},
}

// float16Element replaces CTS's bound of 1 + |e| on float16 elements, with which
// hardly a wrong element would be seen, where the expected result is computed
// in float16 too. assumed (D-300): about 10 to 100 units in the last place.
var float16Element = [...]float64{Strict: 1e-3, Medium: 1e-2, Relaxed: 1e-2, Conv: 2e-2, SmallGraph: 5e-2, LargeGraph: 1e-1}

// boolPercent of the booleans of a graph may be wrong: a comparison of rounded values flips.
const boolPercent = 10

// rule is the criterion of a result by its type. exact also requires equal integers, booleans and quantized values;
// float32Judge means that the expected result is that of the equivalent float32 model.
func rule(c Class, exact, float32Judge bool) compare.Rule {
	return func(t nn.OperandType) compare.Criterion {
		b := bounds{element: 1} // integers
		float := false
		switch t {
		case nn.TensorFloat32:
			b, float = criteria[c][0], true
		case nn.TensorFloat16:
			b, float = criteria[c][1], true
			if !float32Judge {
				b.element = float16Element[c]
			}
		case nn.TensorBool8:
			if exact || c < SmallGraph {
				return compare.Criterion{}
			}
			return compare.Criterion{WrongPercent: boolPercent}
		case nn.TensorInt32, nn.Int32:
		default:
			b = criteria[c][2]
		}
		k := compare.Criterion{Element: compare.Tolerance{Abs: b.element}, MeanError: b.mean, MeanSquare: b.square}
		switch {
		case float:
			k.Element.Rel = b.element
		case exact:
			return compare.Criterion{}
		}
		return k
	}
}

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
		v.Inputs = append(v.Inputs, vectors.Value{Type: o.Type, Dimensions: c.dimensions(i), Data: c.Inputs[i]})
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
