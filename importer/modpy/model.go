package modpy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// env is the state of one specification: the objects that its classes register.
type env struct {
	spec      string // base name
	version   string // of its folder, "" outside one
	names     map[string]int
	models    []*model
	examples  []*example
	overrides map[string]string // test name to version
	shared    bool              // constants are in shared memory
	tests     map[string]int
}

// unique registers a name; a repeated one gets a number.
func unique(names map[string]int, name, sep string, from int) string {
	n, taken := names[name]
	if !taken {
		names[name] = from
		return name
	}
	for {
		n++
		u := name + sep + strconv.Itoa(n)
		if _, taken := names[u]; !taken {
			names[name] = n
			names[u] = from
			return u
		}
	}
}

// operation is one step of a model. Operands are named, because variations
// replace them by others of the same name.
type operation struct {
	code      string
	ins, outs []string
}

// model is a graph under construction.
type model struct {
	env      *env
	name     string
	operands []*operand
	at       map[string]int // of an operand's name
	ops      []operation
	relaxed  bool
	version  string
	compiled bool
}

// maxModel bounds the operations of a model.
const maxModel = 1 << 16

func (e *env) makeModel(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name starlark.Value
	try.E(starlark.UnpackArgs("Model", args, kwargs, "name?", &name))
	m := &model{env: e, at: map[string]int{}, version: e.version}
	if s, ok := name.(starlark.String); ok {
		m.name = string(s)
	}
	e.models = append(e.models, m)
	return m, nil
}

func (m *model) String() string        { return "<Model " + m.name + ">" }
func (m *model) Type() string          { return "Model" }
func (m *model) Freeze()               {}
func (m *model) Truth() starlark.Bool  { return true }
func (m *model) Hash() (uint32, error) { return starlark.String(m.name).Hash() }

var modelAttrs = []string{"AddOperand", "GetInputs", "GetOutputs", "IdentifyInputs", "IdentifyOutputs", "IntroducedIn", "Operation", "RelaxedExecution", "To", "name", "operands"}

func (m *model) AttrNames() []string { return modelAttrs }

// list is the model's operands of a class.
func (m *model) list(class string) starlark.Value {
	var out []starlark.Value
	for _, o := range m.operands {
		if o.is(class) {
			out = append(out, o)
		}
	}
	return starlark.NewList(out)
}

// Attr returns the methods of a model.
func (m *model) Attr(name string) (starlark.Value, error) {
	switch name {
	case "name":
		if m.name == "" {
			return starlark.None, nil
		}
		return starlark.String(m.name), nil
	case "operands":
		return m.list("Operand"), nil
	case "GetInputs", "GetOutputs":
		return builtin.Fixed(name, 0, func(*starlark.Thread, starlark.Tuple) (starlark.Value, error) {
			return m.list(strings.TrimSuffix(strings.TrimPrefix(name, "Get"), "s")), nil
		}), nil
	case "Operation":
		return builtin.Function("Operation", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) == 0 || len(kwargs) > 0 {
				return nil, errors.New("an Operation needs a name and operands")
			}
			code, ok := args[0].(starlark.String)
			if !ok {
				return nil, fmt.Errorf("an operation's name is a string, not a %s", args[0].Type())
			}
			return m, m.add(t, string(code), args[1:])
		}), nil
	case "To":
		return builtin.Function("To", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) == 0 || len(kwargs) > 0 {
				return nil, errors.New("a To needs operands")
			}
			switch args[0].(type) {
			case *starlark.List, starlark.Tuple:
				e := try.V(builtin.Elements(t, args[0]))
				args = e
			}
			return m, m.to(args)
		}), nil
	case "AddOperand":
		return builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			o, ok := a[0].(*operand)
			if !ok {
				return nil, fmt.Errorf("a %s is no operand", a[0].Type())
			}
			m.addOperand(o)
			return m, nil
		}), nil
	case "IdentifyInputs", "IdentifyOutputs":
		class := strings.TrimSuffix(strings.TrimPrefix(name, "Identify"), "s")
		return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			for _, a := range args {
				o, ok := a.(*operand)
				if !ok {
					return nil, fmt.Errorf("a %s is no operand", a.Type())
				}
				m.addOperand(o)
			}
			have, _ := builtin.Elements(t, m.list(class))
			if !slices.Equal(have, args) {
				return nil, fmt.Errorf("the model's %ss are %v, not %v", class, have, args)
			}
			return m, nil
		}), nil
	case "RelaxedExecution":
		return builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			m.relaxed = bool(a[0].Truth())
			return m, nil
		}), nil
	case "IntroducedIn":
		return builtin.Fixed(name, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
			m.version = ""
			if s, ok := a[0].(starlark.String); ok {
				m.version = string(s)
			}
			return m, nil
		}), nil
	}
	return nil, nil
}

