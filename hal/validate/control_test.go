package validate

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// vector is a quantized operand of two elements.
func vector() nn.Operand {
	return nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2}, Scale: 0.5, ZeroPoint: 3}
}

// flag is an operand that IF and WHILE take as a condition.
func flag() nn.Operand { return nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}} }

// controlModel has a WHILE and an IF on the same operands: subgraph 0 is the condition,
// subgraph 1 the body of the WHILE and both branches of the IF. Operands of the main
// graph: flag, input, result, references to the subgraphs.
func controlModel() *nn.Model {
	condition := nn.Subgraph{Operands: []nn.Operand{vector(), flag()}, Inputs: []uint32{0}, Outputs: []uint32{1}}
	body := nn.Subgraph{Operands: []nn.Operand{vector(), vector()}, Inputs: []uint32{0}, Outputs: []uint32{1}}
	return &nn.Model{Referenced: []nn.Subgraph{condition, body}, Main: nn.Subgraph{Operands: []nn.Operand{
		flag(), vector(), vector(), nn.SubgraphOperand(0), nn.SubgraphOperand(1)}}}
}

// checkControl is what the checker says of the IF and of the WHILE of a controlModel.
func checkControl(m *nn.Model) (branch, loop error) {
	c := &checker{model: m, g: &m.Main}
	return c.branches(&opspec.If{Condition: 0, Then: 4, Else: 4, Inputs: []uint32{1}, Outputs: []uint32{2}}),
		c.loop(&opspec.While{Condition: 3, Body: 4, Inputs: []uint32{1}, Outputs: []uint32{2}})
}

// kinds are the changes of an operand that make it another one.
var kinds = map[string]func(*nn.Operand){
	"type":       func(o *nn.Operand) { o.Type = nn.TensorQuant8AsymmSigned },
	"scale":      func(o *nn.Operand) { o.Scale = 0.25 },
	"zero point": func(o *nn.Operand) { o.ZeroPoint = 4 },
	"dimension":  func(o *nn.Operand) { o.Dimensions = []uint32{3} },
	"rank":       func(o *nn.Operand) { o.Dimensions = []uint32{2, 1} },
	"channels":   func(o *nn.Operand) { o.Channel = &nn.ChannelQuant{Scales: []float32{1, 2}} },
	"extension":  func(o *nn.Operand) { o.Extension = []byte{1} },
}

// TestControlOperands: each operand that IF or WHILE binds, changed in each property, is
// refused by the operation that binds it; a dimension that is open is not.
func TestControlOperands(t *testing.T) {
	if branch, loop := checkControl(controlModel()); branch != nil || loop != nil {
		t.Fatalf("the model that all cases change: IF %v, WHILE %v", branch, loop)
	}
	places := []struct {
		name         string
		at           func(*nn.Model) *nn.Operand
		branch, loop bool // who binds it
	}{
		{"given", func(m *nn.Model) *nn.Operand { return &m.Main.Operands[1] }, true, true},
		{"result", func(m *nn.Model) *nn.Operand { return &m.Main.Operands[2] }, true, true},
		{"input of the condition", func(m *nn.Model) *nn.Operand { return &m.Referenced[0].Operands[0] }, false, true},
		{"input of the body", func(m *nn.Model) *nn.Operand { return &m.Referenced[1].Operands[0] }, true, true},
		{"output of the body", func(m *nn.Model) *nn.Operand { return &m.Referenced[1].Operands[1] }, true, true},
	}
	for _, p := range places {
		for kind, change := range kinds {
			m := controlModel()
			change(p.at(m))
			if branch, loop := checkControl(m); (branch != nil) != p.branch || (loop != nil) != p.loop {
				t.Errorf("%s of the %s: IF %v, WHILE %v", kind, p.name, branch, loop)
			}
		}
		m := controlModel()
		p.at(m).Dimensions = []uint32{0}
		if branch, loop := checkControl(m); branch != nil || loop != nil {
			t.Errorf("%s of open shape: IF %v, WHILE %v", p.name, branch, loop)
		}
	}
}

// TestControlCarried: a state that the WHILE returns to nobody must leave the body as it
// entered it, in each property.
func TestControlCarried(t *testing.T) {
	run := func(change func(*nn.Operand)) error {
		m := controlModel()
		for k := range m.Referenced {
			s := &m.Referenced[k]
			s.Operands = append(s.Operands, vector(), vector())
			s.Inputs = append(s.Inputs, 2)
		}
		body := &m.Referenced[1]
		body.Outputs = append(body.Outputs, 3)
		change(&body.Operands[3])
		c := &checker{model: m, g: &m.Main}
		return c.loop(&opspec.While{Condition: 3, Body: 4, Inputs: []uint32{1, 1}, Outputs: []uint32{2}})
	}
	if err := run(func(*nn.Operand) {}); err != nil {
		t.Fatal(err)
	}
	for kind, change := range kinds {
		if err := run(change); err == nil || !strings.Contains(err.Error(), "output 1 is") {
			t.Errorf("%s of a state: %v", kind, err)
		}
	}
}

// TestControlCounts: numbers of inputs and outputs, and conditions, that IF or WHILE refuse.
func TestControlCounts(t *testing.T) {
	more := func(k int) func(*nn.Model) {
		return func(m *nn.Model) { m.Referenced[k].Outputs = append(m.Referenced[k].Outputs, 1) }
	}
	for _, c := range []struct {
		name         string
		change       func(*nn.Model)
		branch, loop string
	}{
		{"more outputs of the body", more(1), "then has 2 outputs, the operation has 1", "the body has 2 outputs"},
		{"no output of the body", func(m *nn.Model) { m.Referenced[1].Outputs = nil }, "then has 0 outputs", "the body has 0 outputs"},
		{"more inputs of the body", func(m *nn.Model) { m.Referenced[1].Inputs = []uint32{0, 0} }, "then has 2 inputs", "body has 2 inputs"},
		{"more outputs of the condition", more(0), "", "the condition has 2 outputs"},
		{"condition of two flags", func(m *nn.Model) { m.Referenced[0].Operands[1].Dimensions = []uint32{2} }, "", "output of the condition"},
		{"condition of another type", func(m *nn.Model) { m.Referenced[0].Operands[1].Type = nn.TensorInt32 }, "", "output of the condition"},
		{"flag of two elements", func(m *nn.Model) { m.Main.Operands[0].Dimensions = []uint32{2} }, "the condition is", ""},
		{"flag of another type", func(m *nn.Model) { m.Main.Operands[0].Type = nn.Bool }, "the condition is", ""},
	} {
		m := controlModel()
		c.change(m)
		branch, loop := checkControl(m)
		for _, x := range []struct {
			err  error
			want string
		}{{branch, c.branch}, {loop, c.loop}} {
			if (x.err != nil) != (x.want != "") || x.err != nil && !strings.Contains(x.err.Error(), x.want) {
				t.Errorf("%s: %v, want %q", c.name, x.err, x.want)
			}
		}
	}
}
