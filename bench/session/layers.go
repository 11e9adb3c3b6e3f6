package session

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// LayerCheck is the result of --check-layers on a device.
type LayerCheck struct {
	Checked    int    `json:"checked"` // outputs of operations
	Mismatches int    `json:"mismatches"`
	First      *Layer `json:"first_operation,omitempty"` // operation, in execution order, whose output leaves the rule
}

type Layer struct {
	Index      int    `json:"index"`
	Type       string `json:"type"`
	Name       string `json:"name,omitempty"` // of the operand
	Device     string `json:"device"`
	Difference string `json:"first_mismatch"`
}

// checkLayers runs a network in a form in which every operation's output is an
// output of the model, and compares all with the reference. Operations whose
// results others hide by fusion are computed apart in this form.
func checkLayers(m *Phone, f *Network, name string) (_ *LayerCheck, err error) {
	defer try.Catch(&err)
	all, operations := withLayers(f.Model)
	expected := try.V(cpudriver.ReferenceTensors(all, f.Inputs))
	if name == Auto { // any division shows the same operations
		name = nnrt.ByStrategy
	}
	c := try.V(nnrt.Compile(m.Registry, all, name, nnrt.CompileOptions{Preference: nnrt.Prefer(m.Preference())}))
	res := try.V(c.Execute(f.Inputs, nnrt.ExecuteOptions{Functional: true}))
	check := &LayerCheck{}
	for i, r := range cpudriver.Compare(all, f.Inputs, expected, res.Tensors(all)) {
		check.Checked++
		if r.First == nil {
			continue
		}
		check.Mismatches++
		if check.First != nil || i >= len(operations) {
			continue
		}
		op := operations[i]
		check.First = &Layer{op, all.Main.Operations[op].Type.String(), all.Main.Operands[all.Main.Outputs[i]].Name, res.Operations[op].Device, r.First.Error()}
	}
	return check, nil
}

// String is one line for a person.
func (l *LayerCheck) String() string {
	if l.First == nil {
		return fmt.Sprintf("%d layers, all within the rule", l.Checked)
	}
	name := ""
	if l.First.Name != "" {
		name = " " + l.First.Name
	}
	return fmt.Sprintf("operation %d (%s%s) on %s is the first of %d layers that leave the rule: %s",
		l.First.Index, l.First.Type, name, l.First.Device, l.Mismatches, l.First.Difference)
}

// withLayers is m with every value that its operations produce among the outputs, in execution order, and the operation
// of each output. States are left out: one invocation is meant.
func withLayers(m *nn.Model) (all *nn.Model, operations []int) {
	c := *m
	c.States = nil
	c.Main.Operands = slices.Clone(m.Main.Operands)
	c.Main.Outputs = nil
	for i := range m.Main.Operations {
		for _, x := range m.Main.Operations[i].Outputs {
			c.Main.Operands[x].Lifetime = nn.SubgraphOutput
			c.Main.Outputs = append(c.Main.Outputs, x)
			operations = append(operations, i)
		}
	}
	return &c, operations
}