func (m *model) addOperand(o *operand) {
	if _, ok := m.at[o.name]; !ok {
		m.at[o.name] = len(m.operands)
		m.operands = append(m.operands, o)
	}
}

// replace puts o in the place of the operand of its name.
func (m *model) replace(o *operand) { m.operands[m.at[o.name]] = o }

// add appends an operation; Python values become constants.
func (m *model) add(t *starlark.Thread, code string, args []starlark.Value) error {
	if len(m.ops) >= maxModel {
		return fmt.Errorf("a model has more than %d operations", maxModel)
	}
	op := operation{code: code}
	var list []*operand
	for i, a := range args {
		o, err := m.env.implicit(t, a)
		if err != nil {
			return fmt.Errorf("%s: operand %d: %w", code, i, err)
		}
		list = append(list, o)
		op.ins = append(op.ins, o.name)
	}
	m.ops = append(m.ops, op)
	for _, o := range list {
		m.addOperand(o)
	}
	return nil
}

// to names the outputs of the last operation.
func (m *model) to(outs []starlark.Value) error {
	if len(m.ops) == 0 {
		return errors.New("a To without an Operation")
	}
	op := &m.ops[len(m.ops)-1]
	op.outs = nil
	for _, a := range outs {
		o, ok := a.(*operand)
		if !ok {
			return fmt.Errorf("an output of %s is an operand, not a %s", op.code, a.Type())
		}
		op.outs = append(op.outs, o.name)
		m.addOperand(o)
	}
	return nil
}

// clone copies the model, its operands and the models they refer to.
func (m *model) clone(seen map[*model]*model) *model {
	if c, ok := seen[m]; ok {
		return c
	}
	c := *m
	seen[m] = &c
	c.operands = make([]*operand, len(m.operands))
	c.at = make(map[string]int, len(m.at))
	for i, o := range m.operands {
		copied := *o
		if o.sub != nil {
			copied.sub = o.sub.clone(seen)
		}
		c.operands[i] = &copied
		c.at[o.name] = i
	}
	c.ops = slices.Clone(m.ops)
	return &c
}

// compile orders the operations of the model and of those it refers to, and
// numbers operands and referenced models, which are appended to refs.
func (m *model) compile(refs *[]*model) error {
	if m.compiled {
		return nil
	}
	m.compiled = true
	if err := m.sort(); err != nil {
		return err
	}
	for _, o := range m.operands {
		if o.lifetime != nn.LifetimeSubgraph {
			continue
		}
		if o.sub == nil {
			return fmt.Errorf("operand %s refers to no model", o.name)
		}
		o.ref = slices.Index(*refs, o.sub)
		if o.ref < 0 {
			o.ref = len(*refs)
			*refs = append(*refs, o.sub)
			if len(*refs) > 1000 {
				return errors.New("a model refers to more than 1000 models")
			}
			if err := o.sub.compile(refs); err != nil {
				return err
			}
		}
	}
	if m.relaxed {
		m.version = ""
	}
	return nil
}

// sort puts producers before consumers, otherwise keeping the order.
func (m *model) sort() error {
	n := len(m.operands)
	producers, consumers := make([][]int, n), make([][]int, n)
	for i, op := range m.ops {
		for _, x := range op.ins {
			consumers[m.at[x]] = append(consumers[m.at[x]], i)
		}
		for _, x := range op.outs {
			producers[m.at[x]] = append(producers[m.at[x]], i)
		}
	}
	deps := make([][]int, len(m.ops))
	edges := 0
	for i := range m.operands {
		for _, c := range consumers[i] {
			if edges += len(producers[i]); edges > maxModel*16 {
				return errors.New("a model has too many connections")
			}
			deps[c] = append(deps[c], producers[i]...)
		}
	}
	const (
		fresh = iota
		open
		done
	)
	state := make([]byte, len(m.ops))
	next := make([]int, len(m.ops))
	var sorted []operation
	for root := range m.ops {
		stack := []int{root}
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			if state[i] == done {
				stack = stack[:len(stack)-1]
				continue
			}
			state[i] = open
			if next[i] < len(deps[i]) {
				d := deps[i][next[i]]
				next[i]++
				if state[d] == open {
					return fmt.Errorf("the operations %s and %s form a cycle", m.ops[i].code, m.ops[d].code)
				}
				if state[d] == fresh {
					stack = append(stack, d)
				}
				continue
			}
			state[i] = done
			sorted = append(sorted, m.ops[i])
			stack = stack[:len(stack)-1]
		}
	}
	m.ops = sorted
	return nil
}
