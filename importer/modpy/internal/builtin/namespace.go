package builtin

import (
	"errors"
	"fmt"
	"sort"

	"go.starlark.net/starlark"
)

// Namespace is a value with named attributes: a module, or a class's members.
type Namespace struct {
	name    string
	Members starlark.StringDict
}

// String is the name in angle brackets.
func (n *Namespace) String() string { return "<" + n.name + ">" }

// Type is "module".
func (n *Namespace) Type() string { return "module" }

// Freeze does nothing: a specification runs on one thread.
func (n *Namespace) Freeze() {}

// Truth is true.
func (n *Namespace) Truth() starlark.Bool { return true }

// Hash is an error.
func (n *Namespace) Hash() (uint32, error) { return 0, errors.New("a module is not hashable") }

// Attr is a member.
func (n *Namespace) Attr(name string) (starlark.Value, error) {
	if v, ok := n.Members[name]; ok {
		return v, nil
	}
	return nil, starlark.NoSuchAttrError(fmt.Sprintf("module %s has no %q for specifications", n.name, name))
}

// AttrNames lists the members.
func (n *Namespace) AttrNames() []string {
	var out []string
	for k := range n.Members {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// NewNamespace is a module of the given members.
func NewNamespace(name string, members starlark.StringDict) *Namespace {
	return &Namespace{name, members}
}

var _ starlark.HasAttrs = (*Namespace)(nil)
