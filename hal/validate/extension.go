package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Extension checks the description of a vendor extension: a name in reverse domain form,
// lower case, and operand types with numbers of their own and sizes.
func Extension(e hal.Extension) error {
	fail := func(format string, args ...any) error {
		return invalid(fmt.Errorf("validate: extension %q: %s", e.Name, fmt.Sprintf(format, args...)))
	}
	if err := extensionName(e.Name); err != nil {
		return invalid(fmt.Errorf("validate: %w", err))
	}
	if len(e.OperandTypes) > 1<<16 {
		return fail("%d operand types", len(e.OperandTypes))
	}
	seen := map[uint16]bool{}
	for _, t := range e.OperandTypes {
		if seen[t.Type] {
			return fail("operand type %d is there twice", t.Type)
		}
		if t.ByteSize == 0 {
			return fail("operand type %d has no size", t.Type)
		}
		seen[t.Type] = true
	}
	return nil
}

// extensionName checks that the name of an extension is in reverse domain form, lower case.
func extensionName(name string) error {
	if !strings.Contains(name, ".") {
		return fmt.Errorf("extension %q: its name has no dot", name)
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.') {
			return fmt.Errorf("extension %q: its name has the letter %q", name, c)
		}
	}
	return nil
}

// maxPrefix is the largest prefix: codes are not negative.
const maxPrefix = 1<<15 - 1

// extensions checks extensionNameToPrefix of a model: names and prefixes are one to one, and
// every code of the model has a prefix of the list.
func extensions(m *nn.Model) error {
	names, prefixes := map[string]bool{}, map[uint16]string{}
	for _, e := range m.Extensions {
		if err := extensionName(e.Name); err != nil {
			return fmt.Errorf("validate: %w", err)
		}
		if e.Prefix == 0 || e.Prefix > maxPrefix {
			return fmt.Errorf("validate: extension %q has prefix %d, it must be 1 to %d", e.Name, e.Prefix, maxPrefix)
		}
		if names[e.Name] {
			return fmt.Errorf("validate: extension %q is listed twice", e.Name)
		}
		if other, ok := prefixes[e.Prefix]; ok {
			return fmt.Errorf("validate: extensions %q and %q have the prefix %d", other, e.Name, e.Prefix)
		}
		names[e.Name], prefixes[e.Prefix] = true, e.Name
	}
	k := -1
	for g := range m.Subgraphs() {
		c := checker{at: Error{Subgraph: k, Operation: -1, Operand: -1}}
		for i := range g.Operands {
			t := g.Operands[i].Type
			if prefix, number := nn.SplitExtensionCode(int32(t)); nn.IsExtensionOperandType(t) && prefixes[prefix] == "" {
				c.at.Operand = i
				return c.errorf("type %d of an extension with prefix %d, which the model does not list", number, prefix)
			}
		}
		for i := range g.Operations {
			t := g.Operations[i].Type
			if prefix, number := nn.SplitExtensionCode(int32(t)); nn.IsExtensionOperationType(t) && prefixes[prefix] == "" {
				c.at.Operation, c.at.Type = i, t
				return c.errorf("operation %d of an extension with prefix %d, which the model does not list", number, prefix)
			}
		}
		k++
	}
	return nil
}

// extensionType checks that an extension of this project has the type of an operand.
func (c *checker) extensionType(o *nn.Operand) error {
	_, number := nn.SplitExtensionCode(int32(o.Type))
	name, _ := c.model.ExtensionOf(int32(o.Type))
	if vendor(name) && nn.IsForeign(o.Type) {
		return c.errorf("extension %s has no operand type %d", name, number)
	}
	return nil
}

// vendor reports whether package nn has the types of an extension.
func vendor(name string) bool {
	return slices.ContainsFunc(nn.VendorExtensions(), func(e nn.ExtensionPrefix) bool { return e.Name == name })
}

// extensionOperation checks that an extension of the table has an operation. An operation of an extension that the
// table does not know is foreign: its driver, if there is one, knows its operands.
func (c *checker) extensionOperation(op *nn.Operation) (foreign bool, err error) {
	_, number := nn.SplitExtensionCode(int32(op.Type))
	name, _ := c.model.ExtensionOf(int32(op.Type))
	switch {
	case c.table.Prefix(name) == 0:
		return true, nil
	case c.table.Lookup(op.Type) == nil:
		return false, c.errorf("extension %s has no operation %d", name, number)
	}
	return false, nil
}
