package base

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
)

// valid is a model that breaks no rule, with the codes that the device's table has for
// extensions. It may have operations of extensions that the table does not know.
func (d *Device) valid(m *nn.Model) (*nn.Model, error) {
	if err := validate.ModelOf(d.cfg.Operations, m); err != nil {
		return nil, err
	}
	return d.cfg.Operations.Localize(m), nil
}

// local is a valid model of operations that the table has.
func (d *Device) local(m *nn.Model) (*nn.Model, error) {
	m, err := d.valid(m)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(d.foreign(m), func(name string) bool { return name != "" }); i >= 0 {
		return nil, hal.Errorf(hal.InvalidArgument, "%s driver: operation %d (%s): %s", d.cfg.Name, i, m.Main.Operations[i].Type, notSupported(d.foreign(m)[i]))
	}
	return m, nil
}

func notSupported(extension string) string {
	switch extension {
	case nn.OpOEM.String():
		return extension + " is not supported"
	case nn.HostExtension:
		return "NNAPI has no form of it, it runs on the host"
	}
	return fmt.Sprintf("extension %s is not supported", extension)
}

// foreign names the extension of each operation of the main subgraph that the table does
// not have, OEM_OPERATION by its own name, or of such an operation in a subgraph that it refers to; nil when there is none.
func (d *Device) foreign(m *nn.Model) []string {
	var names []string
	known := map[uint32]string{} // of subgraphs, which many operations may call
	for i := range m.Main.Operations {
		if e := d.foreignOf(m, &m.Main, &m.Main.Operations[i], known); e != "" {
			if names == nil {
				names = make([]string, len(m.Main.Operations))
			}
			names[i] = e
		}
	}
	return names
}

func (d *Device) foreignOf(m *nn.Model, g *nn.Subgraph, op *nn.Operation, known map[uint32]string) string {
	if nn.IsExtensionOperationType(op.Type) && d.cfg.Operations.Lookup(op.Type) == nil {
		name, _ := m.ExtensionOf(int32(op.Type))
		return name
	}
	if op.Type == nn.OpOEM {
		return op.Type.String()
	}
	for _, x := range op.Inputs {
		if g.Operands[x].Lifetime != nn.LifetimeSubgraph {
			continue
		}
		k, _ := g.Operands[x].Subgraph() // a valid model has it
		if _, ok := known[k]; !ok {
			inner := &m.Referenced[k]
			for i := range inner.Operations {
				if known[k] = d.foreignOf(m, inner, &inner.Operations[i], known); known[k] != "" {
					break
				}
			}
		}
		if known[k] != "" {
			return known[k]
		}
	}
	return ""
}

// withoutForeign answers a support query for a model with foreign operations: it declines
// these, and queries the driver about the others.
func (d *Device) withoutForeign(m *nn.Model, foreign []string) ([]hal.Support, error) {
	s := make([]hal.Support, len(foreign))
	keep := make([]bool, len(foreign))
	var rest []int
	for i, name := range foreign {
		if keep[i] = name == ""; keep[i] {
			rest = append(rest, i)
		} else {
			s[i].Reason = notSupported(name)
		}
	}
	if len(rest) == 0 {
		return s, nil
	}
	part, err := d.valid(compat.Part(m, keep))
	if err != nil {
		return nil, err
	}
	list, err := d.supported(part)
	if err != nil {
		return nil, err
	}
	for k, i := range rest {
		s[i] = list[k]
	}
	return s, nil
}

// lists reports whether the device declares support of an extension.
func (d *Device) lists(extension string) bool {
	return slices.ContainsFunc(d.cfg.Extensions, func(e hal.Extension) bool { return e.Name == extension })
}

// about is why an operation is declined, with the extension where that is the reason.
func (d *Device) about(m *nn.Model, op *nn.Operation, reason string) string {
	name, ok := m.ExtensionOf(int32(op.Type))
	if !ok || d.lists(name) {
		return reason
	}
	return notSupported(name) + ": " + reason
}

// aboutAny is why a model is declined, with the first extension that the device does not
// support.
func (d *Device) aboutAny(m *nn.Model, err error) error {
	for i := range m.Main.Operations {
		if s := d.about(m, &m.Main.Operations[i], ""); s != "" {
			return fmt.Errorf("%s%w", s, err)
		}
	}
	return err
}
