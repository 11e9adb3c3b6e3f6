package opspec

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// extend adds a row of an extension.
func (t *Table) extend(r *Row) error {
	prefix, _ := nn.SplitExtensionCode(int32(r.Op))
	if prefix == 0 || r.Extension == "" {
		return fmt.Errorf("code %d with prefix %d of extension %q, both needed", r.Op, prefix, r.Extension)
	}
	for _, e := range t.extensions {
		if (e.Prefix == prefix) != (e.Name == r.Extension) {
			return fmt.Errorf("prefix %d for extension %q, but %d is that of %q", prefix, r.Extension, e.Prefix, e.Name)
		}
	}
	if e := (nn.ExtensionPrefix{Name: r.Extension, Prefix: prefix}); !slices.Contains(t.extensions, e) {
		t.extensions = append(t.extensions, e)
	}
	if t.more == nil {
		t.more = map[nn.OperationType]*Row{}
	}
	t.more[r.Op] = r
	return nil
}

// Prefix is the prefix of an extension's codes in the table; 0 when it has none of it.
func (t *Table) Prefix(name string) uint16 {
	for _, e := range t.orStandard().extensions {
		if e.Name == name {
			return e.Prefix
		}
	}
	return 0
}

// Declare lists in a model the extensions of the table whose codes it has. Importers and
// builders, which make models with the codes of a table, call it.
func (t *Table) Declare(m *nn.Model) {
	t = t.orStandard()
	eachCode(m, func(code int32) int32 {
		prefix, _ := nn.SplitExtensionCode(code)
		i := slices.IndexFunc(t.extensions, func(e nn.ExtensionPrefix) bool { return e.Prefix == prefix })
		if i >= 0 && !slices.Contains(m.Extensions, t.extensions[i]) {
			m.Extensions = append(m.Extensions, t.extensions[i])
		}
		return code
	})
}

// Localize returns the model with the table's codes for the extensions that the table
// knows, whatever prefixes the model gives them: tables and lowerings look operations up by
// code. Extensions that the table does not know keep their prefix, or get a free one
// where it is another extension's in the table. A model that has the table's prefixes is
// returned as it is.
func (t *Table) Localize(m *nn.Model) *nn.Model {
	t = t.orStandard()
	used := map[uint16]bool{}
	for _, e := range slices.Concat(t.extensions, m.Extensions) {
		used[e.Prefix] = true
	}
	to, next, same := map[uint16]uint16{}, uint16(1), true
	list := slices.Clone(m.Extensions)
	for i, e := range list {
		p := t.Prefix(e.Name)
		if p == 0 {
			p = e.Prefix
			if slices.ContainsFunc(t.extensions, func(x nn.ExtensionPrefix) bool { return x.Prefix == p }) {
				for used[next] {
					next++
				}
				p, used[next] = next, true
			}
		}
		to[e.Prefix], list[i].Prefix = p, p
		same = same && p == e.Prefix
	}
	if same {
		return m
	}
	c := *m
	c.Extensions = list
	c.Main = cloned(&m.Main)
	c.Referenced = nil
	for i := range m.Referenced {
		c.Referenced = append(c.Referenced, cloned(&m.Referenced[i]))
	}
	eachCode(&c, func(code int32) int32 {
		prefix, number := nn.SplitExtensionCode(code)
		if p, ok := to[prefix]; ok {
			return nn.ExtensionCode(p, number)
		}
		return code
	})
	return &c
}

// cloned is a subgraph whose codes can be changed.
func cloned(g *nn.Subgraph) nn.Subgraph {
	c := *g
	c.Operands, c.Operations = slices.Clone(g.Operands), slices.Clone(g.Operations)
	return c
}

// eachCode replaces every code of an operand type or operation that has a prefix.
func eachCode(m *nn.Model, replace func(code int32) int32) {
	for g := range m.Subgraphs() {
		for i := range g.Operands {
			if o := &g.Operands[i]; nn.IsExtensionOperandType(o.Type) {
				if code := replace(int32(o.Type)); code != int32(o.Type) {
					o.Type = nn.OperandType(code)
				}
			}
		}
		for i := range g.Operations {
			if op := &g.Operations[i]; nn.IsExtensionOperationType(op.Type) {
				if code := replace(int32(op.Type)); code != int32(op.Type) {
					op.Type = nn.OperationType(code)
				}
			}
		}
	}
}
