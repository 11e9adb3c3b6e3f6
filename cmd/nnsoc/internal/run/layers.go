package run

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// layerCheck is the result of --check-layers on a device.
type layerCheck struct {
	Checked    int         `json:"checked"` // outputs of operations
	Mismatches int         `json:"mismatches"`
	First      *layerEntry `json:"first_operation,omitempty"` // operation, in execution order, whose output leaves the rule
}

type layerEntry struct {
	Index      int    `json:"index"`
	Type       string `json:"type"`
	Name       string `json:"name,omitempty"` // of the operand
	Device     string `json:"device"`
	Difference string `json:"first_mismatch"`
}

// checkLayers runs a network in a form in which every operation's output is an
// output of the model, and compares all with the reference. Operations whose
// results others hide by fusion are computed apart in this form.
func checkLayers(m *machine.Machine, f *input.Form, name string, pref hal.Preference, p *cli.Progress) (_ *layerCheck, err error) {
	defer try.Catch(&err)
	p.Update("%s: check layers", name)
	all, operations := withLayers(f.Model)
	expected := try.V(cpudriver.ReferenceTensors(all, f.Inputs))
	// Any division of the network shows the same operations, so auto is AOSP's.
	c := try.V(nnrt.Compile(m.Registry, all, name, nnrt.CompileOptions{Preference: nnrt.Prefer(pref)}))
	res := try.V(c.Execute(f.Inputs, nnrt.ExecuteOptions{Functional: true}))
	check := &layerCheck{}
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
		check.First = &layerEntry{op, all.Main.Operations[op].Type.String(), all.Main.Operands[all.Main.Outputs[i]].Name, res.Operations[op].Device, r.First.Error()}
	}
	return check, nil
}

// text is one line for a person.
func (l *layerCheck) text() string {
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
